"""Settings of an alignment as the command line has them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from . import _agogic

#: Settings whose value is a list of pairs, or a mapping.
_PAIRS = {"anchor", "fix-note"}


def typed(settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Names and values as they would be typed: ``first_bar=3`` is ``--first-bar=3``; ``lam`` is ``--lambda``, for that is no name here."""
    known = set(_agogic.setting_names())
    words = []
    for name, value in settings.items():
        option = "lambda" if name == "lam" else name.replace("_", "-")
        if value is None and option in known:
            continue
        words += [(option, word) for word in _words(option, value)]
    return words


def _words(option: str, value: Any) -> list[str]:
    if option in _PAIRS and not isinstance(value, str):
        return [f"{_word(a)}={_word(b)}" for a, b in pairs(value)]
    if isinstance(value, (list, tuple)):
        separator = {"slope": ":", "path": ","}.get(option)
        words = [_word(item) for item in value]
        return words if separator is None else [separator.join(words)]
    return [_word(value)]


def pairs(value: Any) -> list[tuple[Any, Any]]:
    """A mapping, an iterable of pairs, or one pair."""
    if isinstance(value, Mapping):
        return list(value.items())
    listed: list[Any] = list(value) if isinstance(value, Iterable) else [value]
    if len(listed) == 2 and all(isinstance(item, Real) for item in listed):
        return [(listed[0], listed[1])]
    return [(a, b) for a, b in listed]


def _word(value: Any) -> str:
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Integral) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, Real) and not isinstance(value, bool):
        return repr(float(value))
    return str(value)

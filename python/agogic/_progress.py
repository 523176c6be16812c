"""Progress bars, where tqdm is installed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def bar(wanted: bool, total: int, unit: str) -> Any:
    """A bar of tqdm, or None if it is not wanted or tqdm is not there."""
    if not wanted:
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=total, unit=unit)


@contextmanager
def stages(wanted: bool) -> Iterator[Callable[[str, float], None] | None]:
    """What is told of each stage of the work, drawn as one bar in percent."""
    drawn = bar(wanted, 100, "%")
    if drawn is None:
        yield None
        return

    def tell(stage: str, fraction: float) -> None:
        drawn.set_description(stage, refresh=False)
        drawn.n = round(100 * fraction)
        drawn.refresh()

    with drawn:
        yield tell

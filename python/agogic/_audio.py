"""Sound: what a recording may be given as, features of it, and scores as sound."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _agogic
from ._errors import InvalidError

StrPath = str | os.PathLike[str]
#: A file, or samples between -1 and 1: of one channel, or a row for each moment and a column for each channel.
AudioLike = StrPath | NDArray[np.floating]


def samples_of(audio: NDArray[np.floating], rate: int | None) -> tuple[NDArray[np.float32], int]:
    """Samples as rows of channels, checked."""
    if rate is None:
        raise InvalidError("rate is missing, but must be given beside samples: how many there are in a second")
    if not np.issubdtype(audio.dtype, np.floating):
        raise InvalidError(f"the type of the samples is {audio.dtype}, but must be float: divide integers by their range")
    if audio.ndim not in (1, 2):
        raise InvalidError(f"the number of the samples' dimensions is {audio.ndim}, but must be 1 or 2")
    rows = audio[:, None] if audio.ndim == 1 else audio
    if rows.shape[1] > max(rows.shape[0], 1):
        shape = f"{rows.shape[0]} x {rows.shape[1]}"
        raise InvalidError(f"the shape of the samples is {shape}, but must be moments x channels: transpose them")
    if not 0 < int(rate) < 2**32 or int(rate) != rate:
        raise InvalidError(f"rate is {rate}, but must be a whole number of samples per second")
    return np.ascontiguousarray(rows, dtype=np.float32), int(rate)


def refuse_rate(rate: int | None) -> None:
    """A file knows its own rate."""
    if rate is not None:
        raise InvalidError(f"rate is {rate}, but must be left out beside a file, which has its own")


class Features(NamedTuple):
    """Features, a row for each frame."""

    times: NDArray[np.float64]
    """Seconds of each frame."""
    values: NDArray[np.float32]
    """Frames by values."""


def features(
    audio: AudioLike,
    kind: str = "cqt",
    *,
    rate: int | None = None,
    hop: int = 1024,
    soundfont: StrPath | None = None,
) -> Features:
    """Features of a recording, or of a score, which is played first.

    :param audio: a recording or a score, or samples.
    :param kind: ``cqt``, ``chroma`` or ``mel``.
    :param rate: samples per second, beside samples.
    :param hop: samples between frames, at 22,050 Hz.
    :param soundfont: SoundFont to play a score with.

    >>> piece = demo(folder)
    >>> features(piece.score, "chroma").values.shape[1]
    12
    """
    if isinstance(audio, np.ndarray):
        if soundfont is not None:
            raise InvalidError("soundfont is given beside samples, but must be left out: only a score is played")
        samples, rate = samples_of(audio, rate)
        return Features(*_agogic.features_of_samples(samples, rate, kind, hop))
    refuse_rate(rate)
    return Features(*_agogic.features_of_file(os.fspath(audio), kind, hop, soundfont))


class Sound(NamedTuple):
    """Samples of one channel."""

    samples: NDArray[np.float32]
    """Between -1 and 1."""
    rate: int
    """Samples per second."""


def synthesize(score: StrPath, *, part: str | Sequence[str] = (), soundfont: StrPath | None = None) -> Sound:
    """A score as sound.

    :param score: MusicXML, MEI, Humdrum ``**kern`` or MIDI.
    :param part: only parts called this, or else those whose name contains it.
    :param soundfont: SoundFont (.sf2) to play it with; the built-in piano if none.

    >>> sound = synthesize(demo(folder).score)
    >>> sound.rate, sound.samples.dtype
    (22050, dtype('float32'))
    """
    parts = [part] if isinstance(part, str) else list(part)
    return Sound(*_agogic.synthesize(os.fspath(score), parts, soundfont))


class Demo(NamedTuple):
    """The files of the demo piece."""

    performance: Path
    score: Path
    truth: Path


def demo(folder: StrPath) -> Demo:
    """Writes the built-in demo piece into a folder: a performance, its score, and where each onset really is."""
    return Demo(*_agogic.demo(os.fspath(folder)))

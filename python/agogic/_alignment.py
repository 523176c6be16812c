"""From a recording and its score to where every note is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _agogic, _progress, _settings
from ._audio import AudioLike, StrPath, refuse_rate, samples_of
from ._errors import Error, InvalidError

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

#: Columns of a table: name, type, and what stands where nothing is known.
_Columns = list[tuple[str, str, Any]]
_NOTES: _Columns = [
    ("id", "U", ""),
    ("pitch", "i2", 0),
    ("velocity", "i2", 0),
    ("channel", "i2", 0),
    ("track", "i4", 0),
    ("bar", "i4", 0),
    ("beat", "f8", np.nan),
    ("score_onset_s", "f8", np.nan),
    ("score_offset_s", "f8", np.nan),
    ("performance_onset_s", "f8", np.nan),
    ("performance_offset_s", "f8", np.nan),
    ("confidence", "f8", np.nan),
    ("offset_confidence", "f8", np.nan),
    ("verdict", "U11", ""),
    ("verdict_confidence", "f8", np.nan),
    ("played_pitch", "i2", -1),
]
_EXTRA_NOTES: _Columns = [
    ("pitch", "i2", 0),
    ("performance_onset_s", "f8", np.nan),
    ("performance_offset_s", "f8", np.nan),
    ("confidence", "f8", np.nan),
    ("instead_of", "i8", -1),
]
_WARP: _Columns = [("score_s", "f8", np.nan), ("performance_s", "f8", np.nan)]
_TEMPO: _Columns = [("score_beat", "f8", np.nan), ("performance_s", "f8", np.nan), ("beats_per_minute", "f8", np.nan)]


def _table(rows: list[dict[str, Any]], columns: _Columns) -> NDArray[np.void]:
    def type_of(name: str, kind: str) -> str:
        return f"U{max((len(row.get(name, '')) for row in rows), default=1) or 1}" if kind == "U" else kind

    dtype = np.dtype([(name, type_of(name, kind)) for name, kind, _ in columns])
    table = np.array([tuple(row.get(name, missing) for name, _, missing in columns) for row in rows], dtype)
    table.flags.writeable = False
    return table


class Alignment:
    """Where every note of a score is in a recording. Made by :func:`align`."""

    def __init__(self, aligned: _agogic.Aligned) -> None:
        self._aligned = aligned

    @cached_property
    def _document(self) -> dict[str, Any]:
        """Everything, as the JSON result has it: numbers are the same to the last bit."""
        document: dict[str, Any] = json.loads(self._aligned.render("json", None))
        return document

    @cached_property
    def notes(self) -> NDArray[np.void]:
        """Every note of the score, in its order, as a structured array.

        ``performance_onset_s`` and ``performance_offset_s`` are where it is in the recording, ``confidence`` how likely the onset is
        right to 50 ms. ``verdict`` is ``played``, ``missing`` or ``other_pitch`` (then ``played_pitch`` is what was played), and empty
        where nobody listened for it. The other columns are the score's.
        """
        return _table(self._document["notes"], _NOTES)

    @cached_property
    def extra_notes(self) -> NDArray[np.void]:
        """Notes that were heard and that the score does not have; ``instead_of`` is the index of a note of the score, or -1."""
        return _table(self._document.get("extra_notes") or [], _EXTRA_NOTES)

    @cached_property
    def warp(self) -> NDArray[np.void]:
        """Knots of the piecewise linear map from ``score_s`` to ``performance_s``, both in seconds."""
        knots = self._document["warp"]
        rows = zip(knots["score_s"], knots["performance_s"], strict=True)
        return _table([{"score_s": score, "performance_s": performance} for score, performance in rows], _WARP)

    @cached_property
    def tempo(self) -> NDArray[np.void]:
        """Quarter notes per minute from each beat to the next."""
        return _table(self._document["tempo"], _TEMPO)

    @property
    def places(self) -> list[dict[str, float]]:
        """Passages to check, most doubtful first."""
        return list(self._document["places"])

    @property
    def sections(self) -> list[dict[str, Any]]:
        """What was played of a score with repeats, in order."""
        return list(self._document.get("sections", []))

    @property
    def confidence(self) -> float:
        """Share of the notes that are likely right to 50 ms, 0 to 1."""
        return float(self._document["confidence"])

    @property
    def match_confidence(self) -> float:
        """How likely recording and score belong together at all, 0 to 1."""
        return float(self._document["match_confidence"])

    @property
    def warnings(self) -> list[str]:
        """What a user should know, a sentence each."""
        return list(self._document["warnings"])

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that it was made with, as the JSON result has them."""
        return dict(self._document["settings"])

    @property
    def provenance(self) -> dict[str, Any]:
        """The files, models and program that it was made with."""
        return dict(self._document["provenance"])

    @property
    def times(self) -> list[tuple[str, float]]:
        """Seconds that each stage took, in order."""
        return self._aligned.times()

    def performance_time(self, score_s: ArrayLike) -> NDArray[np.float64]:
        """Moments of the recording for moments of the score, in seconds."""
        asked = np.asarray(score_s, dtype=np.float64)
        return self._aligned.performance_time(asked.ravel()).reshape(asked.shape)

    def score_time(self, performance_s: ArrayLike) -> NDArray[np.float64]:
        """Moments of the score for moments of the recording, in seconds."""
        asked = np.asarray(performance_s, dtype=np.float64)
        return self._aligned.score_time(asked.ravel()).reshape(asked.shape)

    def to_pandas(self) -> DataFrame:
        """The notes as a table of pandas."""
        import pandas

        return pandas.DataFrame(self.notes).rename_axis("note")

    def render(self, format: str, *, truth: StrPath | None = None) -> bytes:
        """The content of a file in one of :func:`formats`."""
        return self._aligned.render(format, truth)

    def save(self, path: StrPath, *, format: str | None = None, truth: StrPath | None = None) -> None:
        """Writes a file, whole or not at all; never over one that the alignment was made from.

        :param format: one of :func:`formats`; that of the extension if none.
        :param truth: a ground truth that JSON and pictures show besides.
        """
        self._aligned.save(os.fspath(path), format, truth)

    def evaluate(self, truth: StrPath) -> dict[str, Any]:
        """Metrics against a ground truth, with the names of ``agogic evaluate --json``."""
        metrics: dict[str, Any] = json.loads(self._aligned.evaluate(os.fspath(truth)))
        return metrics

    def realign(
        self,
        *,
        anchor: Mapping[float, float] | Iterable[tuple[float, float]] = (),
        fix_note: Mapping[int, float] | Iterable[tuple[int, float]] = (),
        passage: bool = False,
        progress: bool = False,
    ) -> Alignment:
        """Corrected and aligned again, without listening again; corrections of before stay unless the same moment is fixed anew.

        :param anchor: moments of the score with where they are in the recording, in seconds.
        :param fix_note: indices of notes with where they begin.
        :param passage: solve only the passages round the corrections again, and leave everything else where it is (only after the
            method ``onsets``). Otherwise the result is that of :func:`align` with these corrections.
        """
        anchors = [(float(score), float(performance)) for score, performance in _settings.pairs(anchor)]
        notes = [(int(note), float(performance)) for note, performance in _settings.pairs(fix_note)]
        if any(note < 0 for note, _ in notes):
            raise InvalidError(f"fixed note is {min(notes)[0]}, but must be a note of the score, counted from 0")
        with _progress.stages(progress) as tell:
            return Alignment(self._aligned.realign(anchors, notes, passage, tell))

    def plot(self) -> Figure:
        """A picture of matplotlib: notes where they were played, shaded by confidence, the warp, and the tempo."""
        from ._plot import plot

        return plot(self)

    def __len__(self) -> int:
        return len(self.notes)

    def __repr__(self) -> str:
        recording, score = self.provenance["recording"]["name"], self.provenance["score"]["name"]
        return f"<Alignment of {len(self)} notes of {score} with {recording}, confidence {self.confidence:.2f}>"


def align(
    audio: AudioLike,
    score: StrPath,
    *,
    rate: int | None = None,
    keep: bool = True,
    progress: bool = False,
    **settings: Any,
) -> Alignment:
    """Finds where every note of a score is in a recording.

    :param audio: a recording, a performance as MIDI, or samples between -1 and 1: of one channel, or rows of channels.
    :param score: MusicXML, MEI, Humdrum ``**kern`` or MIDI.
    :param rate: samples per second, beside samples.
    :param keep: keep what was heard, to :meth:`~Alignment.realign`: some megabytes for each minute.
    :param progress: show a bar of tqdm, if it is installed.
    :param settings: the options of ``agogic align`` with the same names, values and defaults, dashes as underscores: ``method``,
        ``ear``, ``transcription``, ``path``, ``features``, ``extractor``, ``aligner``, ``hop``, ``lam`` (for ``--lambda``), ``ends``,
        ``soundfont``, ``band``, ``slope``, ``anchor``, ``fix_note``, ``part``, ``first_bar``, ``pickup``, ``like``, ``device``.
        ``slope`` may be a pair, ``anchor`` and ``fix_note`` mappings or pairs, ``part`` and ``path`` lists. None leaves the default.

    >>> piece = demo(folder)
    >>> alignment = align(piece.performance, piece.score, ear="small")
    >>> len(alignment.notes), alignment.evaluate(piece.truth)["within_50_pct"]
    (176, 100.0)
    >>> corrected = alignment.realign(anchor={0.0: 1.3})
    >>> round(float(corrected.notes["performance_onset_s"][0]), 6)
    1.3
    """
    words = _settings.typed(settings)
    with _progress.stages(progress) as tell:
        return _align(audio, score, rate, words, keep, None, tell)


def _align(
    audio: AudioLike,
    score: StrPath,
    rate: int | None,
    words: list[tuple[str, str]],
    keep: bool,
    job: _agogic.Job | None,
    tell: Any,
) -> Alignment:
    if isinstance(audio, np.ndarray):
        samples, rate = samples_of(audio, rate)
        return Alignment(_agogic.align_samples(samples, rate, os.fspath(score), words, keep, job, tell))
    refuse_rate(rate)
    return Alignment(_agogic.align_file(os.fspath(audio), os.fspath(score), words, keep, job, tell))


def align_many(
    pairs: Iterable[tuple[StrPath, StrPath] | tuple[StrPath, StrPath, Mapping[str, Any]]],
    *,
    workers: int | None = None,
    errors: str = "raise",
    keep: bool = False,
    progress: bool = False,
    **settings: Any,
) -> list[Alignment | Error]:
    """Aligns many pairs of files, several at once, and gives the results in their order.

    :param pairs: recording and score, and where a pair needs them, settings of its own.
    :param workers: how many at once; one for each processor if none.
    :param errors: ``raise`` stops at a pair that fails; ``return`` goes on, and gives the exception in place of the alignment.
    :param keep: keep what was heard of each, which takes memory.
    :param settings: as of :func:`align`, for all pairs.

    >>> piece = demo(folder)
    >>> results = align_many([(piece.performance, piece.score), ("none.wav", piece.score)], errors="return", ear="none")
    >>> [type(result).__name__ for result in results]
    ['Alignment', 'MissingFileError']
    """
    if errors not in ("raise", "return"):
        raise InvalidError(f'errors is "{errors}", but must be raise or return')
    if workers is not None and workers < 1:
        raise InvalidError(f"workers is {workers}, but must be at least 1")
    _agogic.check_settings(_settings.typed(settings))
    listed = [(pair[0], pair[1], {**settings, **(pair[2] if len(pair) > 2 else {})}) for pair in pairs]
    job = _agogic.Job()
    results: list[Alignment | Error] = []
    pool = ThreadPoolExecutor(workers or os.cpu_count() or 1, "agogic")
    try:
        futures = [
            pool.submit(_align, audio, score, None, _settings.typed(own), keep, job, None) for audio, score, own in listed
        ]
        drawn = _progress.bar(progress, len(listed), "piece")
        for future in futures:
            try:
                results.append(future.result())
            except Error as error:
                if errors == "raise":
                    raise
                results.append(error)
            if drawn is not None:
                drawn.update()
        if drawn is not None:
            drawn.close()
    finally:
        # After an error or Ctrl+C nothing goes on in the background.
        job.cancel()
        pool.shutdown(cancel_futures=True)
    return results


def formats() -> dict[str, str]:
    """The formats that alignments can be written in, with what is in them.

    >>> formats()["json"]
    'everything: warp, notes, tempo, settings, provenance'
    """
    return {name: description for name, _, description in _agogic.formats()}

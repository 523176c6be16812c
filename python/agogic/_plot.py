"""A picture of an alignment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._alignment import Alignment


def plot(alignment: Alignment) -> Figure:
    """Notes, warp and tempo over the time of the recording."""
    from matplotlib import pyplot

    figure: Figure
    figure, (notes, warp, tempo) = pyplot.subplots(
        3, 1, sharex=True, figsize=(10, 7), height_ratios=(3, 2, 1), layout="constrained"
    )
    table = alignment.notes
    onsets = table["performance_onset_s"]
    bars = notes.barh(
        table["pitch"], np.maximum(table["performance_offset_s"] - onsets, 0.02), left=onsets, height=0.9, color="tab:blue"
    )
    for bar, confidence, verdict in zip(bars, table["confidence"], table["verdict"], strict=True):
        bar.set_alpha(0.25 + 0.75 * float(confidence))
        if verdict not in ("", "played"):
            bar.set_facecolor("gold")
    extra = alignment.extra_notes
    if len(extra):
        begin = extra["performance_onset_s"]
        notes.barh(extra["pitch"], extra["performance_offset_s"] - begin, left=begin, height=0.9, color="tab:red")
    for place in alignment.places:
        notes.axvspan(place["performance_from_s"], place["performance_to_s"], color="tab:orange", alpha=0.15)
    notes.set_ylabel("MIDI pitch")
    notes.set_title(repr(alignment)[1:-1])
    warp.plot(alignment.warp["performance_s"], alignment.warp["score_s"])
    warp.set_ylabel("score (s)")
    tempo.step(alignment.tempo["performance_s"], alignment.tempo["beats_per_minute"], where="post")
    tempo.set_ylabel("quarters / min")
    tempo.set_xlabel("recording (s)")
    return figure

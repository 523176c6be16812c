"""The package gives what the command line gives, to the last bit."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from conftest import write_wav

import agogic

CASES = [
    {},
    {"ear": "small", "slope": (0.25, 4.0), "band": 5.0},
    {"ear": "none", "anchor": [(0.0, 1.28), (5.0, 8.5)], "fix_note": {3: 2.0}, "first_bar": 5},
    {"method": "frames", "features": "chroma", "lam": 0.5, "ends": "free", "hop": 2048},
    {"method": "frames", "aligner": "dtw", "features": "cqt", "hop": 4096, "device": "cpu"},
]


def words(settings):
    """As they are typed."""
    typed = []
    for name, value in settings.items():
        option = "--" + ("lambda" if name == "lam" else name.replace("_", "-"))
        if name in ("anchor", "fix_note"):
            pairs = value.items() if isinstance(value, dict) else value
            typed += [word for a, b in pairs for word in (option, f"{a}={b}")]
        elif name == "slope":
            typed += [option, f"{value[0]}:{value[1]}"]
        else:
            typed += [option, str(value)]
    return typed


@pytest.mark.parametrize("settings", CASES, ids=lambda settings: ",".join(settings) or "defaults")
def test_results_are_those_of_the_command_line(cli, piece, tmp_path, settings):
    out = tmp_path / "out.json"
    ran = cli("-q", "align", piece.performance, piece.score, "-o", out, *words(settings))
    assert ran.returncode == 0, ran.stderr
    alignment = agogic.align(piece.performance, piece.score, **settings)
    assert alignment.render("json") == out.read_bytes()
    document = json.loads(out.read_text())
    for column in ("performance_onset_s", "performance_offset_s", "score_onset_s", "confidence", "pitch", "bar", "beat"):
        assert alignment.notes[column].tolist() == [note[column] for note in document["notes"]]
    assert alignment.warp["performance_s"].tolist() == document["warp"]["performance_s"]
    assert alignment.confidence == document["confidence"]


@pytest.mark.parametrize("name", agogic.formats())
def test_every_format_is_written_as_the_command_line_writes_it(cli, piece, tmp_path, name):
    theirs, ours = tmp_path / "theirs.out", tmp_path / "ours.out"
    settings = {"ear": "none", "device": "cpu"}
    ran = cli("-q", "align", piece.performance, piece.score, "-o", theirs, "--format", name, *words(settings))
    assert ran.returncode == 0, ran.stderr
    agogic.align(piece.performance, piece.score, **settings).save(ours, format=name)
    assert ours.read_bytes() == theirs.read_bytes()


def test_the_extension_tells_the_format_and_the_truth_is_shown(cli, piece, aligned, tmp_path):
    ours, theirs = tmp_path / "ours.json", tmp_path / "theirs.json"
    aligned.save(ours, truth=piece.truth)
    cli("-q", "align", piece.performance, piece.score, "--ear", "small", "--truth", piece.truth, "-o", theirs)
    assert ours.read_bytes() == theirs.read_bytes()
    assert json.loads(ours.read_text())["metrics"] == aligned.evaluate(piece.truth)


def test_metrics_are_those_of_the_command_line(cli, piece, aligned):
    ran = cli("align", piece.performance, piece.score, "--ear", "small", "--truth", piece.truth, "--json")
    assert aligned.evaluate(piece.truth) == json.loads(ran.stdout)["metrics"]


def test_sound_and_features_are_those_of_the_command_line(cli, piece, tmp_path):
    sound = agogic.synthesize(piece.score)
    assert cli("synth", piece.score, "-o", tmp_path / "score.wav").returncode == 0
    for kind, hop in [("cqt", 1024), ("mel", 512)]:
        out = tmp_path / "out.npy"
        assert cli("features", piece.performance, "-o", out, "--features", kind, "--hop", hop).returncode == 0
        found = agogic.features(piece.performance, kind, hop=hop)
        assert found.values.tobytes() == np.load(out).tobytes() and len(found.times) == len(found.values)
    of_wav = agogic.features(tmp_path / "score.wav", "chroma").values
    of_score = agogic.features(piece.score, "chroma").values
    of_samples = agogic.features(sound.samples, "chroma", rate=sound.rate).values
    assert of_score.tobytes() == of_samples.tobytes()
    # A WAV file has 16 bits.
    assert of_wav.shape == of_score.shape and np.abs(of_wav - of_score).max() < 0.05


@pytest.mark.parametrize("rate, channels", [(22_050, 1), (44_100, 2), (16_000, 3)])
def test_samples_are_aligned_as_the_file_that_holds_them(piece, tmp_path, rate, channels):
    mono = agogic.synthesize(piece.score).samples[: rate * 8]
    gains = np.linspace(1.0, 0.5, channels, dtype=np.float32)
    samples = mono[:, None] * gains
    path = write_wav(tmp_path / "samples", samples, rate)
    of_file = agogic.align(path, piece.score, ear="none")
    of_samples = agogic.align(samples if channels > 1 else mono, piece.score, rate=rate, ear="none")
    assert of_samples.render("json") == of_file.render("json")
    of_double = agogic.align(samples.astype(np.float64), piece.score, rate=rate, ear="none")
    assert of_double.render("json") == of_file.render("json")


def test_corrections_give_what_aligning_with_them_gives(piece, aligned):
    asked = {"anchor": {0.0: 1.4, 10.0: 15.25}, "fix_note": {40: 12.0}}
    at_once = agogic.align(piece.performance, piece.score, ear="small", **asked)
    assert aligned.realign(**asked).render("json") == at_once.render("json")
    one_by_one = aligned.realign(anchor={0.0: 9.0}).realign(anchor={0.0: 1.4})
    assert one_by_one.notes["performance_onset_s"][0] == 1.4
    assert one_by_one.settings["anchors"] == [{"score_s": 0.0, "performance_s": 1.4}]


def test_a_passage_is_solved_again_and_the_rest_stays(aligned):
    note = 88
    score_s = float(aligned.notes["score_onset_s"][note])
    target = float(aligned.notes["performance_onset_s"][note]) + 0.08
    moved = aligned.realign(anchor={score_s: target}, passage=True)
    before, after = aligned.notes["performance_onset_s"], moved.notes["performance_onset_s"]
    assert after[note] == target
    far = np.abs(before - target) > 8.0
    assert far.any() and (before[far] == after[far]).all()


def test_alignments_can_be_asked_for_moments(aligned):
    onsets = np.unique(aligned.warp["score_s"])
    there = aligned.performance_time(onsets.reshape(1, -1))
    assert there.shape == (1, len(onsets)) and (np.diff(there) >= 0).all()
    assert np.allclose(aligned.score_time(there[0]), onsets)


def test_tables_and_pictures(aligned, tmp_path):
    table = aligned.to_pandas()
    assert len(table) == len(aligned) == 176 and table["performance_onset_s"].is_monotonic_increasing
    assert not aligned.notes.flags.writeable
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    aligned.plot().savefig(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    assert "176 notes of score.mid with performance.ogg" in repr(aligned)


def test_many_are_aligned_as_one_is(piece, tmp_path):
    pairs = [(piece.performance, piece.score), (os.fspath(piece.performance), piece.score, {"first_bar": 9})]
    one, other = agogic.align_many(pairs, workers=2, ear="none")
    assert one.render("csv") == agogic.align(piece.performance, piece.score, ear="none").render("csv")
    assert other.notes["bar"][0] == 9
    bad = [(tmp_path / "none.wav", piece.score), *pairs[:1]]
    failed, fine = agogic.align_many(bad, errors="return", ear="none")
    assert isinstance(failed, agogic.MissingFileError) and isinstance(fine, agogic.Alignment)
    with pytest.raises(FileNotFoundError):
        agogic.align_many(bad, ear="none")
    with pytest.raises(agogic.UnsuitableError, match="keep=True"):
        fine.realign(anchor={0.0: 1.0})

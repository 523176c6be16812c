"""Errors are exceptions with the sentences of the command line."""

from __future__ import annotations

import numpy as np
import pytest

import agogic


def sentence(ran):
    """What the command line said, without its name."""
    return ran.stderr.strip().removeprefix("agogic: ")


@pytest.mark.parametrize(
    "settings, typed, kind",
    [
        ({"hop": 512}, ["--hop", "512"], agogic.InvalidError),
        ({"method": "frames", "ear": "none"}, ["--method", "frames", "--ear", "none"], agogic.InvalidError),
        ({"band": -1}, ["--band=-1"], agogic.InvalidError),
        ({"band": float("nan")}, ["--band=nan"], agogic.InvalidError),
        ({"slope": (2, 1)}, ["--slope", "2:1"], agogic.InvalidError),
        ({"ear": "no-such-ear"}, ["--ear", "no-such-ear"], agogic.Error),
        ({"anchor": [(5.0, 3.0), (6.0, 2.0)]}, ["--anchor", "5=3", "--anchor", "6=2"], agogic.InfeasibleError),
        ({"fix_note": {9999: 1.0}}, ["--fix-note", "9999=1"], agogic.InvalidError),
        ({"part": "Kazoo"}, ["--part", "Kazoo"], agogic.Error),
        ({"device": "gpu"}, ["--device", "gpu"], agogic.Error),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_refused_in_the_same_words(cli, piece, settings, typed, kind):
    with pytest.raises(kind) as raised:
        agogic.align(piece.performance, piece.score, **settings)
    ran = cli("-q", "align", piece.performance, piece.score, *typed)
    assert ran.returncode != 0 and str(raised.value) == sentence(ran)


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"tempo": 3}, ['the setting is "tempo"', "method, band"]),
        ({"tempo": None}, ['the setting is "tempo"']),
        ({"method": "guess"}, ['--method is "guess", but must be one of onsets, frames']),
        ({"slope": "steep"}, ["--slope", "MIN:MAX"]),
        ({"hop": 1.5, "method": "frames"}, ['--hop is "1.5"']),
        ({"first_bar": True}, ['--first-bar is "True"']),
        ({"path": "1,2"}, ["--path", "A,B,B,C"]),
        ({"like": "x.json", "band": 2}, ["--like is beside --band, but must be the only setting"]),
    ],
    ids=str,
)
def test_settings_that_nobody_knows_are_refused_in_one_sentence(piece, settings, words):
    with pytest.raises(ValueError) as raised:
        agogic.align(piece.performance, piece.score, **settings)
    assert isinstance(raised.value, agogic.InvalidError)
    assert all(word in str(raised.value) for word in words), raised.value
    assert "\n" not in str(raised.value)


def test_files_that_are_not_there_or_damaged(cli, piece, tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        agogic.align(tmp_path / "none.wav", piece.score)
    assert str(raised.value) == sentence(cli("align", tmp_path / "none.wav", piece.score))
    assert isinstance(raised.value, (agogic.MissingFileError, OSError))
    with pytest.raises(agogic.FileError, match="directory"):
        agogic.align(tmp_path, piece.score)
    scrap = tmp_path / "scrap.mid"
    scrap.write_bytes(b"MThd nothing more")
    with pytest.raises(agogic.UnreadableError) as raised:
        agogic.align(piece.performance, scrap)
    assert str(raised.value) == sentence(cli("align", piece.performance, scrap))


def test_samples_are_checked(piece):
    def refused(samples, words, **more):
        with pytest.raises(agogic.Error) as raised:
            agogic.align(samples, piece.score, **more)
        assert words in str(raised.value)

    second = np.zeros(22_050, dtype=np.float32)
    refused(second, "silent", rate=22_050)
    refused(second, "rate is missing")
    refused(second, "sample rate", rate=10)
    refused(second, "whole number", rate=22_050.5)
    refused((second * 100).astype(np.int16), "divide integers", rate=22_050)
    refused(np.zeros((2, 22_050), dtype=np.float32), "transpose", rate=22_050)
    refused(np.full(22_050, np.nan), "not a number", rate=22_050)
    refused(np.zeros((2, 2, 2)), "dimensions", rate=22_050)
    refused(second[:0], "no samples", rate=22_050)
    with pytest.raises(agogic.InvalidError, match="left out beside a file"):
        agogic.align(piece.performance, piece.score, rate=44_100)


def test_nothing_that_was_read_is_written_over(piece, aligned, tmp_path):
    before = piece.score.read_bytes()
    with pytest.raises(agogic.InvalidError, match="which is read"):
        aligned.save(piece.score, format="midi")
    assert piece.score.read_bytes() == before
    with pytest.raises(agogic.InvalidError, match="which is read"):
        aligned.save(piece.truth, truth=piece.truth)
    with pytest.raises(agogic.InvalidError, match="extension"):
        aligned.save(tmp_path / "out.docx")
    with pytest.raises(agogic.InvalidError, match="notes-csv"):
        aligned.save(tmp_path / "out.csv", format="word")
    with pytest.raises(agogic.MissingFileError):
        aligned.save(tmp_path / "none" / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_corrections_are_checked(aligned):
    for passage in (False, True):
        with pytest.raises(agogic.InvalidError, match="within the recording"):
            aligned.realign(anchor={1.0: 1e6}, passage=passage)
        with pytest.raises(agogic.InvalidError, match="a note of the score"):
            aligned.realign(fix_note={100_000: 1.0}, passage=passage)
        with pytest.raises(agogic.InvalidError, match="a note of the score"):
            aligned.realign(fix_note={-1: 1.0}, passage=passage)
        with pytest.raises(agogic.Error):
            aligned.realign(anchor={1.0: float("nan")}, passage=passage)


def test_features_and_lists_are_checked(piece):
    with pytest.raises(agogic.InvalidError, match="cqt, chroma, mel"):
        agogic.features(piece.performance, "colour")
    with pytest.raises(agogic.InvalidError, match="hop"):
        agogic.features(piece.performance, hop=3)
    with pytest.raises(agogic.InvalidError, match="at least 1"):
        agogic.align_many([], workers=0)
    with pytest.raises(agogic.InvalidError, match="raise or return"):
        agogic.align_many([], errors="ignore")
    with pytest.raises(agogic.InvalidError, match="tempo"):
        agogic.align_many([(piece.performance, piece.score)], errors="return", tempo=3)
    assert agogic.align_many([]) == []

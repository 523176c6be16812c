"""What is saved is read by the programs that it is meant for."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest

import agogic


@pytest.fixture(scope="module")
def saved(piece, aligned, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")

    def save(name, format=None):
        aligned.save(folder / name, format=format)
        return folder / name

    return save


@pytest.mark.filterwarnings("ignore")
def test_partitura_reads_match_parangonada_and_midi(aligned, saved, tmp_path):
    partitura = pytest.importorskip("partitura")
    performance, pairs, score = partitura.load_match(str(saved("out.match")), create_score=True)
    assert len(score.note_array()) == len(pairs) == 176
    onsets = np.sort(performance.note_array()["onset_sec"])
    assert np.abs(onsets - np.sort(aligned.notes["performance_onset_s"])).max() < 0.002
    zipfile.ZipFile(saved("out.zip")).extractall(tmp_path)
    read = partitura.io.importparangonada.load_parangonada_csv(str(tmp_path), create_score=True)
    assert len(read[1]) == 176
    midi = partitura.load_performance_midi(str(saved("flat.mid", "midi-flat"))).note_array()
    assert np.abs(np.sort(midi["onset_sec"]) - np.sort(aligned.notes["performance_onset_s"])).max() < 0.002


def test_mir_eval_reads_onsets_and_measures_the_same(piece, aligned, saved):
    mir_eval = pytest.importorskip("mir_eval")
    events = mir_eval.io.load_events(str(saved("onsets.txt", "mir-eval")))
    onsets = np.unique(aligned.notes["score_onset_s"])
    assert np.abs(events - aligned.performance_time(onsets)).max() < 1e-5
    truth = np.loadtxt(piece.truth, delimiter=",", skiprows=1)
    theirs = mir_eval.alignment.absolute_error(truth[:, 2], events)
    ours = aligned.evaluate(piece.truth)["mir_eval"]
    assert theirs == pytest.approx((ours["median_absolute_error_s"], ours["mean_absolute_error_s"]), abs=1e-5)


def test_notation_keeps_the_names_of_its_notes(tmp_path):
    score = tmp_path / "scale.musicxml"
    note = '<note id="n{0}"><pitch><step>{1}</step><octave>4</octave></pitch><duration>1</duration><type>quarter</type></note>'
    notes = "".join(note.format(index, step) for index, step in enumerate("CDEF"))
    score.write_text(
        '<score-partwise version="4.0"><part-list><score-part id="P1"><part-name>Piano</part-name></score-part></part-list>'
        '<part id="P1"><measure number="1"><attributes><divisions>1</divisions><time><beats>4</beats><beat-type>4</beat-type>'
        f"</time></attributes>{notes}</measure></part></score-partwise>"
    )
    sound = agogic.synthesize(score)
    alignment = agogic.align(sound.samples, score, rate=sound.rate, ear="none")
    assert alignment.notes["id"].tolist() == ["n0", "n1", "n2", "n3"]
    assert np.abs(alignment.notes["performance_onset_s"] - alignment.notes["score_onset_s"]).max() < 0.05

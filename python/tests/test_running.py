"""Work runs without the interpreter's lock, tells how far it is, and stops at Ctrl+C."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import LONGEST_S, write_midi, write_wav

import agogic
from agogic import _agogic


@pytest.fixture(scope="module")
def long_piece(tmp_path_factory):
    """Half an hour of noise and thousands of notes: minutes of work, if nobody stops it."""
    folder = tmp_path_factory.mktemp("long")
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, 30 * 60 * 22_050).astype(np.float32)
    pitches = [40 + i * 7 % 45 for i in range(30 * 240)]
    return write_wav(folder / "long.wav", noise, 22_050), write_midi(folder / "long.mid", pitches)


WORK = {
    "align": "agogic.align(audio, score)",
    "align_many": "agogic.align_many([(audio, score)] * 8, workers=2)",
    "gdtw": "agogic.gdtw(np.random.randn(128, 3000, 8), np.random.randn(128, 4000, 8))",
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent otherwise there")
@pytest.mark.parametrize("work", WORK)
def test_ctrl_c_stops_the_work(long_piece, tmp_path, work):
    script = f"""
        import signal, sys, threading
        import numpy as np
        import agogic
        # Shells start what runs in the background deaf to Ctrl+C.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        audio, score = sys.argv[1:]
        print("begun", flush=True)
        try:
            {WORK[work]}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            assert threading.active_count() == 1, "threads of Python go on"
            sys.exit(7)
        print("finished", flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, long_piece)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    try:
        assert child.stdout is not None and child.stdout.readline() == "begun\n"
        time.sleep(1.0)
        assert child.poll() is None, "the work is too short for this test"
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        out, err = child.communicate(timeout=LONGEST_S)
    finally:
        child.kill()
    assert (child.returncode, out) == (7, "interrupted\n"), err
    assert time.monotonic() - begun < 10, "it went on for long"


def test_other_threads_run_meanwhile(piece):
    """A thread counts while the main thread aligns; holding the lock, it could not."""
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun, before = time.monotonic(), counts[0]
    agogic.align(piece.performance, piece.score, ear="small")
    seconds, counted = time.monotonic() - begun, counts[0] - before
    done.set()
    thread.join()
    # On a machine that is busy with other things a tenth of what is possible is enough to tell.
    assert counted > 100 * seconds / 2, f"{counted} in {seconds:.2f} s"


def test_progress_is_told_in_stages_and_drawn_by_tqdm(piece, capsys):
    told = []
    _agogic.align_file(piece.performance, piece.score, [], False, None, lambda stage, share: told.append((stage, share)))
    assert len({stage for stage, _ in told}) > 1 and all(0 <= share <= 1 for _, share in told)
    pytest.importorskip("tqdm")
    agogic.align(piece.performance, piece.score, ear="none")
    assert capsys.readouterr().err == ""
    agogic.align_many([(piece.performance, piece.score)], ear="none", progress=True)
    agogic.align(piece.performance, piece.score, progress=True)
    drawn = capsys.readouterr().err
    assert "1/1" in drawn and "%" in drawn


def test_what_a_progress_callback_raises_stops_the_work(piece):
    def refuse(stage, share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        _agogic.align_file(piece.performance, piece.score, [], False, None, refuse)


def test_a_job_is_cancelled_from_another_thread(long_piece):
    job = _agogic.Job()
    threading.Timer(0.5, job.cancel).start()
    with pytest.raises(agogic.CancelledError, match="cancelled"):
        _agogic.align_file(*long_piece, [], False, job, None)


def _in_child(queue, performance, score):
    x = np.random.default_rng(2).normal(size=(8, 60, 3))
    queue.put((agogic.gdtw(x, x[:, ::-1]).objective.tolist(), agogic.align(performance, score, ear="none").render("csv")))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_processes_do_not_wait_for_threads_that_they_do_not_have(piece):
    x = np.random.default_rng(2).normal(size=(8, 60, 3))
    expected = agogic.gdtw(x, x[:, ::-1]).objective.tolist()
    table = agogic.align(piece.performance, piece.score, ear="none").render("csv")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_in_child, args=(queue, piece.performance, piece.score))
    child.start()
    try:
        assert queue.get(timeout=LONGEST_S) == (expected, table)
    finally:
        child.join(10)
        child.kill()


def test_an_array_that_changes_meanwhile_does_not_matter():
    x = np.random.default_rng(3).normal(size=(16, 400, 8))
    kept = x.copy()
    expected = agogic.gdtw(kept, kept[:, ::-1]).phi
    found = []
    thread = threading.Thread(target=lambda: found.append(agogic.gdtw(x, kept[:, ::-1]).phi))
    thread.start()
    time.sleep(0.02)
    x[:] = 0.0
    thread.join()
    # Either it was copied in time, or the zeros came first: never a mixture.
    zeros = agogic.gdtw(np.zeros_like(kept), kept[:, ::-1]).phi
    assert (found[0] == expected).all() or (found[0] == zeros).all()

"""What a call costs beside the program: importing, aligning, and small calls of the engine. Processor time, which a busy machine
changes less than that of the clock.

    AGOGIC_CLI=path/to/agogic python overhead.py
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from resource import RUSAGE_CHILDREN, getrusage

import numpy as np

import agogic


def of_child(command: list[str]) -> float:
    """Milliseconds that a program took."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = getrusage(RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def of_call(work: Callable[[], object], times: int = 1) -> float:
    """Milliseconds that a call took, on all threads."""
    begun = time.process_time()
    for _ in range(times):
        work()
    return 1000 * (time.process_time() - begun) / times


def main() -> None:
    codes = ("pass", "import numpy", "import agogic")
    runs = [[of_child([sys.executable, "-c", code]) for code in codes] for _ in range(15)]
    idle, numpy, whole = (statistics.median(column) for column in zip(*runs, strict=True))
    print(f"import agogic: {whole - idle:.0f} ms, of which numpy {numpy - idle:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        piece = agogic.demo(folder)
        out = os.path.join(folder, "out.json")
        program = [os.environ["AGOGIC_CLI"], "-q", "align", str(piece.performance), str(piece.score), "-o", out]

        def ours() -> None:
            agogic.align(piece.performance, piece.score).save(out)

        ours()
        pairs = [(of_child(program), of_call(ours)) for _ in range(9)]
        cli, call = (statistics.median(column) for column in zip(*pairs, strict=True))
        print(f"the demo, from files to JSON: command line {cli:.0f} ms, agogic.align and save {call:.0f} ms")
        aligned = agogic.align(piece.performance, piece.score)
        print(f"its notes as an array, once: {of_call(lambda: agogic.Alignment(aligned._aligned).notes, 20):.1f} ms")
    x = np.random.default_rng(0).normal(size=(8, 2))
    print(f"gdtw of 8 x 8 frames: {of_call(lambda: agogic.gdtw(x, x), 500):.3f} ms a call")


if __name__ == "__main__":
    main()

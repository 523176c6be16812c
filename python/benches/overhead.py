"""What a call costs beside the program: importing, aligning, and small calls of the engine.

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

import numpy as np

import agogic


def median_ms(work: Callable[[], object], times: int) -> float:
    seconds = []
    for _ in range(times):
        begun = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begun)
    return 1000 * statistics.median(seconds)


def python(code: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, "-c", code], check=True)


def main() -> None:
    idle, numpy, all_of_it = (median_ms(python(code), 15) for code in ("pass", "import numpy", "import agogic"))
    print(f"import agogic: {all_of_it - idle:.0f} ms, of which numpy {numpy - idle:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        piece = agogic.demo(folder)
        program = os.environ["AGOGIC_CLI"]
        out = os.path.join(folder, "out.json")
        command = [program, "-q", "align", piece.performance, piece.score, "-o", out]

        def ours() -> None:
            agogic.align(piece.performance, piece.score).save(out)

        def theirs() -> None:
            subprocess.run(command, check=True)

        # In turns, so that a busy moment of the machine meets both.
        both = [(median_ms(theirs, 1), median_ms(ours, 1)) for _ in range(9)]
        cli, call = (statistics.median(column) for column in zip(*both, strict=True))
        print(f"the demo, from files to JSON: command line {cli:.0f} ms, agogic.align and save {call:.0f} ms")
    x = np.random.default_rng(0).normal(size=(8, 2))
    print(f"gdtw of 8 x 8 frames: {median_ms(lambda: agogic.gdtw(x, x), 500):.3f} ms a call")


if __name__ == "__main__":
    main()

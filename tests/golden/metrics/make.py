#!/usr/bin/env python3
"""Makes the golden files of the metrics: predictions, truths and what independent programs say about them.

    make.py SCORER.py

SCORER.py is the independent scorer (`read` and `compare`); mir_eval (0.8.2) must be importable. The files hold odd cases on
purpose: comment lines, further columns, rows out of order, repeated score times, predictions that end early, that run
backwards, that are exact, whose error changes sign.
"""
import importlib.util
import json
import pathlib
import random
import sys

import mir_eval
import numpy as np

HERE = pathlib.Path(__file__).parent


def write(name, rows, beats=True, shuffle=False, rng=None):
    rows = list(rows)
    if shuffle:
        rng.shuffle(rows)
    with open(HERE / name, "w") as handle:
        handle.write("# made by make.py\n")
        handle.write("score_beat,score_time_s,performance_time_s\n" if beats else "performance_time_s,n,score_time_s\n")
        for score, perf in rows:
            handle.write(f"{2 * score:.6f},{score:.6f},{perf:.6f}\n" if beats else f"{perf:.6f},1,{score:.6f}\n")


def main(scorer_path):
    spec = importlib.util.spec_from_file_location("scorer", scorer_path)
    scorer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(scorer)
    rng = random.Random(20)
    score = [0.0]
    for _ in range(60):
        score.append(score[-1] + rng.choice([0.125, 0.25, 0.25, 0.5, 1.0]))
    perf = [0.7]
    for a, b in zip(score, score[1:]):
        perf.append(perf[-1] + (b - a) * rng.uniform(0.6, 1.9))
    truth = list(zip(score, perf))
    write("truth.csv", truth)
    write("truth_doubled.csv", truth + [(s, p + 0.02) for s, p in truth[::3]], beats=False, shuffle=True, rng=rng)
    cases = {
        "exact": truth,
        "noisy": sorted((s, p + rng.gauss(0.006, 0.03)) for s, p in truth),
        "late": [(s, p + 0.0423) for s, p in truth],
        "sparse": truth[4:-6:7],
        "dense": [(score[-1] * i / 997, 0.4 + 1.31 * score[-1] * i / 997) for i in range(998)],
        "backwards": [(s, p + (0.9 if 20 <= i < 24 else 0.0)) for i, (s, p) in enumerate(truth)],
        "lost": [(s, 3.0 + 0.3 * p) for s, p in truth],
    }
    expected = {}
    for name, rows in cases.items():
        write(f"{name}.csv", rows)
        for against in ("truth.csv", "truth_doubled.csv"):
            prediction, reference = scorer.read(HERE / f"{name}.csv"), scorer.read(HERE / against)
            result = scorer.compare(prediction, reference)
            found = np.array([scorer.sample(prediction, s) for s, _ in reference])
            true = np.array([p for _, p in reference])
            # mir_eval refuses estimates that run backwards, though its formulas do not need the order.
            mir_eval.alignment.validate = lambda *_: None
            median, mean = mir_eval.alignment.absolute_error(true, found)
            result["mir_eval"] = {
                "median_absolute_error_s": float(median),
                "mean_absolute_error_s": float(mean),
                "correct_onsets": float(mir_eval.alignment.percentage_correct(true, found)),
                "correct_segments": float(mir_eval.alignment.percentage_correct_segments(true, found)),
            }
            expected[f"{name}.csv {against}"] = result
    with open(HERE / "expected.json", "w") as handle:
        json.dump(expected, handle, indent=1)
        handle.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])

"""A morning with Agogic: align, look, correct, export. Run it as it is, or cell by cell in an editor that knows `# %%`.

    python align_correct_export.py [RECORDING SCORE]
"""

# %% Files: those that were given, or the built-in demo piece.
import sys

import numpy as np

import agogic

if len(sys.argv) == 3 and __name__ == "__main__":
    recording, score = sys.argv[1:]
else:
    recording, score, _ = agogic.demo("demo")

# %% Align, with a progress bar if tqdm is installed.
alignment = agogic.align(recording, score, progress=True)
print(alignment)
for warning in alignment.warnings:
    print("warning:", warning)

# %% Every note is a row.
onsets = alignment.notes["performance_onset_s"]
print(f"the first note is at {onsets[0]:.3f} s, the last at {onsets[-1]:.3f} s")
doubtful = np.flatnonzero(alignment.notes["confidence"] < 0.8)
print(f"{len(doubtful)} notes deserve a look, {len(alignment.places)} passages are listed as places to check")

# %% Look.
alignment.plot().savefig("aligned.png", dpi=120)

# %% Correct: say where one onset really is. Only the passage round it is solved again, and nothing is listened to again.
note = len(alignment) // 2
moment = float(alignment.notes["score_onset_s"][note])
heard_at = float(onsets[note]) + 0.02
corrected = alignment.realign(anchor={moment: heard_at}, passage=True)
moved = np.abs(corrected.notes["performance_onset_s"] - onsets)
print(f"{(moved > 1e-3).sum()} notes moved by more than a millisecond, at most by {1000 * moved.max():.1f} ms")

# %% Export: the format is that of the extension, or one of `agogic.formats()`.
corrected.save("corrected.mid")
corrected.save("corrected.json")
corrected.save("onsets.txt", format="mir-eval")

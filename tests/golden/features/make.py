"""Writes the golden feature values next to this file, computed with librosa.

    python make.py

Made with librosa 0.11.0, numpy 2.4.6, scipy 1.17.1. The signal is the same formula as in src/features/golden_tests.rs.
One row per frame (hop 1024 at 22,050 Hz). Everything is in dB; cqt.csv holds the values before the frames are
normalised.
"""

import pathlib

import librosa
import numpy as np

RATE = 22050
HOP = 1024
HERE = pathlib.Path(__file__).parent


def signal():
    """Silence, then a chirp with decaying harmonic notes, then silence: 2.6 s."""
    t = np.arange(int(2.6 * RATE)) / RATE
    x = np.where((t >= 0.25) & (t < 2.3), 0.05 * np.sin(2 * np.pi * (100 * t + 600 * t * t)), 0.0)
    for onset, midi in [(0.3, 48), (0.9, 64), (1.4, 55), (1.9, 76)]:
        hz = 440.0 * 2.0 ** ((midi - 69) / 12)
        since = np.maximum(t - onset, 0.0)
        sounding = (t >= onset) & (t < 2.3)
        for h in range(1, 7):
            x += np.where(sounding, 0.3 / h * np.exp(-3 * since) * np.sin(2 * np.pi * h * hz * since), 0.0)
    return x.astype(np.float32)


def main():
    y = signal()
    mel = librosa.power_to_db(librosa.feature.melspectrogram(y=y, sr=RATE, hop_length=HOP))
    chroma = librosa.feature.chroma_stft(y=y, sr=RATE, hop_length=HOP, n_fft=4096, tuning=0, norm=2)
    chroma = librosa.power_to_db(chroma, ref=np.max)
    # Without sparsity=0, librosa drops the weakest hundredth of each filter: on this signal that moves the levels by 0.03 dB in
    # the median, but by up to 20 dB in weak bins beside strong ones.
    cqt = librosa.cqt(y, sr=RATE, hop_length=HOP, fmin=librosa.midi_to_hz(36), n_bins=48, tuning=0, sparsity=0)
    cqt = librosa.amplitude_to_db(np.abs(cqt), ref=np.max)
    for name, values, digits in [("mel", mel, 2), ("chroma", chroma, 3), ("cqt", cqt, 3)]:
        np.savetxt(HERE / f"{name}.csv", values.T, fmt=f"%.{digits}f", delimiter=",")


if __name__ == "__main__":
    main()

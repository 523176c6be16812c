"""Reference outputs of the bidirectional GRU, from PyTorch's documented equations, in double precision.

Usage: python make.py > values.json    (needs numpy)

Parameters and inputs follow a formula, so that only outputs are stored. The parameters come in PyTorch's order:
weight_ih, weight_hh, bias_ih, bias_hh of the forward direction, then of the reverse direction. Gates: r, z, n.
"""

import json

import numpy as np


def wave(count, step, scale):
    return scale * np.sin(step * np.arange(1, count + 1))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def direction(x, w_ih, w_hh, b_ih, b_hh):
    h = np.zeros(w_hh.shape[1])
    states = []
    for frame in x:
        i_r, i_z, i_n = np.split(w_ih @ frame + b_ih, 3)
        h_r, h_z, h_n = np.split(w_hh @ h + b_hh, 3)
        r = sigmoid(i_r + h_r)
        z = sigmoid(i_z + h_z)
        n = np.tanh(i_n + r * h_n)
        h = (1 - z) * n + z * h
        states.append(h)
    return np.array(states)


def gru(x, parameters, hidden):
    dim = x.shape[1]
    shapes = [(3 * hidden, dim), (3 * hidden, hidden), (3 * hidden,), (3 * hidden,)]
    halves = np.split(parameters, 2)
    outputs = []
    for half, reverse in zip(halves, [False, True]):
        tensors, start = [], 0
        for shape in shapes:
            size = int(np.prod(shape))
            tensors.append(half[start : start + size].reshape(shape))
            start += size
        states = direction(x[::-1] if reverse else x, *tensors)
        outputs.append(states[::-1] if reverse else states)
    y = np.concatenate(outputs, axis=1)
    return y / np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-12)


cases = []
for dim, hidden, frames in [(5, 3, 7), (12, 20, 40), (128, 64, 3)]:
    parameters = wave(6 * hidden * (dim + hidden + 2), 0.7, 0.6)
    x = wave(frames * dim, 1.3, 2.0).reshape(frames, dim)
    y = gru(x, parameters, hidden)
    cases.append({"input": dim, "hidden": hidden, "frames": frames, "output": [float(f"{v:.10g}") for v in y.ravel()]})
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")

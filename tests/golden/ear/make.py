"""Reference outputs of the ear, by PyTorch in double precision, and a tiny checkpoint of it.

Usage: python make.py    (needs torch; writes values.json and tiny.pt)

Parameters and levels follow a formula, so that only outputs are stored. The parameters come in the order of the names below.
"""

import json

import torch
import torch.nn as nn
import torch.nn.functional as F

P, BANDS = 88, 107
SHIFTS = [0, 12, 19, 24, 28, 31, 36, 40, 43, 48, -12, -1, 1]
ROW = 4 * BANDS + 24
CROSS = [-24, -19, -12, -7, -1, 1, 7, 12, 19, 24]
NAMES = ["conv1", "att", "place", "sum", "conv2", "cross", "gru", "post", "out"]


class Ear(nn.Module):
    def __init__(self, c, h, s, head):
        super().__init__()
        self.conv1 = nn.Conv1d(52, c, 5, padding=2)
        self.att = nn.Conv1d(24, c, 5, padding=2, bias=False)
        self.place = nn.Linear(8, c, bias=False)
        self.sum = nn.Linear(c, s)
        self.conv2 = nn.Conv1d(c, c, 3, padding=1)
        self.cross = nn.Linear(10 * s, c, bias=False)
        self.gru = nn.GRU(c, h, batch_first=True, bidirectional=True)
        self.post = nn.Conv1d(2 * h, head, 3, padding=1)
        self.out = nn.Linear(head, 5)

    def forward(self, rows):
        """rows: frames x ROW -> pitches x frames x 5"""
        frames = len(rows)
        levels = rows[:, : 4 * BANDS].view(frames, 4, BANDS)
        inputs = torch.zeros(P, 52, frames, dtype=rows.dtype)
        for p in range(P):
            for kind in range(4):
                for i, shift in enumerate(SHIFTS):
                    if 0 <= p + shift < BANDS:
                        inputs[p, kind * 13 + i] = 0.3 * levels[:, kind, p + shift]
        attack = 0.3 * rows[:, 4 * BANDS :].T[None]
        p = torch.arange(P, dtype=rows.dtype)[:, None]
        hats = torch.clamp(1 - (7 * p / 87 - torch.arange(8)[None]).abs(), min=0)
        x = torch.relu(self.conv1(inputs) + self.att(attack) + self.place(hats)[:, :, None])
        s = torch.relu(self.sum(x.transpose(1, 2)))  # P, frames, S
        s = F.pad(s, (0, 0, 0, 0, 24, 24))
        others = torch.cat([s[24 + away : 24 + away + P] for away in CROSS], 2)
        y = torch.relu(self.conv2(x).transpose(1, 2) + self.cross(others))
        g = self.gru(y)[0]
        return self.out(torch.relu(self.post(g.transpose(1, 2))).transpose(1, 2))


ear = Ear(6, 4, 3, 5).double()
at = 0
with torch.no_grad():
    for layer in NAMES:
        for parameter in getattr(ear, layer).parameters():
            count = parameter.numel()
            wave = 0.3 * torch.sin(0.7 * torch.arange(at + 1, at + count + 1, dtype=torch.float64))
            parameter.copy_(wave.view(parameter.shape))
            at += count
    frames = 20
    rows = 3 + 3 * torch.sin(0.37 * torch.arange(1, frames * ROW + 1, dtype=torch.float64)).view(frames, ROW)
    output = ear(rows)
pitches = [0, 5, 39, 70, 87]
values = [[float(f"{v:.9g}") for v in output[p].flatten().tolist()] for p in pitches]
with open("values.json", "w") as file:
    json.dump({"frames": frames, "pitches": pitches, "outputs": values}, file)
    file.write("\n")
torch.save({"state_dict": ear.float().state_dict()}, "tiny.pt")

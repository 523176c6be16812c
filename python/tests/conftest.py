"""What the tests share: the program to compare with, the demo piece, and pieces made here."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import agogic

#: Minutes of nothing to do are a failure of what was tested.
LONGEST_S = 120


@pytest.fixture(scope="session")
def program() -> str:
    """The command line, built from the same sources: `./dev python` says where it is."""
    path = os.environ.get("AGOGIC_CLI")
    if not path:
        pytest.fail("AGOGIC_CLI must be the path of the agogic program; ./dev python sets it")
    return path


@pytest.fixture(scope="session")
def cli(program: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *map(str, words)], capture_output=True, text=True, encoding="utf-8", timeout=LONGEST_S
        )

    return run


@pytest.fixture(scope="session")
def piece(tmp_path_factory: pytest.TempPathFactory) -> agogic.Demo:
    return agogic.demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def aligned(piece: agogic.Demo) -> agogic.Alignment:
    return agogic.align(piece.performance, piece.score, ear="small")


def write_midi(path: Path, pitches: list[int], seconds_each: float = 0.25) -> Path:
    """A score of one note after the other."""
    ticks = round(480 * seconds_each / 0.5)
    track = b""
    for pitch in pitches:
        track += b"\x00\x90" + bytes([pitch, 80]) + _variable(ticks) + b"\x80" + bytes([pitch, 0])
    track += b"\x00\xff\x2f\x00"
    header = b"MThd" + (6).to_bytes(4, "big") + b"\x00\x00\x00\x01" + (480).to_bytes(2, "big")
    path.write_bytes(header + b"MTrk" + len(track).to_bytes(4, "big") + track)
    return path


def _variable(number: int) -> bytes:
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(0x80 | number & 0x7F)
    return bytes(reversed(groups))


def write_wav(path: Path, samples: np.ndarray, rate: int) -> Path:
    """Float samples, rows of channels."""
    rows = np.atleast_2d(samples.T).T.astype("<f4")
    channels, data = rows.shape[1], rows.tobytes()
    about = b"\x03\x00" + channels.to_bytes(2, "little") + rate.to_bytes(4, "little")
    about += (rate * channels * 4).to_bytes(4, "little") + (channels * 4).to_bytes(2, "little") + b"\x20\x00"
    chunks = b"WAVEfmt " + len(about).to_bytes(4, "little") + about + b"data" + len(data).to_bytes(4, "little") + data
    path.write_bytes(b"RIFF" + len(chunks).to_bytes(4, "little") + chunks)
    return path

"""The compiled half of the package."""

from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Aligned",
    "Gdtw",
    "Job",
    "__version__",
    "align_file",
    "align_samples",
    "check_settings",
    "demo",
    "dtw",
    "features_of_file",
    "features_of_samples",
    "formats",
    "gdtw",
    "setting_names",
    "soft_dtw",
    "synthesize",
]

__version__: str

_Path = str | PathLike[str]
_Progress = Callable[[str, float], object] | None
_Lengths = list[tuple[int, int]]

@final
class Job:
    def __new__(cls) -> Job: ...
    def cancel(self) -> None: ...

@final
class Aligned:
    is_kept: bool
    def render(self, format: str, truth: _Path | None) -> bytes: ...
    def save(self, path: _Path, format: str | None, truth: _Path | None) -> None: ...
    def evaluate(self, truth: _Path) -> str: ...
    def performance_time(self, score_s: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def score_time(self, performance_s: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def times(self) -> list[tuple[str, float]]: ...
    def realign(
        self, anchors: list[tuple[float, float]], fix_notes: list[tuple[int, float]], passage: bool, progress: _Progress
    ) -> Aligned: ...

def align_file(
    audio: _Path,
    score: _Path,
    settings: list[tuple[str, str]],
    keep: bool,
    job: Job | None,
    progress: _Progress,
) -> Aligned: ...
def align_samples(
    samples: NDArray[np.float32],
    rate: int,
    score: _Path,
    settings: list[tuple[str, str]],
    keep: bool,
    job: Job | None,
    progress: _Progress,
) -> Aligned: ...
def check_settings(settings: list[tuple[str, str]]) -> None: ...
def setting_names() -> list[str]: ...
def formats() -> list[tuple[str, str, str]]: ...
@final
class Gdtw:
    def phi(self) -> NDArray[np.float64]: ...
    def objective(self) -> NDArray[np.float64]: ...
    def kkt_residual(self) -> NDArray[np.float64]: ...
    def vjp(self, grad: NDArray[np.float64], smooth: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]: ...

def gdtw(
    x: NDArray[Any],
    y: NDArray[Any],
    lengths: _Lengths,
    lam: list[float],
    slope: list[tuple[float, float]],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> Gdtw: ...
def dtw(
    x: NDArray[Any], y: NDArray[Any], lengths: _Lengths, band: list[float], free_ends: bool
) -> tuple[NDArray[np.float64], list[NDArray[np.int64]]]: ...
def soft_dtw(
    x: NDArray[Any], y: NDArray[Any], lengths: _Lengths, band: list[float], gamma: float
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]: ...
def features_of_file(
    input: _Path, kind: str, hop: int, soundfont: _Path | None
) -> tuple[NDArray[np.float64], NDArray[np.float32]]: ...
def features_of_samples(
    samples: NDArray[np.float32], rate: int, kind: str, hop: int
) -> tuple[NDArray[np.float64], NDArray[np.float32]]: ...
def synthesize(score: _Path, part: list[str], soundfont: _Path | None) -> tuple[NDArray[np.float32], int]: ...
def demo(folder: _Path) -> tuple[Path, Path, Path]: ...

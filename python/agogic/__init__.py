"""Agogic aligns a recording of a performance with its score.

:func:`align` does it from two files; :func:`gdtw`, :func:`dtw` and :func:`soft_dtw` are time warping of arrays, and ``agogic.torch`` has
them as layers that can be trained through.
"""

from ._agogic import __version__
from ._alignment import Alignment, align, align_many, formats
from ._audio import Demo, Features, Sound, demo, features, synthesize
from ._engine import Dtw, Gdtw, GdtwGradient, SoftDtw, dtw, gdtw, gdtw_vjp, soft_dtw
from ._errors import (
    CancelledError,
    Error,
    FileError,
    InfeasibleError,
    InvalidError,
    MissingFileError,
    UnreadableError,
    UnsuitableError,
)

__all__ = [
    "Alignment",
    "CancelledError",
    "Demo",
    "Dtw",
    "Error",
    "Features",
    "FileError",
    "Gdtw",
    "GdtwGradient",
    "InfeasibleError",
    "InvalidError",
    "MissingFileError",
    "SoftDtw",
    "Sound",
    "UnreadableError",
    "UnsuitableError",
    "__version__",
    "align",
    "align_many",
    "demo",
    "dtw",
    "features",
    "formats",
    "gdtw",
    "gdtw_vjp",
    "soft_dtw",
    "synthesize",
]

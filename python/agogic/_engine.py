"""Time warping of arrays: GDTW with its gradient, classic DTW and soft-DTW, of single pairs or of batches with lengths of their own.

Sequences are arrays of frames by values; of one value they may be flat; a batch has one more dimension in front. Times are shares of
each sequence's own length: its first frame is at 0, its last at 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _agogic
from ._errors import InvalidError

#: How many frames count of each x and of each y of a batch; None: all.
Lengths = tuple[ArrayLike | None, ArrayLike | None]


class _Pairs:
    """Two batches with what is common to all methods, checked."""

    def __init__(self, x: ArrayLike, y: ArrayLike, lengths: Lengths | None) -> None:
        first, second = np.asarray(x), np.asarray(y)
        kind = np.float32 if first.dtype == second.dtype == np.float32 else np.float64
        self.shapes = (first.shape, second.shape)
        self.batched = first.ndim == 3
        if first.ndim != second.ndim or first.ndim not in (1, 2, 3):
            raise InvalidError(f"the number of dimensions is {first.ndim} and {second.ndim}, but must be 1, 2 or 3 for both")
        if first.ndim == 3 and len(first) != len(second):
            raise InvalidError(f"the size of the second batch is {len(second)}, but must be {len(first)}, as of the first")
        self.x, self.y = _as_batch(first, kind), _as_batch(second, kind)
        if self.x.shape[2] != self.y.shape[2]:
            raise InvalidError(
                f"the number of values in a frame is {self.y.shape[2]} in y, but must be {self.x.shape[2]}, as in x"
            )
        given = (None, None) if lengths is None else lengths
        if len(given) != 2:
            raise InvalidError("lengths is not a pair, but must be the lengths of x and those of y")
        self.x_lengths = self._lengths(given[0], self.x.shape[1])
        self.y_lengths = self._lengths(given[1], self.y.shape[1])
        self.lengths = list(zip(self.x_lengths.tolist(), self.y_lengths.tolist(), strict=True))

    def __len__(self) -> int:
        return len(self.x)

    def _lengths(self, given: ArrayLike | None, frames: int) -> NDArray[np.int64]:
        lengths = self.each("lengths", frames if given is None else given)
        wrong = lengths[(lengths < 1) | (lengths > frames) | (lengths != np.floor(lengths))]
        if len(wrong):
            raise InvalidError(f"a length is {wrong[0]:g}, but must be a whole number from 1 to {frames}")
        return lengths.astype(np.int64)

    def each(self, name: str, value: ArrayLike) -> NDArray[np.float64]:
        """One number for each pair."""
        numbers = np.asarray(value, dtype=np.float64)
        if numbers.ndim and numbers.shape != (len(self),):
            raise InvalidError(f"the shape of {name} is {numbers.shape}, but must be () or ({len(self)},)")
        return np.broadcast_to(numbers, (len(self),))

    def band(self, value: ArrayLike | None) -> NDArray[np.float64]:
        """The width of the band of each pair, infinite for none."""
        widths = self.each("band", np.inf if value is None else value)
        if not (widths >= 0).all():
            raise InvalidError(f"band is {widths[~(widths >= 0)][0]:g}, but must be 0 or more: a share of the whole")
        return widths


def _as_batch(sequences: NDArray[Any], kind: type[np.floating]) -> NDArray[Any]:
    frames = sequences[:, None] if sequences.ndim == 1 else sequences
    return np.ascontiguousarray(frames if frames.ndim == 3 else frames[None], dtype=kind)


def _free(ends: str) -> bool:
    if ends not in ("pinned", "free"):
        raise InvalidError(f'ends is "{ends}", but must be pinned or free')
    return ends == "free"


class Gdtw:
    """A solved problem, or a batch of them; :func:`gdtw_vjp` takes its gradient."""

    def __init__(self, solved: _agogic.Gdtw, pairs: _Pairs, lam_is_single: bool) -> None:
        self._solved, self._pairs, self._lam_is_single = solved, pairs, lam_is_single
        self.phi: NDArray[np.float64] = self._shaped(solved.phi())
        """The time in y, from 0 to 1, of each frame of x; after the end of a shorter one its last value goes on."""

    @property
    def objective(self) -> NDArray[np.float64]:
        """What the warp costs."""
        return self._shaped(self._solved.objective())

    @property
    def kkt_residual(self) -> NDArray[np.float64]:
        """How far the warp is from stationary, as a share of the largest derivative; at most 1e-9 where the finish converged."""
        return self._shaped(self._solved.kkt_residual())

    def _shaped(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return values if self._pairs.batched else values[0]


def gdtw(
    x: ArrayLike,
    y: ArrayLike,
    *,
    lengths: Lengths | None = None,
    lam: ArrayLike = 0.1,
    slope: ArrayLike = (0.0, np.inf),
    band: ArrayLike | tuple[ArrayLike, ArrayLike] | None = None,
    ends: str = "pinned",
) -> Gdtw:
    """Continuous-time, regularised, constrained time warping (GDTW), of one pair or of a batch.

    Finds the warp φ that minimises ∫ ‖x(t) − y(φ(t))‖² + λ (φ′(t) − 1)² dt, with one knot for each frame of x: exactly on a grid, then
    finished by Newton's method in double precision.

    :param lengths: how many frames count, of x and of y.
    :param lam: λ, one for all or one for each pair.
    :param slope: least and greatest φ′, one pair of limits for all or a row of two for each.
    :param band: how far φ(t) may be from t, one for all or one for each pair; or two arrays like φ, its lower and upper bounds.
    :param ends: ``pinned``: the first frames belong together, and the last; ``free``: x may be found anywhere in y.

    >>> import numpy as np
    >>> t = np.linspace(0, 1, 50)
    >>> found = gdtw(np.sin(6 * t), np.sin(6 * t**1.5), lam=0.01)
    >>> bool(abs(found.phi - t ** (2 / 3)).max() < 0.03)
    True
    """
    pairs = _Pairs(x, y, lengths)
    lower, upper = _bounds(pairs, band)
    if not _free(ends):
        rows, last = np.arange(len(pairs)), pairs.x_lengths - 1
        lower[:, 0] = upper[:, 0] = 0.0
        lower[rows, last] = upper[rows, last] = 1.0
    lam = np.asarray(lam, dtype=np.float64)
    limits = np.broadcast_to(np.asarray(slope, dtype=np.float64), (len(pairs), 2)).tolist()
    solved = _agogic.gdtw(
        pairs.x, pairs.y, pairs.lengths, pairs.each("lam", lam).tolist(), [(a, b) for a, b in limits], lower, upper
    )
    return Gdtw(solved, pairs, lam.ndim == 0)


def _bounds(pairs: _Pairs, band: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shape = pairs.x.shape[:2]
    if isinstance(band, tuple):
        lower, upper = (np.array(np.broadcast_to(np.asarray(side, np.float64), shape)) for side in band)
        return lower, upper
    width = pairs.band(band)[:, None]
    times = np.arange(shape[1]) / np.maximum(pairs.x_lengths - 1, 1)[:, None]
    return times - width, times + width


class GdtwGradient(NamedTuple):
    """Gradients of a loss, each like what it is of."""

    x: NDArray[Any]
    y: NDArray[Any]
    lam: NDArray[np.float64]


def gdtw_vjp(solution: Gdtw, grad: ArrayLike, *, smooth: float = 0.0) -> GdtwGradient:
    """Gradients with respect to x, y and λ of a loss whose gradient with respect to φ is ``grad``, by implicit differentiation.

    :param smooth: round the kinks that y has at its frames over so many frames. 0 is the exact gradient, in which a knot that rests on
        a frame answers to nothing; to learn by, 1 is better.

    >>> import numpy as np
    >>> t = np.linspace(0, 1, 20)
    >>> solution = gdtw(np.sin(6 * t), np.sin(6 * t**1.2))
    >>> gdtw_vjp(solution, np.ones(20)).x.shape
    (20,)
    """
    pairs = solution._pairs
    shape = pairs.x.shape[:2]
    loss = np.asarray(grad, dtype=np.float64)
    if loss.shape != solution.phi.shape:
        raise InvalidError(f"the shape of the gradient is {loss.shape}, but must be {solution.phi.shape}, as of φ")
    x, y, lam = solution._solved.vjp(np.ascontiguousarray(loss.reshape(shape)), float(smooth))
    total = np.asarray(lam.sum()) if solution._lam_is_single else lam
    return GdtwGradient(x.reshape(pairs.shapes[0]), y.reshape(pairs.shapes[1]), total)


class Dtw(NamedTuple):
    """The cheapest paths."""

    cost: Any
    """Sum of squared distances along the path; of a batch, an array."""
    path: Any
    """Rows of two frames, of x and of y; of a batch, a list of such arrays."""


def dtw(
    x: ArrayLike,
    y: ArrayLike,
    *,
    lengths: Lengths | None = None,
    band: ArrayLike | None = None,
    ends: str = "pinned",
) -> Dtw:
    """Classic dynamic time warping of squared distances, with the steps (1,1), (1,0) and (0,1).

    :param lengths: how many frames count, of x and of y.
    :param band: how far from the diagonal, as a share of y, one for all or one for each pair.
    :param ends: ``pinned``, or ``free``: x may be found anywhere in y.

    >>> dtw([1.0, 2.0, 3.0], [1.0, 2.0, 2.0, 3.0]).path.tolist()
    [[0, 0], [1, 1], [1, 2], [2, 3]]
    """
    pairs = _Pairs(x, y, lengths)
    cost, path = _agogic.dtw(pairs.x, pairs.y, pairs.lengths, pairs.band(band).tolist(), _free(ends))
    return Dtw(cost, path) if pairs.batched else Dtw(float(cost[0]), path[0])


class SoftDtw(NamedTuple):
    """The soft minimum over all paths, and its gradients."""

    value: Any
    """Of a batch, an array."""
    grad_x: NDArray[Any]
    grad_y: NDArray[Any]


def soft_dtw(
    x: ArrayLike,
    y: ArrayLike,
    gamma: float = 1.0,
    *,
    lengths: Lengths | None = None,
    band: ArrayLike | None = None,
) -> SoftDtw:
    """Soft-DTW of squared distances, with its gradients.

    :param gamma: how soft the minimum is, above 0.
    :param lengths: how many frames count, of x and of y.
    :param band: how far from the diagonal, as a share of y, one for all or one for each pair.

    >>> soft_dtw([1.0, 2.0, 3.0], [1.0, 2.0, 3.5], gamma=0.001).grad_y.round(3).tolist()
    [0.0, 0.0, 1.0]
    """
    pairs = _Pairs(x, y, lengths)
    value, grad_x, grad_y = _agogic.soft_dtw(pairs.x, pairs.y, pairs.lengths, pairs.band(band).tolist(), float(gamma))
    shaped = (grad_x.reshape(pairs.shapes[0]), grad_y.reshape(pairs.shapes[1]))
    return SoftDtw(value if pairs.batched else float(value[0]), *shaped)

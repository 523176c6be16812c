"""The engine as layers of PyTorch that can be trained through. Tensors on other devices are copied to the CPU and back.

>>> import torch
>>> x = torch.randn(4, 30, 8, dtype=torch.float64, requires_grad=True)
>>> y = torch.randn(4, 40, 8, dtype=torch.float64)
>>> phi = DecDTW(lam=0.1)(x, y, lengths=([30, 25, 20, 30], None), band=[0.1, 0.2, 0.3, 1.0])
>>> phi.shape
torch.Size([4, 30])
>>> phi.sum().backward()
>>> x.grad.shape
torch.Size([4, 30, 8])
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.autograd.function import once_differentiable

from . import _engine

__all__ = ["DecDTW", "SoftDTW", "gdtw", "soft_dtw"]


def _array(value: Any) -> Any:
    """Tensors as arrays, also within tuples."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy()
    return tuple(_array(item) for item in value) if isinstance(value, tuple) else value


class _Gdtw(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, lam: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
        smooth = options.pop("smooth")
        solution = _engine.gdtw(_array(x), _array(y), lam=_array(lam), **options)
        ctx.solution, ctx.smooth = solution, smooth
        ctx.kinds = [{"device": tensor.device, "dtype": tensor.dtype} for tensor in (x, y, lam)]
        return torch.from_numpy(solution.phi).to(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        found = _engine.gdtw_vjp(ctx.solution, _array(grad), smooth=ctx.smooth)
        return *(torch.as_tensor(part, **kind) for part, kind in zip(found, ctx.kinds, strict=True)), None


def gdtw(
    x: torch.Tensor,
    y: torch.Tensor,
    *,
    lengths: Any = None,
    lam: torch.Tensor | ArrayLike = 0.1,
    slope: Any = (0.0, np.inf),
    band: Any = None,
    ends: str = "pinned",
    smooth: float = 0.0,
) -> torch.Tensor:
    """The warps φ of :func:`agogic.gdtw`, differentiable with respect to x, y and λ.

    :param smooth: as of :func:`agogic.gdtw_vjp`: 0 for the exact gradient, 1 to learn by.
    """
    options = {"lengths": _array(lengths), "slope": _array(slope), "band": _array(band), "ends": ends, "smooth": smooth}
    weight = lam if isinstance(lam, torch.Tensor) else torch.as_tensor(np.asarray(lam, dtype=np.float64))
    found: torch.Tensor = _Gdtw.apply(x, y, weight, options)
    return found


class DecDTW(torch.nn.Module):
    """Deep declarative dynamic time warping: two sequences in, the optimal warp out, its implicit gradient back.

    :param lam: weight λ of the regulariser; a ``torch.nn.Parameter`` is learned.
    :param slope: least and greatest slope of the warp.
    :param band: how far the warp may be from the diagonal, unless a call says otherwise.
    :param ends: ``pinned`` or ``free``.
    :param smooth: how many frames kinks are rounded over in the gradient.
    """

    def __init__(
        self,
        lam: float | torch.Tensor = 0.1,
        slope: Any = (0.0, np.inf),
        band: Any = None,
        ends: str = "pinned",
        smooth: float = 0.0,
    ) -> None:
        super().__init__()
        self.lam, self.slope, self.band, self.ends, self.smooth = lam, slope, band, ends, smooth

    def forward(self, x: torch.Tensor, y: torch.Tensor, lengths: Any = None, band: Any = None) -> torch.Tensor:
        """φ, a row for each pair: the time in y, from 0 to 1, of each frame of x."""
        band = self.band if band is None else band
        return gdtw(x, y, lengths=lengths, lam=self.lam, slope=self.slope, band=band, ends=self.ends, smooth=self.smooth)


class _SoftDtw(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, gamma: float, lengths: Any, band: Any) -> torch.Tensor:
        found = _engine.soft_dtw(_array(x), _array(y), gamma, lengths=lengths, band=band)
        ctx.save_for_backward(torch.from_numpy(found.grad_x).to(x), torch.from_numpy(found.grad_y).to(y))
        return torch.as_tensor(found.value).to(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        grad_x, grad_y = ctx.saved_tensors
        weight = grad.reshape(grad.shape + (1,) * (grad_x.ndim - grad.ndim))
        return weight * grad_x, weight * grad_y, None, None, None


def soft_dtw(x: torch.Tensor, y: torch.Tensor, gamma: float = 1.0, *, lengths: Any = None, band: Any = None) -> torch.Tensor:
    """The values of :func:`agogic.soft_dtw`, differentiable with respect to x and y."""
    found: torch.Tensor = _SoftDtw.apply(x, y, gamma, _array(lengths), _array(band))
    return found


class SoftDTW(torch.nn.Module):
    """Soft-DTW as a loss: one value for each pair."""

    def __init__(self, gamma: float = 1.0, band: Any = None) -> None:
        super().__init__()
        self.gamma, self.band = gamma, band

    def forward(self, x: torch.Tensor, y: torch.Tensor, lengths: Any = None, band: Any = None) -> torch.Tensor:
        """Values, one for each pair."""
        return soft_dtw(x, y, self.gamma, lengths=lengths, band=self.band if band is None else band)

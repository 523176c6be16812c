"""The engine against other packages, in one run: times, and objectives where they minimise the same.

    pip install agogic torch gdtw tslearn pysdtw && python compare.py

Packages that are not installed are left out. Each time is the least of several calls after a first one, which may compile.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable

import numpy as np

import agogic

LAMBDA = 0.01


def curves(frames: int, dim: int, batch: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Smooth curves and a warped copy, both with noise."""
    noise = np.random.default_rng(frames + dim)
    t = np.linspace(0, 1, frames)[None, :, None]
    speeds, phases = noise.uniform(10, 40, (batch, 1, dim)), noise.uniform(0, 6, (batch, 1, dim))
    pair = [np.sin(t**warp * speeds + phases) + 0.1 * noise.normal(size=(batch, frames, dim)) for warp in (1.0, 1.3)]
    return pair[0], pair[1]


def cost(x: np.ndarray, y: np.ndarray, phi: np.ndarray) -> float:
    """What GDTW minimises, computed from the warp alone."""
    times = np.linspace(0, 1, len(x))
    at = np.stack([np.interp(phi, np.linspace(0, 1, len(y)), column) for column in y.T], axis=1)
    weights = np.full(len(x), times[1])
    weights[[0, -1]] /= 2
    slopes = np.diff(phi) / times[1]
    return float((weights * ((x - at) ** 2).sum(1)).sum() + LAMBDA * ((slopes - 1) ** 2).sum() * times[1])


def measured(work: Callable[[], object]) -> float:
    """Milliseconds."""
    work()
    seconds = []
    begun = time.perf_counter()
    while len(seconds) < 3 or (time.perf_counter() - begun < 1.0 and len(seconds) < 50):
        at = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - at)
    return 1000 * min(seconds)


def there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def row(task: str, size: str, who: str, milliseconds: float, remark: str = "") -> None:
    print(f"| {task} | {size} | {who} | {milliseconds:.2f} | {remark} |", flush=True)


def compare_gdtw() -> None:
    for frames, dim in [(256, 1), (512, 1), (512, 16), (1024, 16)]:
        (x,), (y,) = curves(frames, dim)
        size = f"{frames} frames of {dim}"
        found = agogic.gdtw(x, y, lam=LAMBDA).phi
        time_ms = measured(lambda x=x, y=y: agogic.gdtw(x, y, lam=LAMBDA))
        row("gdtw", size, "agogic", time_ms, f"objective {cost(x, y, found):.6f}")
        if there("gdtw"):
            import gdtw

            # It warps its first signal onto the second.
            settings = {"lambda_cum": 0.0, "lambda_inst": LAMBDA}
            their = lambda x=x, y=y: gdtw.warp(y, x, params=settings)  # noqa: E731
            time_ms = measured(their)
            row("gdtw", size, "gdtw", time_ms, f"objective {cost(x, y, their()[3].tau):.6f}")


def compare_dtw() -> None:
    for frames, dim in [(256, 16), (1024, 16)]:
        (x,), (y,) = curves(frames, dim)
        size = f"{frames} frames of {dim}"
        row("dtw", size, "agogic", measured(lambda x=x, y=y: agogic.dtw(x, y)), f"cost {agogic.dtw(x, y).cost:.4f}")
        if there("tslearn"):
            from tslearn.metrics import dtw_path

            path, root = dtw_path(x, y)
            row("dtw", size, "tslearn", measured(lambda x=x, y=y: dtw_path(x, y)), f"cost {root**2:.4f}")


def compare_soft_dtw() -> None:
    if not there("torch"):
        return
    import torch

    from agogic.torch import SoftDTW

    for batch, frames, dim in [(16, 128, 16), (16, 512, 16)]:
        x, y = (torch.tensor(side, dtype=torch.float32) for side in curves(frames, dim, batch))
        x.requires_grad_()
        size = f"{batch} x {frames} frames of {dim}"
        others = {"agogic": SoftDTW(gamma=1.0)}
        if there("tslearn"):
            from tslearn.metrics import SoftDTWLossPyTorch

            others["tslearn"] = SoftDTWLossPyTorch(gamma=1.0)
        if there("pysdtw"):
            import pysdtw

            others["pysdtw"] = pysdtw.SoftDTW(gamma=1.0, use_cuda=False)
        for who, layer in others.items():

            def step(layer=layer, x=x, y=y):
                x.grad = None
                loss = layer(x, y).sum()
                loss.backward()
                return float(loss.detach())

            row("soft-DTW and gradient", size, who, measured(step), f"sum {step():.3f}")


if __name__ == "__main__":
    print("| task | size | package | ms | |\n|---|---|---|---|---|")
    compare_gdtw()
    compare_dtw()
    compare_soft_dtw()

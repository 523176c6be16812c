"""The layers of PyTorch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import agogic  # noqa: E402
from agogic.torch import DecDTW, SoftDTW  # noqa: E402


def batch(seed, frames=(12, 15), dim=2, size=3):
    """Smooth curves and a little noise, in double precision."""
    noise = torch.Generator().manual_seed(seed)
    t = [torch.linspace(0, 1, n, dtype=torch.float64)[None, :, None] for n in frames]
    speeds = 4 + 4 * torch.rand(size, 1, dim, generator=noise, dtype=torch.float64)
    x = torch.sin(t[0] * speeds) + 0.05 * torch.randn(size, frames[0], dim, generator=noise, dtype=torch.float64)
    y = torch.sin(t[1] ** 1.3 * speeds) + 0.05 * torch.randn(size, frames[1], dim, generator=noise, dtype=torch.float64)
    return x.requires_grad_(), y.requires_grad_()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"lengths": ([12, 7, 10], [15, 15, 9])},
        {"band": [0.05, 0.2, 1.0]},
        {"lengths": ([12, 7, 10], None), "band": torch.tensor([0.1, 0.3, 0.02])},
    ],
    ids=["whole", "lengths", "bands", "both"],
)
def test_gradcheck_passes_in_double_precision(seed, settings):
    x, y = batch(seed)
    lam = torch.tensor([0.02, 0.05, 0.1], dtype=torch.float64, requires_grad=True)
    layer = lambda x, y, lam: agogic.torch.gdtw(x, y, lam=lam, slope=(0.1, 5.0), **settings)  # noqa: E731
    assert torch.autograd.gradcheck(layer, (x, y, lam))


def test_free_ends_and_a_common_weight_pass_gradcheck():
    x, y = batch(5)
    lam = torch.tensor(0.1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x, y, lam: agogic.torch.gdtw(x, y, lam=lam, ends="free"), (x, y, lam))


def test_soft_dtw_passes_gradcheck():
    x, y = batch(6)
    layer = SoftDTW(gamma=0.3)
    assert torch.autograd.gradcheck(lambda x, y: layer(x, y, ([12, 7, 10], [15, 15, 9]), [0.2, 1.0, 0.5]), (x, y))


def test_single_precision_stays_single_and_is_near_double():
    x, y = batch(7)
    exact = DecDTW()(x, y)
    single = DecDTW()(x.float(), y.float())
    assert single.dtype == torch.float32 and (single - exact).abs().max() < 1e-4
    assert SoftDTW()(x.float(), y.float()).dtype == torch.float32


def test_features_and_weight_are_learned_through_the_layer():
    """A linear map that hides the curves in noise is found by what it does to the warp."""
    torch.manual_seed(0)
    t = torch.linspace(0, 1, 40)
    truth = t**0.7
    clean = lambda time: torch.stack([torch.sin(9 * time), torch.cos(7 * time)], 1)  # noqa: E731
    x = torch.cat([clean(truth), 0.6 * torch.randn(40, 2)], 1)[None]
    y = torch.cat([clean(t), 0.6 * torch.randn(40, 2)], 1)[None]
    net = torch.nn.Linear(4, 2)
    layer = DecDTW(lam=torch.nn.Parameter(torch.tensor(0.05)), smooth=1.0)
    assert len(list(layer.parameters())) == 1
    optimiser = torch.optim.Adam([*net.parameters(), *layer.parameters()], lr=0.02)
    losses = []
    for _ in range(60):
        optimiser.zero_grad()
        loss = (layer(net(x), net(y)) - truth).abs().mean()
        loss.backward()
        optimiser.step()
        with torch.no_grad():
            layer.lam.clamp_(min=1e-4)
        losses.append(float(loss.detach()))
    assert min(losses[-10:]) < 0.5 * losses[0], losses


def test_torch_is_imported_only_when_it_is_asked_for(tmp_path):
    check = "import sys, agogic; assert 'torch' not in sys.modules and 'pandas' not in sys.modules; import agogic.torch"
    subprocess.run([sys.executable, "-c", check], check=True, cwd=tmp_path)


def test_a_second_derivative_is_refused():
    x, y = batch(8)
    (first,) = torch.autograd.grad((DecDTW()(x, y) ** 2).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
    assert np.isfinite(first.detach().numpy()).all()

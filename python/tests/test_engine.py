"""Time warping of arrays, against slow and obvious versions of it."""

from __future__ import annotations

import numpy as np
import pytest

import agogic


def signals(seed, frames, dim=3):
    """Smooth curves, sampled: warps of them have one clear optimum."""
    noise = np.random.default_rng(seed)
    phases, speeds = noise.uniform(0, 6, dim), noise.uniform(4, 9, dim)
    return lambda warp=1.0: np.sin(np.linspace(0, 1, frames)[:, None] ** warp * speeds + phases)


def cost(x, y, phi, lam):
    """The objective as it is written down."""
    times = np.linspace(0, 1, len(x))
    at = np.stack([np.interp(phi, np.linspace(0, 1, len(y)), column) for column in y.T], axis=1)
    weights = np.gradient(times) * np.where((times == 0) | (times == 1), 0.5, 1.0)
    step = np.diff(times)
    return (weights * ((x - at) ** 2).sum(1)).sum() + (lam * (np.diff(phi) / step - 1) ** 2 * step).sum()


def test_gdtw_finds_the_warp_and_its_cost_is_what_is_minimised():
    curve = signals(1, 80)
    x, y = curve(), curve(1.4)
    found = agogic.gdtw(x, y, lam=0.01)
    assert np.abs(found.phi - np.linspace(0, 1, 80) ** (1 / 1.4)).max() < 0.03
    assert found.objective == pytest.approx(cost(x, y, found.phi, 0.01), rel=1e-12)
    assert found.kkt_residual < 1e-9
    noise = np.random.default_rng(2)
    for _ in range(200):
        other = found.phi + noise.normal(size=80) * 10 ** noise.uniform(-6, -2)
        other = np.maximum.accumulate(np.clip(other, 0, 1))
        other[0], other[-1] = 0.0, 1.0
        assert cost(x, y, other, 0.01) >= found.objective


def test_batches_give_what_single_pairs_give_whatever_fills_them_up():
    lengths = ([40, 31, 2, 25], [50, 20, 44, 7])
    noise = np.random.default_rng(4)
    for kind in (np.float64, np.float32):
        x, y = noise.normal(size=(4, 40, 5)).astype(kind), noise.normal(size=(4, 50, 5)).astype(kind)
        bands, lam = [0.2, 0.4, 1.0, np.inf], np.array([0.1, 0.2, 0.3, 0.4])
        for row, (a, b) in enumerate(zip(*lengths, strict=True)):
            x[row, a:], y[row, b:] = np.nan, np.nan
        together = agogic.gdtw(x, y, lengths=lengths, lam=lam, band=bands)
        loss = noise.normal(size=together.phi.shape)
        gradients = agogic.gdtw_vjp(together, loss)
        soft = agogic.soft_dtw(x, y, 0.5, lengths=lengths, band=bands)
        classic = agogic.dtw(x, y, lengths=lengths, band=bands)
        assert gradients.x.dtype == gradients.y.dtype == soft.grad_x.dtype == kind
        for row, (a, b) in enumerate(zip(*lengths, strict=True)):
            pair = x[row, :a], y[row, :b]
            alone = agogic.gdtw(*pair, lam=lam[row], band=bands[row])
            assert (together.phi[row, :a] == alone.phi).all() and (together.phi[row, a:] == 1.0).all()
            assert together.objective[row] == alone.objective
            found = agogic.gdtw_vjp(alone, loss[row, :a])
            assert (gradients.x[row, :a] == found.x).all() and (gradients.x[row, a:] == 0).all()
            assert (gradients.y[row, :b] == found.y).all() and (gradients.y[row, b:] == 0).all()
            assert gradients.lam[row] == found.lam
            value, grad_x, grad_y = agogic.soft_dtw(*pair, 0.5, band=bands[row])
            assert value == soft.value[row]
            assert (soft.grad_x[row, :a] == grad_x).all() and (soft.grad_y[row, :b] == grad_y).all()
            assert (agogic.dtw(*pair, band=bands[row]).path == classic.path[row]).all()


def test_limits_are_kept():
    x, y = (np.random.default_rng(seed).normal(size=(60, 4)) for seed in (5, 6))
    times = np.linspace(0, 1, 60)
    free = agogic.gdtw(x, y, lam=1e-6)
    assert np.abs(free.phi - times).max() > 0.1 and np.diff(free.phi).min() >= 0
    banded = agogic.gdtw(x, y, lam=1e-6, band=0.05)
    assert np.abs(banded.phi - times).max() <= 0.05 + 1e-12
    limited = agogic.gdtw(x, y, lam=1e-6, slope=(0.5, 2.0))
    slopes = np.diff(limited.phi) / np.diff(times)
    assert slopes.min() >= 0.5 - 1e-9 and slopes.max() <= 2.0 + 1e-9
    held = agogic.gdtw(x, y, lam=1e-6, band=(np.where(times == times[30], 0.7, -np.inf), np.full(60, np.inf)))
    assert held.phi[30] >= 0.7
    inside = agogic.gdtw(y[20:40], y, lam=0.001, slope=(0.2, 0.5), ends="free")
    assert np.abs(inside.phi - np.linspace(20, 39, 20) / 59).max() < 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_the_gradient_is_that_of_finite_differences(seed):
    curve = signals(seed, 24)
    noise = np.random.default_rng(seed)
    x, y = curve() + 0.01 * noise.normal(size=(24, 3)), curve(1.3)
    loss, lam, h = noise.normal(size=24), 0.05, 1e-6
    solution = agogic.gdtw(x, y, lam=lam)
    exact = agogic.gdtw_vjp(solution, loss)

    def value(x, y, lam):
        return float(agogic.gdtw(x, y, lam=lam).phi @ loss)

    for which in range(2):
        for at in [(0, 0), (5, 1), (11, 2), (18, 0), (23, 1)]:
            step = np.zeros_like(x)
            step[at] = h
            moved = [(x + sign * step * (which == 0), y + sign * step * (which == 1), lam) for sign in (1, -1)]
            slope = (value(*moved[0]) - value(*moved[1])) / (2 * h)
            assert exact[which][at] == pytest.approx(slope, rel=1e-4, abs=1e-5)
    slope = (value(x, y, lam + h) - value(x, y, lam - h)) / (2 * h)
    assert float(exact.lam) == pytest.approx(slope, rel=1e-4, abs=1e-5)


def naive(x, y, gamma):
    """Soft-DTW cell by cell, and DTW for gamma 0."""
    distance = ((x[:, None] - y[None]) ** 2).sum(2)
    table = np.full((len(x) + 1, len(y) + 1), np.inf)
    table[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            before = np.array([table[i, j], table[i, j + 1], table[i + 1, j]])
            least = before.min()
            soft = least - gamma * np.log(np.exp(-(before - least) / gamma).sum()) if gamma else least
            table[i + 1, j + 1] = distance[i, j] + soft
    return table[-1, -1]


def test_dtw_and_soft_dtw_are_those_of_the_definition():
    noise = np.random.default_rng(8)
    x, y = noise.normal(size=(17, 3)), noise.normal(size=(23, 3))
    found = agogic.dtw(x, y)
    assert found.cost == pytest.approx(naive(x, y, 0.0))
    assert found.path[0].tolist() == [0, 0] and found.path[-1].tolist() == [16, 22]
    assert set(map(tuple, np.diff(found.path, axis=0).tolist())) <= {(0, 1), (1, 0), (1, 1)}
    on_path = ((x[found.path[:, 0]] - y[found.path[:, 1]]) ** 2).sum()
    assert on_path == pytest.approx(found.cost)
    assert agogic.dtw(y[5:12], y, ends="free").path.tolist() == [[i, i + 5] for i in range(7)]
    narrow = agogic.dtw(x, y, band=0.1).path
    assert (np.abs(narrow[:, 1] - narrow[:, 0] * 22 / 16) <= 2.2).all()
    for gamma in (0.01, 1.0, 100.0):
        value, grad_x, grad_y = agogic.soft_dtw(x, y, gamma)
        assert value == pytest.approx(naive(x, y, gamma), rel=1e-9)
        step = np.zeros_like(x)
        step[4, 1] = 1e-5
        slope = (naive(x + step, y, gamma) - naive(x - step, y, gamma)) / 2e-5
        assert grad_x[4, 1] == pytest.approx(slope, rel=1e-5, abs=1e-6)
        assert grad_y.sum(0) == pytest.approx(-grad_x.sum(0))


def test_flat_sequences_and_whole_numbers_are_taken():
    assert agogic.dtw([1, 2, 3], [1, 2, 3]).cost == 0.0
    solution = agogic.gdtw([0.0, 1.0, 0.0], [0.0, 1.0, 0.0])
    assert solution.phi.tolist() == [0.0, 0.5, 1.0]
    assert [g.shape for g in agogic.gdtw_vjp(solution, np.ones(3))] == [(3,), (3,), ()]


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x: agogic.gdtw(x, x[:, :2]), "values in a frame"),
        (lambda x: agogic.gdtw(x, x[0]), "dimensions"),
        (lambda x: agogic.gdtw(x[None], x[None].repeat(2, 0)), "size of the second batch"),
        (lambda x: agogic.gdtw(x, x, lam=-1), "must be finite and at least 0"),
        (lambda x: agogic.gdtw(x, x, lam=[1, 2]), "shape of lam"),
        (lambda x: agogic.gdtw(x, x, slope=(3, 4)), "no alignment satisfies"),
        (lambda x: agogic.gdtw(x, x, ends="loose"), "pinned or free"),
        (lambda x: agogic.gdtw(x, x, band=-1), "0 or more"),
        (lambda x: agogic.gdtw(x, x, lengths=([99], None)), "from 1 to 10"),
        (lambda x: agogic.gdtw(x, x, lengths=([1], None)), "two or more"),
        (lambda x: agogic.gdtw(x * np.nan, x), "finite"),
        (lambda x: agogic.gdtw_vjp(agogic.gdtw(x, x), np.ones(3)), "shape of the gradient"),
        (lambda x: agogic.gdtw_vjp(agogic.gdtw(x, x), np.ones(10), smooth=-1), "0 or above"),
        (lambda x: agogic.soft_dtw(x, x, 0.0), "greater than 0"),
        (lambda x: agogic.dtw(x, x[:0]), "at least one|from 1 to 0"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(call, words):
    with pytest.raises(agogic.Error, match=words):
        call(np.random.default_rng(9).normal(size=(10, 3)))

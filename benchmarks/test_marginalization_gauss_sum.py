"""Speed of Gauss sums on dense random forms; goals on one thread: n=400 under 0.2 s, n=2000 under 10 s."""

from __future__ import annotations

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from whp.algorithms.marginalization import gauss_sum, pm_quadratic
from whp.theory.marginalization import Pattern, QuadraticForm

GOAL_SECONDS = {400: 0.2, 2000: 10.0}


def dense_form(n: int, seed: int = 0) -> QuadraticForm:
    """Form whose coefficients are independent fair bits."""
    rng = np.random.default_rng(seed)
    quadratic = np.triu(rng.integers(0, 2, size=(n, n), dtype=np.int8), 1)
    return QuadraticForm(quadratic, rng.integers(0, 2, size=n, dtype=np.int8), int(rng.integers(2)))


@pytest.mark.parametrize("n", [50, 100, 200, 400, 1000, 2000])
def test_gauss_sum_of_a_dense_form(benchmark: BenchmarkFixture, n: int) -> None:
    """Time of `gauss_sum`."""
    form = dense_form(n)
    result = benchmark.pedantic(gauss_sum, args=(form,), rounds=3, warmup_rounds=1)
    assert result.sign == 0 or n / 2 <= result.exponent <= n
    assert benchmark.stats.stats.min < GOAL_SECONDS.get(n, 10.0)


def test_plain_marginal_of_a_dense_form_with_evidence(benchmark: BenchmarkFixture) -> None:
    """Time of `pm_quadratic` at n=400 with half the variables observed."""
    form, pattern = dense_form(400), Pattern("01**" * 100)
    benchmark.pedantic(pm_quadratic, args=(form, pattern), rounds=3, warmup_rounds=1)

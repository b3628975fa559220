"""Checks on the regularity of the objective: Lipschitz and smoothness constants, in exact arithmetic where sharp."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whp.proofs_checks.engine import Check, Instances, Mutant, at_most
from whp.proofs_checks.engine.observation import Slack
from whp.theory.performative_prediction import (
    CurvatureCase,
    JointQuadratic,
    LipschitzLocation,
    PairCase,
    lipschitz_constant,
    lipschitz_constant_as_printed,
)

__all__ = ["CHECKS"]

Array = NDArray[np.float64]


def lipschitz(case: PairCase) -> Slack:
    """Difference of two exact values of ``F`` against the corrected constant."""
    return _difference(case, lipschitz_constant)


def lipschitz_as_printed(case: PairCase) -> Slack:
    """The same against the constant with swapped roles."""
    return _difference(case, lipschitz_constant_as_printed)


def lipschitz_without_law(case: PairCase) -> Slack:
    """Mutant statement: ``L_x`` alone, as if the law stood still."""
    return _difference(case, lambda lx, lxi, a: lx)


def lipschitz_larger_of_two(case: PairCase) -> Slack:
    """Mutant statement: the larger of the two parts in place of their sum."""
    return _difference(case, lambda lx, lxi, a: max(lx, a * lxi))


def _difference(case: PairCase, constant: Callable[[float, float, float], float]) -> Slack:
    f = case.problem
    left = abs(float(f.objective(case.first)) - float(f.objective(case.second)))
    right = constant(f.decision_constant, f.sample_constant, f.wasserstein_constant) * float(
        np.linalg.norm(case.first - case.second)
    )
    size = float(f.objective(case.first)) + float(f.objective(case.second)) + right
    return at_most("|F(x) - F(x')|", left, right, rounding=1e-14 * size)


def line(lx: float, lxi: float, a: float) -> LipschitzLocation:
    """One dimension, one atom at zero."""
    return LipschitzLocation([[0.0]], [1.0], [[a]], lx, lxi, [0.0], [0.0])


def lipschitz_examples() -> dict[str, PairCase]:
    """``10 |x|`` under a fixed law (the printed constant is 0, the true one 10), its opposite, and both together."""
    return {
        "10 |x|, fixed law": PairCase(line(10.0, 0.0, 0.0), [2.0], [1.0]),
        "only the law moves": PairCase(line(0.0, 4.0, 0.5), [2.0], [1.0]),
        "both parts": PairCase(line(2.0, 4.0, 0.5), [2.0], [1.0]),
    }


def draw_pairs(rng: np.random.Generator, size: int) -> list[PairCase]:
    """Up to five atoms, two to four dimensions (in one the bound is attained up to rounding), decisions in [-2, 2]."""
    cases = []
    for _ in range(size):
        d, k, atoms = int(rng.integers(2, 5)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
        weights = rng.integers(1, 9, atoms).astype(float)
        problem = LipschitzLocation(
            rng.uniform(-2, 2, (atoms, k)),
            weights / weights.sum(),
            rng.uniform(-2, 2, (k, d)),
            float(rng.uniform(0, 3)),
            float(rng.uniform(0, 3)),
            rng.uniform(-2, 2, d),
            rng.uniform(-2, 2, k),
        )
        cases.append(PairCase(problem, rng.uniform(-2, 2, d), rng.uniform(-2, 2, d)))
    return cases


def _exact(array: Any) -> Any:
    return np.array([Fraction(float(v)) for v in np.ravel(array)], dtype=object).reshape(np.shape(array))


def _row_sum(matrix: Any) -> Fraction:
    """Largest absolute row sum: at least the spectral norm of a symmetric matrix, and rational."""
    return max(sum((abs(v) for v in row), start=Fraction(0)) for row in matrix)


def _square_norm(matrix: Any) -> Fraction:
    """``|A|_1 |A|_inf``: at least the squared spectral norm, and rational."""
    return _row_sum(matrix) * _row_sum(matrix.T)


def joint_smoothness(case: CurvatureCase) -> Slack:
    """``v'H v <= rho (1 + a^2)|v|^2`` in fractions, for rational upper bounds ``rho`` and ``a^2`` of the two norms."""
    return _curvature(case, lambda rho, a2: rho * (1 + a2))


def joint_smoothness_not_squared(case: CurvatureCase) -> Slack:
    """Mutant statement: ``rho (1 + |A|)``, with ``|A| <= (1 + |A|^2) / 2``."""
    return _curvature(case, lambda rho, a2: rho * (1 + (1 + a2) / 2))


def joint_smoothness_of_loss(case: CurvatureCase) -> Slack:
    """Mutant statement: ``rho`` itself."""
    return _curvature(case, lambda rho, a2: rho)


def _curvature(case: CurvatureCase, constant: Callable[[Fraction, Fraction], Fraction]) -> Slack:
    q, a, v = _exact(case.problem.hessian), _exact(case.problem.sensitivity), _exact(case.direction)
    z = np.concatenate([v, a @ v])
    return at_most("curvature", abs(z @ q @ z), constant(_row_sum(q), _square_norm(a)) * (v @ v))


def block_smoothness(case: CurvatureCase) -> Slack:
    """``v'H v <= rho (1 + a)^2 |v|^2`` in fractions, ``rho`` bounding the two diagonal blocks, for convex ``f``."""
    return _blocks(case, lambda rho, a: rho * (1 + a) ** 2)


def block_smoothness_of_joint(case: CurvatureCase) -> Slack:
    """Mutant statement: the joint constant ``rho (1 + a^2)`` for blocks."""
    return _blocks(case, lambda rho, a: rho * (1 + a * a))


def _blocks(case: CurvatureCase, constant: Callable[[Fraction, Fraction], Fraction]) -> Slack:
    q, a, v = _exact(case.problem.hessian), _exact(case.problem.sensitivity), _exact(case.direction)
    d = v.size
    rho = max(_row_sum(q[:d, :d]), _row_sum(q[d:, d:]))
    z = np.concatenate([v, a @ v])
    norm = max(_row_sum(a), _row_sum(a.T))
    return at_most("curvature", z @ q @ z, constant(rho, norm) * (v @ v))


def joint_examples() -> dict[str, CurvatureCase]:
    """``(rho/4)(x + xi)^2`` with ``A = 1`` (equality), and the same slanted along ``(1, 3)``."""
    return {
        "equality at A = 1": CurvatureCase(JointQuadratic([[0.5, 0.5], [0.5, 0.5]], [[1.0]]), [1.0]),
        "A = 3": CurvatureCase(JointQuadratic([[0.5, 0.5], [0.5, 3.5]], [[3.0]]), [1.0]),
    }


def block_examples() -> dict[str, CurvatureCase]:
    """``(x + xi)^2 / 2`` with ``A = 1``: equality."""
    return {"equality at A = 1": CurvatureCase(JointQuadratic([[1.0, 1.0], [1.0, 1.0]], [[1.0]]), [1.0])}


def draw_joint(rng: np.random.Generator, size: int) -> list[CurvatureCase]:
    """Symmetric integer Hessians, integer sensitivities and directions, dimensions 1..3."""
    cases = []
    for _ in range(size):
        d, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        root = rng.integers(-3, 4, (d + k, d + k))
        problem = JointQuadratic(root + root.T, rng.integers(-3, 4, (k, d)))
        cases.append(CurvatureCase(problem, rng.integers(-4, 5, d)))
    return cases


def draw_convex(rng: np.random.Generator, size: int) -> list[CurvatureCase]:
    """Positive semidefinite integer Hessians ``B'B``."""
    cases = []
    for _ in range(size):
        d, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        root = rng.integers(-3, 4, (int(rng.integers(1, d + k + 1)), d + k))
        problem = JointQuadratic(root.T @ root, rng.integers(-3, 4, (k, d)))
        cases.append(CurvatureCase(problem, rng.integers(-4, 5, d)))
    return cases


def draw_saddles(rng: np.random.Generator, size: int) -> list[CurvatureCase]:
    """Broken assumption: no diagonal blocks, only a coupling."""
    cases = []
    for case in draw_joint(rng, size):
        d, q = case.problem.dimension, np.array(case.problem.hessian)
        q[:d, :d], q[d:, d:] = 0.0, 0.0
        cases.append(CurvatureCase(JointQuadratic(q, case.problem.sensitivity), case.direction))
    return cases


def _strategy(convex: bool) -> Any:
    from hypothesis import strategies as st

    def build(entries: list[int]) -> CurvatureCase:
        root = np.array(entries[:4], dtype=float).reshape(2, 2)
        hessian = root.T @ root if convex else root + root.T
        return CurvatureCase(JointQuadratic(hessian, [[float(entries[4])]]), [float(entries[5])])

    return st.lists(st.integers(-4, 4), min_size=6, max_size=6).map(build)


def joint_strategy() -> Any:
    """Hypothesis: one decision, one sample coordinate, small integers."""
    return _strategy(False)


def convex_strategy() -> Any:
    """Hypothesis: the same with a positive semidefinite Hessian."""
    return _strategy(True)


_PAIRS = Instances(
    scope="location families with up to 5 atoms, decisions in 2..4 dimensions",
    examples=lipschitz_examples,
    draw=draw_pairs,
)
_JOINT = Instances(
    scope="symmetric integer Hessians, dimensions 1..3, entries up to 6",
    examples=joint_examples,
    draw=draw_joint,
    strategy=joint_strategy,
)

CHECKS = (
    Check(
        theorem="performative_prediction.lipschitz_as_printed",
        name="location_families",
        kind="slack",
        observe=lipschitz_as_printed,
        instances=_PAIRS,
        mutants=(
            Mutant("no part for the law", "|F(x) - F(x')|", observe=lipschitz_without_law),
            Mutant("larger of the two parts", "|F(x) - F(x')|", observe=lipschitz_larger_of_two),
        ),
        cost=2,
    ),
    Check(
        theorem="performative_prediction.lipschitz",
        name="location_families",
        kind="slack",
        observe=lipschitz,
        instances=_PAIRS,
        mutants=(
            Mutant("roles of the constants swapped", "|F(x) - F(x')|", observe=lipschitz_as_printed),
            Mutant("no part for the law", "|F(x) - F(x')|", observe=lipschitz_without_law),
            Mutant("larger of the two parts", "|F(x) - F(x')|", observe=lipschitz_larger_of_two),
        ),
        cost=2,
    ),
    Check(
        theorem="performative_prediction.smoothness_joint",
        name="integers",
        kind="slack",
        observe=joint_smoothness,
        instances=_JOINT,
        mutants=(
            Mutant("|A| not squared", "curvature", observe=joint_smoothness_not_squared),
            Mutant("smoothness of the loss itself", "curvature", observe=joint_smoothness_of_loss),
        ),
        cost=6,
    ),
    Check(
        theorem="performative_prediction.smoothness_blocks",
        name="integers",
        kind="slack",
        observe=block_smoothness,
        instances=Instances(
            scope="positive semidefinite integer Hessians B'B, dimensions 1..3",
            examples=block_examples,
            draw=draw_convex,
            strategy=convex_strategy,
        ),
        mutants=(
            Mutant("joint constant for blocks", "curvature", observe=block_smoothness_of_joint),
            Mutant(
                "not convex",
                "curvature",
                instances=Instances(scope="coupling without diagonal blocks", draw=draw_saddles),
                ignoring=("convex",),
            ),
        ),
        cost=6,
    ),
)

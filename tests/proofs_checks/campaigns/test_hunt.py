"""Hunting: violations planted where random draws do not find them, and what later runs make of them."""

import json
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from whp.proofs_checks.engine import Check, Instances, at_most, verify
from whp.proofs_checks.engine import registry as bindings
from whp.proofs_checks.engine.hunt import hunt
from whp.proofs_checks.engine.ledger import Ledger
from whp.theory import Claim, Paper, Theorem
from whp.theory.core import load_papers

PAPER = Paper("planted", "Claims that are false in a small region", ("Nobody",), "nowhere")


def peak(distance, reach):
    """Left side of a claim `left <= 1`: just above one within the reach, falling off gently."""
    return 1.0 + 0.01 * (reach - distance) / reach if distance < reach else 1.0 / (1.0 + (distance - reach))


def floats(instance):
    x, y = instance
    return at_most("small", peak(float(np.hypot(x - 3.21, y + 1.7)), 1e-3), 1.0)


def integers(instance):
    a, b = instance
    return at_most(
        "small", Fraction(1001, 1000) if (a, b) == (137, -45) else Fraction(1, 1 + abs(a - 137) + abs(b + 45)), 1
    )


def fractions(instance):
    (share,) = instance
    distance = abs(share - Fraction(5, 7))
    return at_most("small", 1 + Fraction(1, 10**4) - distance if distance < Fraction(1, 10**4) else 1 - distance / 2, 1)


def arrays(instance):
    distance = float(np.linalg.norm(instance - np.linspace(-1.0, 1.0, 12)))
    return at_most("small", peak(distance, 0.05), 1.0)


@dataclass(frozen=True)
class Simplex:
    weights: tuple[float, ...]

    def __post_init__(self):
        if min(self.weights) < 0:
            raise ValueError("weights must not be negative")


def constrained(instance):
    total = sum(instance.weights)
    return at_most("small", peak(float(np.abs(np.array(instance.weights) / total - [0.7, 0.2, 0.1]).sum()), 1e-2), 1.0)


def lattice(instance):
    distance = int(np.abs(instance - np.array([3, -7, 11, 0, 5, -2, 9, 4, -6, 1])).sum())
    return at_most("small", 101 - distance if distance < 2 else max(0, 90 - distance), 100)


def tight(instance):
    """A true claim, attained at one point only."""
    return at_most("small", 1.0 - (instance[0] - 2.5) ** 2 * 1e-2, 1.0)


def draw_numbers(rng, size):
    return [tuple(rng.normal(0, 2, 2).tolist()) for _ in range(size)]


CASES = {
    "floats": (floats, draw_numbers),
    "integers": (integers, lambda rng, n: [tuple(rng.integers(-500, 500, 2).tolist()) for _ in range(n)]),
    "fractions": (fractions, lambda rng, n: [(Fraction(int(k), 1000),) for k in rng.integers(0, 1000, n)]),
    "arrays": (arrays, lambda rng, n: list(rng.normal(0, 1, (n, 12)))),
    "lattice": (lattice, lambda rng, n: list(rng.integers(-15, 16, (n, 10)))),
    "constrained": (constrained, lambda rng, n: [Simplex(tuple(w)) for w in rng.dirichlet([1, 1, 1], n).tolist()]),
    "tight": (tight, lambda rng, n: [(float(x),) for x in rng.normal(0, 1, n)]),
}
THEOREMS = tuple(
    Theorem(
        id=f"planted.{name}",
        paper=PAPER,
        title=name,
        statement=name,
        claim=Claim("left", "<=", "1"),
        provenance="prior",
    )
    for name in CASES
)
CHECKS = tuple(
    Check(theorem=f"planted.{name}", name="region", kind="slack", observe=observe, instances=Instances(name, draw=draw))
    for name, (observe, draw) in CASES.items()
)


@pytest.fixture(autouse=True, scope="module")
def stated():
    """State the planted theorems for the tests of this module."""
    import sys

    load_papers().add_module(sys.modules[__name__])
    original = bindings._bindings.__wrapped__
    bindings.allow_namespace(__name__)
    bindings._bindings.cache_clear()
    patch = pytest.MonkeyPatch()
    patch.setattr(bindings, "_bindings", lambda slug: (CHECKS, ()) if slug == "planted" else original(slug))
    yield
    patch.undo()
    load_papers().leave_out("planted", "only for this test")
    load_papers()._broken.pop(__name__, None)


@pytest.mark.parametrize("name", ["floats", "integers", "fractions", "arrays", "lattice", "constrained"])
def test_a_planted_violation_is_found_that_seeded_draws_miss(name):
    report = verify(f"planted.{name}", budget="quick")
    assert report.theorems[0].statement.kind == "holds"
    (found,) = hunt(f"planted.{name}", observations=6000)
    assert found.violated and found.ratio > 1 and found.observations <= 6000
    assert [s.ratio for s in found.steps] == sorted(s.ratio for s in found.steps)


def test_without_a_violation_the_tightest_instance_is_reported():
    (found,) = hunt("planted.tight", observations=1500)
    assert not found.violated and found.ratio == pytest.approx(1.0, abs=1e-9)
    assert found.instance.decode()[0] == pytest.approx(2.5, abs=1e-3)


def test_the_same_seed_hunts_alike():
    first, second = (hunt("planted.arrays", observations=700, seed=3)[0] for _ in range(2))
    assert (first.instance, first.steps, first.observations) == (second.instance, second.steps, second.observations)


def test_later_runs_start_from_what_the_hunt_left(tmp_path):
    (found,) = hunt("planted.floats", observations=6000)
    with Ledger(tmp_path / "ledger") as ledger:
        assert ledger.keep_tightest(found.check.id, found.ratio, found.instance.text)
        assert not ledger.keep_tightest(found.check.id, 0.5, "[1.0,2.0]")
        ledger.begin({})
        report = verify("planted.floats", budget="quick", ledger=ledger)
    (check,) = report.theorems[0].checks
    assert check.verdict.kind == "refuted"
    (violation,) = check.evidence.violations
    assert violation.location.phase == "hunted" and violation.instance == found.instance


def test_the_budget_of_observations_is_kept_and_a_useless_hunt_refused():
    assert hunt("planted.tight", observations=5)[0].observations <= 5
    with pytest.raises(ValueError, match="at least 1"):
        hunt("planted.tight", observations=0)
    with pytest.raises(ValueError, match="no for-all check to hunt in"):
        hunt("hoeffding.T1", modules=["whp_textbook.hoeffding"])


def test_json_holds_the_course_of_the_hunt(whp, sleepy, tmp_path):
    process = whp("hunt", "sleepy.T1", "--theorems", sleepy, "--observations", 40, "--json")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    ((found),) = json.loads(output)
    assert found["check"] == "sleepy.T1/means" and not found["violated"] and found["observations"] <= 40
    assert found["ratio"] == found["steps"][-1][1] == pytest.approx(1.0) and json.loads(found["instance"])
    with Ledger(tmp_path / ".whp" / "ledger.sqlite") as ledger:
        assert ledger.tightest("sleepy.T1/means") == found["instance"]

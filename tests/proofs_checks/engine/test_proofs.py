import importlib.util
import itertools
from fractions import Fraction

import pytest
import sympy

from whp.proofs_checks.engine.proofs import Proof, ProofResult, exhaustive, polynomial_identity, z3_valid


def test_an_exhausted_family_is_proved_with_its_number():
    result = exhaustive(itertools.product((False, True), repeat=4), lambda bits: sum(bits) <= 4)
    assert result == ProofResult("proved", "holds on all 16 instances.")


def test_the_first_failure_is_the_counterexample():
    result = exhaustive(range(100), lambda n: n**2 + n + 41 != 41 * 41)
    assert (result.outcome, result.counterexample) == ("refuted", 40)
    assert "held on 40" in result.detail


def test_nothing_enumerated_is_nothing_proved():
    assert exhaustive([], lambda _: True).outcome == "inconclusive"
    assert exhaustive(itertools.count(), lambda _: True, at_most=10).detail.startswith("held on the first 10")
    assert exhaustive(range(10), lambda _: True, at_most=10).outcome == "proved"


def test_a_predicate_that_raises_or_returns_no_bool_is_an_error_with_its_instance():
    result = exhaustive([2, 1, 0], lambda n: 1 / n > 0)
    assert (result.outcome, result.counterexample) == ("error", 0)
    assert "ZeroDivisionError" in result.detail
    assert exhaustive([5], lambda n: None).outcome == "error"


def test_a_proof_prints_its_scope_and_turns_exceptions_into_errors():
    proof = Proof("slug.T1", "small", "n < 3", lambda: exhaustive(range(3), lambda n: n < 3))
    assert (proof.run().outcome, proof.run().scope) == ("proved", "n < 3")
    broken = Proof("slug.T1", "broken", "n < 3", lambda: 1 / 0).run()
    assert (broken.outcome, broken.scope) == ("error", "n < 3")
    assert Proof("slug.T1", "no result", "n < 3", lambda: True).run().outcome == "error"
    with pytest.raises(ValueError, match="must say for which instances"):
        Proof("slug.T1", "no scope", " ", lambda: exhaustive([], bool))


def test_euler_four_square_identity():
    a, b = sympy.symbols("a:4"), sympy.symbols("b:4")
    product = (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )
    left = sum(x**2 for x in a) * sum(x**2 for x in b)
    assert polynomial_identity(left, sum(x**2 for x in product), [*a, *b]).outcome == "proved"
    wrong = sum(x**2 for x in product[:3])
    refuted = polynomial_identity(left, wrong, [*a, *b])
    assert refuted.outcome == "refuted"
    point = {symbol: sympy.Rational(refuted.counterexample[str(symbol)]) for symbol in (*a, *b)}
    assert (left - wrong).subs(point) != 0


def test_rational_identities_need_their_denominators_declared():
    x, y = sympy.symbols("x y")
    left, right = 1 / (x + y) + 1 / (x - y), 2 * x / (x**2 - y**2)
    undeclared = polynomial_identity(left, right, [x, y], nonzero=[x - y])
    assert undeclared.outcome == "inconclusive"
    assert "x + y is not declared nonzero" in undeclared.detail
    declared = polynomial_identity(left, right, [x, y], nonzero=[x - y, x + y])
    assert (declared.outcome, declared.detail.count("!= 0")) == ("proved", 2)
    refuted = polynomial_identity(left, 2 * y / (x**2 - y**2), [x, y], nonzero=[x**2 - y**2])
    assert refuted.counterexample["x"] ** 2 != refuted.counterexample["y"] ** 2


def test_nested_denominators_are_seen():
    x, y = sympy.symbols("x y")
    nested = 1 / (1 + 1 / x)
    assert polynomial_identity(nested, x / (1 + x), [x], nonzero=[x]).outcome == "inconclusive"
    assert polynomial_identity(nested, x / (1 + x), [x], nonzero=[x, 1 + x]).outcome == "proved"
    assert polynomial_identity((x / y) ** -2, y**2 / x**2, [x, y], nonzero=[x * y]).outcome == "proved"


def test_a_difference_that_vanishes_on_small_integers_is_still_refuted():
    x = sympy.Symbol("x")
    vanishing = x * (x - 1) * (x + 1) * (x - 2) * (x - 3)
    point = polynomial_identity(vanishing, 0, [x]).counterexample["x"]
    assert vanishing.subs(x, int(point)) != 0


def test_exact_coefficients_only():
    x = sympy.Symbol("x")
    third = polynomial_identity(sympy.Rational(1, 3) * x, lambda x: x / 3, [x])
    assert third.outcome == "proved"
    for wrong, message in (
        (0.5 * x, "not an exact rational expression"),
        (sympy.sqrt(x), "not an exact rational expression"),
        (sympy.sin(x), "not an exact rational expression"),
        (x + sympy.Symbol("z"), "undeclared symbol"),
    ):
        with pytest.raises(ValueError, match=message):
            polynomial_identity(wrong, x, [x])
    for symbols in ([], ["x", "x"]):
        with pytest.raises(ValueError, match="distinct and at least one"):
            polynomial_identity(1, 1, symbols)
    for nonzero in (x - x, 1 / x):
        with pytest.raises(ValueError, match="not identically zero"):
            polynomial_identity(x, x, [x], nonzero=[nonzero])


def test_a_hidden_zero_denominator_is_refused():
    x = sympy.Symbol("x")
    with pytest.raises(ValueError, match="identically zero"):
        polynomial_identity(1 / ((x + 1) ** 2 - x**2 - 2 * x - 1), x, [x])


def test_without_z3_a_formula_is_unavailable_not_proved(monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "z3" else real(name, *rest))
    assert z3_valid(lambda z3: z3.BoolVal(True)).outcome == "unavailable"


class TestWithZ3:
    z3 = pytest.importorskip("z3")

    def test_a_valid_formula_is_proved(self):
        x, y = self.z3.Reals("x y")
        assert z3_valid(x * x + y * y >= 2 * x * y).outcome == "proved"

    def test_a_model_of_the_negation_is_the_counterexample(self):
        def claim(z3):
            n, x, b = z3.Int("n"), z3.Real("x"), z3.Bool("b")
            return z3.Not(z3.And(n == 12, 3 * x == 1, b))

        assert z3_valid(claim).counterexample == {"b": True, "n": 12, "x": Fraction(1, 3)}

    def test_a_formula_too_hard_for_the_resource_limit_is_inconclusive(self):
        def claim(z3):
            x, y, z = z3.Ints("x y z")
            return z3.Implies(z3.And(x > 0, y > 0, z > 0), x * x * x + y * y * y != z * z * z)

        first, second = z3_valid(claim, rlimit=20_000), z3_valid(claim, rlimit=20_000)
        assert first.outcome == "inconclusive"
        assert first == second

    def test_bad_input_is_refused(self):
        with pytest.raises(ValueError, match="boolean expression"):
            z3_valid(self.z3.Int("n"))
        for rlimit in (0, -1, 2**32, 1.5):
            with pytest.raises(ValueError, match="rlimit must be an int"):
                z3_valid(self.z3.BoolVal(True), rlimit=rlimit)

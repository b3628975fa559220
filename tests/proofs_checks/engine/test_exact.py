import dataclasses
import functools
from collections import namedtuple
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whp.proofs_checks.engine.exact import as_ball, exactify

Pair = namedtuple("Pair", ["left", "right"])


@dataclasses.dataclass(frozen=True)
class Weights:
    values: np.ndarray
    scale: float = 1.0

    def __post_init__(self):
        object.__setattr__(self, "values", np.asarray(self.values, dtype=float))
        object.__setattr__(self, "half", self.scale / 2)

    @functools.cached_property
    def total(self):
        return sum(self.values.tolist()) if self.values.dtype != object else sum(self.values)


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    value: float


@given(arrays(np.float64, st.integers(0, 5), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_an_array_becomes_the_fractions_it_holds(array):
    exact = exactify(array)
    assert exact.dtype == object
    assert exact.shape == array.shape
    assert all(type(entry) is Fraction for entry in exact)
    assert exact.astype(float).tobytes() == (array + 0.0).tobytes()


def test_ten_tenths_do_not_add_up_to_one():
    assert exactify(0.1) == Fraction(3602879701896397, 36028797018963968)
    assert sum(exactify([0.1] * 10)) != 1


def test_structure_is_kept_around_the_fractions():
    value = {"a": (1, 0.5), 2.5: [None, True, "x"], "s": frozenset({0.25}), "p": Pair(0.5, 2)}
    assert exactify(value) == {
        "a": (1, Fraction(1, 2)),
        2.5: [None, True, "x"],
        "s": frozenset({Fraction(1, 4)}),
        "p": Pair(Fraction(1, 2), 2),
    }
    assert type(exactify(value)["p"]) is Pair


def test_numpy_scalars_of_every_width_are_exact():
    assert exactify(np.float32(0.1)) == Fraction(13421773, 134217728)
    assert exactify(np.float16(0.5)) == Fraction(1, 2)
    assert type(exactify(np.int8(3))) is int
    assert exactify(np.longdouble(1) / 3) == Fraction(*(np.longdouble(1) / 3).as_integer_ratio())


def test_integer_and_boolean_arrays_stay_usable_as_indices():
    index = np.array([1, 0])
    assert exactify((np.array([0.5, 0.25]), index))[0][index].tolist() == [Fraction(1, 4), Fraction(1, 2)]


def test_a_dataclass_is_rebuilt_without_the_constructor_that_would_make_floats_of_it():
    weights = Weights(np.array([0.1, 0.2]), 0.3)
    assert weights.total == 0.1 + 0.2
    exact = exactify(weights)
    assert type(exact) is Weights
    assert exact.total == Fraction(0.1) + Fraction(0.2)  # the cached float is forgotten
    assert exact.half == Fraction(0.15)
    assert weights.values.dtype == np.float64
    assert exactify(Slotted(0.5)).value == Fraction(1, 2)


def test_graph_attributes_become_exact_in_a_copy():
    graph = nx.Graph(limit=0.5)
    graph.add_node("a", mass=0.25)
    graph.add_edge("a", "b", weight=0.75)
    exact = exactify(graph)
    assert exact.graph["limit"] == Fraction(1, 2)
    assert type(exact["a"]["b"]["weight"]) is Fraction
    assert type(graph["a"]["b"]["weight"]) is float
    assert exact.nodes["a"]["mass"] == Fraction(1, 4)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan])
def test_infinities_and_nan_are_refused_with_their_place(bad):
    with pytest.raises(ValueError, match=r"design\['w'\]\[1, 0\] must be finite"):
        exactify({"w": np.array([[0.0, 1.0], [bad, 0.0]])}, "design")
    with pytest.raises(ValueError, match="must be finite"):
        as_ball(bad, 53)


@pytest.mark.parametrize("bad", [1j, np.array([1j]), object(), np.ma.masked_array([0.5], [1])])
def test_what_has_no_exact_form_is_refused(bad):
    with pytest.raises(TypeError):
        exactify(bad)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(2, 60))
def test_the_ball_of_a_float_is_the_float(value, bits):
    ball = as_ball(value, bits)
    assert ball.is_exact()
    assert Fraction(int(ball.fmpq().p), int(ball.fmpq().q)) == Fraction(value)


@given(st.fractions(), st.integers(2, 100))
def test_the_ball_of_a_fraction_contains_it(value, bits):
    ball = as_ball(value, bits)
    middle, radius = (Fraction(int(end.fmpq().p), int(end.fmpq().q)) for end in (ball.mid(), ball.rad()))
    assert abs(middle - value) <= radius <= abs(value) * Fraction(1, 2 ** (bits - 2))


def test_balls_of_arrays_and_complex_numbers():
    balls = as_ball({"m": np.array([[0.5, 2.0]]), "z": 1 + 2j, "i": np.array([1])}, 30)
    assert balls["m"].shape == (1, 2)
    assert float(balls["m"][0, 1]) == 2.0
    assert complex(balls["z"]) == 1 + 2j
    assert balls["i"].dtype == np.int64


def test_a_narrow_precision_does_not_leak_out():
    import flint

    before = flint.ctx.prec
    as_ball(Fraction(1, 3), 5)
    assert flint.ctx.prec == before


@pytest.mark.parametrize("bits", [1, 0, 2.5, True])
def test_bits_must_be_an_integer_of_at_least_two(bits):
    with pytest.raises(ValueError, match="bits must be an int of at least 2"):
        as_ball(0.5, bits)

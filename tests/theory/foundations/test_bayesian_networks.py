"""Definitions of discrete networks: what is accepted, what is refused and how it is said."""

import numpy as np
import pytest

from whp.theory.foundations.bayesian_networks import (
    BayesianNetwork,
    DiscreteFactor,
    DiscreteMarkovNetwork,
    DiscreteNode,
    row_sum_tolerance,
)


def coin(name: str = "coin") -> DiscreteNode:
    return DiscreteNode(name, ("tails", "heads"), (), [0.5, 0.5])


def test_seven_sevenths_are_a_probability_row() -> None:
    assert sum([1 / 7] * 7) != 1.0
    assert DiscreteNode("seven", tuple("abcdefg"), (), [1 / 7] * 7).cardinality == 7


def test_long_normalised_rows_are_accepted() -> None:
    rows = np.random.default_rng(0).random((2000, 2000))
    rows /= rows.sum(axis=1, keepdims=True)
    parent = DiscreteNode("parent", [str(i) for i in range(2000)], (), np.full(2000, 1 / 2000))
    child = DiscreteNode("child", [str(i) for i in range(2000)], ("parent",), rows)
    assert BayesianNetwork([parent, child]).n_parameters == 1999 + 2000 * 1999


def test_tolerance_grows_with_the_row_and_never_hides_a_real_error() -> None:
    assert row_sum_tolerance(2000) > row_sum_tolerance(2)
    assert row_sum_tolerance(10**6) < 1e-9


@pytest.mark.parametrize(
    ("row", "message"), [((0.3, 0.3, 0.3), "sum 0.899"), ((1.1, -0.1, 0.0), "-0.1"), ((np.nan, 0.5, 0.5), "nan")]
)
def test_bad_rows_are_refused_with_their_value(row: tuple[float, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DiscreteNode("x", ("a", "b", "c"), (), row)


def test_a_bad_row_is_named_by_its_parent_states() -> None:
    with pytest.raises(ValueError, match=r"row \(1,\) of the table of 'child'"):
        DiscreteNode("child", ("a", "b"), ("p",), [[0.5, 0.5], [0.5, 0.4]])


def test_directed_cycles_missing_parents_and_repeats_are_refused() -> None:
    one = DiscreteNode("a", ("0", "1"), ("b",), [[0.5, 0.5]] * 2)
    two = DiscreteNode("b", ("0", "1"), ("a",), [[0.5, 0.5]] * 2)
    with pytest.raises(ValueError, match="directed cycle"):
        BayesianNetwork([one, two])
    with pytest.raises(ValueError, match="not in the network"):
        BayesianNetwork([one])
    with pytest.raises(ValueError, match="exactly one table"):
        BayesianNetwork([coin(), coin()])


def test_wrong_shapes_and_ragged_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="one axis"):
        DiscreteNode("x", ("a", "b"), (), [[0.5, 0.5]])
    with pytest.raises(ValueError, match="rectangular"):
        DiscreteNode("x", ("a", "b"), ("p",), [[0.5, 0.5], [1.0]])
    with pytest.raises(ValueError, match="shape"):
        BayesianNetwork([coin("p"), DiscreteNode("x", ("a", "b"), ("p",), [[0.5, 0.5]] * 3)])


def test_tables_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValueError, match="read-only"):
        coin().table[0] = 1.0


def test_unknown_names_suggest_near_ones() -> None:
    network = BayesianNetwork([coin("weather")])
    with pytest.raises(ValueError, match="did you mean 'weather'"):
        network.state_index("whether", 0)
    with pytest.raises(ValueError, match="no state 'sideways'"):
        network.state_index("weather", "sideways")
    with pytest.raises(ValueError, match="no state True"):
        network.state_index("weather", True)


def test_samples_follow_the_tables() -> None:
    child = DiscreteNode("copy", ("tails", "heads"), ("coin",), [[1, 0], [0, 1]])
    draws = BayesianNetwork([child, coin()]).sample(500, np.random.default_rng(1))
    assert np.array_equal(draws[:, 0], draws[:, 1])
    assert 180 < draws[:, 0].sum() < 320
    assert BayesianNetwork([coin()]).sample(0, np.random.default_rng(1)).shape == (0, 1)


def test_impossible_assignments_have_log_probability_minus_infinity() -> None:
    child = DiscreteNode("copy", ("tails", "heads"), ("coin",), [[1, 0], [0, 1]])
    network = BayesianNetwork([coin(), child])
    assert network.log_probability({"coin": "tails", "copy": "heads"}) == -np.inf
    with pytest.raises(ValueError, match="missing"):
        network.log_probability({"coin": "tails"})


def test_the_empty_network_is_a_network() -> None:
    assert BayesianNetwork([]).log_probability({}) == 0.0


def test_markov_networks_check_their_factors() -> None:
    with pytest.raises(ValueError, match="shape"):
        DiscreteMarkovNetwork({"a": ("0", "1")}, [DiscreteFactor(("a",), [1.0, 2.0, 3.0])])
    with pytest.raises(ValueError, match="no variable"):
        DiscreteMarkovNetwork({"a": ("0", "1")}, [DiscreteFactor(("b",), [1.0, 2.0])])
    with pytest.raises(ValueError, match="non-negative"):
        DiscreteFactor(("a",), [1.0, -1.0])


def test_names_are_texts_and_never_one_text() -> None:
    for states in ((0, 1), (False, True), "ab", None):
        with pytest.raises(TypeError, match="states"):
            DiscreteNode("x", states, (), [0.5, 0.5])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="scope"):
        DiscreteFactor("ab", [[1, 2], [3, 4]])
    with pytest.raises(TypeError, match="states"):
        DiscreteMarkovNetwork({"a": "01"}, [])
    with pytest.raises(TypeError, match="nodes must be DiscreteNode"):
        BayesianNetwork([3])  # type: ignore[list-item]


def test_tables_are_real_numbers() -> None:
    for table in (np.array([0.5 + 1j, 0.5]), ["0.5", "0.5"]):
        with pytest.raises(ValueError, match="numbers"):
            DiscreteNode("x", ("a", "b"), (), table)
    with pytest.raises(ValueError, match="sum inf"):
        DiscreteNode("x", ("a", "b"), (), [1e308, 1e308])


def test_draws_need_a_generator_and_a_whole_number() -> None:
    network = BayesianNetwork([coin()])
    with pytest.raises(TypeError, match="Generator"):
        network.sample(2, np.random.RandomState(0))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="size"):
        network.sample(True, np.random.default_rng(0))

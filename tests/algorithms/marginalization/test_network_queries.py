"""Exact queries on discrete networks: trials of neighbouring libraries, brute force, extreme scales, refusals."""

import itertools
import math
import time
from dataclasses import replace

import numpy as np
import pytest

from whp.algorithms.marginalization.batched_elimination import log_partition, single_marginals
from whp.algorithms.marginalization.elimination_orders import TreewidthError
from whp.algorithms.marginalization.network_queries import (
    ImpossibleEvidenceError,
    JointTooLargeError,
    NetworkEngine,
)
from whp.theory.foundations.bayesian_networks import (
    BayesianNetwork,
    DiscreteFactor,
    DiscreteMarkovNetwork,
    DiscreteNode,
)

BINARY = ("0", "1")
FLIP = [[0.9, 0.1], [0.1, 0.9]]


def copying_network() -> BayesianNetwork:
    return BayesianNetwork(
        [
            DiscreteNode("A", BINARY, (), [0.7, 0.3]),
            DiscreteNode("B", BINARY, ("A",), [[1, 0], [0, 1]]),
            DiscreteNode("C", BINARY, ("B",), [[0.8, 0.2], [0.1, 0.9]]),
        ]
    )


def chain(n: int) -> BayesianNetwork:
    nodes = [DiscreteNode("X1", BINARY, (), [0.5, 0.5])]
    nodes += [DiscreteNode(f"X{i}", BINARY, (f"X{i - 1}",), FLIP) for i in range(2, n + 1)]
    return BayesianNetwork(nodes)


def ring(n: int) -> DiscreteMarkovNetwork:
    names = [f"X{i}" for i in range(1, n + 1)]
    edges = zip(names, [*names[1:], names[0]], strict=True)
    return DiscreteMarkovNetwork(dict.fromkeys(names, BINARY), [DiscreteFactor(edge, FLIP) for edge in edges])


def random_network(rng: np.random.Generator, n: int, *, zeros: bool = False, tiny: bool = False) -> BayesianNetwork:
    sizes = rng.integers(1, 4, n)
    nodes = []
    for i in range(n):
        parents = sorted(rng.choice(i, size=min(i, int(rng.integers(0, 4))), replace=False)) if i else []
        table = rng.dirichlet(np.ones(sizes[i]), size=tuple(sizes[j] for j in parents))
        if zeros:
            table = table * (rng.random(table.shape) < 0.6)
            table[..., 0] += table.sum(-1) == 0
        if tiny and sizes[i] > 1:
            table[..., -1] *= 1e-120
        table = table / table.sum(-1, keepdims=True)
        nodes.append(DiscreteNode(f"X{i}", [str(k) for k in range(sizes[i])], [f"X{j}" for j in parents], table))
    return BayesianNetwork(nodes)


def weighted_joint(network: BayesianNetwork, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Brute force in extended precision, whose exponents reach 1e-4932."""
    sizes = [network.cardinalities[name] for name in network.variables]
    table = np.zeros(sizes, dtype=np.longdouble)
    for states in itertools.product(*map(range, sizes)):
        table[states] = np.exp(
            np.longdouble(network.log_probability(dict(zip(network.variables, states, strict=True))))
        )
    for i, name in enumerate(network.variables):
        if name in weights:
            table = table * weights[name].reshape([-1 if j == i else 1 for j in range(len(sizes))])
    return table


# ---- trial 01: impossible evidence --------------------------------------------------------------------------------


def test_trial_01_impossible_evidence_is_a_named_error_listing_the_clash() -> None:
    engine = NetworkEngine(copying_network())
    with pytest.raises(ImpossibleEvidenceError, match="evidence has probability 0: A=1 and B=0") as caught:
        engine.posterior("C", {"A": 1, "B": 0})
    assert caught.value.clashing == ("A", "B")
    assert engine.evidence_probability({"A": 1, "B": 0}) == 0.0
    assert engine.evidence_log_probability({"A": 1, "B": 0}) == -math.inf
    assert engine.posterior("C", {"A": 1, "B": 1}) == pytest.approx([0.1, 0.9], abs=1e-15)


def test_trial_01_every_kind_of_query_refuses_impossible_evidence() -> None:
    engine = NetworkEngine(copying_network())
    evidence = {"A": 1, "B": 0}
    for query in (
        lambda: engine.posterior(["A", "C"], evidence),
        lambda: engine.joint_posterior(["A", "C"], evidence),
        lambda: engine.factored_posterior(["A", "C"], evidence),
        lambda: engine.most_probable_explanation(evidence),
        lambda: engine.jeffrey_posterior("C", {"C": (0.5, 0.5)}, evidence),
        lambda: engine.posterior_batch("C", {"B": [[1.0, 0.0]]}, {"A": 1}),
        lambda: engine.posterior_batch(["A", "C"], {"B": [[1.0, 0.0]]}, {"A": 1}),
    ):
        with pytest.raises(ImpossibleEvidenceError, match="A=1 and B=0"):
            query()
    assert engine.posterior("C", {"A": 1, "B": 1})[1] == pytest.approx(0.9, abs=1e-15)


def test_trial_01_the_clash_names_no_innocent_variable() -> None:
    nodes = [
        *copying_network().nodes,
        DiscreteNode("D", BINARY, ("C",), FLIP),
        DiscreteNode("E", BINARY, (), [0.5, 0.5]),
    ]
    with pytest.raises(ImpossibleEvidenceError) as caught:
        NetworkEngine(BayesianNetwork(nodes)).posterior("D", {"E": 1, "C": 0, "A": 1, "B": 0})
    assert caught.value.clashing == ("A", "B")


def test_trial_01_a_batch_names_the_first_impossible_row() -> None:
    engine = NetworkEngine(copying_network())
    weights = {"A": [[1.0, 1.0], [0.0, 1.0], [0.0, 1.0]], "B": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]}
    with pytest.raises(ImpossibleEvidenceError, match="row 2"):
        engine.posterior_batch("C", weights)
    assert engine.log_evidence_batch(weights)[2] == -math.inf


# ---- trial 03: two readings of virtual evidence -------------------------------------------------------------------


@pytest.mark.parametrize("weights", [(0.2, 0.3, 0.5), (2, 3, 5)])
def test_trial_03_likelihood_reading_does_not_depend_on_the_scale(weights: tuple[float, ...]) -> None:
    engine = NetworkEngine(BayesianNetwork([DiscreteNode("X", ("a", "b", "c"), (), [0.1, 0.7, 0.2])]))
    assert engine.posterior("X", virtual_evidence={"X": weights}) == pytest.approx(
        [0.060606, 0.636364, 0.303030], abs=5e-7
    )
    assert engine.jeffrey_posterior("X", {"X": (0.2, 0.3, 0.5)}) == pytest.approx([0.2, 0.3, 0.5], abs=1e-12)


def test_trial_03_repeated_queries_agree_also_after_a_failed_one() -> None:
    network = BayesianNetwork(
        [DiscreteNode("X", BINARY, (), [0.7, 0.3]), DiscreteNode("Y", BINARY, ("X",), [[0.9, 0.1], [0.2, 0.8]])]
    )
    engine = NetworkEngine(network)
    for _ in range(2):
        assert engine.posterior("X", virtual_evidence={"Y": (0.2, 0.9)})[1] == pytest.approx(76 / 139, abs=1e-15)
    assert engine.posterior("X")[1] == pytest.approx(0.3, abs=1e-15)
    for malformed in ((0.2,), (0.2, -0.9), (0.0, 0.0), (math.nan, 1.0), (math.inf, 1.0), "ab", None):
        with pytest.raises(ValueError, match="virtual_evidence"):
            engine.posterior("X", virtual_evidence={"Y": malformed})
    assert engine.posterior("X", virtual_evidence={"Y": (0.2, 0.9)})[1] == pytest.approx(76 / 139, abs=1e-15)
    assert engine.network is network
    assert network.variables == ("X", "Y")


def test_trial_03_unknown_keywords_are_type_errors() -> None:
    engine = NetworkEngine(copying_network())
    with pytest.raises(TypeError, match="virtual_evidences"):
        engine.posterior("A", virtual_evidences={"B": (1, 2)})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="virtual_evidence"):
        engine.posterior("A", virtual_evidence=[(1, 2)])  # type: ignore[arg-type]


def test_jeffrey_mixes_posteriors_and_fits_several_marginals_at_once() -> None:
    engine = NetworkEngine(copying_network())
    mixed = 0.25 * engine.posterior("A", {"C": 0}) + 0.75 * engine.posterior("A", {"C": 1})
    assert engine.jeffrey_posterior("A", {"C": (0.25, 0.75)}) == pytest.approx(mixed, abs=1e-12)
    both = engine.jeffrey_posterior(["A", "C"], {"A": (0.5, 0.5), "C": (0.4, 0.6)})
    assert both["A"] == pytest.approx([0.5, 0.5], abs=1e-11)
    assert both["C"] == pytest.approx([0.4, 0.6], abs=1e-11)


def test_jeffrey_refuses_marginals_that_cannot_hold() -> None:
    engine = NetworkEngine(copying_network())
    with pytest.raises(ArithmeticError, match="could not be met"):
        engine.jeffrey_posterior("C", {"A": (0.5, 0.5), "B": (0.4, 0.6)}, max_iterations=50)
    with pytest.raises(ValueError, match="impossible"):
        engine.jeffrey_posterior("C", {"B": (0.5, 0.5)}, {"A": 1})
    with pytest.raises(ValueError, match="sum to 1"):
        engine.jeffrey_posterior("C", {"A": (0.5, 0.6)})


# ---- trial 06: wide queries and loops -----------------------------------------------------------------------------


def test_trial_06_end_of_a_chain_of_forty_in_milliseconds() -> None:
    engine = NetworkEngine(chain(40))
    engine.posterior("X40", {"X1": 1})
    start = time.perf_counter()
    answer = engine.posterior("X40", {"X1": 1})
    assert time.perf_counter() - start < 0.5
    assert answer[1] == pytest.approx(0.5 + 0.5 * 0.8**39, rel=1e-14)
    assert round(float(answer[1]), 6) == 0.500083


def test_trial_06_the_joint_is_refused_with_its_size_and_offered_as_factors() -> None:
    engine = NetworkEngine(chain(40))
    wanted = [f"X{i}" for i in range(2, 41)]
    with pytest.raises(JointTooLargeError, match=r"549755813888 entries \(2\^39\).*factored_posterior"):
        engine.joint_posterior(wanted, {"X1": 1})
    factored = engine.factored_posterior(wanted, {"X1": 1})
    assert factored.entries < 200
    assert factored.log_probability(dict.fromkeys(wanted, 1)) == pytest.approx(39 * math.log(0.9), rel=1e-13)
    draws = factored.sample(4000, np.random.default_rng(0))
    assert np.mean(draws["X2"] == 1) == pytest.approx(0.9, abs=0.03)
    assert set(draws) == set(wanted)


def test_trial_06_the_most_likely_path_is_all_ones() -> None:
    best = NetworkEngine(chain(40)).most_probable_explanation({"X1": 1})
    assert set(best.assignment.values()) == {"1"}
    assert best.log_posterior == pytest.approx(39 * math.log(0.9), rel=1e-13)
    assert best.log_joint == pytest.approx(39 * math.log(0.9) + math.log(0.5), rel=1e-13)


def test_trial_06_the_closed_ring_is_eliminated_exactly() -> None:
    engine = NetworkEngine(ring(40))
    closed = 0.9 * (1 + 0.8**39) / (1 + 0.8**40)
    assert engine.posterior("X40", {"X1": 1})[1] == pytest.approx(closed, rel=1e-13)
    best = engine.most_probable_explanation({"X1": 1})
    assert set(best.assignment.values()) == {"1"}
    assert best.log_posterior == pytest.approx(40 * math.log(0.9) - math.log((1 + 0.8**40) / 2), rel=1e-12)
    wanted = [f"X{i}" for i in range(2, 41)]
    with pytest.raises(JointTooLargeError, match=r"2\^39"):
        engine.joint_posterior(wanted, {"X1": 1})
    factored = engine.factored_posterior(wanted, {"X1": 1})
    assert factored.log_probability(dict.fromkeys(wanted, 1)) == pytest.approx(best.log_posterior, rel=1e-12)


def test_trial_06_a_loop_in_a_directed_network_is_eliminated_exactly() -> None:
    both = [[[0.9, 0.1], [0.5, 0.5]], [[0.5, 0.5], [0.1, 0.9]]]
    nodes = [*chain(39).nodes, DiscreteNode("X40", BINARY, ("X39", "X1"), both)]
    reach = 0.5 + 0.5 * 0.8**38  # P(X39 = 1 | X1 = 1)
    assert NetworkEngine(BayesianNetwork(nodes)).posterior("X40", {"X1": 1})[1] == pytest.approx(
        reach * 0.9 + (1 - reach) * 0.5, rel=1e-13
    )


def test_trial_06_too_much_treewidth_is_refused_with_an_estimate() -> None:
    names = [f"v{i}" for i in range(30)]
    complete = [DiscreteFactor(pair, FLIP) for pair in itertools.combinations(names, 2)]
    engine = NetworkEngine(DiscreteMarkovNetwork(dict.fromkeys(names, BINARY), complete))
    with pytest.raises(TreewidthError, match=r"1073741824 entries \(8 GiB per query, width 29"):
        engine.posterior("v0")


def test_hard_evidence_opens_loops_that_were_too_wide() -> None:
    """A complete graph on 30 variables is refused, but not when all but five of them are observed."""
    names = [f"v{i}" for i in range(30)]
    complete = [DiscreteFactor(pair, FLIP) for pair in itertools.combinations(names, 2)]
    engine = NetworkEngine(DiscreteMarkovNetwork(dict.fromkeys(names, BINARY), complete))
    evidence = {name: int(i % 3 == 0) for i, name in enumerate(names[5:])}
    ones = sum(evidence.values())
    small = [DiscreteFactor(pair, FLIP) for pair in itertools.combinations(names[:5], 2)]
    field = np.array([0.1**ones * 0.9 ** (25 - ones), 0.9**ones * 0.1 ** (25 - ones)])
    small += [DiscreteFactor((name,), field / field.max()) for name in names[:5]]
    expected = NetworkEngine(DiscreteMarkovNetwork(dict.fromkeys(names[:5], BINARY), small)).posterior("v0")
    assert engine.posterior("v0", evidence) == pytest.approx(expected, rel=1e-12)
    assert engine.posterior(["v0", "v7"], evidence)["v0"] == pytest.approx(expected, rel=1e-12)
    assert engine.posterior_batch("v0", {"v1": [[1.0, 1.0]]}, evidence)[0] == pytest.approx(expected, rel=1e-12)
    assert engine.factored_posterior(names[:5], evidence).entries < 100
    assert set(engine.most_probable_explanation(evidence).assignment) == set(names)


# ---- against brute force ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_every_query_equals_brute_force(seed: int) -> None:
    rng = np.random.default_rng(seed)
    network = random_network(rng, 6, zeros=seed % 3 == 1, tiny=seed % 3 == 2)
    engine = NetworkEngine(network)
    observed = [name for name in network.variables if rng.random() < 0.5] or ["X0"]
    sizes = network.cardinalities
    weights = {name: rng.random((3, sizes[name])) * (rng.random((3, sizes[name])) < 0.8) for name in observed}
    logs = engine.log_evidence_batch(weights)
    for row in range(3):
        one = {name: w[row] for name, w in weights.items()}
        joint = weighted_joint(network, one)
        total = joint.sum()
        if total == 0:
            assert logs[row] == -np.inf
            continue
        assert logs[row] == pytest.approx(float(np.log(total)), rel=1e-11, abs=1e-11)
        marginals = engine.posterior(network.variables, virtual_evidence=one)
        for i, name in enumerate(network.variables):
            expected = np.asarray(joint.sum(axis=tuple(j for j in range(joint.ndim) if j != i)) / total, dtype=float)
            assert marginals[name] == pytest.approx(expected, rel=1e-9, abs=1e-13)
            assert engine.posterior(name, virtual_evidence=one) == pytest.approx(expected, rel=1e-9, abs=1e-13)
        best = engine.most_probable_explanation(virtual_evidence=one)
        found = joint[tuple(int(best.assignment[name]) for name in network.variables)]
        assert float(found / joint.max()) == pytest.approx(1.0, rel=1e-10)
        chosen = list(rng.permutation(network.variables)[:3])
        order = [network.variables.index(name) for name in chosen]
        expected = np.asarray(
            joint.sum(axis=tuple(j for j in range(joint.ndim) if j not in order)) / total, dtype=float
        )
        expected = expected.transpose(np.argsort(np.argsort(order)))
        assert engine.joint_posterior(chosen, virtual_evidence=one) == pytest.approx(expected, abs=1e-12)
        factored = engine.factored_posterior(chosen, virtual_evidence=one)
        for states in itertools.product(*map(range, expected.shape)):
            value = math.exp(factored.log_probability(dict(zip(chosen, states, strict=True))))
            assert value == pytest.approx(expected[states], abs=1e-12)


def test_batches_equal_loops_over_single_queries() -> None:
    rng = np.random.default_rng(5)
    network = random_network(rng, 12)
    engine = NetworkEngine(network)
    weights = {name: rng.random((40, size)) for name, size in network.cardinalities.items()}
    batch = engine.posterior_batch(network.variables, weights)
    single = engine.posterior_batch("X7", weights)
    for row in range(40):
        loop = engine.posterior(network.variables, virtual_evidence={name: w[row] for name, w in weights.items()})
        for name in network.variables:
            assert batch[name][row] == pytest.approx(loop[name], abs=1e-14)
    assert single == pytest.approx(batch["X7"], abs=1e-14)


def test_full_virtual_evidence_equals_hard_evidence() -> None:
    engine = NetworkEngine(chain(10))
    hard = engine.posterior("X5", {"X1": 1, "X10": "0"})
    soft = engine.posterior("X5", virtual_evidence={"X1": (0, 3), "X10": (0.1, 0)})
    assert hard == pytest.approx(soft, abs=1e-15)
    assert engine.evidence_probability(virtual_evidence={"X1": (0, 3)}) == pytest.approx(1.5, rel=1e-14)


# ---- extreme scales -----------------------------------------------------------------------------------------------


def test_ten_thousand_observations_do_not_underflow() -> None:
    engine = NetworkEngine(chain(10_000))
    evidence = {f"X{i}": i % 2 for i in range(1, 10_001)}
    exact = math.log(0.5) + 9_999 * math.log(0.1)
    assert engine.evidence_log_probability(evidence) == pytest.approx(exact, rel=1e-12)
    with pytest.raises(ArithmeticError, match="evidence_log_probability"):
        engine.evidence_probability(evidence)


def test_a_path_that_underflows_first_and_wins_later_is_not_lost() -> None:
    """State 1 looks impossible for 300 steps, then everything else is ruled out."""
    n = 300
    nodes = [DiscreteNode("X0", BINARY, (), [0.5, 0.5])]
    nodes += [DiscreteNode(f"X{i}", BINARY, (f"X{i - 1}",), [[1, 0], [0, 1]]) for i in range(1, n)]
    engine = NetworkEngine(BayesianNetwork(nodes))
    weights = {f"X{i}": [[1.0, 1e-5]] for i in range(n - 1)}
    weights[f"X{n - 1}"] = [[0.0, 1.0]]
    expected = math.log(0.5) + (n - 1) * math.log(1e-5)
    assert engine.log_evidence_batch(weights)[0] == pytest.approx(expected, rel=1e-12)
    assert engine.posterior_batch(["X0", "X7"], weights)["X0"][0].tolist() == [0.0, 1.0]


def test_weights_and_tables_at_the_ends_of_float64() -> None:
    tiny = 1e-300
    nodes = [
        DiscreteNode("A", BINARY, (), [1.0 - tiny, tiny]),
        *(DiscreteNode(f"B{i}", BINARY, ("A",), [[1.0 - tiny, tiny], [tiny, 1.0 - tiny]]) for i in range(4)),
    ]
    engine = NetworkEngine(BayesianNetwork(nodes))
    evidence = {f"B{i}": 1 for i in range(4)}
    assert engine.posterior("A", evidence) == pytest.approx([0.0, 1.0])
    assert engine.evidence_log_probability(evidence) == pytest.approx(math.log(tiny), rel=1e-14)
    huge = {"A": [[1e300, 1e-300], [1e-300, 1e300]], "B0": [[1e300, 1e300], [1e-300, 1e-300]]}
    assert engine.log_evidence_batch(huge) == pytest.approx([2 * math.log(1e300), math.log(1e-300)], rel=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4, 5, 121])
def test_linear_and_logarithmic_engines_agree_on_extreme_weights(seed: int) -> None:
    """Seed 121: a rescaling whose division underflowed made a positive sum zero."""
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(1, 25)), zeros=seed % 3 == 1, tiny=seed % 3 == 2)
    engine, sizes = NetworkEngine(network), network.cardinalities
    observed = [name for name in network.variables if rng.random() < 0.6] or ["X0"]
    scale = rng.choice([1, 20, 120, 250])
    weights = {}
    for name in observed:
        powers = 10.0 ** rng.integers(-scale, scale + 1, size=(7, sizes[name]))
        weights[name] = rng.random((7, sizes[name])) * powers * (rng.random((7, sizes[name])) < 0.9)
    plan = engine.plan((), tuple(weights), network.variables)
    total, marginals = single_marginals(plan, weights, 7)
    exact_total, exact = single_marginals(replace(plan, wide=True), weights, 7)
    assert np.array_equal(total == -np.inf, exact_total == -np.inf)
    possible = exact_total > -np.inf
    assert total[possible] == pytest.approx(exact_total[possible], rel=1e-11)
    for name in network.variables:
        assert marginals[name] == pytest.approx(exact[name], abs=1e-9)


def test_many_messages_into_one_variable_do_not_underflow() -> None:
    """Naive Bayes with 3000 observed features: the product of 3000 messages is far below float64."""
    features = [DiscreteNode(f"F{i}", BINARY, ("C",), [[0.7, 0.3], [0.6, 0.4]]) for i in range(3000)]
    engine = NetworkEngine(BayesianNetwork([DiscreteNode("C", BINARY, (), [0.5, 0.5]), *features]))
    evidence = {f"F{i}": int(i < 1050) for i in range(3000)}
    odds = 1050 * math.log(4 / 3) + 1950 * math.log(6 / 7)
    assert engine.posterior("C", evidence)[1] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-10)
    assert engine.posterior(["C", "F0"], evidence)["C"][1] == pytest.approx(1 / (1 + math.exp(-odds)), rel=1e-10)


# ---- edges and refusals -------------------------------------------------------------------------------------------


def test_variables_without_factors_and_empty_networks() -> None:
    free = NetworkEngine(DiscreteMarkovNetwork({"a": ("0", "1", "2"), "b": BINARY}, []))
    assert free.posterior("a", virtual_evidence={"a": (1, 1, 2)}) == pytest.approx([0.25, 0.25, 0.5])
    assert free.posterior(["a", "b"])["b"] == pytest.approx([0.5, 0.5])
    assert free.log_normaliser() == pytest.approx(math.log(6))
    assert free.joint_posterior(["b", "a"]).shape == (2, 3)
    assert NetworkEngine(BayesianNetwork([])).evidence_probability() == 1.0


def test_targets_that_are_observed_return_their_state() -> None:
    engine = NetworkEngine(copying_network())
    assert engine.posterior("A", {"A": 1}).tolist() == [0.0, 1.0]
    assert engine.posterior(["A", "C"], {"A": "1"})["C"] == pytest.approx([0.1, 0.9])


def test_bad_calls_are_refused_in_words() -> None:
    engine = NetworkEngine(copying_network())
    with pytest.raises(ValueError, match="no variable 'Z'"):
        engine.posterior("Z")
    with pytest.raises(ValueError, match="no state 2"):
        engine.posterior("A", {"B": 2})
    with pytest.raises(ValueError, match="different variables"):
        engine.posterior(["A", "A"])
    with pytest.raises(ValueError, match="different variables"):
        engine.posterior([])
    with pytest.raises(ValueError, match=r"shape \(batch=2, 2\)"):
        engine.posterior_batch("A", {"B": [[1, 1], [1, 1]], "C": [[1, 1, 1]] * 2})
    with pytest.raises(ValueError, match="in row 1"):
        engine.posterior_batch("A", {"B": [[1, 1], [1, -1]]})
    with pytest.raises(TypeError, match="BayesianNetwork"):
        NetworkEngine("network")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="weights"):
        engine.posterior_batch("A", {})


def test_an_empty_batch_gives_an_empty_answer() -> None:
    engine = NetworkEngine(copying_network())
    assert engine.posterior_batch("A", {"B": np.ones((0, 2))}).shape == (0, 2)
    assert engine.log_evidence_batch({"B": np.ones((0, 2))}).shape == (0,)


def test_large_batches_are_cut_into_chunks_with_the_same_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    engine = NetworkEngine(random_network(rng, 8))
    weights = {name: rng.random((50, size)) for name, size in engine.network.cardinalities.items()}
    plan = engine.plan((), tuple(weights))
    whole = log_partition(plan, weights, 50)
    marginals = engine.posterior_batch(engine.network.variables, weights)
    monkeypatch.setattr("whp.algorithms.marginalization.batched_elimination._CHUNK_ENTRIES", 7 * plan.entries_per_row)
    assert log_partition(plan, weights, 50) == pytest.approx(whole, rel=1e-14)
    again = engine.posterior_batch(engine.network.variables, weights)
    for name in marginals:
        assert again[name] == pytest.approx(marginals[name], abs=1e-15)


def test_weights_too_far_apart_to_be_scaled_do_not_make_evidence_impossible() -> None:
    network = BayesianNetwork(
        [
            DiscreteNode("X", BINARY, (), [0.5, 0.5]),
            DiscreteNode("Y", BINARY, ("X",), [[1.0, 0.0], [0.5, 0.5]]),
        ]
    )
    engine = NetworkEngine(network)
    far_apart = {"Y": (1e-258, 1e241)}  # their ratio is below the smallest float
    np.testing.assert_allclose(engine.posterior("X", {"X": 0}, virtual_evidence=far_apart), [1, 0])
    logarithm = engine.evidence_log_probability({"X": 0}, virtual_evidence=far_apart)
    assert logarithm == pytest.approx(math.log(0.5) - 258 * math.log(10))


def test_an_empty_batch_has_empty_answers() -> None:
    engine = NetworkEngine(chain(4))
    empty = {"X2": np.zeros((0, 2))}
    assert engine.posterior_batch("X1", empty).shape == (0, 2)
    assert {k: v.shape for k, v in engine.posterior_batch(["X1", "X2"], empty).items()} == {"X1": (0, 2), "X2": (0, 2)}
    assert engine.log_evidence_batch(empty).shape == (0,)


def test_factored_posteriors_read_assignments_as_networks_do() -> None:
    posterior = NetworkEngine(chain(3)).factored_posterior(["X1", "X2"])
    assert posterior.log_probability({"X1": np.int64(0), "X2": "0"}) == pytest.approx(math.log(0.45))
    for wrong in ({"X1": True, "X2": 0}, {"X1": 0}, {"X1": 0, "X2": 0, "X3": 0}, {"X1": 0, "X2": 2}):
        with pytest.raises(ValueError, match="X"):
            posterior.log_probability(wrong)
    with pytest.raises(TypeError, match="Generator"):
        posterior.sample(2, 3)  # type: ignore[arg-type]


def test_complex_and_textual_weights_are_refused_not_cast() -> None:
    engine = NetworkEngine(chain(3))
    for wrong in (np.array([1j, 1]), ["1", "2"], None, "ab"):
        with pytest.raises(ValueError, match="virtual_evidence"):
            engine.posterior("X1", virtual_evidence={"X2": wrong})
    with pytest.raises(ValueError, match="real numbers"):
        engine.posterior_batch("X1", {"X2": np.array([[1j, 1]])})
    with pytest.raises(TypeError, match="new_marginals"):
        engine.jeffrey_posterior("X1", [0.5, 0.5])  # type: ignore[arg-type]


def test_many_messages_that_are_small_but_not_tiny_do_not_underflow_together() -> None:
    children = [DiscreteNode(f"x{i}", BINARY, ("C",), FLIP) for i in range(12)]
    engine = NetworkEngine(BayesianNetwork([DiscreteNode("C", BINARY, (), [0.5, 0.5]), *children]))
    small = {f"x{i}": np.full((2, 2), 1e-40) for i in range(12)}  # each message is above the rescaling level
    np.testing.assert_allclose(engine.log_evidence_batch(small), -480 * math.log(10))
    for values in engine.posterior_batch(["C", "x3"], small).values():
        np.testing.assert_allclose(values, 0.5)
    large = {name: np.full((2, 2), 1e40) for name in small}
    np.testing.assert_allclose(engine.log_evidence_batch(large), 480 * math.log(10))


def test_states_far_below_the_others_survive_in_tables_and_in_rows() -> None:
    steep = [DiscreteFactor(("X",), [1e-300, 1.0])] * 2
    tables = NetworkEngine(DiscreteMarkovNetwork({"X": BINARY}, steep))
    assert tables.evidence_log_probability({"X": 0}) == pytest.approx(-600 * math.log(10))
    copies = [DiscreteNode(f"x{i}", BINARY, ("C",), np.eye(2)) for i in range(4)]
    path = [DiscreteNode(b, BINARY, (a,), np.eye(2)) for a, b in itertools.pairwise("CDEFG")]  # D is summed out late
    rows = NetworkEngine(BayesianNetwork([DiscreteNode("C", BINARY, (), [0.5, 0.5]), *copies, *path]))
    weights = {f"x{i}": [[1e-150, 1.0]] for i in range(4)}
    expected = math.log(0.5) - 600 * math.log(10)
    np.testing.assert_allclose(rows.log_evidence_batch(weights, {"D": 0}), [expected])

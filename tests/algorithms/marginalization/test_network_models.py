"""Fitted and published networks: structure learning, the BIF reader, circuits of networks, agreement with peers."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from whp.algorithms.marginalization.bif import parse_bif
from whp.algorithms.marginalization.chow_liu import fit_chow_liu_tree, fit_naive_bayes
from whp.algorithms.marginalization.circuit_derivatives import marginals_exact
from whp.algorithms.marginalization.circuit_evaluation import evaluate_batch, evaluate_exact, evaluate_log_batch
from whp.algorithms.marginalization.circuit_properties import certify_multilinear, is_decomposable, is_smooth
from whp.algorithms.marginalization.elimination_orders import elimination_order
from whp.algorithms.marginalization.network_circuits import binary_network_circuit, network_circuit
from whp.algorithms.marginalization.network_data import (
    BinaryTable,
    load_binarised_breast_cancer,
    load_binarised_digits,
    load_pgmpy_example,
)
from whp.algorithms.marginalization.network_queries import NetworkEngine
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode

SPRINKLER = """
network sprinkler { }
variable cloudy { type discrete [ 2 ] { no, yes }; }
variable "rain" { type discrete [ 2 ] { no, yes }; property "x = 1"; }
variable wet { type discrete [ 3 ] { dry, damp, soaked }; } // comment
probability ( cloudy ) { table 0.5, 0.5; }
probability ( rain | cloudy ) { (no) 0.8, 0.2; (yes) 0.2, 0.8; }
probability ( wet | rain, cloudy ) { default 0.25, 0.25, 0.5; (no, no) 1.0, 0.0, 0.0; }
"""


@pytest.fixture(scope="module")
def digits() -> BinaryTable:
    pytest.importorskip("sklearn", reason="the digits are part of the package scikit-learn")
    return load_binarised_digits()


# ---- BIF -----------------------------------------------------------------------------------------------------------


def test_bif_reads_rows_tables_and_defaults() -> None:
    network = parse_bif(SPRINKLER)
    assert network.variables == ("cloudy", "rain", "wet")
    assert network["wet"].parents == ("rain", "cloudy")
    assert network["wet"].table[0, 0].tolist() == [1.0, 0.0, 0.0]
    assert network["wet"].table[1, 0].tolist() == [0.25, 0.25, 0.5]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.8, 0.2;", "0.8, 0.1;", "sums to 0.9"),
        ("[ 3 ]", "[ 4 ]", "declares 4 states"),
        ("table 0.5, 0.5", "table 0.5", "needs 2 entries"),
        ("default 0.25, 0.25, 0.5;", "", "is missing"),
        ("( rain | cloudy )", "( rain | sunny )", "undeclared variables"),
        ("probability ( cloudy ) { table 0.5, 0.5; }", "", "no probability table"),
    ],
)
def test_bif_faults_are_named(old: str, new: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_bif(SPRINKLER.replace(old, new))


# ---- structure fitting ---------------------------------------------------------------------------------------------


def test_chow_liu_recovers_a_chain() -> None:
    rng = np.random.default_rng(0)
    nodes = [DiscreteNode("v0", ("0", "1"), (), [0.5, 0.5])]
    nodes += [DiscreteNode(f"v{i}", ("0", "1"), (f"v{i - 1}",), [[0.8, 0.2], [0.3, 0.7]]) for i in range(1, 8)]
    fit = fit_chow_liu_tree(BayesianNetwork(nodes).sample(4000, rng), pseudocount=0.0)
    assert sorted(fit.edges) == [(i, i + 1) for i in range(7)]
    assert fit.network["X3"].table == pytest.approx(np.array([[0.8, 0.2], [0.3, 0.7]]), abs=0.05)


def test_chow_liu_is_the_best_of_all_spanning_trees() -> None:
    import networkx as nx

    data = np.random.default_rng(1).integers(0, 3, size=(40, 5))
    fit = fit_chow_liu_tree(data)
    weights = nx.from_numpy_array(fit.mutual_information)
    best = max(sum(d["weight"] for *_, d in tree.edges(data=True)) for tree in nx.SpanningTreeIterator(weights))
    assert sum(fit.mutual_information[edge] for edge in fit.edges) == pytest.approx(best, rel=1e-12)


def test_mutual_information_of_copies_and_constants() -> None:
    coin = np.array([0, 1] * 10)
    fit = fit_chow_liu_tree(np.column_stack([coin, 1 - coin, np.zeros(20, dtype=int)]), cardinalities=[2, 2, 2])
    assert fit.mutual_information[0, 1] == pytest.approx(math.log(2), rel=1e-14)
    assert fit.mutual_information[2].tolist() == [0.0, 0.0, 0.0]
    assert NetworkEngine(fit.network).posterior("X2", {"X0": 1})[1] == pytest.approx(0.5 / 11, rel=1e-12)


def test_fitting_refuses_bad_tables() -> None:
    for data, message in (
        (np.zeros((0, 3)), "non-empty"),
        ([[0.5, 1.0]], "state numbers"),
        ([[-1, 1]], "state numbers"),
        ([[0, 5]], "beyond their cardinalities"),
    ):
        with pytest.raises(ValueError, match=message):
            fit_chow_liu_tree(data, cardinalities=[2, 2] if message.startswith("beyond") else None)
    with pytest.raises(ValueError, match="pseudocount"):
        fit_chow_liu_tree([[0, 1]], pseudocount=-1.0)
    with pytest.raises(ValueError, match="root"):
        fit_chow_liu_tree([[0, 1]], root=2)


def test_naive_bayes_on_breast_cancer_classifies() -> None:
    pytest.importorskip("sklearn", reason="the data are part of the package scikit-learn")
    table = load_binarised_breast_cancer()
    engine = NetworkEngine(fit_naive_bayes(table.features, table.classes, table.names))
    weights = {name: np.eye(2)[table.features[:, i]] for i, name in enumerate(table.names)}
    guess = engine.posterior_batch("class", weights).argmax(axis=1)
    assert np.mean(guess == table.classes) > 0.9


# ---- circuits of networks ------------------------------------------------------------------------------------------


def test_network_circuit_is_smooth_decomposable_multilinear_and_answers_queries() -> None:
    network = parse_bif(SPRINKLER)
    circuit = network_circuit(network)
    assert circuit.inputs[:3] == ("cloudy=no", "cloudy=yes", "rain=no")
    assert is_smooth(circuit)
    assert is_decomposable(circuit)
    assert certify_multilinear(circuit).multilinear
    rng = np.random.default_rng(0)
    rows = rng.random((20, len(circuit.inputs)))
    weights = {"cloudy": rows[:, :2], "rain": rows[:, 2:4], "wet": rows[:, 4:]}
    logs = NetworkEngine(network).log_evidence_batch(weights)
    assert np.log(evaluate_batch(circuit, rows)) == pytest.approx(logs, abs=1e-13)


def test_digit_tree_as_a_circuit_gives_all_marginals_within_five_times_the_gates(digits: BinaryTable) -> None:
    tree = fit_chow_liu_tree(digits.features, [2] * 64, digits.names).network
    circuit = binary_network_circuit(tree)
    assert is_decomposable(circuit)
    weights = [(Fraction(1, 2 + i % 3), Fraction(1, 1 + i % 2)) for i in range(64)]
    exact = marginals_exact(circuit, weights)
    assert all(one + zero == exact.total for one, zero in zip(exact.ones, exact.zeros, strict=True))
    assert exact.total_gates <= 5 * exact.forward_gates
    soft = {name: (float(b), float(w)) for name, (w, b) in zip(tree.variables, weights, strict=True)}
    engine = NetworkEngine(tree)
    answers = engine.posterior(tree.variables, virtual_evidence=soft)
    for i, name in enumerate(tree.variables):
        assert answers[name][1] == pytest.approx(float(exact.ones[i] / exact.total), rel=1e-10)
    logs = evaluate_log_batch(circuit, [[float(w) for w, _ in weights] + [float(b) for _, b in weights]])[1]
    assert engine.evidence_log_probability(virtual_evidence=soft) == pytest.approx(logs[0], rel=1e-12)


def test_exact_probabilities_of_a_binary_network_sum_to_one() -> None:
    nodes = [
        DiscreteNode("a", ("0", "1"), (), [0.25, 0.75]),
        DiscreteNode("b", ("0", "1"), ("a",), [[0.5, 0.5], [0.125, 0.875]]),
    ]
    circuit = binary_network_circuit(BayesianNetwork(nodes))
    values = [evaluate_exact(circuit, [*x, *(1 - b for b in x)]) for x in itertools.product((0, 1), repeat=2)]
    assert sum(values) == 1
    with pytest.raises(ValueError, match="network_circuit"):
        binary_network_circuit(parse_bif(SPRINKLER))


# ---- elimination orders --------------------------------------------------------------------------------------------


def test_orders_of_known_graphs_have_their_treewidth() -> None:
    names = [f"v{i}" for i in range(12)]
    sizes = dict.fromkeys(names, 2)
    path = list(itertools.pairwise(names))
    assert elimination_order(path, sizes).width == 1
    assert elimination_order([*path, (names[-1], names[0])], sizes).width == 2
    assert elimination_order(itertools.combinations(names, 2), sizes).width == 11
    grid = [
        ((i, j), (i + di, j + dj))
        for i in range(4)
        for j in range(4)
        for di, dj in ((0, 1), (1, 0))
        if i + di < 4 and j + dj < 4
    ]
    cells = {f"{i}{j}": 2 for i in range(4) for j in range(4)}
    edges = [(f"{a}{b}", f"{c}{d}") for (a, b), (c, d) in grid]
    assert elimination_order(edges, cells).width == 4
    assert elimination_order(edges, cells, keep=("00", "33")).variables.count("00") == 0
    assert elimination_order([], {}).variables == ()


# ---- peers ---------------------------------------------------------------------------------------------------------

#: name -> (target, hard evidence by state number, variables with weights 0.1, 0.2, ...)
PUBLISHED = {
    "asia": ("lung", {"xray": 0}, ("dysp", "smoke")),
    "alarm": ("VENTLUNG", {"HRBP": 0, "EXPCO2": 1}, ("PRESS", "BP")),
    "child": ("Disease", {"Age": 2}, ("CO2Report", "XrayReport")),
    "insurance": ("Accident", {"Age": 1}, ("DrivHist", "CarValue")),
}


def rising(size: int) -> list[float]:
    return [0.1 * (k + 1) for k in range(size)]


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_networks_agree_with_pgmpy(name: str) -> None:
    pytest.importorskip("pgmpy", reason="the peer and its example networks are the package pgmpy")
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    network = load_pgmpy_example(name)
    target, hard, soft = PUBLISHED[name]
    model = DiscreteBayesianNetwork([(p, node.name) for node in network.nodes for p in node.parents])
    for node in network.nodes:
        columns = np.moveaxis(node.table, -1, 0).reshape(node.cardinality, -1)
        names = {v: list(network.states[v]) for v in (node.name, *node.parents)}
        cards = [len(network.states[p]) for p in node.parents]
        model.add_cpds(TabularCPD(node.name, node.cardinality, columns, node.parents, cards, state_names=names))
    likelihoods = {v: rising(len(network.states[v])) for v in soft}
    factors = [
        TabularCPD(v, len(w), [[x] for x in w], state_names={v: list(network.states[v])})
        for v, w in likelihoods.items()
    ]
    found = VariableElimination(model).query(
        [target],
        evidence={v: network.states[v][k] for v, k in hard.items()},
        virtual_evidence=factors,
        show_progress=False,
    )
    expected = [float(found.get_value(**{target: state})) for state in network.states[target]]
    assert NetworkEngine(network).posterior(target, hard, virtual_evidence=likelihoods) == pytest.approx(
        expected, rel=1e-9
    )


def test_reference_posteriors_of_asia_and_alarm() -> None:
    pytest.importorskip("pgmpy", reason="the example networks are part of the package pgmpy")
    asia, alarm = NetworkEngine(load_pgmpy_example("asia")), NetworkEngine(load_pgmpy_example("alarm"))
    target, hard, soft = PUBLISHED["asia"]
    assert asia.posterior(target, hard, virtual_evidence={v: rising(2) for v in soft}) == pytest.approx(
        [0.34361595, 0.65638405], abs=5e-9
    )
    target, hard, soft = PUBLISHED["alarm"]
    likelihoods = {v: rising(len(alarm.network.states[v])) for v in soft}
    assert alarm.posterior(target, hard, virtual_evidence=likelihoods) == pytest.approx(
        [5.9429670e-01, 4.0520917e-01, 2.3407000e-04, 2.6006000e-04], abs=5e-9
    )
    assert alarm.evidence_probability(hard, virtual_evidence=likelihoods) == pytest.approx(0.0093441502, rel=2e-7)


def test_digit_tree_agrees_with_pyagrum(digits: BinaryTable) -> None:
    gum = pytest.importorskip("pyagrum", reason="the peer is the package pyagrum")
    tree = fit_chow_liu_tree(digits.features, [2] * 64, digits.names).network
    theirs = gum.BayesNet("tree")
    for name in tree.variables:
        theirs.add(gum.LabelizedVariable(name, name, 2))
    for node in tree.nodes:
        for parent in node.parents:
            theirs.addArc(parent, node.name)
        for index in itertools.product(*map(range, node.table.shape[:-1])):
            theirs.cpt(node.name)[dict(zip(node.parents, index, strict=True))] = node.table[index].tolist()
    rng = np.random.default_rng(0)
    likelihoods = {name: rng.random(2).tolist() for name in tree.variables}
    engine = gum.LazyPropagation(theirs)
    engine.setEvidence(likelihoods)
    engine.makeInference()
    ours = NetworkEngine(tree)
    answers = ours.posterior(tree.variables, virtual_evidence=likelihoods)
    for name in tree.variables:
        assert answers[name] == pytest.approx(engine.posterior(name).toarray(), rel=1e-9)
    assert ours.evidence_log_probability(virtual_evidence=likelihoods) == pytest.approx(
        math.log(engine.evidenceProbability()), rel=1e-10
    )


def test_missing_networks_are_named() -> None:
    pytest.importorskip("pgmpy", reason="the example networks are part of the package pgmpy")
    with pytest.raises(ValueError, match="it ships alarm"):
        load_pgmpy_example("nowhere")

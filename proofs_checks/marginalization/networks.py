"""Checks of T1 and T8 on Bayesian networks: published, fitted to real data, and random ones."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.util import find_spec
from typing import Any

import numpy as np

from whp.algorithms import marginalization as solvers
from whp.algorithms.marginalization import circuit_derivatives
from whp.algorithms.marginalization.chow_liu import fit_chow_liu_tree
from whp.algorithms.marginalization.circuit_oracle import network_oracle
from whp.algorithms.marginalization.circuits import CircuitBuilder
from whp.algorithms.marginalization.network_circuits import binary_network_circuit
from whp.algorithms.marginalization.network_data import load_binarised_breast_cancer, load_binarised_digits
from whp.proofs_checks.engine import Check, Instances, Mutant, Recipe, Slack, at_most, identity, recipe
from whp.proofs_checks.marginalization.circuits import gates_of, values_of
from whp.theory.core import Slot
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode
from whp.theory.marginalization import Pattern, Scalar, Weights
from whp.theory.marginalization.theorems import BACKWARD_OPERATIONS


@dataclass(frozen=True)
class NetworkQuery:
    """A binary network with a pattern and weights in the order of its variables."""

    network: BayesianNetwork
    pattern: Pattern
    weights: Weights


NETWORK_ORACLE = Slot(
    "network_oracle",
    "(network)",
    "network: BayesianNetwork of binary variables",
    "oracle with marginal(q), hamming_marginals(q) and virtual_evidence(weights), exact for the float64 parameters",
    ("network",),
)
NETWORK_DERIVATIVES = Slot(
    "derivative_circuit",
    "(circuit)",
    "circuit: ArithmeticCircuit with one output",
    "ArithmeticCircuit whose outputs are the value and the derivative in each input",
    ("circuit",),
)


def joint_distribution(network: BayesianNetwork) -> list[Fraction]:
    """Exact probabilities of all 2^n assignments, by the product of the tables' dyadic entries."""
    names = network.variables
    place = {name: position for position, name in enumerate(names)}
    tables = [([place[parent] for parent in node.parents] + [place[node.name]], node.table) for node in network.nodes]
    exact = [
        (scope, {index: Fraction(float(table[index])) for index in np.ndindex(table.shape)}) for scope, table in tables
    ]
    joint = []
    for x in itertools.product((0, 1), repeat=len(names)):
        product = Fraction(1)
        for scope, entries in exact:
            product *= entries[tuple(x[position] for position in scope)]
        joint.append(product)
    return joint


def _weighted(joint: list[Fraction], weights: Weights) -> Fraction:
    """Fold the joint table one variable at a time: ``Σ_x P(x) Π w``."""
    values = joint
    for w, w_bar in weights.pairs:
        half = len(values) // 2
        values = [Fraction(w_bar) * a + Fraction(w) * b for a, b in zip(values[:half], values[half:], strict=True)]
    return values[0]


def networks_answer_every_query(instance: NetworkQuery, *, network_oracle: Any) -> Slack:
    """VM, PM, HM and EV of the compiled network against its joint distribution."""
    joint, q, n = joint_distribution(instance.network), instance.pattern, instance.pattern.n
    oracle = network_oracle(instance.network)
    points = list(itertools.product((0, 1), repeat=n))
    by_weight: list[Scalar] = [0] * (n + 1)
    for value, x in zip(joint, points, strict=True):
        if q.admits(x):
            by_weight[sum(x)] += value
    middle = points[len(points) // 2]
    return (
        identity("VM", oracle.virtual_evidence(instance.weights), _weighted(joint, instance.weights))
        & identity("PM", oracle.marginal(q), sum(by_weight))
        & identity("HM", list(oracle.hamming_marginals(q)), by_weight)
        & identity("EV", oracle.evaluate(middle), joint[len(points) // 2])
    )


def networks_have_cheap_single_marginals(instance: NetworkQuery, *, derivative_circuit: Any) -> Slack:
    """All single marginals under virtual evidence by one backward pass, within 5s gates."""
    joint, weights = joint_distribution(instance.network), instance.weights
    n = weights.n
    circuit = binary_network_circuit(instance.network)
    backward = derivative_circuit(circuit)
    flat = [w for w, _ in weights.pairs] + [w_bar for _, w_bar in weights.pairs]
    total, *gradient = values_of(backward, flat)
    products = [value * slope for value, slope in zip(flat, gradient, strict=True)]
    restricted = []
    for i in range(n):
        pairs = tuple((w, 0) if j == i else (w, w_bar) for j, (w, w_bar) in enumerate(weights.pairs))
        restricted.append(_weighted(joint, Weights(pairs)))
    return (
        identity("value", total, _weighted(joint, weights))
        & identity("w ∂N/∂w", products[:n], restricted)
        & identity("both states", [a + b for a, b in zip(products[:n], products[n:], strict=True)], [total] * n)
        & at_most("operations", gates_of(backward), int(BACKWARD_OPERATIONS(size=gates_of(circuit))))
    )


# instances


def asia() -> BayesianNetwork:
    """The chest-clinic network of Lauritzen and Spiegelhalter (1988)."""
    states = ("no", "yes")

    def node(name: str, parents: tuple[str, ...], yes: Any) -> DiscreteNode:
        chance = np.array(yes, dtype=float)
        return DiscreteNode(name, states, parents, np.stack([1 - chance, chance], axis=-1))

    return BayesianNetwork(
        [
            node("asia", (), 0.01),
            node("smoking", (), 0.5),
            node("tuberculosis", ("asia",), [0.01, 0.05]),
            node("lung_cancer", ("smoking",), [0.01, 0.1]),
            node("bronchitis", ("smoking",), [0.3, 0.6]),
            node("either", ("tuberculosis", "lung_cancer"), [[0, 1], [1, 1]]),
            node("x_ray", ("either",), [0.05, 0.98]),
            node("dyspnoea", ("either", "bronchitis"), [[0.1, 0.8], [0.7, 0.9]]),
        ]
    )


def _query(network: BayesianNetwork, rng: np.random.Generator) -> NetworkQuery:
    n = len(network.variables)
    values = [Fraction(int(a), int(b)) for a, b in rng.integers([-3, 1], [6, 4], size=(2 * n, 2))]
    letters = "".join(rng.choice(list("01***"), size=n))
    return NetworkQuery(network, Pattern(letters), Weights.of(values[:n], values[n:]))


@recipe("marginalization.fitted_tree")
def fitted_tree(rng: np.random.Generator, data: str, columns: list[int]) -> NetworkQuery:
    """Chow–Liu tree over some columns of a binarised scikit-learn table."""
    load = {"breast_cancer": load_binarised_breast_cancer, "digits": load_binarised_digits}[data]
    table = load()
    names = [table.names[k] for k in columns]
    return _query(fit_chow_liu_tree(table.features[:, columns], [2] * len(columns), names).network, rng)


def network_queries() -> Mapping[str, Any]:
    """A published network, and trees fitted to real data where scikit-learn is installed."""
    found: dict[str, Any] = {"Asia": _query(asia(), np.random.default_rng(0))}
    if find_spec("sklearn") is not None:
        found["breast cancer, eight means"] = Recipe(
            "marginalization.fitted_tree", {"data": "breast_cancer", "columns": list(range(8))}, 1
        )
        found["digits, two rows of pixels"] = Recipe(
            "marginalization.fitted_tree", {"data": "digits", "columns": [18, 19, 20, 21, 26, 27, 28, 29]}, 2
        )
    return found


def draw_network_queries(rng: np.random.Generator, size: int) -> list[NetworkQuery]:
    """Random binary networks on 1 to 5 variables with at most two parents each and parameters in eighths."""
    found = []
    for _ in range(size):
        nodes: list[DiscreteNode] = []
        for i in range(int(rng.integers(1, 6))):
            parents = rng.choice(i, size=min(i, int(rng.integers(0, 3))), replace=False).tolist() if i else []
            chance = rng.integers(0, 9, size=(2,) * len(parents)) / 8
            table = np.stack([1 - chance, chance], axis=-1)
            nodes.append(DiscreteNode(f"X{i}", ("no", "yes"), [f"X{p}" for p in parents], table))
        found.append(_query(BayesianNetwork(nodes), rng))
    return found


NETWORKS = Instances(
    scope="random binary networks on n <= 5 variables; Asia; trees fitted to breast-cancer and digits data (8 features"
    " each, where scikit-learn is installed)",
    examples=network_queries,
    draw=draw_network_queries,
)


# mutants


def _independent_variables(network: BayesianNetwork) -> Any:
    """Each variable by its average table row, the parents forgotten."""
    nodes = [DiscreteNode(node.name, node.states, (), node.table.reshape(-1, 2).mean(axis=0)) for node in network.nodes]
    return network_oracle(BayesianNetwork(nodes))


def _states_exchanged(network: BayesianNetwork) -> Any:
    """Weights of the two states exchanged."""
    right = network_oracle(network)
    return solvers.FunctionOracle(
        right.n,
        evaluate=right.evaluate,
        marginal=right.marginal,
        hamming_marginal=right.hamming_marginal,
        virtual_evidence=lambda w: right.virtual_evidence(Weights(tuple((b, a) for a, b in w.pairs))),
    )


def _normalised(network: BayesianNetwork) -> Any:
    """Marginals divided by their sum, as a posterior."""
    right = network_oracle(network)

    def slices(q: Pattern, k: int) -> Scalar:
        total = Fraction(right.marginal(q))
        return Fraction(right.hamming_marginal(q, k)) / total if total else 0

    return solvers.FunctionOracle(
        right.n,
        evaluate=right.evaluate,
        marginal=right.marginal,
        hamming_marginal=slices,
        virtual_evidence=right.virtual_evidence,
    )


def _reversed_outputs(circuit: Any) -> Any:
    """Derivatives in the order of the inputs reversed."""
    right = circuit_derivatives.derivative_circuit(circuit)
    order = (right.outputs[0], *reversed(right.outputs[1:]))
    return type(right)(
        right.kinds, right.left, right.right, right.constants, right.inputs, right.input_variables, order
    )


def _one_pass_for_each_input(circuit: Any) -> Any:
    """Right, but the whole pass is repeated for every input."""
    right = circuit_derivatives.derivative_circuit(circuit)
    builder = CircuitBuilder(circuit.inputs, circuit.input_variables)
    places = list(range(len(circuit.inputs)))
    outputs = [builder.graft(right, places) for _ in circuit.inputs]
    return builder.build(outputs[0][0], *(found[1 + i] for i, found in enumerate(outputs)))


CHECKS = (
    Check(
        theorem="marginalization.T1",
        name="networks",
        kind="slack",
        observe=networks_answer_every_query,
        instances=NETWORKS,
        slots={NETWORK_ORACLE: network_oracle},
        mutants=(
            Mutant("parents forgotten", "VM", {"network_oracle": _independent_variables}),
            Mutant("states exchanged", "VM", {"network_oracle": _states_exchanged}),
            Mutant("normalised answers", "HM", {"network_oracle": _normalised}),
        ),
        cost=100,
    ),
    Check(
        theorem="marginalization.T8",
        name="networks",
        kind="slack",
        observe=networks_have_cheap_single_marginals,
        instances=NETWORKS,
        slots={NETWORK_DERIVATIVES: circuit_derivatives.derivative_circuit},
        mutants=(
            Mutant("inputs reversed", "w ∂N/∂w", {"derivative_circuit": _reversed_outputs}),
            Mutant("one pass for each input", "operations", {"derivative_circuit": _one_pass_for_each_input}),
        ),
        cost=60,
    ),
)

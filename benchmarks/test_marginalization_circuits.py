"""Circuits and compiled networks: virtual-evidence batches, hidden Markov models, all marginals at once."""

import numpy as np
import pytest

from whp.algorithms.marginalization.chow_liu import fit_chow_liu_tree
from whp.algorithms.marginalization.circuit_derivatives import derivative_circuit, gradient_batch
from whp.algorithms.marginalization.determinant_circuits import dpp_circuit, gaussian_elimination_program
from whp.algorithms.marginalization.division_removal import strassen_divfree
from whp.algorithms.marginalization.network_circuits import binary_network_circuit
from whp.algorithms.marginalization.network_data import load_binarised_digits, load_pgmpy_example
from whp.algorithms.marginalization.network_queries import NetworkEngine
from whp.algorithms.marginalization.real_ram import generic_point, trace_real_ram
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode


@pytest.fixture(scope="module")
def digit_tree() -> BayesianNetwork:
    pytest.importorskip("sklearn", reason="the digits are part of the package scikit-learn")
    data = load_binarised_digits()
    return fit_chow_liu_tree(data.features, [2] * 64, data.names).network


def hidden_markov_model(length: int, states: int) -> BayesianNetwork:
    rng = np.random.default_rng(0)
    names = [str(k) for k in range(states)]
    nodes = [DiscreteNode("z0", names, (), rng.dirichlet(np.ones(states)))]
    for t in range(1, length):
        nodes.append(DiscreteNode(f"z{t}", names, (f"z{t - 1}",), rng.dirichlet(np.ones(states), size=states)))
    for t in range(length):
        nodes.append(DiscreteNode(f"x{t}", ("0", "1"), (f"z{t}",), rng.dirichlet(np.ones(2), size=states)))
    return BayesianNetwork(nodes)


def test_ten_thousand_posteriors_on_the_digit_tree(benchmark, digit_tree) -> None:
    engine, rng = NetworkEngine(digit_tree), np.random.default_rng(0)
    weights = {name: rng.uniform(0.05, 1, size=(10_000, 2)) for name in digit_tree.variables}
    benchmark(engine.posterior_batch, "pixel_3_3", weights)


def test_all_marginals_of_a_thousand_queries_on_the_digit_tree(benchmark, digit_tree) -> None:
    engine, rng = NetworkEngine(digit_tree), np.random.default_rng(0)
    weights = {name: rng.uniform(0.05, 1, size=(1_000, 2)) for name in digit_tree.variables}
    benchmark(engine.posterior_batch, digit_tree.variables, weights)


@pytest.mark.parametrize("length", [64, 784])
def test_hidden_markov_model_batch_of_256(benchmark, length) -> None:
    engine, rng = NetworkEngine(hidden_markov_model(length, 16)), np.random.default_rng(1)
    x, mask = rng.integers(0, 2, size=(256, length)), rng.random((256, length)) < 0.5
    stacked = np.where(mask[..., None], 1.0, np.eye(2)[x])
    weights = {f"x{t}": stacked[:, t] for t in range(length)}
    benchmark(engine.log_evidence_batch, weights)


def test_one_query_on_alarm(benchmark) -> None:
    pytest.importorskip("pgmpy", reason="the network is part of the package pgmpy")
    engine = NetworkEngine(load_pgmpy_example("alarm"))
    soft = {"PRESS": (0.1, 0.2, 0.3, 0.4), "BP": (0.1, 0.2, 0.3)}
    benchmark(engine.posterior, "VENTLUNG", {"HRBP": 0, "EXPCO2": 1}, virtual_evidence=soft)


def test_backward_pass_stays_within_five_times_the_gates(benchmark, digit_tree) -> None:
    circuit = binary_network_circuit(digit_tree)
    backward = derivative_circuit(circuit)
    benchmark.extra_info.update(forward_gates=circuit.size, all_marginals_gates=backward.size)
    assert backward.size <= 5 * circuit.size
    benchmark(gradient_batch, circuit, np.random.default_rng(0).random((256, 128)))


def test_division_removal_of_a_determinant(benchmark) -> None:
    rng = np.random.default_rng(0)
    kernel = rng.integers(-3, 4, size=(6, 6)).astype(object)
    trace = trace_real_ram(gaussian_elimination_program(kernel), generic_point(6, rng), generic_point(6, rng))
    result = benchmark(strassen_divfree, trace)
    benchmark.extra_info.update(gates=result.simplified.size, bound=result.gate_bound)


def test_division_free_determinant_circuit(benchmark) -> None:
    kernel = np.random.default_rng(0).integers(-3, 4, size=(10, 10)).astype(object)
    circuit = benchmark(dpp_circuit, kernel)
    benchmark.extra_info["gates"] = circuit.size

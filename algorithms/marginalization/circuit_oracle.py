"""Queries on circuits for a network polynomial, and so on binary Bayesian networks: the chain from VM down."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from whp.algorithms.marginalization.circuit_evaluation import evaluate_batch, evaluate_exact
from whp.algorithms.marginalization.circuits import ArithmeticCircuit
from whp.algorithms.marginalization.network_circuits import binary_network_circuit
from whp.algorithms.marginalization.oracle import FunctionOracle, Oracle
from whp.algorithms.marginalization.reductions import hm_from_vm_on_stars
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteMarkovNetwork
from whp.theory.marginalization import Pattern, Query, Scalar, Weights

__all__ = ["CircuitOracle", "network_oracle"]


class CircuitOracle(Oracle):
    """All five queries on a circuit whose output is the network polynomial ``N(w, w̄)``.

    VM is one evaluation, exact for exact weights and in float64 for floats. PM, CNT and EV are one evaluation at
    weights 0 and 1, HM is ``s(q) + 1`` evaluations; these are always exact.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        Inputs ``w_0..w_{n-1}, wbar_0..wbar_{n-1}``, one output, multilinear in each pair.

    Raises
    ------
    ValueError
        If the circuit has an odd number of inputs or several outputs.

    Examples
    --------
    >>> from whp.algorithms.marginalization.determinant_circuits import dpp_circuit
    >>> oracle = CircuitOracle(dpp_circuit([[2, 1, 0], [1, 2, 1], [0, 1, 3]]))
    >>> oracle.count(), oracle.marginal("*1*"), oracle.hamming_marginals("***")
    (29, 17, (1, 7, 14, 7))
    """

    answers = frozenset(Query)

    def __init__(self, circuit: ArithmeticCircuit) -> None:
        n, odd = divmod(len(circuit.inputs), 2)
        if odd or len(circuit.outputs) != 1:
            raise ValueError(
                "a network polynomial has inputs w_i and wbar_i and one output,"
                f" got {len(circuit.inputs)} inputs and {len(circuit.outputs)} outputs"
            )
        super().__init__(n)
        self.circuit = circuit

    def _evaluate(self, x: tuple[int, ...]) -> Scalar:
        return self._marginal(Pattern.of(x))

    def _count(self) -> Scalar:
        return self._marginal(Pattern.free(self.n))

    def _marginal(self, q: Pattern) -> Scalar:
        return self._virtual_evidence(Weights.selecting(q))

    def _hamming_marginals(self, q: Pattern) -> tuple[Scalar, ...]:
        return hm_from_vm_on_stars(FunctionOracle(self.n, virtual_evidence=self._virtual_evidence), q)

    def _virtual_evidence(self, weights: Weights) -> Scalar:
        values = [w for w, _ in weights.pairs] + [w_bar for _, w_bar in weights.pairs]
        if not weights.is_exact:
            return float(evaluate_batch(self.circuit, np.array([values], dtype=np.float64))[0])
        exact = evaluate_exact(self.circuit, [Fraction(value) for value in values])
        return exact.numerator if exact.denominator == 1 else exact


def network_oracle(network: BayesianNetwork | DiscreteMarkovNetwork) -> CircuitOracle:
    """Compile a binary network and answer its queries; variables in the network's order, state 1 as ``x_i = 1``.

    The float64 parameters are taken as the dyadic rationals they are, so answers are exact for that network.

    Parameters
    ----------
    network : BayesianNetwork or DiscreteMarkovNetwork
        Every variable with two states.

    Raises
    ------
    ValueError
        If a variable does not have two states.
    """
    return CircuitOracle(binary_network_circuit(network))

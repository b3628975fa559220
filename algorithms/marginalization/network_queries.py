"""Questions practitioners ask of a discrete network, answered exactly.

`NetworkEngine` compiles a Bayesian or Markov network by variable elimination and answers with the compiled plan, for
one query or for batches. It never changes after construction (apart from a cache of plans), so a failed call leaves
no trace.

Two readings of soft evidence are kept apart by name. ``virtual_evidence`` is Pearl's likelihood: only the ratios of
its entries matter and they multiply the prior. `NetworkEngine.jeffrey_posterior` takes new marginals that shall hold
afterwards (Jeffrey's rule).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whp.algorithms.marginalization.batched_elimination import (
    log_partition,
    most_probable_states,
    single_marginals,
    target_tables,
)
from whp.algorithms.marginalization.elimination_orders import TreewidthError
from whp.algorithms.marginalization.elimination_plans import EliminationPlan, compile_elimination, conditioned
from whp.algorithms.marginalization.factored_posteriors import FactoredPosterior, factorise
from whp.theory.foundations.argument_checks import real_array, whole_number
from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteMarkovNetwork

__all__ = ["Explanation", "ImpossibleEvidenceError", "JointTooLargeError", "NetworkEngine"]

FloatArray = NDArray[np.float64]
State = str | int


class ImpossibleEvidenceError(ValueError):
    """The evidence has probability exactly zero.

    Attributes
    ----------
    clashing : tuple of str
        Evidence variables that already contradict each other; none of them can be left out.
    """

    def __init__(self, clashing: tuple[str, ...], description: str, row: int | None = None) -> None:
        place = "evidence" if row is None else f"evidence of row {row}"
        problem = f"{description} cannot hold together" if len(clashing) > 1 else f"{description} is impossible"
        super().__init__(f"{place} has probability 0: {problem}")
        self.clashing = clashing


class JointTooLargeError(ValueError):
    """A joint table was asked for that has more entries than allowed."""


@dataclass(frozen=True)
class Explanation:
    """A most probable assignment.

    Attributes
    ----------
    assignment : dict from str to str
        State name of every variable.
    log_posterior : float
        Natural logarithm of its probability given the evidence.
    log_joint : float or None
        Natural logarithm of its probability together with the evidence; None where only the evidence makes elimination
        feasible, so that the normalising constant of a Markov network is out of reach.
    """

    assignment: dict[str, str]
    log_posterior: float
    log_joint: float | None


@dataclass(frozen=True, eq=False)
class _Evidence:
    hard: dict[str, int]
    weights: dict[str, FloatArray]


class NetworkEngine:
    """Exact queries on a discrete network with hard and virtual evidence.

    Parameters
    ----------
    network : BayesianNetwork or DiscreteMarkovNetwork
        The network; loops in its graph are eliminated exactly, never approximated.
    max_table_entries : int, optional
        Largest table elimination may build for one query; beyond it `TreewidthError` states the estimate.
    max_joint_entries : int, optional
        Largest joint posterior table returned.

    Examples
    --------
    >>> from whp.theory.foundations.bayesian_networks import BayesianNetwork, DiscreteNode
    >>> cause = DiscreteNode("X", ("no", "yes"), (), [0.7, 0.3])
    >>> effect = DiscreteNode("Y", ("no", "yes"), ("X",), [[0.9, 0.1], [0.2, 0.8]])
    >>> engine = NetworkEngine(BayesianNetwork([cause, effect]))
    >>> engine.posterior("X", virtual_evidence={"Y": (0.2, 0.9)}).round(6).tolist()
    [0.453237, 0.546763]
    >>> engine.posterior("X").tolist()
    [0.7, 0.3]
    """

    def __init__(
        self,
        network: BayesianNetwork | DiscreteMarkovNetwork,
        *,
        max_table_entries: int = 2**26,
        max_joint_entries: int = 2**22,
    ) -> None:
        if not isinstance(network, BayesianNetwork | DiscreteMarkovNetwork):
            raise TypeError(f"network must be a BayesianNetwork or DiscreteMarkovNetwork, got {type(network).__name__}")
        self.network = network
        self.max_table_entries = whole_number(max_table_entries, "max_table_entries", 1)
        self.max_joint_entries = whole_number(max_joint_entries, "max_joint_entries", 1)
        self._plan = lru_cache(maxsize=128)(self._compile)

    # ---- plans and evidence ------------------------------------------------------------------------------------

    def _compile(
        self, targets: tuple[str, ...], weighted: tuple[str, ...], tracked: tuple[str, ...]
    ) -> EliminationPlan:
        return compile_elimination(
            self.network.factors, self.network.cardinalities, targets, weighted, tracked, self.max_table_entries
        )

    def plan(
        self, targets: Sequence[str] = (), weighted: Sequence[str] = (), tracked: Sequence[str] = ()
    ) -> EliminationPlan:
        """Compiled plan for these targets and evidence variables, from the cache where possible."""
        given, wanted = set(weighted), set(tracked)
        names = self.network.variables if given or wanted else ()
        return self._plan(
            tuple(targets),
            tuple(name for name in names if name in given),
            tuple(name for name in names if name in wanted),
        )

    def _plan_for(self, targets: Sequence[str], given: _Evidence, tracked: Sequence[str] = ()) -> EliminationPlan:
        """Compiled plan for a query; if it is too wide, one for the network conditioned on its hard evidence."""
        weighted = tuple(given.weights)
        try:
            return self.plan(targets, weighted, tracked)
        except TreewidthError:
            if not given.hard:
                raise
        return compile_elimination(
            conditioned(self.network.factors, given.hard),
            self.network.cardinalities,
            targets,
            weighted,
            tracked,
            self.max_table_entries,
        )

    def _evidence(
        self, evidence: Mapping[str, State] | None, virtual_evidence: Mapping[str, ArrayLike] | None
    ) -> _Evidence:
        for label, given in (("evidence", evidence), ("virtual_evidence", virtual_evidence)):
            if given is not None and not isinstance(given, Mapping):
                raise TypeError(
                    f"{label} must map variables to {'states' if label == 'evidence' else 'weights'}, got {given!r}"
                )
        sizes = self.network.cardinalities
        hard = {name: self.network.state_index(name, state) for name, state in (evidence or {}).items()}
        weights = {name: np.eye(sizes[name])[state] for name, state in hard.items()}
        for name, likelihood in (virtual_evidence or {}).items():
            vector = self._likelihood(self.network.require(name), likelihood)
            weights[name] = weights[name] * vector if name in weights else vector
        return _Evidence(hard, weights)

    def _likelihood(self, name: str, likelihood: ArrayLike) -> FloatArray:
        try:
            vector = real_array(likelihood)
        except (TypeError, ValueError) as error:
            raise ValueError(f"virtual_evidence[{name!r}] must be one weight per state, got {likelihood!r}") from error
        size = self.network.cardinalities[name]
        if vector.shape != (size,) or not np.all(np.isfinite(vector)) or np.any(vector < 0) or not vector.any():
            raise ValueError(
                f"virtual_evidence[{name!r}] must be {size} finite non-negative weights, not all zero, one for each "
                f"state of {self.network.states[name]}, got {vector.tolist()}"
            )
        return vector  # unscaled: dividing by the largest entry could lose the smallest to underflow

    def _targets(self, targets: str | Sequence[str]) -> tuple[str, ...]:
        if not isinstance(targets, Iterable):
            raise TypeError(f"targets must be a variable or a sequence of variables, got {targets!r}")
        names = (targets,) if isinstance(targets, str) else tuple(targets)
        for name in names:
            self.network.require(name)
        if not names or len(set(names)) != len(names):
            raise ValueError(f"targets must be one or more different variables, got {targets!r}")
        return names

    # ---- single queries ----------------------------------------------------------------------------------------

    def posterior(
        self,
        targets: str | Sequence[str],
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> FloatArray | dict[str, FloatArray]:
        """Posterior probabilities of single variables.

        Parameters
        ----------
        targets : str or sequence of str
            One variable, or several whose single posteriors are wanted (for their joint see `joint_posterior` and
            `factored_posterior`).
        evidence : mapping from str to state, optional
            Observed states, by name or number.
        virtual_evidence : mapping from str to weights, optional
            Likelihoods ``P(observation | state)`` up to a common factor, one weight per state.

        Returns
        -------
        ndarray of shape (states,), or dict of those
            Probabilities in the order of the variable's states.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        ValueError
            On unknown variables or states and malformed weights.
        TreewidthError
            If exact elimination would need too large a table.
        """
        names = self._targets(targets)
        given = self._evidence(evidence, virtual_evidence)
        if len(names) == 1:
            table = target_tables(self._plan_for(names, given), given.weights, 1).table[..., 0]
            if not table.sum() > 0:
                raise self._impossible(given)
            single = np.asarray(table / table.sum())
            return single if isinstance(targets, str) else {names[0]: single}
        plan = self._plan_for((), given, names)
        total, marginals = single_marginals(plan, given.weights, 1)
        if total[0] == -np.inf:
            raise self._impossible(given)
        return {name: marginals[name][0] for name in names}

    def joint_posterior(
        self,
        targets: Sequence[str],
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> FloatArray:
        """Joint posterior table of several variables, one axis each.

        Raises
        ------
        JointTooLargeError
            If the table would have more than ``max_joint_entries`` entries; nothing is computed then.
        ImpossibleEvidenceError, ValueError, TreewidthError
            As in `posterior`.
        """
        names = self._targets(targets)
        entries = prod(self.network.cardinalities[name] for name in names)
        if entries > self.max_joint_entries:
            power = f" (2^{entries.bit_length() - 1})" if entries & (entries - 1) == 0 else ""
            raise JointTooLargeError(
                f"the joint table of {len(names)} variables has {entries} entries{power}, {8 * entries / 2**30:.3g} "
                f"GiB, more than max_joint_entries={self.max_joint_entries}; factored_posterior gives the same "
                "distribution as a product of small tables"
            )
        given = self._evidence(evidence, virtual_evidence)
        table = target_tables(self._plan_for(names, given), given.weights, 1).table[..., 0]
        if not table.sum() > 0:
            raise self._impossible(given)
        return np.asarray(table / table.sum())

    def factored_posterior(
        self,
        targets: Sequence[str],
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> FactoredPosterior:
        """Joint posterior of many variables as an exact product of conditional tables.

        Raises
        ------
        ImpossibleEvidenceError, ValueError, TreewidthError
            As in `posterior`.
        """
        names = self._targets(targets)
        given = self._evidence(evidence, virtual_evidence)
        result = factorise(self.network, names, given.hard, given.weights, self.max_table_entries)
        if result is None:
            raise self._impossible(given)
        return result

    def evidence_log_probability(
        self,
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> float:
        """Natural logarithm of the probability of the evidence; ``-inf`` exactly if it is impossible.

        With virtual evidence it is the logarithm of the expected likelihood, in the scale in which the weights were
        given.
        """
        given = self._evidence(evidence, virtual_evidence)
        total = float(log_partition(self._plan_for((), given), given.weights, 1)[0])
        if isinstance(self.network, DiscreteMarkovNetwork):
            total -= self.log_normaliser()
        return total

    def evidence_probability(
        self,
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> float:
        """Probability of the evidence, exactly 0.0 if it is impossible.

        Raises
        ------
        ArithmeticError
            If the probability is positive but below the smallest positive float; use `evidence_log_probability`.
        """
        logarithm = self.evidence_log_probability(evidence, virtual_evidence=virtual_evidence)
        probability = float(np.exp(logarithm))
        if probability == 0.0 and logarithm > -np.inf:
            raise ArithmeticError(
                f"the probability of the evidence is positive but underflows (natural logarithm {logarithm:.6g}); "
                "ask for evidence_log_probability"
            )
        return probability

    def log_normaliser(self) -> float:
        """Natural logarithm of the sum of the product of all factors: 0 up to rounding for a Bayesian network."""
        total = float(log_partition(self.plan(), {}, 1)[0])
        if total == -np.inf:
            raise self._impossible(_Evidence({}, {}))
        return total

    def most_probable_explanation(
        self,
        evidence: Mapping[str, State] | None = None,
        *,
        virtual_evidence: Mapping[str, ArrayLike] | None = None,
    ) -> Explanation:
        """Most probable full assignment given the evidence.

        Raises
        ------
        ImpossibleEvidenceError, ValueError, TreewidthError
            As in `posterior`.
        """
        given = self._evidence(evidence, virtual_evidence)
        plan = self._plan_for((), given, self.network.variables)
        states, best = most_probable_states(plan, given.weights, 1)
        if best[0] == -np.inf:
            raise self._impossible(given)
        assignment = {name: self.network.states[name][int(states[name][0])] for name in self.network.variables}
        total = float(log_partition(self._plan_for((), given), given.weights, 1)[0])
        posterior = float(best[0]) - total
        try:
            joint = posterior + self.evidence_log_probability(evidence, virtual_evidence=virtual_evidence)
        except TreewidthError:  # the normalising constant of a Markov network, which the posterior does not need
            joint = None
        return Explanation(assignment, min(posterior, 0.0), joint)

    def jeffrey_posterior(
        self,
        targets: str | Sequence[str],
        new_marginals: Mapping[str, ArrayLike],
        evidence: Mapping[str, State] | None = None,
        *,
        tolerance: float = 1e-12,
        max_iterations: int = 1000,
    ) -> FloatArray | dict[str, FloatArray]:
        """Posteriors after the given variables have been assigned new marginals (Jeffrey's rule).

        With one variable this is ``sum_x q(x) P(target | x, evidence)``. With several it is the distribution closest
        to the old one (in relative entropy) that has all the new marginals, found by iterative proportional fitting.

        Parameters
        ----------
        targets : str or sequence of str
            As in `posterior`.
        new_marginals : mapping from str to probabilities
            The marginals that shall hold afterwards; each sums to one.
        evidence : mapping from str to state, optional
            Observed states, taken as certain before the change.
        tolerance : float, optional
            Largest allowed deviation from a wanted marginal.
        max_iterations : int, optional
            Sweeps of proportional fitting.

        Raises
        ------
        ValueError
            If a marginal is malformed or gives weight to a state of probability zero.
        ArithmeticError
            If fitting has not converged, because the marginals contradict the network or each other.
        """
        names = self._targets(targets)
        if not isinstance(new_marginals, Mapping) or not new_marginals:
            raise TypeError(f"new_marginals must map one or more variables to probabilities, got {new_marginals!r}")
        wanted = {self.network.require(name): self._marginal(name, values) for name, values in new_marginals.items()}
        weights = self._fitted_likelihoods(wanted, evidence, tolerance, max_iterations)
        answer = self.posterior(names, evidence, virtual_evidence=weights)
        assert isinstance(answer, dict)  # names is a sequence
        return answer[names[0]] if isinstance(targets, str) else answer

    def _marginal(self, name: str, values: ArrayLike) -> FloatArray:
        vector = self._likelihood(name, values)
        if abs(float(vector.sum()) - 1.0) > 1e-9:
            raise ValueError(
                f"new_marginals[{name!r}] must sum to 1, got {vector.tolist()} with sum {float(vector.sum()):.12g}"
            )
        return np.asarray(vector / vector.sum())

    def _fitted_likelihoods(
        self,
        wanted: Mapping[str, FloatArray],
        evidence: Mapping[str, State] | None,
        tolerance: float,
        max_iterations: int,
    ) -> dict[str, FloatArray]:
        weights = {name: np.ones(len(marginal)) for name, marginal in wanted.items()}
        worst = np.inf
        for _ in range(max_iterations):
            for name, marginal in wanted.items():
                now = self.posterior(name, evidence, virtual_evidence=weights)
                assert isinstance(now, np.ndarray)
                if np.any((now == 0) & (marginal > 0)):
                    state = int(np.flatnonzero((now == 0) & (marginal > 0))[0])
                    raise ValueError(
                        f"new_marginals[{name!r}] gives probability {marginal[state]} to state "
                        f"{self.network.states[name][state]!r}, which is impossible"
                    )
                weights[name] = weights[name] * np.divide(marginal, now, out=np.zeros_like(now), where=now > 0)
                weights[name] = weights[name] / weights[name].max()
            reached = self.posterior(tuple(wanted), evidence, virtual_evidence=weights)
            assert isinstance(reached, dict)
            worst = max(float(np.abs(reached[name] - marginal).max()) for name, marginal in wanted.items())
            if worst <= tolerance:
                return weights
        raise ArithmeticError(
            f"new_marginals could not be met: after {max_iterations} sweeps the largest deviation is {worst:.3g}, more "
            f"than tolerance={tolerance:g}"
        )

    # ---- batches -----------------------------------------------------------------------------------------------

    def log_evidence_batch(
        self, weights: Mapping[str, ArrayLike], evidence: Mapping[str, State] | None = None
    ) -> FloatArray:
        """Logarithms of the virtual-evidence sums of a batch of queries.

        Parameters
        ----------
        weights : mapping from str to array of shape (batch, states)
            Row ``b`` holds the weights of query ``b``.
        evidence : mapping from str to state, optional
            Observed states common to all queries.

        Returns
        -------
        ndarray, shape (batch,)
            ``-inf`` exactly for impossible rows.
        """
        given, batch = self._batch(weights, evidence)
        total = log_partition(self._plan_for((), given), given.weights, batch)
        return total - self.log_normaliser() if isinstance(self.network, DiscreteMarkovNetwork) else total

    def posterior_batch(
        self,
        targets: str | Sequence[str],
        weights: Mapping[str, ArrayLike],
        evidence: Mapping[str, State] | None = None,
    ) -> FloatArray | dict[str, FloatArray]:
        """Posteriors of single variables for a batch of virtual-evidence queries.

        Parameters
        ----------
        targets : str or sequence of str
            As in `posterior`.
        weights : mapping from str to array of shape (batch, states)
            Row ``b`` holds the weights of query ``b``.
        evidence : mapping from str to state, optional
            Observed states common to all queries.

        Returns
        -------
        ndarray of shape (batch, states), or dict of those
            Each row sums to one.

        Raises
        ------
        ImpossibleEvidenceError
            If some row is impossible; the message names the first such row.
        """
        names = self._targets(targets)
        given, batch = self._batch(weights, evidence)
        rows = given.weights
        if len(names) == 1:
            table = target_tables(self._plan_for(names, given), rows, batch).table
            totals = table.sum(axis=0)
            bad = ~(totals > 0)
            answers = {} if bad.any() else {names[0]: np.ascontiguousarray((table / totals).T)}
        else:
            log_total, marginals = single_marginals(self._plan_for((), given, names), rows, batch)
            bad = log_total == -np.inf
            answers = {name: marginals[name] for name in names}
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            one = {name: w if w.ndim == 1 else w[row] for name, w in rows.items()}
            raise self._impossible(_Evidence(given.hard, one), row)
        return answers[names[0]] if isinstance(targets, str) else answers

    def _batch(self, weights: Mapping[str, ArrayLike], evidence: Mapping[str, State] | None) -> tuple[_Evidence, int]:
        if not isinstance(weights, Mapping) or not weights:
            raise TypeError(
                f"weights must map at least one variable to an array of shape (batch, states), got {weights!r}"
            )
        fixed = self._evidence(evidence, None)
        common = dict(fixed.weights)
        rows: dict[str, FloatArray] = {}
        batch = -1
        for name, values in weights.items():
            array = self._rows(name, values)
            size = len(self.network.states[self.network.require(name)])
            batch = array.shape[0] if batch < 0 and array.ndim == 2 else batch
            if array.shape != (batch, size):
                raise ValueError(
                    f"weights[{name!r}] must have shape (batch={max(batch, 0)}, {size}), got {array.shape}"
                )
            rows[name] = array * common.pop(name) if name in common else array
        return _Evidence(fixed.hard, {**rows, **common}), batch

    def _rows(self, name: str, values: ArrayLike) -> FloatArray:
        try:
            return real_array(values)
        except (TypeError, ValueError) as error:
            raise ValueError(f"weights[{name!r}] must be a table of real numbers, got {values!r}") from error

    # ---- impossible evidence -----------------------------------------------------------------------------------

    def _impossible(self, given: _Evidence, row: int | None = None) -> ImpossibleEvidenceError:
        """Smallest-by-deletion set of evidence variables that contradict each other, as an error."""
        clash = {name: (w > 0).astype(np.float64) for name, w in given.weights.items() if not np.all(w > 0)}
        for name in tuple(clash):
            if clash[name].any():
                without = {**clash, name: np.ones_like(clash[name])}
                if self._contradicts(without):
                    clash = without
        names = tuple(name for name in self.network.variables if name in clash and not np.all(clash[name] > 0))
        described = " and ".join(self._described(name, clash[name]) for name in names)
        return ImpossibleEvidenceError(names, described or "every assignment", row)

    def _contradicts(self, supports: Mapping[str, FloatArray]) -> bool:
        """Whether no assignment has positive probability inside the supports; False where that is too wide to tell."""
        hard = {name: int(np.argmax(support)) for name, support in supports.items() if np.count_nonzero(support) == 1}
        given = _Evidence({name: state for name, state in hard.items() if len(supports[name]) > 1}, dict(supports))
        try:
            return bool(log_partition(self._plan_for((), given), given.weights, 1)[0] == -np.inf)
        except TreewidthError:
            return False

    def _described(self, name: str, support: FloatArray) -> str:
        states = [state for state, weight in zip(self.network.states[name], support, strict=True) if weight > 0]
        return f"{name}={states[0]}" if len(states) == 1 else f"{name} in {{{', '.join(states)}}}"

"""Checks of audits and samplers: T5, S_row, S_audit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import audit_black_box, audit_channel, binomial_lower, binomial_upper
from whp.proofs_checks.engine import Check, Event, Instances, Mutant, Sample, Slack, at_least, at_most, event, sample
from whp.proofs_checks.prompt_perturbation import mutated
from whp.proofs_checks.prompt_perturbation.slots import SAMPLER, Sampler, is_number
from whp.proofs_checks.prompt_perturbation.subjects import bucketised_sampler
from whp.theory.core import Slot
from whp.theory.prompt_perturbation import (
    Channel,
    UtilityPair,
    bounds,
    bucketised_grid_channel,
    bucketised_log_row,
    equal_width_labels,
    keep_rate,
    likelihood_ratio,
    minimal_counterexample,
    privacy_loss,
    worst_pattern_of_five,
)

__all__ = ["CHECKS"]

Draws: TypeAlias = Callable[[np.random.Generator, int], NDArray[np.int64]]

FLOAT_TOLERANCE = 1e-9  # nats; the audited loss and the loss are logarithms of floats


# T5: the keep rate


def keep_rate_claim(n_of: Callable[[Channel], int], slope: int) -> Callable[..., Slack]:
    """Check ``mean P[t|t] <= L / (L + slope n - 1)`` in fractions, ``L`` the exact likelihood ratio."""

    def observe(instance: Channel) -> Slack:
        ratio, n = likelihood_ratio(instance), slope * n_of(instance)
        right = Fraction(1) if ratio == math.inf else ratio / (ratio + n - 1)
        return at_most("keep rate", keep_rate(instance), right, trivial=1.0 if n_of(instance) > 1 else None)

    return observe


def n_inputs(channel: Channel) -> int:
    """Inputs that the keep rate averages over."""
    return channel.shape[0]


def n_outputs(channel: Channel) -> int:
    """Outputs, which are more than the inputs when only a sample of the vocabulary is audited."""
    return channel.shape[1]


def audited_loss_is_no_more_than_the_loss(instance: Channel, *, auditor: Callable[[Channel], float]) -> Slack:
    """Lower bound that the auditor reads off the keep rate, less a float tolerance: no more than the exact loss.

    Nor is it less than ``ln(p (N-1) / (1-p))``, which an auditor that always answers zero would be.
    """
    audited = float(auditor(instance))
    slack = at_most("audited loss", audited - FLOAT_TOLERANCE, privacy_loss(instance))
    p, n = float(keep_rate(instance)), instance.shape[0]
    if n < 2 or not 0.0 < p < 1.0:
        return slack
    return slack & at_least("all that the keep rate shows", audited + FLOAT_TOLERANCE, bounds.AUDITED_LOSS(p=p, N=n))


def keep_rate_auditor(channel: Channel) -> float:
    """Our auditor's reading of the keep rate."""
    return audit_channel(channel).keep_rate_loss


def outputs_auditor(channel: Channel) -> float:
    """Count outputs where averaged inputs should be counted."""
    p, n = float(keep_rate(channel)), channel.shape[1]
    return float(bounds.AUDITED_LOSS(p=p, N=n)) if 0 < p < 1 and n > 1 else 0.0


def optimistic_auditor(channel: Channel) -> float:
    """Count the token itself among the others."""
    p, n = float(keep_rate(channel)), channel.shape[0]
    return math.log(p * n / (1 - p)) if 0 < p < 1 else 0.0


def _randomised_response(n_inputs: int, n_extra: int, ratio: int) -> Channel:
    """Keep with ratio to one against every other token; outputs that are no inputs are as likely for all inputs."""
    total = ratio + n_inputs + n_extra - 1
    rows = [[Fraction(ratio if r == t else 1, total) for r in range(n_inputs + n_extra)] for t in range(n_inputs)]
    return Channel(rows)


def _channels() -> dict[str, Channel]:
    counterexamples = (minimal_counterexample(Fraction(21, 20)), worst_pattern_of_five(Fraction(11, 10)))
    rows = [bucketised_grid_channel(pair).rows for pair in counterexamples]
    return {
        "randomised response, 5 tokens": _randomised_response(5, 0, 7),
        "randomised response, 2 of 40 tokens": _randomised_response(2, 38, 30),
        "identity": Channel([[Fraction(int(r == t)) for r in range(4)] for t in range(4)]),
        "constant": Channel([[Fraction(1, 4)] * 4] * 4),
        "minimal counterexample": Channel(rows[0], inputs=(0, 4)),
        "worst pattern of five": Channel(rows[1], inputs=(0, 4)),
    }


def _draw_channels(rng: np.random.Generator, size: int) -> list[Channel]:
    """Rational rows from Dirichlet proportions with a floor, some square, some with more outputs than inputs."""
    drawn = []
    for _ in range(size):
        rows, columns = sorted(int(k) for k in rng.integers(1, 8, size=2))
        weights = rng.dirichlet(np.full(columns, 0.5), size=rows) * 1000
        counts = np.floor(weights).astype(int) + int(rng.integers(1, 40))
        counts[np.arange(rows), np.arange(rows)] += int(rng.choice([0, 100, 5000]))
        drawn.append(Channel([[Fraction(int(c), int(row.sum())) for c in row] for row in counts]))
    return drawn


AUDITOR = Slot(
    "auditor",
    "(channel)",
    "channel: Channel whose inputs name the outputs that equal them",
    "lower bound on the loss, in nats, that follows from the keep rate",
    ("channel",),
    validate=is_number,
)


# S_row: frequencies of the sampler


N_DRAWS = 256  # per replicate


@dataclass(frozen=True, eq=False)
class WeightedTokens(UtilityPair):
    """A row and a weight in [0, 1] for each of its tokens; the mean weight of the draws is observed."""

    weights: tuple[float, ...] = ()


def weight_claim(factor: float) -> Callable[..., Sample]:
    """Claim that the mean weight of the draws has ``factor`` times ``sum_r P[r] weight(r)`` as its mean."""

    def observe(instance: WeightedTokens, *, sampler: Sampler, rng: np.random.Generator) -> Sample:
        weights = np.array(instance.weights)
        mean = factor * float(np.exp(_formula(instance)) @ weights)
        return sample(weights[_draws(instance, sampler, rng)].mean(), low=0.0, high=1.0, mean=mean, name="weight")

    return observe


def coincidence_claim(factor: float) -> Callable[..., Sample]:
    """Claim that two successive draws coincide with ``factor`` times ``sum_r P[r]^2`` as mean frequency."""

    def observe(instance: WeightedTokens, *, sampler: Sampler, rng: np.random.Generator) -> Sample:
        draws = _draws(instance, sampler, rng)
        mean = factor * float(np.exp(2 * _formula(instance)).sum())
        return sample((draws[::2] == draws[1::2]).mean(), low=0.0, high=1.0, mean=mean, name="coincidence")

    return observe


def _draws(pair: UtilityPair, sampler: Sampler, rng: np.random.Generator) -> NDArray[np.int64]:
    return sampler(pair.first, pair.epsilon, pair.sensitivity, pair.n_buckets, N_DRAWS, rng)


def _formula(pair: UtilityPair) -> NDArray[np.float64]:
    labels = equal_width_labels(pair.first.tolist(), pair.n_buckets)
    return bucketised_log_row(pair.first, labels, pair.epsilon, pair.sensitivity)


def _weighted(utilities: NDArray[np.float64], epsilon: float, n_buckets: int, token: int | None) -> WeightedTokens:
    """Weight one token alone, or all of them differently (multiples of the golden ratio, modulo one)."""
    n = utilities.size
    weights = np.arange(1, n + 1) * ((math.sqrt(5) - 1) / 2) % 1 if token is None else np.eye(n)[token]
    return WeightedTokens(utilities, utilities, epsilon, n_buckets, weights=tuple(weights.tolist()))


def _weighted_rows() -> dict[str, WeightedTokens]:
    utilities, level = np.array([1.0, 1.0, 0.5, 0.0, 0.0, 0.0]), 4 * math.log(2)
    wide = np.linspace(0.0, 1.0, 1000) ** 3
    return {
        "a token of the best bucket": _weighted(utilities, level, 3, 0),
        "a token alone in its bucket": _weighted(utilities, level, 3, 2),
        "the best of 1000 tokens": _weighted(wide, 20.0, 50, 999),
        "one bucket": _weighted(np.zeros(3), 1.0, 5, 1),
        "six tokens weighted": _weighted(utilities, level, 3, None),
        "1000 tokens weighted": _weighted(wide, 20.0, 50, None),
    }


def one_draw_repeated(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw once and repeat it: every draw has the right law, together they have not."""
    return np.repeat(bucketised_sampler(u, epsilon, sensitivity, n, 1, rng), n_draws)


def last_member_never_drawn(
    u: NDArray[np.float64], epsilon: float, sensitivity: float, n: int, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Replace the last member of each bucket by its first: an off-by-one inside the bucket."""
    draws = bucketised_sampler(u, epsilon, sensitivity, n, n_draws, rng)
    labels = np.array(equal_width_labels(u.tolist(), n))
    for label in set(labels.tolist()):
        members = np.flatnonzero(labels == label)
        draws = np.where(draws == members[-1], members[0], draws)
    return draws


# S_audit: the black-box audit


@dataclass(frozen=True)
class SampledChannel:
    """Two known rows, audited from samples."""

    rows: tuple[tuple[float, ...], tuple[float, ...]]
    n_draws: int
    confidence: float


def audit_exceeds_the_loss(
    instance: SampledChannel, *, black_box_auditor: Callable[..., float], rng: np.random.Generator
) -> Event:
    """See whether the audited lower bound exceeds the exact loss."""
    rows = np.array(instance.rows)

    def draws_of(row: NDArray[np.float64]) -> Draws:
        return lambda generator, size: generator.choice(row.size, size=size, p=row)

    bound = black_box_auditor(
        draws_of(rows[0]), draws_of(rows[1]), rows.shape[1], instance.n_draws, rng, instance.confidence
    )
    exceeded = bound > privacy_loss(Channel(rows))
    return event(exceeded, probability=1.0 - instance.confidence, name="bound exceeds the loss")


def black_box(
    first: Draws, second: Draws, n_outputs: int, n_draws: int, rng: np.random.Generator, confidence: float
) -> float:
    """Our audit."""
    return audit_black_box(
        first, second, n_outputs=n_outputs, n_draws=n_draws, rng=rng, confidence=confidence
    ).loss_at_least


def without_a_split(
    first: Draws, second: Draws, n_outputs: int, n_draws: int, rng: np.random.Generator, confidence: float
) -> float:
    """Choose the worst event and judge it on the same draws."""
    counts = [np.bincount(sampler(rng, n_draws), minlength=n_outputs) for sampler in (first, second)]
    tail = (1 - confidence) / 2
    best = 0.0
    for one, two in (counts, counts[::-1]):
        for hits, misses in zip(one.tolist(), two.tolist(), strict=True):
            lower, upper = binomial_lower(hits, n_draws, tail), binomial_upper(misses, n_draws, tail)
            best = max(best, math.log(lower / upper) if lower > 0 else 0.0)
    return best


def point_estimates(
    first: Draws, second: Draws, n_outputs: int, n_draws: int, rng: np.random.Generator, confidence: float
) -> float:
    """Report the estimated ratio of the first output instead of a confidence limit."""
    hits, misses = (int(np.count_nonzero(sampler(rng, n_draws) == 0)) for sampler in (first, second))
    return abs(math.log((hits + 1) / (misses + 1)))


def _sampled_channels() -> dict[str, SampledChannel]:
    return {
        "rare on one side": SampledChannel(((0.5, 0.5), (0.01, 0.99)), 4000, 0.8),
        "forty equal outputs": SampledChannel(((1 / 40,) * 40, (1 / 40,) * 40), 4000, 0.8),
    }


BLACK_BOX_AUDITOR = Slot(
    "black_box_auditor",
    "(first, second, n_outputs, n_draws, rng, confidence)",
    "first, second: sampler(rng, size) -> outputs; n_draws: int per input; confidence: in (0, 1)",
    "lower bound on the loss, in nats",
    ("first", "second", "n_outputs", "n_draws", "rng", "confidence"),
    validate=is_number,
)

CHANNELS = Instances(
    "rational channels of 1 to 7 inputs, floored Dirichlet rows", examples=_channels, draw=_draw_channels
)

SAMPLED_ROWS = Instances(f"six weightings of three rows, {N_DRAWS} draws a replicate", examples=_weighted_rows)

CHECKS: Sequence[Check] = (
    Check(
        theorem="prompt_perturbation.T5",
        name="keep_rate",
        kind="slack",
        observe=keep_rate_claim(n_inputs, 1),
        instances=CHANNELS,
        mutants=(
            Mutant("N counts outputs", "keep rate", observe=keep_rate_claim(n_outputs, 1)),
            Mutant("N counted twice", "keep rate", observe=keep_rate_claim(n_inputs, 2)),
        ),
        cost=5.0,
    ),
    Check(
        theorem="prompt_perturbation.T5",
        name="auditor",
        kind="slack",
        observe=audited_loss_is_no_more_than_the_loss,
        instances=CHANNELS,
        slots={AUDITOR: keep_rate_auditor},
        mutants=(
            Mutant("N counts outputs", "audited loss", {"auditor": outputs_auditor}),
            Mutant("N for N - 1", "audited loss", {"auditor": optimistic_auditor}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.S_row",
        name="frequency",
        kind="sample",
        observe=weight_claim(1.0),
        tighten=weight_claim,
        instances=SAMPLED_ROWS,
        slots={SAMPLER: bucketised_sampler},
        mutants=(
            Mutant("last member never drawn", "", {"sampler": last_member_never_drawn}),
            Mutant("sensitivity halved", "", {"sampler": mutated.sampler_with_halved_sensitivity}),
        ),
        cost=8.0,
    ),
    Check(
        theorem="prompt_perturbation.S_row",
        name="independence",
        kind="sample",
        observe=coincidence_claim(1.0),
        tighten=coincidence_claim,
        instances=SAMPLED_ROWS,
        slots={SAMPLER: bucketised_sampler},
        mutants=(
            Mutant("one draw repeated", "", {"sampler": one_draw_repeated}),
            Mutant("sensitivity halved", "", {"sampler": mutated.sampler_with_halved_sensitivity}),
        ),
        cost=8.0,
    ),
    Check(
        theorem="prompt_perturbation.S_audit",
        name="bound",
        kind="event",
        observe=audit_exceeds_the_loss,
        instances=Instances("two pairs of rows at confidence 0.8", examples=_sampled_channels),
        slots={BLACK_BOX_AUDITOR: black_box},
        mutants=(
            Mutant("no split", "bound exceeds the loss", {"black_box_auditor": without_a_split}),
            Mutant("point estimates", "bound exceeds the loss", {"black_box_auditor": point_estimates}),
        ),
        cost=8.0,
    ),
)

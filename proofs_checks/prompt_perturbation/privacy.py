"""Checks of the exponential mechanism and of the bucketised mechanism's privacy: T0, T1 and its readings, T2, T3."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from whp.algorithms.prompt_perturbation import (
    bucketised_guarantee,
    exact_bucketised_row,
    exact_exponential_row,
    exact_redrawing_row,
)
from whp.proofs_checks.engine import Check, Event, Instances, Mutant, Slack, at_most, event, identity
from whp.proofs_checks.prompt_perturbation import instances as given
from whp.proofs_checks.prompt_perturbation import mutated
from whp.proofs_checks.prompt_perturbation.instances import SampledPair
from whp.proofs_checks.prompt_perturbation.slots import (
    ACCOUNTANT,
    EXACT_MECHANISM,
    MECHANISM,
    SAMPLER,
    ExactMechanism,
    Mechanism,
    Sampler,
    Sizes,
    log_ratios,
)
from whp.proofs_checks.prompt_perturbation.subjects import (
    bucketised_row,
    bucketised_sampler,
    equal_frequency_row,
    exponential_row,
)
from whp.theory.prompt_perturbation import (
    Channel,
    UtilityGridPair,
    UtilityPair,
    bounds,
    bucket_sizes,
    bucketised_grid_channel,
    bucketised_log_row,
    count_ratio,
    equal_frequency_labels,
    equal_width_labels,
    exponential_grid_channel,
    exponential_log_row,
    likelihood_ratio,
    own_size_ratio,
    pairwise_ratio,
    pooled_size_ratio,
    width_labels,
)
from whp.theory.prompt_perturbation.channel import Number

__all__ = ["CHECKS"]

Labels = tuple[int, ...]
Row = NDArray[np.float64]
ExactClaim = Callable[[Labels, Labels], Fraction]

GRID_SCOPE = "utilities on grids, up to 12 tokens and 8 buckets, rational exp(eps), decided in fractions"
FULL_SCOPE = "utilities on grids with every bucket occupied, up to 12 tokens and 8 buckets, decided in fractions"
REAL_SCOPE = "utilities in [0, 1] inside chosen buckets, 3 to 40 tokens, 1 to 60 buckets, eps from 0.05 to 200"


def rounding(pair: UtilityPair) -> float:
    """Error model of a difference of two log probabilities: a few hundred ulps of the largest exponent."""
    return 1e-12 * (1.0 + pair.epsilon)


def exact_channel(pair: UtilityGridPair, mechanism: ExactMechanism) -> Channel:
    """Both rows of the subject, as fractions."""
    return Channel([mechanism(levels, pair.levels, pair.base) for levels in (pair.first, pair.second)], inputs=())


def loss_between(pair: UtilityPair, mechanism: Mechanism) -> float:
    """Loss between the subject's two rows, both ways."""
    rows = [mechanism(u, pair.epsilon, pair.sensitivity, pair.n_buckets) for u in (pair.first, pair.second)]
    return float(max(log_ratios(*rows).max(), log_ratios(*rows[::-1]).max()))


def first_over_second(channel: Channel) -> Number:
    """Largest ``P[r|t] / P[r|t']`` with ``t`` the first input."""
    return pairwise_ratio(channel.rows[0], channel.rows[1])


def claims_in_fractions(
    claim: ExactClaim, ratio: Callable[[Channel], Number] = likelihood_ratio
) -> Callable[..., Slack]:
    """Check ``P[r|t] / P[r|t'] <= exp(eps) claim(buckets)`` exactly."""

    def observe(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
        right = instance.exp_epsilon * claim(*width_labels(instance))
        return at_most("likelihood ratio", ratio(exact_channel(instance, exact_mechanism)), right)

    return observe


def claims_in_nats(claim: Callable[[float, Labels, Labels], float]) -> Callable[..., Slack]:
    """Check ``ln(P[r|t] / P[r|t']) <= claim(eps, buckets)`` in floats."""

    def observe(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
        right = claim(instance.epsilon, *width_labels(instance))
        return at_most("loss", loss_between(instance, mechanism), right, rounding=rounding(instance))

    return observe


# The claims


def nothing_more(first: Labels, second: Labels) -> Fraction:
    """Plain epsilon."""
    return Fraction(1)


def first_input_sizes(first: Labels, second: Labels) -> Fraction:
    """Size ratio observed on the first input alone."""
    return pooled_size_ratio(first)


def pooled_sizes_and_counts(first: Labels, second: Labels) -> Fraction:
    """Size ratio over all inputs, times the ratio of non-empty bucket counts."""
    return pooled_size_ratio(first, second) * count_ratio(first, second)


def data_free(first: Labels, second: Labels) -> Fraction:
    """Largest possible product of size and count ratio."""
    n_tokens = len(first)
    occupied = min(max(*first, *second) + 1, (n_tokens + 1) // 2)
    return Fraction(occupied * (n_tokens - occupied + 1), 2)


def largest_size(first: Labels, second: Labels) -> Fraction:
    """Largest size a bucket can have when all N_b are occupied."""
    return Fraction(len(first) - max(*first, *second))


def reported_nats(epsilon: float, first: Labels, second: Labels) -> float:
    """Reported budget in nats."""
    return float(bounds.REPORTED_BUDGET(epsilon=epsilon, size_ratio=float(pooled_size_ratio(first, second))))


def corrected_nats(epsilon: float, first: Labels, second: Labels) -> float:
    """Corrected budget in nats."""
    sizes, counts = float(pooled_size_ratio(first, second)), float(count_ratio(first, second))
    return float(bounds.CORRECTED_BUDGET(epsilon=epsilon, size_ratio=sizes, count_ratio=counts))


def plain_nats(epsilon: float, first: Labels, second: Labels) -> float:
    """Plain epsilon in nats."""
    return epsilon


# The observations that are more than one claim


def row_is_the_exponential_mechanism(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """Compare the subject's rows with the formula."""
    return _same_rows(exact_channel(instance, exact_mechanism), exponential_grid_channel(instance))


def row_is_the_bucketised_mechanism(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """Compare the subject's rows with the formula of the paper."""
    return _same_rows(exact_channel(instance, exact_mechanism), bucketised_grid_channel(instance))


def rows_are(formula: Callable[[UtilityPair, Row], Row]) -> Callable[..., Slack]:
    """Compare the subject's float rows with a formula of the paper."""

    def observe(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
        slack = Slack(())
        for utilities in (instance.first, instance.second):
            row = mechanism(utilities, instance.epsilon, instance.sensitivity, instance.n_buckets)
            slack &= identity("row", np.exp(row), np.exp(formula(instance, utilities)), rounding=rounding(instance))
        return slack

    return observe


def exponential_formula(pair: UtilityPair, utilities: Row) -> Row:
    """Exponential mechanism of one input."""
    return exponential_log_row(utilities, pair.epsilon, pair.sensitivity)


def equal_width_formula(pair: UtilityPair, utilities: Row) -> Row:
    """Bucketised mechanism of one input, equal widths."""
    labels = equal_width_labels(utilities.tolist(), pair.n_buckets)
    return bucketised_log_row(utilities, labels, pair.epsilon, pair.sensitivity)


def equal_frequency_formula(pair: UtilityPair, utilities: Row) -> Row:
    """Bucketised mechanism of one input, equal frequencies."""
    labels = equal_frequency_labels(utilities.tolist(), pair.n_buckets)
    return bucketised_log_row(utilities, labels, pair.epsilon, pair.sensitivity)


def _same_rows(ours: Channel, formula: Channel) -> Slack:
    return identity("row", np.array(ours.rows, dtype=object), np.array(formula.rows, dtype=object))


def exponential_loss_is_sharp(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """``ratio <= g (1 + (N-1) g) / (g + N - 1)`` with ``g = exp(eps / 2)``, exactly."""
    g, n = instance.base ** max(instance.levels - 1, 1), instance.n_tokens
    sharp = g * (1 + (n - 1) * g) / (g + n - 1)
    return at_most("likelihood ratio", likelihood_ratio(exact_channel(instance, exact_mechanism)), sharp)


def each_output_keeps_its_own_bound(instance: UtilityGridPair, *, exact_mechanism: ExactMechanism) -> Slack:
    """``P[r|t] / P[r|t'] <= e^eps (|b_t'(r)| / |b_t(r)|) (B_t' / B_t)`` for every output, both ways, exactly."""
    rows = exact_channel(instance, exact_mechanism).rows
    labels = width_labels(instance)
    sizes = [bucket_sizes(row) for row in labels]
    slack = Slack(())
    for here, there in ((0, 1), (1, 0)):
        counts = Fraction(len(sizes[there]), len(sizes[here]))
        for r in range(instance.n_tokens):
            members = Fraction(sizes[there][labels[there][r]], sizes[here][labels[here][r]])
            right = instance.exp_epsilon * members * counts * rows[there][r]
            slack &= at_most("each output", rows[here][r], right)
    return slack


def accountant_covers_the_loss(
    instance: UtilityPair, *, mechanism: Mechanism, accountant: Callable[..., float]
) -> Slack:
    """Loss of the subject's rows against what its accountant promises and against the corrected budget."""
    loss, labels = loss_between(instance, mechanism), width_labels(instance)
    sizes: Sizes = [tuple(bucket_sizes(row).values()) for row in labels]
    promised = float(accountant(instance.epsilon, sizes))
    allowed = corrected_nats(instance.epsilon, *labels)
    slack = at_most("loss", loss, allowed, rounding=rounding(instance))
    return slack & at_most("promise", loss, promised, rounding=rounding(instance))


def equal_frequency_loss(instance: UtilityPair, *, mechanism: Mechanism) -> Slack:
    """Loss against ``eps + ln(ceil / floor)`` with the sizes that ``N`` and ``N_b`` alone determine."""
    groups = min(instance.n_buckets, instance.n_tokens)
    right = bounds.EQUAL_FREQUENCY_BUDGET(
        epsilon=instance.epsilon, largest=-(-instance.n_tokens // groups), smallest=instance.n_tokens // groups
    )
    return at_most("loss", loss_between(instance, mechanism), right, rounding=rounding(instance))


def samples_exceed_the_claim(instance: SampledPair, *, sampler: Sampler, rng: np.random.Generator) -> Event:
    """Were the claim true, a lower confidence limit on the loss would exceed it with probability 0.05 at most."""
    alpha = 0.05
    counts = []
    for utilities in (instance.first, instance.second):
        draws = sampler(utilities, instance.epsilon, instance.sensitivity, instance.n_buckets, instance.n_draws, rng)
        counts.append(int(np.count_nonzero(draws == instance.output)))
    lower = _clopper_pearson_log_ratio(counts[0], counts[1], instance.n_draws, alpha)
    claim = reported_nats(instance.epsilon, *width_labels(instance))
    return event(lower > claim, probability=alpha, name="samples exceed the claim")


def _clopper_pearson_log_ratio(likelier: int, rarer: int, trials: int, alpha: float) -> float:
    """Lower limit at level ``1 - alpha`` of the log ratio of two binomial probabilities."""
    from scipy.stats import beta

    if likelier == 0:
        return -math.inf
    low = float(beta.ppf(alpha / 2, likelier, trials - likelier + 1))
    high = float(beta.isf(alpha / 2, rarer + 1, trials - rarer)) if rarer < trials else 1.0
    return math.log(low / high)


# The table

GRID = Instances(GRID_SCOPE, examples=given.exact_examples, draw=given.draw_grid_pairs, strategy=given.grid_pairs)
FULL_GRID = Instances(FULL_SCOPE, draw=given.draw_full_grid_pairs, strategy=lambda: given.grid_pairs(full=True))
SMALL_GRID = Instances("grid utilities of 1 to 4 tokens", strategy=lambda: given.grid_pairs(4, 4))
REAL = Instances(
    REAL_SCOPE,
    examples=lambda: {**given.sphere_pairs(), **given.embedding_pairs()},
    draw=given.draw_pattern_pairs,
)
BERT = Instances("word pairs over the 30522 tokens of BERT, distance-only utility", examples=given.bert_pairs)


def _grid_check(
    theorem: str,
    claim: ExactClaim,
    *mutants: Mutant,
    subject: ExactMechanism = exact_bucketised_row,
    instances: Instances = GRID,
    ratio: Callable[[Channel], Number] = likelihood_ratio,
) -> Check:
    return Check(
        theorem=f"prompt_perturbation.{theorem}",
        name="grid",
        kind="slack",
        observe=claims_in_fractions(claim, ratio),
        instances=instances,
        slots={EXACT_MECHANISM: subject},
        mutants=mutants,
        cost=4.0,
    )


PLAIN = Mutant("claims plain epsilon", "likelihood ratio", observe=claims_in_fractions(nothing_more))
HALVED = Mutant(
    "sensitivity halved",
    "likelihood ratio",
    {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_bucketised_row)},
)
UNEQUAL = Mutant("unequal counts", "likelihood ratio", ignoring=("equal counts",))

CHECKS: Sequence[Check] = (
    _grid_check(
        "T0",
        nothing_more,
        Mutant(
            "sensitivity halved",
            "likelihood ratio",
            {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_exponential_row)},
        ),
        Mutant("buckets are measured", "likelihood ratio", {"exact_mechanism": exact_bucketised_row}),
        subject=exact_exponential_row,
    ),
    Check(
        theorem="prompt_perturbation.T0",
        name="row",
        kind="slack",
        observe=row_is_the_exponential_mechanism,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_exponential_row},
        mutants=(
            Mutant(
                "sensitivity halved",
                "row",
                {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_exponential_row)},
            ),
            Mutant("bucket sizes divided out", "row", {"exact_mechanism": exact_bucketised_row}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.T0",
        name="real_utilities",
        kind="slack",
        observe=claims_in_nats(plain_nats),
        instances=REAL,
        slots={MECHANISM: exponential_row},
        mutants=(
            Mutant("sensitivity halved", "loss", {"mechanism": mutated.doubled_exponent}),
            Mutant("bucketised in secret", "loss", {"mechanism": bucketised_row}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.T0",
        name="real_row",
        kind="slack",
        observe=rows_are(exponential_formula),
        instances=REAL,
        slots={MECHANISM: exponential_row},
        mutants=(
            Mutant("sensitivity halved", "row", {"mechanism": mutated.doubled_exponent}),
            Mutant("bucketised in secret", "row", {"mechanism": bucketised_row}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.T0_sharp",
        name="grid",
        kind="slack",
        observe=exponential_loss_is_sharp,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_exponential_row},
        mutants=(
            Mutant(
                "sensitivity halved",
                "likelihood ratio",
                {"exact_mechanism": mutated.halved_sensitivity_exactly(exact_exponential_row)},
            ),
            Mutant("buckets are measured", "likelihood ratio", {"exact_mechanism": exact_bucketised_row}),
        ),
        cost=4.0,
    ),
    _grid_check("T1", pooled_size_ratio, PLAIN, HALVED),
    Check(
        theorem="prompt_perturbation.T1",
        name="real_utilities",
        kind="slack",
        observe=claims_in_nats(reported_nats),
        instances=Instances(
            "the sphere embedding, 1152 tokens and 50 buckets, eps from 1 to 5", examples=given.sphere_pairs
        ),
        slots={MECHANISM: bucketised_row},
        mutants=(
            Mutant("claims plain epsilon", "loss", observe=claims_in_nats(plain_nats)),
            Mutant("scored by sums", "loss", {"mechanism": mutated.scored_by_sum}),
        ),
        cost=20.0,
    ),
    Check(
        theorem="prompt_perturbation.T1",
        name="bert_vocabulary",
        kind="slack",
        observe=claims_in_nats(reported_nats),
        instances=BERT,
        slots={MECHANISM: bucketised_row},
        mutants=(
            Mutant("claims plain epsilon", "loss", observe=claims_in_nats(plain_nats)),
            Mutant("scored by sums", "loss", {"mechanism": mutated.scored_by_sum}),
        ),
        unavailable=given.data_packages,
        cost=500.0,
    ),
    Check(
        theorem="prompt_perturbation.T1",
        name="samples",
        kind="event",
        observe=samples_exceed_the_claim,
        instances=Instances("the sphere embedding at eps = 1, sampled", examples=given.sampled_pairs),
        slots={SAMPLER: bucketised_sampler},
        mutants=(
            Mutant(
                "sensitivity halved", "samples exceed the claim", {"sampler": mutated.sampler_with_halved_sensitivity}
            ),
            Mutant("copies the likeliest token", "samples exceed the claim", {"sampler": mutated.most_useful_token}),
        ),
        cost=100.0,
    ),
    _grid_check("T1_redraw", pooled_size_ratio, PLAIN, HALVED, subject=exact_redrawing_row),
    _grid_check("T1_own_sizes", own_size_ratio, PLAIN, HALVED),
    _grid_check("T1_one_prompt", first_input_sizes, PLAIN, HALVED, ratio=first_over_second),
    _grid_check(
        "T1_full",
        pooled_size_ratio,
        PLAIN,
        Mutant("empty buckets", "likelihood ratio", instances=GRID, ignoring=("no empty bucket",)),
        instances=FULL_GRID,
    ),
    _grid_check("T1r", pooled_size_ratio, PLAIN, UNEQUAL),
    _grid_check(
        "T1_small",
        pooled_size_ratio,
        PLAIN,
        Mutant("five tokens", "likelihood ratio", instances=GRID, ignoring=("four tokens",)),
        instances=SMALL_GRID,
    ),
    _grid_check(
        "T2",
        pooled_sizes_and_counts,
        PLAIN,
        Mutant("ignores the counts", "likelihood ratio", observe=claims_in_fractions(pooled_size_ratio)),
    ),
    Check(
        theorem="prompt_perturbation.T2",
        name="each_output",
        kind="slack",
        observe=each_output_keeps_its_own_bound,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_bucketised_row},
        mutants=(
            Mutant("sensitivity halved", "each output", {"exact_mechanism": HALVED.subjects["exact_mechanism"]}),
            Mutant("forgets 1/|b|", "each output", {"exact_mechanism": mutated.without_bucket_size_exactly}),
        ),
        cost=12.0,
    ),
    Check(
        theorem="prompt_perturbation.T2",
        name="row",
        kind="slack",
        observe=row_is_the_bucketised_mechanism,
        instances=GRID,
        slots={EXACT_MECHANISM: exact_bucketised_row},
        mutants=(
            Mutant("top edge in its own bucket", "row", {"exact_mechanism": mutated.top_edge_in_its_own_bucket}),
            Mutant("forgets 1/|b|", "row", {"exact_mechanism": mutated.without_bucket_size_exactly}),
        ),
        cost=5.0,
    ),
    Check(
        theorem="prompt_perturbation.T2",
        name="real_row",
        kind="slack",
        observe=rows_are(equal_width_formula),
        instances=REAL,
        slots={MECHANISM: bucketised_row},
        mutants=(
            Mutant("top edge not clipped", "row", {"mechanism": mutated.unclipped_top_edge}),
            Mutant("equal frequencies", "row", {"mechanism": equal_frequency_row}),
            Mutant("forgets 1/|b|", "row", {"mechanism": mutated.without_bucket_size}),
        ),
        cost=6.0,
    ),
    Check(
        theorem="prompt_perturbation.T2",
        name="real_utilities",
        kind="slack",
        observe=accountant_covers_the_loss,
        instances=REAL,
        slots={MECHANISM: bucketised_row, ACCOUNTANT: bucketised_guarantee},
        mutants=(
            Mutant("accountant returns eps", "promise", {"accountant": mutated.plain_epsilon}),
            Mutant("accountant returns eps + eps'", "promise", {"accountant": mutated.reported_accountant}),
            Mutant("eps' from one prompt", "promise", {"accountant": mutated.sizes_of_one_input}),
            Mutant("scored by sums", "loss", {"mechanism": mutated.scored_by_sum}),
            Mutant("sensitivity quartered", "loss", {"mechanism": mutated.quartered_sensitivity}),
            Mutant("best token deleted", "loss", {"mechanism": mutated.never_the_best_token}),
            Mutant("stop word banned for some inputs", "loss", {"mechanism": mutated.one_sided_output_ban}),
        ),
        cost=6.0,
    ),
    Check(
        theorem="prompt_perturbation.T2",
        name="bert_vocabulary",
        kind="slack",
        observe=accountant_covers_the_loss,
        instances=BERT,
        slots={MECHANISM: bucketised_row, ACCOUNTANT: bucketised_guarantee},
        mutants=(
            Mutant("accountant returns eps + eps'", "promise", {"accountant": mutated.reported_accountant}),
            Mutant("scored by sums", "loss", {"mechanism": mutated.scored_by_sum}),
        ),
        unavailable=given.data_packages,
        cost=500.0,
    ),
    _grid_check(
        "T2_data_free",
        data_free,
        PLAIN,
        Mutant("ignores the counts", "likelihood ratio", observe=claims_in_fractions(largest_size)),
    ),
    Check(
        theorem="prompt_perturbation.T3",
        name="real_utilities",
        kind="slack",
        observe=equal_frequency_loss,
        instances=REAL,
        slots={MECHANISM: equal_frequency_row},
        mutants=(
            Mutant("equal widths", "loss", {"mechanism": bucketised_row}),
            Mutant("sensitivity quartered", "loss", {"mechanism": mutated.quartered_equal_frequency}),
            Mutant("best token deleted", "loss", {"mechanism": mutated.never_the_best_token}),
        ),
        cost=4.0,
    ),
    Check(
        theorem="prompt_perturbation.T3",
        name="real_row",
        kind="slack",
        observe=rows_are(equal_frequency_formula),
        instances=REAL,
        slots={MECHANISM: equal_frequency_row},
        mutants=(
            Mutant("equal widths", "row", {"mechanism": bucketised_row}),
            Mutant("one group too many", "row", {"mechanism": mutated.one_group_too_many}),
        ),
        cost=6.0,
    ),
)

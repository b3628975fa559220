"""Every guarantee of the paper as one formula over a mathematics namespace ``m`` (``m.exp``, ``m.log``, ..).

Written with ``exp(-epsilon / 2)`` rather than ``exp(epsilon / 2)`` where both would do, so that a huge ``epsilon``
gives the limit and not an overflow.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "audited_loss",
    "bucket_top_mass_at_least",
    "bucket_top_mass_at_most",
    "bucket_utility_shortfall",
    "corrected_budget",
    "data_free_budget",
    "equal_frequency_budget",
    "exponential_loss",
    "exponential_top_mass",
    "exponential_utility_shortfall",
    "keep_rate_at_most",
    "nominal_budget",
    "prompt_budget",
    "reported_budget",
    "santext_budget",
    "shared_context_sensitivity",
]


def nominal_budget(m: Any, epsilon: Any) -> Any:
    """Plain ``epsilon``: the exponential mechanism, and CUSTEXT inside one group."""
    return epsilon


def exponential_loss(m: Any, epsilon: Any, N: Any) -> Any:
    """T0: largest loss of the exponential mechanism over ``N`` outputs with utilities in ``[0, Delta]``."""
    shrunk = m.exp(-epsilon / 2)
    return epsilon / 2 + m.log((shrunk + N - 1) / (1 + (N - 1) * shrunk))


def exponential_utility_shortfall(m: Any, epsilon: Any, Delta: Any, N: Any, s: Any) -> Any:
    """T0: with probability at least ``1 - exp(-s)`` the chosen utility is within this of the best one."""
    return 2 * Delta / epsilon * (m.log(N) + s)


def reported_budget(m: Any, epsilon: Any, size_ratio: Any) -> Any:
    """T1 as reported: ``epsilon + ln max |b_i| / |b_j|``."""
    return epsilon + m.log(size_ratio)


def corrected_budget(m: Any, epsilon: Any, size_ratio: Any, count_ratio: Any) -> Any:
    """T2: the reported budget plus the log ratio of non-empty bucket counts."""
    return epsilon + m.log(size_ratio) + m.log(count_ratio)


def data_free_budget(m: Any, epsilon: Any, N: Any, N_b: Any) -> Any:
    """T2 for every data set: ``epsilon + ln(k (N - k + 1) / 2)`` with ``k = min(N_b, floor((N + 1) / 2))``."""
    occupied = m.minimum(N_b, m.floor((N + 1) / 2))
    return epsilon + m.log(occupied * (N - occupied + 1) / 2)


def equal_frequency_budget(m: Any, epsilon: Any, largest: Any, smallest: Any) -> Any:
    """T3: equal-frequency groups, ``epsilon + ln(ceil(N / N_b) / floor(N / N_b))``."""
    return epsilon + m.log(largest / smallest)


def exponential_top_mass(m: Any, epsilon: Any, N: Any, k: Any) -> Any:
    """T4: largest cumulative probability of the ``k`` best of ``N`` tokens under the exponential mechanism."""
    best = m.minimum(k, N)
    return best / (best + (N - best) * m.exp(-epsilon / 2))


def bucket_top_mass_at_least(m: Any, B: Any) -> Any:
    """T4: the best of ``B`` non-empty buckets is drawn with at least this probability."""
    return 1 / B


def bucket_top_mass_at_most(m: Any, epsilon: Any, B: Any) -> Any:
    """T4: the best of ``B`` non-empty buckets is drawn with at most this probability."""
    return 1 / (1 + (B - 1) * m.exp(-epsilon / 2))


def bucket_utility_shortfall(m: Any, epsilon: Any, Delta: Any, B: Any, w: Any, s: Any) -> Any:
    """T4: with probability at least ``1 - exp(-s)`` the chosen utility is within this of the best one."""
    return 2 * w + 2 * Delta / epsilon * (m.log(B) + s)


def keep_rate_at_most(m: Any, epsilon: Any, N: Any) -> Any:
    """T5: largest average probability of leaving a token unchanged at loss ``epsilon``."""
    return 1 / (1 + (N - 1) * m.exp(-epsilon))


def audited_loss(m: Any, p: Any, N: Any) -> Any:
    """T5 read backwards: a keep rate ``p`` over all ``N`` inputs forces at least this loss."""
    return m.log(p * (N - 1) / (1 - p))


def prompt_budget(m: Any, epsilon: Any, n: Any) -> Any:
    """T6: loss when all ``n`` tokens change, or one token that ``n`` positions see."""
    return n * epsilon


def shared_context_sensitivity(m: Any, L_max: Any, lam_L: Any, lam_D: Any) -> Any:
    """T6: sensitivity of the hybrid utility when neighbouring prompts share the context."""
    return L_max**lam_L * (1 - m.exp(-lam_D))


def santext_budget(m: Any, epsilon: Any, distance: Any) -> Any:
    """T7: SANTEXT's metric guarantee, ``epsilon d(x, x')``."""
    return epsilon * distance

"""Every bound as one formula over a mathematics namespace ``m``."""

from __future__ import annotations

from typing import Any

__all__ = [
    "batch_floor",
    "centred_floor",
    "error_bound",
    "meeting_strength",
    "orthonormal_gap_at_least",
    "orthonormal_gap_at_most",
    "plain_bound",
    "representation_bound",
    "sampling_radius",
    "supervised_bound",
    "transfer_bound",
]


def transfer_bound(m: Any, R_un: Any, B: Any, sigma_1: Any, t: Any) -> Any:
    """T1: ``R_un + B sigma_1 / t``."""
    return R_un + B * sigma_1 / t


def representation_bound(m: Any, R_un: Any, B: Any, D: Any, d: Any, t: Any) -> Any:
    """T1 with the two distances: ``R_un + B (2 D + d) / (sqrt(2) t)``."""
    return R_un + B * (2 * D + d) / (m.sqrt(2) * t)


def plain_bound(m: Any, R_un: Any, B: Any, D: Any, d: Any, t: Any) -> Any:
    """T1 by the triangle inequality alone: ``R_un + B (2 D + d) / t``."""
    return R_un + B * (2 * D + d) / t


def supervised_bound(m: Any, R_mean: Any, tau: Any, K: Any) -> Any:
    """T2: ``(R_mean - tau log(K + 1)) / (1 - tau)``."""
    return (R_mean - tau * m.log(K + 1)) / (1 - tau)


def error_bound(m: Any, R_sup: Any) -> Any:
    """T2: an error costs at least ``log 2``."""
    return R_sup / m.log(2)


def centred_floor(m: Any, B: Any, t: Any, K: Any) -> Any:
    """T5: ``log(1 + K exp(-B^2 / t))``."""
    return m.log1p(K * m.exp(-(B**2) / t))


def batch_floor(m: Any, M: Any, t: Any) -> Any:
    """T9: ``log(1 + (2 M - 2) exp(-M / ((M - 1) t)))``."""
    return m.log1p((2 * M - 2) * m.exp(-M / ((M - 1) * t)))


def sampling_radius(m: Any, B: Any, t: Any, n: Any, delta: Any) -> Any:
    """Hoeffding for losses in an interval of width ``4 B^2 / t``."""
    return 4 * B**2 / t * m.sqrt(m.log(2 / delta) / (2 * n))


def orthonormal_gap_at_least(m: Any, n: Any, C: Any, K: Any, t: Any) -> Any:
    """R3: ``log((1 + K exp(-1/(n t))) / (1 + K (exp(-1/t) + 1/(n C))))``, which tends to ``(1 - 1/n) / t``."""
    return m.log((1 + K * m.exp(-1 / (n * t))) / (1 + K * (m.exp(-1 / t) + 1 / (n * C))))


def orthonormal_gap_at_most(m: Any, n: Any, t: Any) -> Any:
    """R3: ``(1 - 1/n) / t``."""
    return (1 - 1 / n) / t


def meeting_strength(m: Any, ratio: Any) -> Any:
    """T7: strength ``|lambda - 1| / (lambda + 1)`` at which the gains of two proportional images first meet."""
    return m.abs(ratio - 1) / (ratio + 1)

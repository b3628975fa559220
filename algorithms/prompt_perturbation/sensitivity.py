"""Sensitivities and sampling amplification, with the neighbour relation and the sampling always spelled out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from whp.algorithms.prompt_perturbation.validation import (
    checked_epsilon,
    checked_integer,
    checked_non_negative,
    checked_number,
)

__all__ = [
    "FixedSizeBatches",
    "Neighbours",
    "PoissonBatches",
    "amplified_epsilon",
    "float_sum_sensitivity",
    "hybrid_utility_sensitivity",
    "mean_sensitivity",
    "sum_sensitivity",
]

Neighbours: TypeAlias = Literal["add_remove", "replace_one"]
Sampling: TypeAlias = Literal["poisson", "fixed_size"]


@dataclass(frozen=True)
class PoissonBatches:
    """Every record joins a batch independently with probability ``rate``."""

    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < checked_number("rate", self.rate) <= 1.0:
            raise ValueError(f"rate must lie in (0, 1], got {self.rate}")


@dataclass(frozen=True)
class FixedSizeBatches:
    """Every batch holds exactly ``size`` of ``population`` records, drawn without replacement."""

    size: int
    population: int

    def __post_init__(self) -> None:
        checked_integer("size", self.size, 1, checked_integer("population", self.population, 1))


def sum_sensitivity(lower: float, upper: float, *, neighbours: Neighbours) -> float:
    """Sensitivity of an exact sum of values clipped to ``[lower, upper]``.

    Parameters
    ----------
    lower, upper : float
        Finite clipping bounds.
    neighbours : {"add_remove", "replace_one"}
        Whether neighbouring data sets differ by one record more, or by the value of one record.

    Examples
    --------
    >>> sum_sensitivity(-10, 10, neighbours="add_remove"), sum_sensitivity(-10, 10, neighbours="replace_one")
    (10.0, 20.0)
    """
    _check_bounds(lower, upper)
    if _checked_choice("neighbours", neighbours, Neighbours) == "add_remove":
        return float(max(abs(lower), abs(upper)))
    return float(upper - lower)


def mean_sensitivity(lower: float, upper: float, *, n_records: int, neighbours: Neighbours) -> float:
    """Sensitivity of the mean of ``n_records`` clipped values, their number being public.

    Raises
    ------
    ValueError
        Under "add_remove": a public number of records contradicts neighbours of different size.

    Examples
    --------
    >>> mean_sensitivity(-10, 10, n_records=50, neighbours="replace_one")
    0.4
    """
    _check_bounds(lower, upper)
    count = checked_integer("n_records", n_records, 1)
    if _checked_choice("neighbours", neighbours, Neighbours) == "add_remove":
        raise ValueError("neighbours must be 'replace_one' for a public number of records, got 'add_remove'")
    return (upper - lower) / count


def float_sum_sensitivity(lower: float, upper: float, *, n_records: int, neighbours: Neighbours) -> float:
    """Sensitivity of a float64 sum, the rounding that depends on the order of summation included.

    Each of two neighbouring sums, in any order, is off by at most ``gamma = (n - 1) u / (1 - (n - 1) u)`` times
    ``n max|value|`` with ``u = 2**-53``; both errors add to the exact sensitivity. Integers and exact fractions
    avoid the extra term: use `sum_sensitivity` for them.

    Parameters
    ----------
    lower, upper : float
        Finite clipping bounds.
    n_records : int
        Largest number of records summed.
    neighbours : {"add_remove", "replace_one"}
        Neighbour relation.

    Examples
    --------
    >>> float_sum_sensitivity(0.0, 1e16, n_records=11, neighbours="add_remove") - 1e16 >= 10
    True
    """
    roundings = (checked_integer("n_records", n_records, 1) - 1) * 2.0**-53
    if roundings >= 0.5:
        raise ValueError(f"n_records must be below 2**52, got {n_records}")
    exact = sum_sensitivity(lower, upper, neighbours=neighbours)
    error = roundings / (1.0 - roundings) * n_records * max(abs(lower), abs(upper))
    total = exact + 2.0 * error
    return math.nextafter(math.nextafter(total, math.inf), math.inf) if error else total


def amplified_epsilon(
    epsilon: float,
    *,
    batches: PoissonBatches | FixedSizeBatches,
    accounted_as: Sampling,
    neighbours: Neighbours,
) -> float:
    """Privacy of one ``epsilon``-DP step on a random batch: ``ln(1 + q (e^epsilon - 1))``.

    Parameters
    ----------
    epsilon : float
        Guarantee of the step on its batch, under the same neighbour relation.
    batches : PoissonBatches or FixedSizeBatches
        How the code really draws batches.
    accounted_as : {"poisson", "fixed_size"}
        Which sampling the accounting supposes.
    neighbours : {"add_remove", "replace_one"}
        Poisson sampling is accounted under "add_remove", batches of fixed size under "replace_one".

    Returns
    -------
    float
        At most ``epsilon``.

    Raises
    ------
    ValueError
        If accounting, batches and neighbour relation do not belong together.

    References
    ----------
    .. [1] Balle, Barthe, Gaboardi, "Privacy amplification by subsampling" (2018), theorems 8 and 9.

    Examples
    --------
    >>> step = dict(accounted_as="poisson", neighbours="add_remove")
    >>> round(amplified_epsilon(1.0, batches=PoissonBatches(0.1), **step), 6)
    0.158565
    """
    if not isinstance(batches, (PoissonBatches, FixedSizeBatches)):
        raise TypeError(f"batches must be PoissonBatches or FixedSizeBatches, got {batches!r}")
    drawn: Sampling = "poisson" if isinstance(batches, PoissonBatches) else "fixed_size"
    if _checked_choice("accounted_as", accounted_as, Sampling) != drawn:
        raise ValueError(f"accounted_as must be {drawn!r} for {type(batches).__name__}, got {accounted_as!r}")
    needed: Neighbours = "add_remove" if drawn == "poisson" else "replace_one"
    if _checked_choice("neighbours", neighbours, Neighbours) != needed:
        raise ValueError(f"neighbours must be {needed!r} for {drawn} sampling, got {neighbours!r}")
    rate = batches.rate if isinstance(batches, PoissonBatches) else batches.size / batches.population
    level = checked_epsilon(epsilon)
    if level > 700.0:  # e^epsilon would overflow; ln(1 + q (e^eps - 1)) = eps + ln(q + (1 - q) e^-eps)
        return level + math.log(rate + (1.0 - rate) * math.exp(-level))
    return math.log1p(rate * math.expm1(level))


def hybrid_utility_sensitivity(
    *,
    adjacency: Literal["any_token_and_context", "shared_context"],
    largest_logit: float = 1.0,
    logit_power: float = 0.5,
    distance_power: float = 1.0,
) -> float:
    """Sensitivity of Cape's hybrid utility ``L ** logit_power * D ** distance_power``.

    Parameters
    ----------
    adjacency : {"any_token_and_context", "shared_context"}
        Whether neighbouring prompts may differ in the context a position sees, or only in the token itself. Changing
        one token of a prompt changes its neighbours' contexts, so the second is right only for models fed no private
        context.
    largest_logit : float, default 1
        Largest scaled logit: 1 after scaling, ``2 B`` for clipped and shifted ones.
    logit_power, distance_power : float
        Exponents, non-negative.

    Examples
    --------
    >>> round(hybrid_utility_sensitivity(adjacency="shared_context"), 6)
    0.632121
    >>> hybrid_utility_sensitivity(adjacency="any_token_and_context")
    1.0
    """
    base, power = checked_non_negative("largest_logit", largest_logit), checked_non_negative("logit_power", logit_power)
    closeness_power = checked_non_negative("distance_power", distance_power)
    if base > 1.0 and power * math.log(base) > 709.0:
        raise ValueError(f"largest_logit ** logit_power must be finite, got {largest_logit} ** {logit_power}")
    largest = float(base**power)
    if adjacency == "any_token_and_context":
        return largest
    if adjacency == "shared_context":
        return largest * -math.expm1(-closeness_power)
    raise ValueError(f"adjacency must be 'any_token_and_context' or 'shared_context', got {adjacency!r}")


def _check_bounds(lower: float, upper: float) -> None:
    low, high = checked_number("lower", lower), checked_number("upper", upper)
    if not (math.isfinite(high - low) and low <= high):
        raise ValueError(f"lower and upper must be finite with a finite upper - lower >= 0, got {lower} and {upper}")


def _checked_choice(name: str, value: str, choices: object) -> str:
    if value not in get_args(choices):
        raise ValueError(f"{name} must be one of {get_args(choices)}, got {value!r}")
    return value

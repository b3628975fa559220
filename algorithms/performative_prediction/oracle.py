"""The user's side of the problem: a known loss, its gradient, and a sampler whose law depends on the decision."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DecisionOracle", "OracleError", "refuse_shared_samples"]

Array = NDArray[np.float64]


class OracleError(ValueError):
    """The loss, its gradient or the sampler returned something other than promised."""


@functools.lru_cache(maxsize=64)
def _ones(count: int) -> Array:
    """Vector of ones: a product with it is the cheapest sum of a small array."""
    ones = np.ones(count)
    ones.flags.writeable = False
    return ones


def _plain(name: str, values: Any, dtype: Any) -> Any:
    """Return what a function of the user returned as an ordinary array of real numbers, or refuse it."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise OracleError(f"{name} must return numbers, got a masked array with missing ones")
    if np.iscomplexobj(values):
        raise OracleError(f"{name} must return real numbers, got complex ones")
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise OracleError(f"{name} must return an array of numbers, got {type(values).__name__}") from error


@dataclass(frozen=True)
class DecisionOracle:
    """A known loss ``f(x, xi)`` and an unknown law ``D(x)`` from which one may only draw.

    Parameters
    ----------
    dimension : int
        ``d``, the length of a decision.
    loss : callable
        ``loss(x, xi)`` with ``x`` of shape ``(d,)`` and ``n`` samples ``xi`` of shape ``(n, ...)`` returns ``(n,)``.
    sample : callable, optional
        ``sample(x, n, rng)`` draws ``n`` independent samples at decision ``x`` and returns ``(n, ...)``. Not needed
        with `AskTell`, where the samples come from outside.
    loss_gradient : callable, optional
        ``loss_gradient(x, xi)`` returns the partial gradients in ``x``, shape ``(n, d)``. Needed by guided methods
        only.
    replicates : int, optional
        ``R`` when the three functions work on ``R`` independent runs at once: then ``x`` is ``(R, d)``, samples are
        ``(R, n, ...)``, losses ``(R, n)`` and gradients ``(R, n, d)``.

    Raises
    ------
    TypeError
        If a function is not callable or a size is not an integer.
    ValueError
        If a size is below one.

    Examples
    --------
    >>> import numpy as np
    >>> def respond(x, n, rng):
    ...     return 0.5 * x + rng.normal(size=(n, 1))
    >>> oracle = DecisionOracle(1, lambda x, xi: (x - xi[:, 0]) ** 2, respond)
    >>> oracle.draw(np.array([2.0]), 3, np.random.default_rng(0)).shape
    (3, 1)
    """

    dimension: int
    loss: Callable[[Array, Any], Array]
    sample: Callable[[Array, int, np.random.Generator], Any] | None = None
    loss_gradient: Callable[[Array, Any], Array] | None = None
    replicates: int | None = None

    def __post_init__(self) -> None:
        """Check sizes and callables."""
        for name in ("dimension", "replicates"):
            size = getattr(self, name)
            if size is None and name == "replicates":
                continue
            if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
                raise TypeError(f"{name} must be an integer, got {type(size).__name__}")
            if size < 1:
                raise ValueError(f"{name} must be at least 1, got {size}")
        for name in ("loss", "sample", "loss_gradient"):
            function = getattr(self, name)
            if not callable(function) and (function is not None or name == "loss"):
                raise TypeError(f"{name} must be callable, got {type(function).__name__}")

    @property
    def batch(self) -> tuple[int, ...]:
        """Leading axes of every array: ``()`` or ``(R,)``."""
        return () if self.replicates is None else (self.replicates,)

    def draw(self, x: Array, count: int, rng: np.random.Generator) -> Any:
        """Draw ``count`` samples at ``x`` and check them.

        Raises
        ------
        OracleError
            If there is no sampler, or the samples have the wrong shape or are not finite.
        """
        if self.sample is None:
            raise OracleError("the oracle has no sampler: pass sample=, or feed samples through AskTell")
        return self.check_samples(self.sample(x, count, rng), count)

    def check_samples(self, samples: Any, count: int) -> Any:
        """Return the samples as an array of shape ``(*batch, count, ...)``.

        Raises
        ------
        OracleError
            If the shape is wrong or a number is not finite.
        """
        if type(samples) is not np.ndarray:
            samples = _plain("sample", samples, None)
        wanted = (count,) if self.replicates is None else (self.replicates, count)
        if samples.shape[: len(wanted)] != wanted:
            raise OracleError(
                f"sample must return an array of shape ({', '.join(map(str, wanted))}, ...), got {samples.shape}"
            )
        if samples.dtype.kind == "f":
            flat = samples.ravel()
            if not math.isfinite(flat.dot(flat)) and not np.isfinite(samples).all():  # the square may only overflow
                bad = samples[~np.isfinite(samples)][0]
                raise OracleError(f"sample must return finite numbers, got {bad} among {samples.size} entries")
        elif samples.dtype.kind not in "iub":
            raise OracleError(f"sample must return an array of numbers, got dtype {samples.dtype}")
        return samples

    def mean_loss(self, x: Array, samples: Any, count: int) -> Any:
        """Mean loss over samples; a float, or shape ``(R,)`` with replicates.

        Raises
        ------
        OracleError
            If ``loss`` returns the wrong shape or a number that is not finite.
        """
        values = self.loss(x, samples)
        if type(values) is not np.ndarray or values.dtype.kind not in "fiub":
            values = _plain("loss", values, np.float64)
        wanted = (count,) if self.replicates is None else (self.replicates, count)
        if values.shape != wanted:
            raise OracleError(f"loss must return an array of shape {wanted}, got {values.shape}")
        if self.replicates is None:
            mean = float(values.dot(_ones(count))) / count
            if not math.isfinite(mean):
                raise OracleError(f"loss must return finite numbers, got mean {mean}")
            return mean
        means = np.add.reduce(values, axis=-1) / count
        if not np.isfinite(means).all():
            raise OracleError(f"loss must return finite numbers, got mean {means[~np.isfinite(means)][0]}")
        return means

    def mean_gradient(self, x: Array, samples: Any, count: int) -> Array:
        """Mean known-function gradient over samples; shape ``(*batch, d)``.

        Raises
        ------
        OracleError
            If there is no gradient, or it returns the wrong shape or a number that is not finite.
        """
        if self.loss_gradient is None:
            raise OracleError("a guided method needs the partial gradient of the loss: pass loss_gradient=")
        values = self.loss_gradient(x, samples)
        if type(values) is not np.ndarray or values.dtype.kind not in "fiub":
            values = _plain("loss_gradient", values, np.float64)
        d = self.dimension
        wanted = (count, d) if self.replicates is None else (self.replicates, count, d)
        if values.shape != wanted:
            raise OracleError(f"loss_gradient must return an array of shape {wanted}, got {values.shape}")
        mean: Array = (_ones(count).dot(values) if self.replicates is None else np.add.reduce(values, axis=-2)) / count
        if not math.isfinite(mean.dot(mean) if mean.ndim == 1 else np.vdot(mean, mean)) and not np.isfinite(mean).all():
            raise OracleError(f"loss_gradient must return finite numbers, got {mean[~np.isfinite(mean)][0]}")
        return mean


def refuse_shared_samples(batches: tuple[Any, ...]) -> None:
    """Refuse a sampler that hands out the very same random numbers for two decisions.

    Only samples that vary are judged, so that deterministic laws and small discrete ones pass.

    Parameters
    ----------
    batches : tuple of numpy.ndarray
        Checked samples at two decisions.

    Raises
    ------
    OracleError
        If the two batches are identical although their entries are all different.
    """
    first, second = batches
    if first.dtype.kind != "f" or first.shape != second.shape or first.size < 3:
        return
    if np.array_equal(first, second) and np.unique(first).size == first.size:
        raise OracleError(
            "sample returned the same samples on both sides of a two-point estimate: the law must be drawn from "
            "afresh at "
            "each decision, or the method ends at a performatively stable point"
        )

"""Neural estimator: a normalising flow with a class-conditional base whose gates estimate the structure (torch)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from whp.algorithms.concept_identifiability.validation import checked_sample
from whp.algorithms.concept_identifiability.whitening import Whitening, whiten

__all__ = ["FlowEstimate", "flow_estimator"]


@dataclass(frozen=True)
class FlowEstimate:
    """A fitted flow.

    Attributes
    ----------
    sources : array (n, n_concepts)
        Estimated concepts of the sample.
    structure : array (n_concepts, n_class_variables)
        Estimated structure: gates above one half.
    gates : array (n_concepts, n_class_variables)
        The gates in [0, 1].
    losses : array (n_steps,)
        Penalised negative log likelihood a row, in nats, of the whitened sample.
    decode : callable
        ``(n, n_concepts) -> (n, m)``: observations of given concepts, for traversals.
    """

    sources: NDArray[np.float64]
    structure: NDArray[np.int64]
    gates: NDArray[np.float64]
    losses: NDArray[np.float64]
    decode: Callable[[Any], NDArray[np.float64]]


class _Coupling(nn.Module):
    """Affine coupling: half of the coordinates scale and shift the others."""

    def __init__(self, n: int, width: int, flip: bool) -> None:
        super().__init__()
        order = torch.arange(n)
        half = max(1, n // 2)
        kept = order[half:] if flip else order[:half]
        self.kept = kept
        self.moved = torch.tensor([i for i in order.tolist() if i not in kept.tolist()], dtype=torch.long)
        moved = len(self.moved)
        self.net = nn.Sequential(nn.Linear(n - moved, width), nn.Tanh(), nn.Linear(width, 2 * moved))
        last = self.net[-1]
        assert isinstance(last, nn.Linear)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)

    def _scale_shift(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        raw, shift = self.net(x[:, self.kept]).chunk(2, dim=1)
        return 1.5 * torch.tanh(raw / 1.5), shift

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Image and log determinant."""
        scale, shift = self._scale_shift(x)
        y = x.clone()
        y[:, self.moved] = x[:, self.moved] * torch.exp(scale) + shift
        return y, scale.sum(dim=1)

    def inverse(self, y: torch.Tensor) -> torch.Tensor:
        """Preimage."""
        scale, shift = self._scale_shift(y)
        x = y.clone()
        x[:, self.moved] = (y[:, self.moved] - shift) * torch.exp(-scale)
        return x


class _GatedFlow(nn.Module):
    """Linear map, couplings, and a Gaussian base whose law given the class passes through gates."""

    def __init__(self, n: int, n_classes: int, couplings: int, width: int, start: torch.Tensor) -> None:
        super().__init__()
        self.linear = nn.Parameter(start)
        self.couplings = nn.ModuleList(_Coupling(n, width, bool(k % 2)) for k in range(couplings if n > 1 else 0))
        self.gate_logits = nn.Parameter(torch.full((n, n_classes), 1.0))
        # each concept has its own small network of its gated class values; two outputs: mean and log scale
        self.first = nn.Parameter(0.3 * torch.randn(n, n_classes, 16))
        self.first_bias = nn.Parameter(torch.zeros(n, 16))
        self.second = nn.Parameter(0.1 * torch.randn(n, 16, 2))
        self.second_bias = nn.Parameter(torch.zeros(n, 2))

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Concepts and log determinant of the map from x."""
        z = x @ self.linear.T
        log_det = torch.linalg.slogdet(self.linear)[1].expand(len(x))
        for coupling in self.couplings:
            z, more = coupling(z)
            log_det = log_det + more
        return z, log_det

    def decode(self, z: torch.Tensor) -> torch.Tensor:
        """Observations of concepts."""
        for coupling in reversed(self.couplings):
            assert isinstance(coupling, _Coupling)
            z = coupling.inverse(z)
        found: torch.Tensor = torch.linalg.solve(self.linear, z.T).T
        return found

    def log_density(self, x: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
        """Log density of each row given its class values."""
        z, log_det = self.encode(x)
        gated = torch.sigmoid(self.gate_logits)[None] * c[:, None, :]  # (n, concepts, class variables)
        hidden = torch.tanh(torch.einsum("bij,ijh->bih", gated, self.first) + self.first_bias)
        mean, log_scale = (torch.einsum("bih,iho->bio", hidden, self.second) + self.second_bias).unbind(dim=2)
        standard = (z - mean) * torch.exp(-log_scale)
        base = -0.5 * standard**2 - log_scale - 0.5 * np.log(2 * np.pi)
        density: torch.Tensor = base.sum(dim=1) + log_det
        return density


def flow_estimator(
    x: Any,
    contexts: Any,
    seed: int,
    *,
    gate_penalty: float = 0.01,
    jacobian_penalty: float = 0.0,
    couplings: int = 4,
    width: int = 32,
    steps: int = 400,
    batch: int = 512,
    learning_rate: float = 0.01,
    unmixing: Any | None = None,
    n_components: int | None = None,
) -> FlowEstimate:
    """Fit ``min -log p(x | c) + gate_penalty sum |gates| + jacobian_penalty mean |d x / d z^|``.

    The paper's kind of objective: maximum likelihood of a flow whose base law of each concept depends on the gated
    class values, with an l1 norm of the gates and of the Jacobian of the decoder.  Architecture, step sizes and weights
    are ours: the paper's are not known.

    Parameters
    ----------
    x : array_like, shape (n, m)
        Observations in rows; whitened first, so that penalties do not depend on their scale.
    contexts : array_like, shape (n, n_class_variables)
        Values of the class variables of each row.
    seed : int
        Seeds torch's own generator for start and batches; the global one is left as it was.
    gate_penalty, jacobian_penalty : float
        Weights, at least 0.  The second is estimated on random rows at every step.
    couplings, width : int
        Affine couplings and their hidden width; 0 couplings give a linear model.
    steps, batch : int
        Gradient steps, and rows of each.
    learning_rate : float
        Of Adam, decreasing to zero as a cosine.
    unmixing : array_like, shape (n_concepts, m), optional
        Linear start, such as that of `covariance_unmixing`; a random rotation by default.
    n_components : int, optional
        Number of concepts; the rank by default.

    Returns
    -------
    FlowEstimate
        Reported as found: likelihood is not convex, seeds may disagree, and where they do nothing is identified.

    Raises
    ------
    ValueError
        If shapes disagree, there is one class only, a weight is negative, or the likelihood leaves the range of floats.
    """
    sample, values = checked_sample("x", x), checked_sample("contexts", contexts)
    if len(values) != len(sample):
        raise ValueError(f"x and contexts must have the same number of rows, got {len(sample)} and {len(values)}")
    for name, weight in (("gate_penalty", gate_penalty), ("jacobian_penalty", jacobian_penalty)):
        if not 0 <= weight < np.inf:
            raise ValueError(f"{name} must be finite and at least 0, got {weight}")
    if steps < 1 or batch < 1 or couplings < 0 or width < 1:
        raise ValueError(
            f"steps, batch and width must be positive, got {steps}, {batch}, {width}; couplings {couplings}"
        )
    white = whiten(sample, n_components)
    if (values == values[0]).all():
        raise ValueError(
            f"contexts must take two values or more, got only {values[0].tolist()}: one class identifies nothing"
        )
    with torch.random.fork_rng(devices=[]), _one_thread():
        torch.manual_seed(seed)
        start = torch.linalg.qr(torch.randn(white.rank, white.rank))[0]
        if unmixing is not None:
            start = torch.tensor(np.asarray(unmixing, dtype=np.float64) @ white.dewhitener, dtype=torch.float32)
            if start.shape != (white.rank, white.rank):
                raise ValueError(f"unmixing must have shape ({white.rank}, {sample.shape[1]})")
        flow = _GatedFlow(white.rank, values.shape[1], couplings, width, start)
        standard = (values - values.mean(axis=0)) / np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
        losses = _fitted(
            flow,
            torch.tensor(white.white, dtype=torch.float32),
            torch.tensor(standard, dtype=torch.float32),
            (gate_penalty, jacobian_penalty),
            (steps, min(batch, len(sample)), learning_rate),
        )
    return _estimate(flow, white, losses)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep torch to one thread: more change the bits of the result, and stall on networks as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _fitted(
    flow: _GatedFlow,
    x: torch.Tensor,
    c: torch.Tensor,
    penalties: tuple[float, float],
    schedule: tuple[int, int, float],
) -> list[float]:
    """Minimise in place; returns the losses."""
    steps, batch, rate = schedule
    optimiser = torch.optim.Adam(flow.parameters(), lr=rate)
    decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    losses = []
    for _ in range(steps):
        rows = torch.randint(len(x), (batch,))
        loss = -flow.log_density(x[rows], c[rows]).mean() + penalties[0] * torch.sigmoid(flow.gate_logits).sum()
        if penalties[1] > 0:
            z = flow.encode(x[rows[:16]])[0].detach()
            slopes = torch.func.vmap(torch.func.jacfwd(lambda v: flow.decode(v[None])[0]))(z)
            loss = loss + penalties[1] * slopes.abs().mean(dim=0).sum()
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        optimiser.step()
        decay.step()
        losses.append(float(loss.detach()))
        if not np.isfinite(losses[-1]):
            raise ValueError(
                f"the likelihood left the range of floats at step {len(losses)}; lower learning_rate {rate}"
            )
    return losses


def _estimate(flow: _GatedFlow, white: Whitening, losses: list[float]) -> FlowEstimate:
    flow.eval()

    def decode(z: Any) -> NDArray[np.float64]:
        with torch.no_grad():
            found = flow.decode(torch.tensor(np.asarray(z), dtype=torch.float32)).numpy().astype(np.float64)
        return np.asarray(white.mean + found @ white.dewhitener.T)

    with torch.no_grad():
        sources = flow.encode(torch.tensor(white.white, dtype=torch.float32))[0].numpy().astype(np.float64)
        gates = torch.sigmoid(flow.gate_logits).numpy().astype(np.float64)
    return FlowEstimate(sources, (gates > 0.5).astype(np.int64), gates, np.array(losses), decode)

"""Convolutional encoders trained with the batch loss (InfoNCE), centred or not; needs the extra ``neural``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from whp.algorithms.contrastive_augmentation.nt_xent import ZeroNormError

__all__ = ["NeuralEncoder", "info_nce", "info_nce_of_arrays", "train_neural_encoder"]

Floats = NDArray[np.float64]


def info_nce(
    embeddings: Tensor,
    temperature: float,
    *,
    centred: bool = False,
    zero_norm: Literal["refuse", "cosine zero"] = "cosine zero",
) -> Tensor:
    """Mean batch loss; rows ``2 k`` and ``2 k + 1`` are views of image ``k``.

    Parameters
    ----------
    embeddings : Tensor of shape (2 M, p)
        Any floating type; half precision is computed in single.
    temperature : float
        ``t``, positive.
    centred : bool
        Whether the mean of the unit embeddings is subtracted before scores are taken.
    zero_norm : {"refuse", "cosine zero"}
        A row of zeros is an error, or has cosine 0 with everything and gradient 0.

    Returns
    -------
    Tensor
        The loss; gradients are finite at every temperature.

    Raises
    ------
    ZeroNormError
        If a row is zero and is refused.
    ValueError
        If the shape is not that of at least two pairs, a number is not finite, or the temperature is not positive.

    Examples
    --------
    >>> float(info_nce(torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [1.0, 0.0]]), 1.0))  # doctest: +ELLIPSIS
    0.82502...
    """
    if embeddings.ndim != 2 or len(embeddings) < 4 or len(embeddings) % 2:
        raise ValueError(f"embeddings must have shape (2 M, p) with M at least 2, got {tuple(embeddings.shape)}")
    if not bool(torch.isfinite(embeddings.detach()).all()):
        raise ValueError("embeddings must be finite")
    if not 0 < temperature < float("inf"):
        raise ValueError(f"temperature must be positive and finite, got {temperature}")
    if zero_norm not in ("refuse", "cosine zero"):
        raise ValueError(f"zero_norm must be 'refuse' or 'cosine zero', got {zero_norm!r}")
    rows = _unit_rows(embeddings, refuse=zero_norm == "refuse")
    if centred:
        rows = rows - rows.mean(dim=0)
    scores = rows @ rows.T / temperature
    index = torch.arange(len(rows))
    own = scores[index, index ^ 1]
    same_image = index[:, None] // 2 == index[None, :] // 2
    arguments = (scores - own[:, None]).masked_fill(same_image, -torch.inf)
    totals = torch.logsumexp(arguments, dim=1)
    return torch.logaddexp(totals, torch.zeros_like(totals)).mean()


def _unit_rows(embeddings: Tensor, *, refuse: bool) -> Tensor:
    table = embeddings.float() if embeddings.dtype in (torch.float16, torch.bfloat16) else embeddings
    largest = table.detach().abs().amax(dim=1, keepdim=True)
    zero = largest[:, 0] == 0
    if refuse and bool(zero.any()):
        raise ZeroNormError(f"embedding {int(torch.nonzero(zero)[0, 0])} has norm zero, hence no cosine")
    scaled = table / torch.where(largest > 0, largest, torch.ones_like(largest))
    squares = (scaled**2).sum(dim=1, keepdim=True)
    return scaled / torch.where(squares > 0, squares, torch.ones_like(squares)).sqrt()


def info_nce_of_arrays(embeddings: ArrayLike, images: ArrayLike, temperature: float) -> float:
    """The loss of :func:`info_nce` on arrays, in single precision.

    Parameters
    ----------
    embeddings : array_like of shape (2 M, p)
        Two rows for each image.
    images : array_like of int, shape (2 M,)
        Image of each row.
    temperature : float
        ``t``.

    Returns
    -------
    float
        The loss in nats.

    Raises
    ------
    ValueError
        If an image has not two rows, or as :func:`info_nce`.
    """
    names, counts = np.unique(np.asarray(images), return_counts=True)
    if (counts != 2).any():
        raise ValueError(
            f"each image must have two views, got {counts[counts != 2][0]} of image {names[counts != 2][0]}"
        )
    order = np.argsort(np.asarray(images), kind="stable")
    table = torch.from_numpy(np.asarray(embeddings, dtype=np.float32)[order])
    return float(info_nce(table, temperature))


@dataclass(frozen=True)
class NeuralEncoder:
    """A trained network as a function of views.

    Attributes
    ----------
    network : torch.nn.Module
        Maps ``(N, channels, height, width)`` to ``(N, p)``.
    offset : ndarray of shape (p,)
        Subtracted from unit embeddings: their mean over the training views, or zero.
    losses : tuple of float
        Mean loss of each epoch.
    shape : tuple of int
        Height, width and channels of a view.
    """

    network: nn.Module
    offset: Floats
    losses: tuple[float, ...]
    shape: tuple[int, int, int]

    def features(self, views: ArrayLike) -> Floats:
        """Output of the network, one row for each flattened view."""
        self.network.eval()
        with torch.no_grad():
            return np.asarray(self.network(_as_images(np.asarray(views), self.shape)).numpy(), dtype=np.float64)

    def __call__(self, views: ArrayLike) -> Floats:
        """Unit embeddings less the offset; a zero output stays zero before the offset."""
        found = self.features(views)
        norms = np.linalg.norm(found, axis=1, keepdims=True)
        return np.asarray(found / np.where(norms > 0, norms, 1.0) - self.offset)


def train_neural_encoder(
    view_sets: Sequence[ArrayLike],
    *,
    dimension: int = 16,
    temperature: float = 0.5,
    epochs: int = 30,
    batch: int = 128,
    centred: bool = False,
    learning_rate: float = 2e-3,
    seed: int = 0,
) -> NeuralEncoder:
    """Train a small convolutional encoder on pairs of views drawn from finite sets.

    Parameters
    ----------
    view_sets : sequence of array_like of shape (views, h, w) or (views, h, w, channels)
        Views of each image; at least two images. An image with one view is its own positive.
    dimension, temperature : int, float
        ``p`` and ``t``.
    epochs, batch : int
        Passes over the images, and images in a step.
    centred : bool
        Train and encode with centred embeddings.
    learning_rate : float
        Of Adam, decayed by a cosine.
    seed : int
        Weights, order and views; torch's global generator is left as it was.

    Returns
    -------
    NeuralEncoder
        The result is the same for the same seed, version of torch and number of threads.

    Raises
    ------
    ValueError
        If there are fewer than two images, shapes differ, or a number is out of range.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> encoder = train_neural_encoder([rng.random((3, 8, 8)) for _ in range(4)], epochs=1, dimension=2)
    >>> encoder(rng.random((5, 64))).shape
    (5, 2)
    """
    sets = [_as_views(views) for views in view_sets]
    _require_trainable(sets, dimension, epochs, batch)
    shape = (sets[0].shape[1], sets[0].shape[2], sets[0].shape[3])
    rng = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = _convolutions(shape[2], dimension)
        optimiser = torch.optim.Adam(network.parameters(), lr=learning_rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=epochs)
        losses = []
        for _ in range(epochs):
            losses.append(_epoch(network, optimiser, sets, shape, temperature, batch, centred, rng))
            schedule.step()
    bare = NeuralEncoder(network, np.zeros(dimension), tuple(losses), shape)
    offset = np.zeros(dimension)
    if centred:  # each image counts once, whatever its number of views
        offset = np.mean([bare(views.reshape(len(views), -1)).mean(axis=0) for views in sets], axis=0)
    return NeuralEncoder(network, offset, tuple(losses), shape)


def _epoch(
    network: nn.Module,
    optimiser: torch.optim.Optimizer,
    sets: Sequence[NDArray[np.float32]],
    shape: tuple[int, int, int],
    temperature: float,
    batch: int,
    centred: bool,
    rng: np.random.Generator,
) -> float:
    """One pass over the images, two views of each; returns the mean loss."""
    network.train()
    order, losses = rng.permutation(len(sets)), []
    for start in range(0, len(sets), batch):
        chosen = order[start : start + batch]
        if len(chosen) < 2:
            continue
        views = np.stack([sets[k][int(rng.integers(len(sets[k])))] for k in np.repeat(chosen, 2).tolist()])
        optimiser.zero_grad()
        loss = info_nce(network(_as_images(views, shape)), temperature, centred=centred)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        losses.append(float(loss.detach()))
    return float(np.mean(losses))


def _convolutions(channels: int, dimension: int) -> nn.Module:
    """Three convolutions, average over the image, two linear layers."""
    width = 32
    return nn.Sequential(
        nn.Conv2d(channels, width, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, padding=1, stride=2),
        nn.ReLU(),
        nn.Conv2d(2 * width, 2 * width, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * width, 64),
        nn.ReLU(),
        nn.Linear(64, dimension),
    )


def _as_views(views: ArrayLike) -> NDArray[np.float32]:
    table = np.asarray(views, dtype=np.float32)
    if table.ndim == 3:
        table = table[..., None]
    if table.ndim != 4 or table.size == 0:
        raise ValueError(f"views of an image must have shape (views, h, w) or (views, h, w, c), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("views must be finite")
    return table


def _as_images(views: NDArray[Any], shape: tuple[int, int, int]) -> Tensor:
    table = np.asarray(views, dtype=np.float32).reshape(len(views), *shape)
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(table, -1, 1)))


def _require_trainable(sets: Sequence[NDArray[np.float32]], dimension: int, epochs: int, batch: int) -> None:
    if len(sets) < 2:
        raise ValueError(f"view_sets must hold at least two images, got {len(sets)}")
    shapes = {views.shape[1:] for views in sets}
    if len(shapes) > 1:
        raise ValueError(f"all views must have one shape, got {sorted(shapes)}")
    if all((views == sets[0][0]).all() for views in sets):
        raise ValueError("view_sets must vary, got one and the same view everywhere")
    for name, value, least in (("dimension", dimension, 1), ("epochs", epochs, 1), ("batch", batch, 2)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")

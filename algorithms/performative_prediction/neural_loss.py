"""Losses written in PyTorch: value and gradient in the decision by automatic differentiation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

__all__ = ["torch_loss"]

Array = NDArray[np.float64]


def torch_loss(function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> tuple[Any, Any]:
    """Loss and partial gradient for a `DecisionOracle` from a function of one decision and one sample.

    The known part of the problem may be any differentiable network; the response of the data stays unknown.

    Parameters
    ----------
    function : callable
        ``function(x, xi)`` with float64 tensors of shape ``(d,)`` and of one sample returns a scalar tensor. It is
        vectorised over samples.

    Returns
    -------
    loss, loss_gradient : tuple of callable
        Functions of ``(x, samples)`` with shapes ``(d,), (n, ...) -> (n,)`` and ``-> (n, d)``; with replicates
        ``(R, d), (R, n, ...) -> (R, n)`` and ``-> (R, n, d)``.

    Examples
    --------
    >>> loss, gradient = torch_loss(lambda x, xi: torch.sum((x - xi) ** 2) / 2)
    >>> loss(np.array([1.0]), np.array([[3.0], [0.0]])), gradient(np.array([1.0]), np.array([[3.0]]))
    (array([2. , 0.5]), array([[-2.]]))
    """
    values = torch.func.vmap(function, in_dims=(None, 0))
    gradients = torch.func.vmap(torch.func.grad(function), in_dims=(None, 0))

    def over(batched: Callable[..., torch.Tensor], x: Array, samples: Array) -> Array:
        decision, data = torch.from_numpy(np.array(x)), torch.from_numpy(np.array(samples, dtype=np.float64))
        mapped = batched if decision.ndim == 1 else torch.func.vmap(batched)
        return np.asarray(mapped(decision, data).detach().numpy())

    def loss(x: Array, samples: Array) -> Array:
        return over(values, x, samples)

    def loss_gradient(x: Array, samples: Array) -> Array:
        return over(gradients, x, samples)

    return loss, loss_gradient

"""Sending python-flint balls between processes, which python-flint itself does not offer."""

from __future__ import annotations

import copyreg
import importlib
import sys
from typing import Any


def enable_balls() -> None:
    """Let ``pickle`` carry real and complex balls, where flint is imported already.

    A ball arrives with the same midpoint to the last bit and a radius larger by less than one part in 2**26, so it
    contains whatever it contained before.
    """
    flint: Any = sys.modules.get("flint")
    if flint is not None:
        copyreg.pickle(flint.arb, _reduce_real)
        copyreg.pickle(flint.acb, _reduce_complex)


def _reduce_real(ball: Any) -> tuple[Any, tuple[Any, Any]]:
    if not ball.is_finite():
        return _restore_real, (float(ball.mid()), float(ball.rad()))
    middle, radius = (tuple(map(int, end.man_exp())) for end in (ball.mid(), ball.rad()))
    return _restore_real, (middle, radius)


def _reduce_complex(ball: Any) -> tuple[Any, tuple[Any, Any]]:
    return _restore_complex, (ball.real, ball.imag)


def _restore_real(middle: Any, radius: Any) -> Any:
    flint: Any = importlib.import_module("flint")
    return flint.arb(middle, flint.arb(radius))


def _restore_complex(real: Any, imaginary: Any) -> Any:
    flint: Any = importlib.import_module("flint")
    return flint.acb(real, imaginary)

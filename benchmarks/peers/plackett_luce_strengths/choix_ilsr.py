"""Iterative Luce spectral ranking."""

import choix
from inputs import centred, rankings


def prepare():
    """Draw the rankings; the timed run fits them."""
    data = rankings(1000, 5000, 5)
    return lambda: choix.ilsr_rankings(1000, data)


def answer(result):
    """Centred strengths."""
    return centred(result)

"""Iterative Luce spectral ranking."""

import choix
from inputs import centred, rankings


def prepare():
    """Draw the rankings; the timed run fits them."""
    data = rankings(200, 2000, 4)
    return lambda: choix.ilsr_rankings(200, data)


def answer(result):
    """Centred strengths."""
    return centred(result)

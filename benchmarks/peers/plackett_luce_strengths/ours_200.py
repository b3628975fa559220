"""Newton with matrix-free conjugate gradients."""

from inputs import centred, rankings

from whp.algorithms.plackett_luce_design import Rankings, fit_strengths


def prepare():
    """Draw the rankings; the timed run packs and fits them."""
    data = rankings(200, 2000, 4)
    return lambda: fit_strengths(Rankings.full(data, 200))


def answer(result):
    """Centred strengths; the fit must have reached its tolerance."""
    assert result.gradient_norm <= 1e-8
    return centred(result.strengths)

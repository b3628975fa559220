"""whp.algorithms."""

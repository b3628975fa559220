"""whp.experiments."""

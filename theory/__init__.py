"""whp.theory."""

"""whp.proofs_checks."""

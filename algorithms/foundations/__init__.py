"""Solvers for subjects that several papers share."""

"""Subjects that several papers share, as definitions."""

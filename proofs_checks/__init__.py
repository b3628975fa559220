"""Checks and proofs that bind theorems to algorithms, and the engine that decides them."""

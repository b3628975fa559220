"""Rows and draws of the prompt mechanisms, at the sizes of a real vocabulary."""

import numpy as np
import pytest

from whp.algorithms.prompt_perturbation import (
    TokenDistances,
    audit_log_rows,
    bucketised_mechanism,
    distance_utility,
    exponential_mechanism,
)
from whp.theory.prompt_perturbation import TokenEmbedding

N_TOKENS, DIMENSION = 30522, 384


@pytest.fixture(scope="module")
def distances() -> TokenDistances:
    """A vocabulary of BERT's size with random vectors: speed does not depend on their values."""
    vectors = np.random.default_rng(0).normal(size=(N_TOKENS, DIMENSION)).astype(np.float32)
    return TokenDistances(TokenEmbedding(tuple(f"w{i}" for i in range(N_TOKENS)), vectors))


def test_full_row_of_the_vocabulary_under_20_ms(benchmark, distances) -> None:
    def row() -> np.ndarray:
        utilities = distance_utility(distances.row(17))
        return bucketised_mechanism(utilities, 6.0, sensitivity=1.0, n_buckets=50).log_probabilities

    benchmark(row)
    assert benchmark.stats.stats.min < 0.020


def test_1000_draws_at_1000_candidates_under_5_ms(benchmark) -> None:
    utilities, rng = np.random.default_rng(0).uniform(size=1000), np.random.default_rng(1)

    def draws() -> np.ndarray:
        return bucketised_mechanism(utilities, 1.0, sensitivity=1.0, n_buckets=50).sample(rng, 1000)

    benchmark(draws)
    assert benchmark.stats.stats.min < 0.005


def test_1000_single_draws_at_1000_candidates(benchmark) -> None:
    row, rng = exponential_mechanism(np.random.default_rng(0).uniform(size=1000), 1.0, sensitivity=1.0), None
    rng = np.random.default_rng(1)
    benchmark(lambda: [row.sample(rng) for _ in range(1000)])


def test_exact_audit_of_20_inputs_over_the_vocabulary(benchmark, distances) -> None:
    inputs = tuple(range(20))
    rows = [
        bucketised_mechanism(distance_utility(distances.row(t)), 6.0, sensitivity=1.0, n_buckets=50).log_probabilities
        for t in inputs
    ]
    benchmark(lambda: audit_log_rows(rows, inputs))

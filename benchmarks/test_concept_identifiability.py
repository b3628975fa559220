"""Diagnosis and unmixing at the sizes users bring."""

from fractions import Fraction

import numpy as np

from whp.algorithms.concept_identifiability import covariance_unmixing, diagnose, exact_unmixing, matched_correlation


def test_diagnosis_of_500_concepts_and_500_classes_under_2_s(benchmark) -> None:
    rows = np.random.default_rng(0).random((500, 500)) < 0.3
    rows[250:] = rows[:250]
    benchmark(lambda: diagnose(rows))
    assert benchmark.stats.stats.min < 2.0


def test_unmixing_of_20_concepts_in_10_classes(benchmark) -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(10), 2000)
    x = rng.normal(size=(20000, 20)) * rng.uniform(0.5, 3, (10, 20))[labels] @ rng.normal(size=(20, 20))
    benchmark(lambda: covariance_unmixing(x, labels))


def test_exact_unmixing_of_12_concepts(benchmark) -> None:
    rng = np.random.default_rng(0)
    mixing = np.array([[Fraction(int(v)) for v in row] for row in rng.integers(-3, 4, (12, 12))])
    variances = [np.array([Fraction(int(v)) for v in row]) for row in ([1] * 12, range(1, 13))]
    covariances = [((mixing * v) @ mixing.T).tolist() for v in variances]
    benchmark(lambda: exact_unmixing(covariances))


def test_matched_correlation_of_50_concepts(benchmark) -> None:
    rng = np.random.default_rng(0)
    z, labels = rng.normal(size=(20000, 50)), rng.integers(0, 10, 20000)
    benchmark(lambda: matched_correlation(z, z[:, ::-1] + rng.normal(size=z.shape), labels))

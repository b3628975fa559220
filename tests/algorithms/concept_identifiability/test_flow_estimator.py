"""The gated flow: finds distinct concepts, repeats itself, inverts itself, refuses bad input (extra `neural`)."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from whp.algorithms.concept_identifiability import covariance_unmixing, matched_correlation  # noqa: E402
from whp.algorithms.concept_identifiability.flow_estimator import flow_estimator  # noqa: E402


@pytest.fixture(scope="module")
def nested():
    rng = np.random.default_rng(0)
    c = np.repeat(np.array([[a, b] for a in range(3) for b in range(3)], dtype=float), 200, axis=0)
    z = rng.normal(size=(len(c), 2)) * np.exp(c @ np.array([[0.5, 0.0], [0.3, 0.5]]).T)
    x = z / z.std(axis=0) @ np.array([[2.0, 1.0], [1.0, 1.0]])
    return z, x + 0.2 * np.tanh(x[:, ::-1]), c, np.repeat(np.arange(9), 200)


def fit(nested, seed=0, **given):
    _, x, c, labels = nested
    start = covariance_unmixing(x, labels).unmixing
    return flow_estimator(x, c, seed, unmixing=start, **{"steps": 60, "batch": 256, "couplings": 2, **given})


def test_distinct_concepts_are_found_and_the_loss_falls(nested):
    found = fit(nested)
    assert matched_correlation(nested[0], found.sources, nested[3], kind="spearman").mean > 0.95
    assert found.losses[-10:].mean() < found.losses[:10].mean()
    assert found.gates.shape == (2, 2) and ((found.gates >= 0) & (found.gates <= 1)).all()


def test_the_same_seed_gives_the_same_fit_and_leaves_the_global_generator(nested):
    before = torch.random.get_rng_state()
    first, second = fit(nested, steps=5), fit(nested, steps=5)
    np.testing.assert_array_equal(first.sources, second.sources)
    assert not np.array_equal(first.sources, fit(nested, seed=1, steps=5).sources)
    assert torch.equal(before, torch.random.get_rng_state())


def test_decoding_inverts_encoding(nested):
    found = fit(nested, steps=20)
    np.testing.assert_allclose(found.decode(found.sources), nested[1], atol=1e-3)


def test_gates_close_under_a_large_penalty(nested):
    assert fit(nested, gate_penalty=50.0, steps=150, learning_rate=0.05).structure.sum() == 0


def test_the_penalty_on_the_jacobian_is_applied(nested):
    plain, penalised = fit(nested, steps=10), fit(nested, steps=10, jacobian_penalty=1.0)
    assert penalised.losses[0] > plain.losses[0]


def test_one_concept_needs_no_coupling():
    rng = np.random.default_rng(0)
    c = np.repeat([[0.0], [1.0]], 50, axis=0)
    x = rng.normal(size=(100, 1)) * (1 + c)
    assert abs(np.corrcoef(flow_estimator(x, c, 0, steps=5).sources[:, 0], x[:, 0])[0, 1]) > 0.999


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gate_penalty": -1.0}, "gate_penalty must be finite and at least 0, got -1.0"),
        ({"jacobian_penalty": float("nan")}, "jacobian_penalty must be finite"),
        ({"steps": 0}, "steps, batch and width must be positive"),
        ({"unmixing": np.eye(3)[:, :2]}, "unmixing must have shape"),
    ],
)
def test_bad_arguments_are_refused(nested, given, message):
    with pytest.raises(ValueError, match=message):
        flow_estimator(nested[1], nested[2], 0, **given)


def test_constant_images_and_missing_contexts_are_refused(nested):
    with pytest.raises(ValueError, match="x must vary, got a constant sample"):
        flow_estimator(np.ones((50, 4)), np.zeros((50, 1)), 0)
    with pytest.raises(ValueError, match="same number of rows, got 1800 and 3"):
        flow_estimator(nested[1], np.zeros((3, 1)), 0)


def test_one_class_identifies_nothing():
    with pytest.raises(ValueError, match="one class identifies nothing"):
        flow_estimator(np.random.default_rng(0).normal(size=(20, 2)), np.zeros((20, 1)), 0, steps=1)

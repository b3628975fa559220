"""The experiment runs, orders the methods as the paper says, and tells where its data come from."""

import csv

import numpy as np
import pytest

from whp.experiments.performative_prediction import _sign_test, _tuned, run
from whp.experiments.performative_prediction.data import load_applicants, load_markets


@pytest.fixture(scope="module")
def pricing(tmp_path_factory):
    return run("quick", 0, tmp_path_factory.mktemp("pricing"), part="pricing")


def tuned(result, data, method):
    return next(row.tuned[0] for row in result.rows if row.data == data and row.method.startswith(method))


def test_guided_methods_end_lower_on_synthetic_pricing(pricing):
    two_point = tuned(pricing, "synthetic", "two-point")
    assert tuned(pricing, "synthetic", "guided, new") < two_point - 1.0
    assert tuned(pricing, "synthetic", "guided, history") < two_point - 1.0
    assert tuned(pricing, "synthetic", "exact optimum") <= tuned(pricing, "synthetic", "guided, new")
    assert two_point < tuned(pricing, "synthetic", "start")


def test_table_and_figure_are_written(pricing):
    table, figure = pricing.files
    with table.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(pricing.rows)
    assert rows[0]["method"] == "guided, new (GZO-NS)" and float(rows[0]["tuned_mean"]) < 0
    assert figure.read_text().startswith("<?xml") and figure.stat().st_size > 10_000
    text = str(pricing)
    assert "the predecessor's table" in text and "synthetic: ten products" in text
    assert max(map(len, text.splitlines()[: len(pricing.rows)])) <= 80


def test_equal_seeds_give_equal_tables(pricing, tmp_path):
    again = run("quick", 0, tmp_path, part="pricing")
    assert [row.tuned for row in again.rows] == [row.tuned for row in pricing.rows]


def test_curves_start_at_the_start_and_have_bands(pricing):
    curve = pricing.curves[0]
    assert curve.samples[0] == 0 and curve.samples[-1] >= 5000
    assert np.all(curve.band >= 0) and curve.mean[-1] < curve.mean[0]


def test_strategic_classification_lowers_the_loss(tmp_path):
    pytest.importorskip("sklearn")
    result = run("quick", 0, tmp_path, part="classification")
    data = result.rows[0].data
    assert tuned(result, data, "guided, new") < tuned(result, data, "start")
    assert tuned(result, data, "guided, history") < tuned(result, data, "two-point")
    figures = result.rows[0].extra
    assert 0.5 < figures["accuracy"] <= 1.0 and 0.5 < figures["AUC"] <= 1.0


def test_applicants_are_balanced_standardised_and_split():
    pytest.importorskip("sklearn")
    applicants = load_applicants(0, 300)
    features, labels = applicants.train
    assert len(labels) == 225 and len(applicants.test[1]) == 75
    assert np.all(features[:, -1] == 1.0) and set(labels) == {-1.0, 1.0}
    assert np.isfinite(features).all() and applicants.source


def test_markets_start_with_the_synthetic_one():
    markets = load_markets()
    assert markets[0].name == "synthetic"
    for market in markets:
        assert market.reference_prices.max() == 1.0 and market.reference_prices.min() > 0.0


def test_tuning_leaves_the_ends_of_its_grid():
    assert _tuned((1.0, 2.0, 4.0), lambda step: abs(step - 16.0)) == 16.0
    assert _tuned((1.0, 2.0, 4.0), lambda step: abs(step - 0.25)) == 0.25
    assert _tuned((1.0, 2.0, 4.0), lambda step: abs(step - 2.0)) == 2.0


def test_sign_test_leaves_ties_out():
    assert _sign_test(np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 2.0])) == "2/2 p=0.2"


def test_unknown_scale_and_part_are_refused(tmp_path):
    with pytest.raises(ValueError, match="scale"):
        run("huge", 0, tmp_path)
    with pytest.raises(ValueError, match="part"):
        run("quick", 0, tmp_path, part="half")

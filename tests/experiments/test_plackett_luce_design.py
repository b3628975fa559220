"""The experiment runs on packaged data, and the released features have their known optima where present."""

import numpy as np
import pytest

from whp.algorithms.plackett_luce_design import (
    Rankings,
    column_generation_design,
    fit_features,
    interior_point_design,
    multiplicative_design,
)
from whp.experiments.plackett_luce_design import ITEM_SETS, run
from whp.experiments.plackett_luce_design.data import (
    DATA_VARIABLE,
    digit_questions,
    feature_array,
    load_mode_choice,
    outlier_items,
    shared_file,
)


def released(name):
    problem = feature_array(name)
    if problem is None:
        pytest.skip(f"{name}_features.npy is absent; set {DATA_VARIABLE} to the folder that holds it")
    return problem


def test_quick_run_writes_table_and_figures(tmp_path):
    pytest.importorskip("sklearn")
    result = run("quick", seed=0, out=tmp_path, items="digits")
    assert "digits" in result.table and max(len(line) for line in result.table.splitlines()) <= 80
    assert {p.name for p in tmp_path.iterdir()} == {"loss.svg", "objective.svg", "loss.csv", "table.txt"}
    optimal = {t.method: t.result for t in result.item_sets[0].designs}["optimal"]
    assert optimal.certified_gap <= 1e-6
    assert all(optimal.objective <= t.result.objective for t in result.item_sets[0].designs)


def test_result_is_a_function_of_the_seed(tmp_path):
    means = [run("quick", seed=3, out=tmp_path, items="outliers").item_sets[0].curves[2].mean for _ in range(2)]
    assert (means[0] == means[1]).all()


def test_design_beats_uniform_on_items_with_outliers(tmp_path):
    curves = {c.method: c for c in run("quick", seed=1, out=tmp_path, items="outliers").item_sets[0].curves}
    assert curves["optimal"].mean.sum() < curves["uniform"].mean.sum()


def test_unknown_items_and_scales_are_refused(tmp_path):
    with pytest.raises(ValueError, match="items must be among digits"):
        run("quick", out=tmp_path, items="sushi")
    with pytest.raises(ValueError, match="scale must be quick or full"):
        run("huge", out=tmp_path)


def test_absent_files_and_packages_are_reported_by_name(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert shared_file("nectar_features.npy") is None

    def lacking(scale, seed):
        raise ModuleNotFoundError("no", name="statsmodels")

    monkeypatch.setitem(ITEM_SETS, "travel", lacking)
    result = run("quick", out=tmp_path / "out", items="travel,nectar")
    assert result.missing == {
        "travel": "the package statsmodels is not installed",
        "nectar": "its feature file is not in the folder WHP_SHARED_DATA",
    }


def test_mode_choice_fit_is_the_published_conditional_logit():
    pytest.importorskip("statsmodels")
    data = load_mode_choice()
    assert len(data.chosen) == 210
    # Greene's fit without income: three constants, generalised cost and terminal time only
    x = data.problem.features[:, [0, 1, 2, 6, 3]]
    candidates = data.problem.subsets()
    answers = Rankings.top([[int(c)] for c in data.chosen], candidates.tolist(), 840)
    fit = fit_features(x, answers)
    assert fit.log_likelihood == pytest.approx(-199.9766, abs=1e-3)


def test_digits_have_the_shapes_of_the_released_features():
    pytest.importorskip("sklearn")
    assert digit_questions(400, 4, 16).rank == 16
    assert digit_questions(890, 2, 36).rank == 36
    with pytest.raises(ValueError, match="at most 1797 images"):
        digit_questions(1000, 2, 16)
    assert outlier_items(20, 3, 4).rank == 4


def test_anthropic_optimum():
    problem = released("anthropic")
    fast = multiplicative_design(problem, ridge=1e-6, tolerance=1e-3)
    assert abs(fast.objective - 198.4419042) < 1e-3
    assert fast.certified_gap <= 1e-3
    free = column_generation_design(problem, tolerance=1e-7)
    assert free.certified_gap <= 1e-7 and free.rank == 36


def test_nectar_spans_four_of_sixteen_dimensions():
    problem = released("nectar")
    assert problem.rank == 4
    ridge = interior_point_design(problem, ridge=1e-6, tolerance=1e-7)
    assert ridge.objective == pytest.approx(169.2272169, abs=1e-6)
    assert ridge.max_leverage == pytest.approx(3.9999824, abs=1e-5)
    span = column_generation_design(problem, tolerance=1e-8)
    assert span.max_leverage == pytest.approx(4.0, abs=1e-7)
    assert np.isfinite(span.log_det)

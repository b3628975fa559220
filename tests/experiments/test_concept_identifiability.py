"""The experiment's data, its parts and its files."""

import csv

import numpy as np
import pytest

from whp.algorithms.concept_identifiability import block_r_squared, diagnose
from whp.experiments.concept_identifiability import SETTINGS, Agreement, run
from whp.experiments.concept_identifiability.data import DIGIT_CONCEPTS, mixture, sprites
from whp.experiments.concept_identifiability.methods import METHODS, available_methods
from whp.experiments.concept_identifiability.presentation import agreement_table


def test_identifiable_settings_are_told_from_others_by_diagnosis():
    identified = {name: diagnose(s).rows_are_distinct for name, s in SETTINGS.items()}
    assert [name for name, distinct in identified.items() if distinct] == ["distinct, 2 classes"]


def test_distinct_concepts_are_found_and_equal_ones_are_not():
    from whp.experiments.concept_identifiability import _measured

    def values(setting):
        seeds = (0, 1, 2, 3, 4)
        return _measured(setting, lambda rng: mixture(SETTINGS[setting], rng), ["covariances"], seeds, 1)[0].values

    assert min(values("distinct, 2 classes")) > 0.98
    equal = values("all equal")
    assert np.median(equal) < 0.9 and np.ptp(equal) > 0.1  # chance decides where nothing is identified


def test_sprites_are_determined_by_four_directions():
    from whp.algorithms.concept_identifiability import whiten

    data = sprites(np.random.default_rng(0), rows=100)
    assert data.x.shape == (900, 256) and data.z.shape == (900, 4)
    assert block_r_squared(whiten(data.x, 4).white, data.z) > 0.98


def test_the_table_of_digit_concepts_is_a_structure_of_ten_classes():
    found = diagnose(DIGIT_CONCEPTS)
    assert found.rows_are_distinct and DIGIT_CONCEPTS.n_classes == 10


def test_methods_that_need_torch_are_left_out_without_it(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert available_methods(list(METHODS)) == ["covariances", "FastICA", "discriminant", "principal"]


def test_runs_without_torch_and_writes_its_files(tmp_path, monkeypatch):
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else find(name))
    result = run("quick", 3, tmp_path, parts="synthetic,sprites")
    assert {p.name for p in result.figures} == {"agreement.csv", "agreement.svg"}
    with (tmp_path / "agreement.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["seed"] for row in rows} == {"0", "1"} and len(rows) == 2 * (4 * 2 + 4)
    assert "Structure of the sprites" in str(result)
    assert run("quick", 3, parts=["synthetic"]).agreements == result.agreements[:8]


def test_digits_are_read_and_traversals_drawn(tmp_path, monkeypatch):
    pytest.importorskip("sklearn")
    pytest.importorskip("torch")
    from whp.experiments import concept_identifiability as module

    monkeypatch.setitem(module._STEPS, "digits", lambda seeds, steps, folder: module._digits(seeds, 15, folder))
    result = run("quick", 0, tmp_path, parts="digits")
    assert [p.name for p in result.figures] == ["digits_traversals.svg"]
    assert "covariances of two halves agree" in result.table


def test_bad_requests_are_named():
    with pytest.raises(ValueError, match="scale must be quick or full, got 'huge'"):
        run("huge")
    with pytest.raises(ValueError, match="parts must be among synthetic, sprites, digits, got cats"):
        run(parts="cats")


def test_the_table_shows_median_and_range():
    text = agreement_table([Agreement("here", "method", (0.5, 0.9, 0.7), (1.0, 1.0, 1.0))])
    assert text.splitlines()[-1].split() == ["here", "method", "0.700", "0.500", "0.900", "1.000"]

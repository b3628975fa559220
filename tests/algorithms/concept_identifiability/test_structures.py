"""Diagnosis, extra classes, matching and certificates."""

import itertools

import numpy as np
import pytest

from whp.algorithms.concept_identifiability import (
    certify,
    choose_classes,
    diagnose,
    match_structures,
    span_check,
    split_atoms,
    structural_distance,
)
from whp.theory.concept_identifiability import ClassConceptStructure, LinearGaussianModel, rows_are_distinct

STORY = ClassConceptStructure(
    [[1, 0], [1, 0], [0, 1], [1, 1]], ("predator", "streamlined", "shell", "aquatic"), ("shark", "turtle")
)


def test_sharks_and_turtles():
    found = diagnose(STORY)
    assert [c.status for c in found.concepts] == ["block", "block", "component", "component"]
    assert found.blocks == ((0, 1),) and found.identified == (2, 3)
    assert found.concepts[2].pair == (1, 0) and found.concepts[3].pair is None
    assert "add a class that has streamlined but not predator" in str(found)
    assert "shark and turtle have it alone in common" in found.concepts[3].reason
    assert not (found.rows_are_distinct or found.rows_are_incomparable or found.differences_isolate_all)


def test_a_class_with_streamlined_but_not_predator_identifies_all():
    more = [(*row, int(name == "streamlined")) for name, row in zip(STORY.concepts, STORY.rows, strict=True)]
    assert diagnose(more).identified == (0, 1, 2, 3)


def test_class_independent_concepts_are_said_to_be_so():
    found = diagnose([[0, 0], [0, 0], [1, 0]])
    assert [c.status for c in found.concepts] == ["class-independent", "class-independent", "component"]
    assert "not even as a block" in found.concepts[0].reason
    assert "identified by independence" in diagnose([[0], [1]]).concepts[0].reason
    assert found.extra_classes == ()


def test_reasons_name_the_comparison():
    chain = diagnose([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])
    assert chain.differences_isolate_all and not chain.rows_are_incomparable
    assert chain.concepts[0].reason == "class 1 without class 2 has it alone"
    mixed = diagnose([[1, 1, 1], [1, 0, 0], [0, 1, 1]])
    assert mixed.concepts[0].reason == "class 1, class 2 and class 3 have it alone in common"


def test_limits_come_with_the_diagnosis():
    found = diagnose(np.eye(6, dtype=int))
    assert (found.most_incomparable, found.most_distinct) == (20, 63)


def test_one_class_and_one_concept():
    assert diagnose([[1]]).identified == (0,)
    assert diagnose([[0]]).identified == ()
    assert diagnose([[1], [1], [1]]).blocks == ((0, 1, 2),)
    assert diagnose([[1, 1], [0, 1]]).identified == (0, 1)


def test_hundreds_of_concepts_and_classes():
    rows = np.random.default_rng(0).random((400, 300)) < 0.3
    rows[100:228] = rows[0]
    found = diagnose(rows)
    assert len(found.extra_classes) == 8  # an atom of 129
    extra = np.array([[i in e.having for e in found.extra_classes] for i in range(400)])
    assert rows_are_distinct(ClassConceptStructure(np.hstack([rows, extra])))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9, 1000, 1024, 1025])
def test_fewest_classes_are_the_binary_digits(size):
    extra = split_atoms([range(size)])
    assert len(extra) == (size - 1).bit_length()
    assert len({tuple(i in e.having for e in extra) for i in range(size)}) == size


def test_chosen_classes_split_all_and_zero_rows_need_a_class():
    assert choose_classes([[1, 0], [0, 1]], [[1], [0]]) == ()
    assert choose_classes([[0], [1]], [[0], [1]]) is None
    assert choose_classes([[0], [1]], [[1], [0]]) == (0,)
    assert choose_classes([[1], [1], [1], [1]], [[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]]) == (0, 1)
    with pytest.raises(ValueError, match="candidates must have 2 rows, one a concept, got 1"):
        choose_classes([[1], [1]], [[1]])


def test_greedy_choice_is_no_worse_than_the_best_by_much():
    rng = np.random.default_rng(1)
    for _ in range(20):
        candidates = (rng.random((5, 6)) < 0.5).astype(int)
        chosen = choose_classes([[1]] * 5, candidates)
        fewest = next(
            (
                size
                for size in range(7)
                for columns in itertools.combinations(range(6), size)
                if len({tuple(row) for row in candidates[:, columns].tolist()}) == 5
            ),
            None,
        )
        assert (chosen is None) == (fewest is None)
        assert chosen is None or fewest <= len(chosen) <= 2 * fewest


def test_structures_are_matched_up_to_rows():
    rows = [[1, 0], [1, 0], [0, 1]]
    assert match_structures(rows, [[0, 1], [1, 0], [1, 0]]) == (1, 2, 0)
    assert match_structures(rows, [[0, 1], [0, 1], [1, 0]]) is None
    assert structural_distance(rows, [[0, 1], [1, 0], [1, 1]]) == 1
    with pytest.raises(ValueError, match="same shape"):
        structural_distance([[1]], [[1, 0]])


def two_levels(rows, first, second):
    return LinearGaussianModel(ClassConceptStructure(rows), ((0,), (1,)), (first, second))


def test_certificates_refuse_what_a_rotation_leaves_alone():
    isotropic = certify(two_levels([[1], [1]], (1, 1), (2, 2)))
    assert isotropic.verdicts == ("block", "block") and not isotropic.span
    assert certify(two_levels([[1], [1]], (1, 1), (2, 3))).verdicts == ("identified", "identified")
    unfaithful = certify(two_levels([[1], [1]], (1, 1), (1, 2)))
    assert unfaithful.verdicts == ("refused", "refused") and "names" in unfaithful.reasons[0]
    independent = certify(two_levels([[0], [0], [1]], (1, 1, 1), (1, 1, 2)))
    assert independent.verdicts == ("refused", "refused", "identified")


def test_span_of_score_differences():
    def scores(rates):
        return lambda z, j, c: np.array([2 * r * v * np.exp(-2 * r * c) for r, v in zip(rates, z, strict=True)])

    points = np.random.default_rng(0).normal(size=(20, 2))
    assert span_check(scores((1, 2)), [[0, 1]], points, [[0, 1]]).holds
    assert not span_check(scores((1, 1)), [[0, 1]], points, [[0, 1]]).holds
    one_level = span_check(scores((1, 2)), [[0, 1]], points, [[1]])
    assert not one_level.holds and one_level.smallest_ratio[0] == 0
    assert span_check(scores((1, 2)), [[0], []], points, [[1], []]).holds

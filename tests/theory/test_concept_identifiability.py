"""Structures, exact models and maps: reference numbers of the set algebra, laws in fractions, bad input."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from whp.theory.concept_identifiability import (
    GADGETS,
    PAPER,
    THEOREMS,
    ClassConceptStructure,
    Coupling,
    GadgetPoint,
    LinearGaussianModel,
    ReparametrisedModel,
    TransformedStructure,
    allowed_permutations,
    applied,
    atoms,
    bounds,
    candidate_maps,
    covariances,
    determinant,
    difference_isolates,
    differences_isolate_all,
    estimated_structure,
    half_probability,
    inverse,
    jacobian,
    matches_all_laws,
    no_row_contains,
    pair_isolates,
    product,
    proportional_partners,
    rank,
    respects_preorder,
    row_is_distinct,
    rows_are_distinct,
    rows_are_incomparable,
    scales_respect_structure,
    spans_every_class,
    structural_sparsity,
    touched,
)

HALF = Fraction(1, 2)


def structure(text):
    return ClassConceptStructure([[int(c) for c in row] for row in text.split()])


def gaussian(text, levels, scale):
    M = structure(text)
    contexts = tuple(itertools.product(range(levels), repeat=M.n_classes))
    own = [sorted(M.classes_of(i)) for i in range(M.n_concepts)]
    rows = tuple(tuple(scale(i, tuple(c[j] for j in own[i])) for i in range(M.n_concepts)) for c in contexts)
    return LinearGaussianModel(M, contexts, rows)


@pytest.mark.parametrize(
    ("k", "n", "counts"),
    [
        (2, 2, (9, 2, 6, 6)),
        (3, 2, (49, 18, 42, 42)),
        (3, 3, (343, 12, 156, 210)),
        (4, 3, (3375, 384, 2400, 2730)),
        (4, 4, (50625, 600, 19272, 32760)),
        (4, 5, (759375, 720, 93840, 360360)),
    ],
)
def test_predicates_hold_for_the_counted_number_of_structures(k, n, counts):
    rows = [row for row in itertools.product((0, 1), repeat=k) if any(row)]
    found = [0, 0, 0, 0]
    for chosen in itertools.combinations_with_replacement(rows, n):
        orders = math.factorial(n)
        for repeats in Counter(chosen).values():
            orders //= math.factorial(repeats)
        M = ClassConceptStructure(chosen)
        held = (True, rows_are_incomparable(M), differences_isolate_all(M), rows_are_distinct(M))
        found = [f + orders * h for f, h in zip(found, held, strict=True)]
    assert tuple(found) == counts


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("100 010 001", "TTT TTT TTT TTT"),
        ("110 011 101", "TTT TTT TTT TTT"),
        ("10 11", "FT TT TT TF"),
        ("10 01 11", "FFT TTF TTT TTF"),
        ("101 101 010", "FFT FFT FFT FFT"),
        ("111 100 011", "TFF FTT TTT FTT"),
        ("1000 1100 1110 1111", "FFFT TTTT TTTT TTTF"),
        ("00 10 01", "FTT FTT FTT FTT"),
    ],
)
def test_predicates_of_single_concepts(text, flags):
    M = structure(text)
    predicates = (no_row_contains, difference_isolates, row_is_distinct, lambda s, i: pair_isolates(s, i) is not None)
    found = ["".join("FT"[p(M, i)] for i in range(M.n_concepts)) for p in predicates]
    assert found == flags.split()


def test_a_single_class_independent_concept_is_not_diverse():
    assert no_row_contains(structure("0"), 0)
    assert not rows_are_incomparable(structure("0"))


def test_limits_of_one_to_six_classes():
    assert [bounds.SPERNER_LIMIT(K=k) for k in range(1, 7)] == [1, 2, 3, 6, 10, 20]
    assert [bounds.DISTINCT_LIMIT(K=k) for k in range(1, 7)] == [1, 3, 7, 15, 31, 63]
    assert bounds.DISTINCT_LIMIT.solve("K", at_least=20) == 5
    assert bounds.POOLED_CORRELATION(d=5) == 0.9615384615384616
    assert bounds.TWISTED_CORRELATION(s=1.0) == 0.6065306597126334
    assert bounds.TWISTED_CORRELATION(s=2.0) == 0.1353352832366127


def test_atoms_and_sets_of_classes():
    M = structure("10 10 01 11 00")
    assert atoms(M) == ((0, 1), (2,), (3,), (4,))
    assert M.concepts_of(0, 1) == {0, 1, 2, 3} and M.concepts_of() == frozenset()
    assert M.budget == 5 and M.concepts[0] == "concept 1" and M.classes[1] == "class 2"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one concept and one class"),
        ([[]], "at least one concept and one class"),
        ([[0, 2]], "must hold 0 and 1, got 2 at concept 0, class 1"),
        ([[0, 1], [1]], "same length"),
        ([["a"]], "must hold 0 and 1"),
        ([[float("nan")]], "must hold 0 and 1, got nan"),
        ([1, 0], "must be a matrix"),
    ],
)
def test_bad_structures_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        ClassConceptStructure(rows)


def test_names_must_be_different():
    with pytest.raises(ValueError, match="concepts must be 2 different names"):
        ClassConceptStructure([[1], [0]], ("a", "a"))


def test_exact_linear_algebra():
    matrix = ((Fraction(1), Fraction(2), Fraction(0)), (Fraction(0), Fraction(1), Fraction(-1)), (1, 0, Fraction(3)))
    assert determinant(matrix) == 1
    assert product(matrix, inverse(matrix)) == tuple(tuple(Fraction(i == k) for k in range(3)) for i in range(3))
    assert rank([[1, 2], [2, 4]]) == 1 and determinant([[0, 1], [1, 0]]) == -1
    with pytest.raises(ValueError, match="must be invertible, got rank 1 of 2"):
        inverse([[Fraction(1), Fraction(2)], [Fraction(2), Fraction(4)]])


def test_covariances_of_the_reference_mixtures():
    M = structure("1 1")
    two = LinearGaussianModel(M, ((0,), (1,)), ((1, 1), (2, 3)))
    assert covariances(two, ((2, 1), (1, 1))) == (((5, 3), (3, 2)), ((25, 17), (17, 13)))


def test_rotations_of_proportional_concepts_match_all_laws_and_others_do_not():
    isotropic = gaussian("1 1", 3, lambda i, v: 1 + v[0])
    different = gaussian("1 1", 3, lambda i, v: 1 + (i + 1) * v[0])
    assert sum(matches_all_laws(isotropic, t) for t in candidate_maps(isotropic)) == 6
    assert sum(matches_all_laws(different, t) for t in candidate_maps(different)) == 2  # identity and exchange
    assert not spans_every_class(isotropic) and spans_every_class(different)
    assert proportional_partners(isotropic, 0) == (1,) and proportional_partners(different, 0) == ()


def test_one_hot_classes_of_one_level_do_not_span_two_concepts():
    one_hot = LinearGaussianModel(structure("10 10 01"), ((0, 0), (1, 0), (0, 1)), ((1, 1, 1), (2, 3, 1), (1, 1, 2)))
    assert scales_respect_structure(one_hot)
    assert not spans_every_class(one_hot)


def test_scales_that_ignore_their_class_are_no_model_of_the_structure():
    constant = gaussian("10 01", 2, lambda i, v: 1)
    assert not scales_respect_structure(constant)
    assert estimated_structure(constant) == ((0, 0), (0, 0))


def test_bad_models_are_refused():
    M = structure("1")
    with pytest.raises(ValueError, match="scales must be positive, got 0"):
        LinearGaussianModel(M, ((0,), (1,)), ((1,), (0,)))
    with pytest.raises(ValueError, match="contexts must be different"):
        LinearGaussianModel(M, ((0,), (0,)), ((1,), (1,)))
    with pytest.raises(ValueError, match=r"scales must have shape \(1, 1\)"):
        LinearGaussianModel(M, ((0,),), ((1, 1),))


def test_touching_more_estimated_concepts_than_needed_costs_ones():
    M = structure("10 11")
    within = TransformedStructure(M, ((1, 0), (1, 1)))
    outside = TransformedStructure(M, ((1, 1), (0, 1)))
    assert touched(within) == M.rows and list(allowed_permutations(within)) == [(0, 1)]
    assert respects_preorder(within, (0, 1)) and not respects_preorder(outside, (0, 1))
    assert sum(map(sum, touched(outside))) > M.budget
    assert within.jacobian == ((1, -1), (0, 1))


def test_structural_sparsity_is_the_intersection_condition():
    assert structural_sparsity([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    assert not structural_sparsity([[1, 1], [1, 1]])
    assert structural_sparsity([[1, 1], [0, 1]], concepts=[0]) is False
    assert structural_sparsity([[1, 1], [0, 1]], concepts=[1])


def test_scales_of_an_exponential_family_span_unless_equal():
    def g(rate, z, c):
        return 2 * rate * z * math.exp(-2 * rate * c)

    at = [[g(1, 1, c), g(2, 1, c)] for c in (0, 1)]
    value = at[0][0] * at[1][1] - at[0][1] * at[1][0]
    assert value == pytest.approx(-8 * (math.exp(-2) - math.exp(-4)), abs=1e-15)
    assert value == pytest.approx(-0.9361571547830282, abs=1e-15)


@pytest.mark.parametrize("gadget", range(len(GADGETS)))
def test_gadgets_keep_density_and_volume(gadget):
    image = applied(GadgetPoint(gadget, (Fraction(2, 3), Fraction(-1), Fraction(4))))
    assert image[1].value ** 2 + image[2].value ** 2 == 17
    assert determinant(jacobian(image)) == 1
    assert (image[1].gradient[0] != 0) == GADGETS[gadget].mixes_u


def test_a_quadrant_has_half_the_mass_in_every_class():
    symmetric = {Fraction(value): Fraction(1, 4) for value in (-2, -1, 1, 2)}
    for law in ({Fraction(7): Fraction(1)}, {Fraction(-1): Fraction(1, 3), Fraction(4): Fraction(2, 3)}):
        assert half_probability(law, symmetric) == HALF


def test_bad_maps_and_points_are_refused():
    with pytest.raises(ValueError, match="two different coordinates below 1"):
        ReparametrisedModel((Coupling(0, 0),), ((HALF,), (HALF,)), ((HALF,), (HALF,)), (HALF,))
    with pytest.raises(ValueError, match="two contexts or more"):
        ReparametrisedModel((), ((HALF,),), ((HALF,),), (HALF,))
    with pytest.raises(ValueError, match="gadget must be below 5, got 9"):
        GadgetPoint(9, (HALF, HALF, HALF))
    with pytest.raises(ValueError, match="transform must be a 2 x 2 matrix"):
        TransformedStructure(structure("1 1"), ((1,),))


def test_theorems_say_whose_they_are():
    assert PAPER.arxiv == "2510.00136"
    by_name = {t.id.split(".")[1]: t for t in THEOREMS}
    assert {by_name[n].provenance for n in ("T1", "T1_subsets", "T2", "P1", "P2")} == {"reported"}
    assert {t.provenance for n, t in by_name.items() if n.startswith(("D1", "D2", "D3", "D7"))} == {"derived"}
    assert all(not t.locator for t in THEOREMS)


def test_couplings_are_inverted_exactly():
    from whp.theory.concept_identifiability import variables

    coupling = Coupling(1, 0, Fraction(2), Fraction(-1), Fraction(3))
    z = variables((Fraction(1, 3), Fraction(-2)))
    back = coupling.backward(coupling.forward(z))
    assert [v.value for v in back] == [Fraction(1, 3), Fraction(-2)]
    assert np.array_equal(jacobian(back), np.eye(2))

"""Exact reference numbers of the theory of augmentation and contrastive learning."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from whp.theory.contrastive_augmentation import (
    THEOREMS,
    AugmentedImages,
    ContrastiveProblem,
    GainPair,
    LineImages,
    OrthonormalFamily,
    block_lines,
    bounds,
    centred_floors,
    circle_problem,
    class_means,
    class_pair_moment,
    class_variance,
    collision_probability,
    cover_probability,
    crop_windows,
    first_moment_spread,
    gain_gap,
    gain_spread,
    gap_squared,
    is_centred,
    mean_classifier_risk,
    norm_bound,
    same_class_gap_squared,
    same_image_spread_squared,
    spectral_contrastive_loss,
    spread_squared,
    square,
    squared_lipschitz_constant,
    supervised_cross_entropy,
    supervised_risk,
    uncentred_problem,
    unsupervised_risk,
    zero_one_error,
)
from whp.theory.core.mathematics import FlintMathematics

F = Fraction

CIRCLE = {
    1: ("0.601991328100970623047778", "0.619571734582042197734836", "0.545996288604139086052441", F(1, 2)),
    2: ("0.976688898104373331609925", "1.000351319309615696258176", "0.662565611316702963262854", F(1, 4)),
    3: ("1.248983695250582681790095", "1.275727144749605219018372", "0.782719297567582622604955", F(1, 8)),
}


def agrees_to_24_digits(risk: Any, problem: ContrastiveProblem, digits: str) -> bool:
    import flint

    with flint.ctx.workprec(200):
        return bool(abs(risk(problem, FlintMathematics()) - flint.arb(digits)) < flint.arb("1e-23"))


@pytest.mark.parametrize("negatives", [1, 2, 3])
def test_risks_of_the_rational_circle_to_24_digits(negatives: int) -> None:
    problem = circle_problem(negatives)
    un, mean, supervised, tau = CIRCLE[negatives]
    assert agrees_to_24_digits(unsupervised_risk, problem, un)
    assert agrees_to_24_digits(mean_classifier_risk, problem, mean)
    assert agrees_to_24_digits(supervised_risk, problem, supervised)
    assert collision_probability(problem) == tau
    assert unsupervised_risk(problem) == pytest.approx(float(un), abs=1e-14)


def test_quantities_of_the_rational_circle_are_exact() -> None:
    problem = circle_problem()
    assert class_means(problem).tolist() == [[F(387, 425), F(287, 850)], [F(287, 850), F(387, 425)]]
    assert class_variance(problem) == F(483, 8500) == class_pair_moment(problem) / 2
    assert first_moment_spread(problem) == pytest.approx(0.211456374879452907, abs=1e-15)
    assert norm_bound(problem) == 1.0
    assert same_image_spread_squared(problem, "pixels") == same_class_gap_squared(problem, "pixels") == 1
    assert squared_lipschitz_constant(problem) == F(2, 25)
    assert math.sqrt(same_image_spread_squared(problem)) == pytest.approx(0.282842712474619, abs=1e-15)
    assert math.sqrt(same_class_gap_squared(problem)) == pytest.approx(0.205798302171011, abs=1e-15)


def test_bounds_of_the_rational_circle() -> None:
    un, sigma = 0.601991328100970623, 0.211456374879452907
    given = {"R_un": un, "B": 1, "t": 1}
    assert bounds.TRANSFER_BOUND(sigma_1=sigma, **given) == pytest.approx(0.813447702980423530, abs=1e-15)
    lipschitz = math.sqrt(2) / 5
    pixel = {"D": lipschitz, "d": lipschitz}
    assert bounds.REPRESENTATION_BOUND(**pixel, **given) == pytest.approx(un + 0.6, abs=1e-15)
    assert bounds.PLAIN_BOUND(**pixel, **given) == pytest.approx(1.450519465524827652, abs=1e-15)
    embedded = {"D": math.sqrt(2) / 5, "d": math.sqrt(18 / 425)}
    assert bounds.REPRESENTATION_BOUND(**embedded, **given) == pytest.approx(1.14751270312277040716, abs=1e-15)
    supervised = bounds.SUPERVISED_BOUND(R_mean=0.813447702980423530, tau=0.5, K=1)
    assert supervised == pytest.approx(0.933748225400901751, abs=1e-14)
    assert bounds.ERROR_BOUND(R_sup=0.545996288604139086) == pytest.approx(0.787706137912971, abs=1e-14)


def test_two_way_cross_entropy_of_the_circle_splits_exactly() -> None:
    problem = circle_problem()
    cross_entropy = float(supervised_cross_entropy(problem))
    assert cross_entropy == pytest.approx(0.5459962886041390860524, abs=1e-15)
    assert cross_entropy / 2 + math.log(2) / 2 == pytest.approx(float(mean_classifier_risk(problem)), abs=1e-15)
    assert zero_one_error(problem) == 0


@pytest.mark.parametrize("negatives", [1, 2])
def test_halving_the_temperature_is_scaling_by_root_two(negatives: int) -> None:
    cold = circle_problem(negatives, F(1, 2))
    scaled = circle_problem(negatives).as_floats()
    scaled = scaled.with_embeddings(scaled.embeddings * math.sqrt(2))
    for risk in (unsupervised_risk, mean_classifier_risk, supervised_risk, supervised_cross_entropy):
        assert float(risk(cold)) == pytest.approx(float(risk(scaled)), abs=1e-14)


def test_orthonormal_family_has_the_tabulated_gaps() -> None:
    two = OrthonormalFamily(2, 2, 1)
    assert two.unsupervised_risk == pytest.approx(0.408233060778653452891, abs=1e-15)
    assert two.mean_classifier_risk == pytest.approx(0.583612082370025995145, abs=1e-15)
    assert float(unsupervised_risk(two.problem())) == pytest.approx(two.unsupervised_risk, abs=1e-15)
    large = OrthonormalFamily(4, 50, 1000)
    assert large.unsupervised_risk == pytest.approx(5.91899432046000892, abs=1e-11)
    assert large.mean_classifier_risk == pytest.approx(6.66469489285329421, abs=1e-11)
    sizes = ((2, 2, 1), (4, 50, 1000), (10, 200, 5000), (50, 1000, 20000))
    gaps = [f.mean_classifier_risk - f.unsupervised_risk for f in (OrthonormalFamily(*size) for size in sizes)]
    assert gaps[1:] == pytest.approx([0.745700572, 0.899345, 0.979901], abs=5e-7)
    assert gaps == sorted(gaps) and all(gap < 1 - 1 / n for gap, (n, _, _) in zip(gaps, sizes, strict=True))


@pytest.mark.parametrize(("temperature", "gap"), [(0.5, 1.476026), (0.2, 3.182774)])
def test_the_gap_outgrows_a_bound_without_temperature(temperature: float, gap: float) -> None:
    family = OrthonormalFamily(4, 50, 1000, temperature)
    assert family.mean_classifier_risk - family.unsupervised_risk == pytest.approx(gap, abs=5e-7)
    assert family.first_moment_spread == pytest.approx(0.866025, abs=5e-7) and gap > 0.866025


def test_midpoints_refute_the_plain_sum() -> None:
    family = OrthonormalFamily(4, 50, 1000, 1.0, 2.0**-50)
    assert (family.gap, family.spread) == (0.0, math.sqrt(0.5))
    assert family.mean_classifier_risk - family.unsupervised_risk > 0.7457 > family.spread + family.gap
    small = OrthonormalFamily(7, 2, 5, 100.0, 2.0**-50)
    assert (small.mean_classifier_risk - small.unsupervised_risk) * 100 > 0.7134 > math.sqrt(0.5)
    smallest = OrthonormalFamily(5, 1, 8, 100.0, 2.0**-50)  # tends to (8/9)(4/5) = 0.711 as t grows
    assert (smallest.mean_classifier_risk - smallest.unsupervised_risk) * 100 > math.sqrt(0.5)


def test_an_uncentred_encoder_lies_below_the_floor() -> None:
    before, after = uncentred_problem(), uncentred_problem(centred=True)
    assert not is_centred(before) and is_centred(after)
    assert float(unsupervised_risk(before)) == pytest.approx(0.499706850753796438, abs=1e-14)
    assert centred_floors(before)[0] == pytest.approx(0.538677733782427221, abs=1e-14)
    assert float(unsupervised_risk(after)) == pytest.approx(0.471340313842203, abs=1e-14)
    assert centred_floors(after)[0] == pytest.approx(0.0525613484036629, abs=1e-14)


@pytest.mark.parametrize(
    ("norm", "t", "K", "floor"),
    [(1, 1, 1, 0.313261687518223), (1, 1, 255, 4.5518670574333), (1, 0.5, 255, 3.56982834926012449)],
)
def test_floors_of_centred_encoders(norm: float, t: float, K: int, floor: float) -> None:
    assert bounds.CENTRED_FLOOR(B=norm, t=t, K=K) == pytest.approx(floor, abs=5e-14)


def test_the_collapsed_encoder_attains_log_of_k_plus_one() -> None:
    collapsed = ContrastiveProblem([[0.0], [0.0]], (0, 1), (0, 1), negatives=3)
    assert float(unsupervised_risk(collapsed)) == pytest.approx(math.log(4), abs=1e-15)


def test_squares_of_crop_distances_around_the_block() -> None:
    lines = block_lines()
    table = []
    for m in range(1, 7):
        first, second = crop_windows(lines.first, m), crop_windows(lines.second, m)
        table.append((spread_squared(first), spread_squared(second), gap_squared(first, second)))
    assert table == [(49, 49, 0), (61, 65, 0), (94, 69, 1), (119, 78, 2), (50, 74, 11), (0, 0, 68)]
    assert square(lines.first, lines.second) == 68 and lines.both_show_the_block


def test_gains_meet_at_the_stated_strength() -> None:
    at = GainPair(F(2), F(1, 3))
    assert gain_gap(at) == 0 and gain_gap(GainPair(F(2), F(33, 100))) == F(1, 100)
    assert gain_spread(at) == F(4, 3) and bounds.MEETING_STRENGTH(ratio=2) == pytest.approx(1 / 3)
    sums = [gain_gap(p) + gain_spread(p) for p in (GainPair(F(3), F(k, 10)) for k in range(6))]
    assert sums == [F(2) + 2 * F(k, 10) for k in range(6)]


def test_two_images_that_meet_half_way_have_a_smaller_sum_and_no_smaller_bound() -> None:
    meeting = AugmentedImages(((0,), (4,)), (0, 0), (((0,),), ((4,),)), (((0,), (2,)), ((4,), (2,))))
    spread = max(spread_squared(v) for v in meeting.stronger) ** 0.5
    gap = gap_squared(*meeting.stronger) ** 0.5
    assert spread + gap == 2.0 < 4.0 <= 2 * spread + gap


def test_cover_probability_by_inclusion_and_exclusion() -> None:
    problem = ContrastiveProblem([[0]] * 3, (0, 1, 2), (0, 1, 2), negatives=2)
    assert cover_probability(problem) == F(2, 9)
    assert cover_probability(circle_problem(3)) == F(7, 8)
    assert cover_probability(ContrastiveProblem([[0]] * 3, (0, 1, 2), (0, 1, 2))) == 0


def test_spectral_loss_of_a_perfect_pair() -> None:
    assert spectral_contrastive_loss(ContrastiveProblem([[1.0], [-1.0]], (0, 1), (0, 1))) == -1.0


def test_sample_size_for_a_radius() -> None:
    n = bounds.SAMPLING_RADIUS.solve("n", at_most=0.1, B=1, t=0.5, delta=0.05)
    assert bounds.SAMPLING_RADIUS(B=1, t=0.5, n=n, delta=0.05) <= 0.1
    assert bounds.SAMPLING_RADIUS(B=1, t=0.5, n=n - 1, delta=0.05) > 0.1


def test_no_theorem_carries_the_papers_numbers() -> None:
    assert {t.provenance for t in THEOREMS} == {"derived", "prior"}
    assert not any(t.locator for t in THEOREMS)
    assert {t.id.split(".")[1] for t in THEOREMS if t.expected == "refuted"} == {"T1_sum", "T4_sum"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"embeddings": []}, ValueError, "embeddings must have 2 dimensions"),
        ({"embeddings": np.zeros((0, 2))}, ValueError, "at least one view"),
        ({"embeddings": [[1.0], [math.nan]]}, ValueError, r"embeddings must be finite.*nan at \(1, 0\)"),
        ({"embeddings": [[1.0], [math.inf]]}, ValueError, "embeddings must be finite"),
        ({"embeddings": [[1.0], [1e200]]}, ValueError, "at most 1e\\+150"),
        ({"embeddings": [[1.0], [1.0, 2.0]]}, ValueError, "rectangular"),
        ({"embeddings": [["a"], ["b"]]}, ValueError, "embeddings must be numbers"),
        ({"images": (0,)}, ValueError, "images must name one integer for each of 2 views, got 1"),
        ({"classes": (0, 0.5)}, TypeError, "classes must be integers, got 0.5"),
        ({"weights": [0.5, 0.6]}, ValueError, "weights must sum to 1, got 1.1"),
        ({"weights": [1.0, 0.0]}, ValueError, "weights must be positive, got 0.0 at 1"),
        ({"temperature": 0.0}, ValueError, "temperature must be positive and finite, got 0.0"),
        ({"temperature": "cold"}, TypeError, "temperature must be a number"),
        ({"negatives": 0}, ValueError, "negatives must be at least 1, got 0"),
        ({"negatives": 1.5}, TypeError, "negatives must be an integer"),
        ({"pixels": [[1.0]]}, ValueError, "pixels must have one row for each of 2 views, got 1"),
    ],
)
def test_malformed_problems_are_named(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    fields: dict[str, Any] = {"embeddings": [[1.0], [2.0]], "images": (0, 1), "classes": (0, 1)}
    with pytest.raises(error, match=message):
        ContrastiveProblem(**{**fields, **arguments})


def test_quantities_that_do_not_exist_are_refused() -> None:
    one_class = ContrastiveProblem([[1.0], [2.0]], (0, 1), (0, 0))
    with pytest.raises(ValueError, match="at least two classes"):
        supervised_risk(one_class)
    with pytest.raises(ValueError, match="no pixels"):
        squared_lipschitz_constant(one_class)
    equal = ContrastiveProblem([[1.0], [2.0]], (0, 1), (0, 0), pixels=[[0.0], [0.0]])
    with pytest.raises(ValueError, match="no Lipschitz constant"):
        squared_lipschitz_constant(equal)
    with pytest.raises(ValueError, match="at most 16 classes"):
        cover_probability(ContrastiveProblem(np.zeros((17, 1)), range(17), range(17)))
    with pytest.raises(ValueError, match="width must be between 1 and 3, got 4"):
        crop_windows((1, 2, 3), 4)
    with pytest.raises(ValueError, match="block no longer"):
        LineImages((1,), (1,), (1, 2))
    with pytest.raises(ValueError, match="strength must be in"):
        GainPair(F(1), F(1))
    with pytest.raises(ValueError, match="midpoint_mass"):
        OrthonormalFamily(1, 2, 1, 1.0, 0.5)
    with pytest.raises(ValueError, match="at least one view"):
        AugmentedImages(((1,),), (0,), ((),), (((1,),),))

"""The theorems of the paper and around it, as data."""

from __future__ import annotations

from typing import Any

from whp.theory.concept_identifiability import bounds
from whp.theory.concept_identifiability.linear_gaussian import (
    LinearGaussianModel,
    scales_respect_structure,
    spans_every_class,
)
from whp.theory.concept_identifiability.structure import rows_are_distinct, rows_are_incomparable
from whp.theory.core import Assumption, Claim, Paper, Theorem

__all__ = ["PAPER", "THEOREMS"]

PAPER = Paper(
    "concept_identifiability",
    "Nonparametric Identification of Latent Concepts",
    ("Yujia Zheng", "Shaoan Xie", "Kun Zhang"),
    "ICML 2025 (PMLR 267)",
    "2510.00136",
)

_SOURCE = (
    "The proofs and the exact text of the assumptions were not read: the statement is that of the abstract and of two "
    "independent summaries. "
)
_SPAN_READING = (
    "'Mild non-degeneracy' is read as (span): for almost every z the score differences along each class variable span "
    "the concepts of that class; the sparsest structure has no more ones than the true one. Decided on linear Gaussian "
    "models, against all maps of a finite family that match every class law."
)


def _model(instance: Any) -> LinearGaussianModel:
    """The model of an instance that may carry more."""
    found = getattr(instance, "model", instance)
    assert isinstance(found, LinearGaussianModel)
    return found


FAITHFUL = Assumption(
    "faithful",
    "the law of each concept depends on exactly the classes of its row",
    lambda instance: scales_respect_structure(_model(instance)),
)
SPAN = Assumption(
    "span",
    "score differences along each class variable span the concepts of that class",
    lambda instance: spans_every_class(_model(instance)),
)
INCOMPARABLE = Assumption(
    "incomparable rows",
    "no row of M is zero or contained in another",
    lambda instance: rows_are_incomparable(_model(instance).structure),
)
DISTINCT = Assumption(
    "distinct rows",
    "the rows of M are different and none is zero",
    lambda instance: rows_are_distinct(_model(instance).structure),
)
INVERTIBLE = Assumption("invertible", "T is invertible", lambda case: bool(case.invertible))
SPARSE_SUPPORT = Assumption(
    "structural sparsity",
    "each concept is alone in what some observed coordinates depend on",
    lambda case: rows_are_incomparable(case.structure),
)
ONE_INDEPENDENT = Assumption(
    "one class-independent concept",
    "exactly one row of M is zero",
    lambda instance: sum(not any(row) for row in _model(instance).structure.rows) == 1,
)

REPORTED = (
    Theorem(
        id="concept_identifiability.T1",
        paper=PAPER,
        title="Pairwise comparison",
        statement=(
            "For two classes i, j there is a permutation pi such that the estimated concepts pi(A_i - A_j) do not "
            "depend on z_{A_j}, nor pi(A_j - A_i) on z_{A_i}."
        ),
        assumptions=(FAITHFUL, SPAN),
        claim=Claim("d z^_{pi(A_i - A_j)} / d z_{A_j}", "=", "0"),
        provenance="reported",
        reading=_SOURCE + _SPAN_READING,
        not_claimed="Separation inside A_i - A_j; anything without observed classes; finite-sample rates.",
    ),
    Theorem(
        id="concept_identifiability.T1_subsets",
        paper=PAPER,
        title="Comparison of sets of classes",
        statement="T1 with two sets of classes I, J in place of i, j and A_I the union of A_i over i in I.",
        assumptions=(FAITHFUL, SPAN),
        claim=Claim("d z^_{pi(A_I - A_J)} / d z_{A_J}", "=", "0"),
        provenance="reported",
        reading=_SOURCE + "Sets of classes are compared through unions. " + _SPAN_READING,
    ),
    Theorem(
        id="concept_identifiability.T2",
        paper=PAPER,
        title="Global comparison",
        statement="Under structural diversity every class-dependent concept is identified component-wise.",
        assumptions=(FAITHFUL, SPAN, INCOMPARABLE),
        claim=Claim("z^_{pi(i)}", "=", "h_i(z_i)"),
        provenance="reported",
        reading=(
            _SOURCE
            + "The formula of structural diversity was not seen: of three candidates the strongest is taken, "
            + "incomparable rows. The part on class-independent concepts is not decided here; see D7_twisted. "
            + _SPAN_READING
        ),
        not_claimed="That diversity is necessary: see D5 and D6.",
    ),
    Theorem(
        id="concept_identifiability.P1",
        paper=PAPER,
        title="Sparse dependence of observations on concepts",
        statement=(
            "If each concept is alone in what some observed coordinates depend on, a representation by which the "
            "observations depend on no more coordinates in total is component-wise."
        ),
        assumptions=(INVERTIBLE, SPARSE_SUPPORT),
        claim=Claim("T", "=", "permutation times diagonal"),
        provenance="reported",
        reading=(
            _SOURCE
            + "The condition is read as the intersection form of the authors' earlier structural sparsity, and decided "
            + "for linear maps T between concepts, with supports as under (span)."
        ),
    ),
    Theorem(
        id="concept_identifiability.P2",
        paper=PAPER,
        title="The structure is identified",
        statement="The estimated structure is the true one up to a permutation of rows, without structural diversity.",
        assumptions=(FAITHFUL,),
        claim=Claim("M^", "=", "P M"),
        provenance="reported",
        reading=_SOURCE + _SPAN_READING + " Faithfulness alone is used: on this family it suffices.",
    ),
)

DERIVED = (
    Theorem(
        id="concept_identifiability.D1",
        paper=PAPER,
        title="Score identity",
        statement=(
            "Matched laws imply G(z, c) = J(z)^T G^(h(z), c) for score differences between contexts: the determinant "
            "of the Jacobian does not depend on the context and cancels."
        ),
        claim=Claim("G(z, c)", "=", "J(z)^T G^(h(z), c)"),
        provenance="derived",
    ),
    Theorem(
        id="concept_identifiability.D2",
        paper=PAPER,
        title="Combinatorial core",
        statement=(
            "For invertible T let A^_j be the rows of T that meet A_j. Then sum |A^_j| >= sum |A_j|, with equality iff "
            "some permutation s has A^_j = s(A_j) for all j, and then T[s(i), k] != 0 implies that C(i) contains C(k)."
        ),
        assumptions=(INVERTIBLE,),
        claim=Claim("sum_j |A_j|", "<=", "sum_j |A^_j|"),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="concept_identifiability.D3",
        paper=PAPER,
        title="Structure theorem",
        statement=(
            "Under (span) and a structure with no more ones than M, the estimated structure is M with rows permuted by "
            "some s, unique inside atoms, and dz^_{s(i)}/dz_k != 0 implies that C(k) contains C(i)."
        ),
        assumptions=(INVERTIBLE,),
        claim=Claim("dz^_{s(i)}/dz_k != 0", "=>", "C(i) is contained in C(k)"),
        provenance="derived",
        not_claimed="Anything for one-hot classes of one level with several concepts each: (span) fails there.",
    ),
    Theorem(
        id="concept_identifiability.D4",
        paper=PAPER,
        title="Atoms are identified as blocks",
        statement="With independent concepts in both models every atom with a class is identified as a block.",
        assumptions=(FAITHFUL,),
        claim=Claim("z^_{s(a)}", "=", "v_a(z_a)"),
        provenance="derived",
        reading="Decided on linear Gaussian models, where faithful dependence alone suffices.",
    ),
    Theorem(
        id="concept_identifiability.D5",
        paper=PAPER,
        title="Distinct rows suffice",
        statement="Under (span), if the rows of M are distinct and not zero, every concept is identified.",
        assumptions=(FAITHFUL, SPAN, DISTINCT),
        claim=Claim("z^_{pi(i)}", "=", "h_i(z_i)"),
        provenance="derived",
        not_claimed="Necessity: see D6.",
    ),
    Theorem(
        id="concept_identifiability.predicates",
        paper=PAPER,
        title="Three forms of diversity",
        statement="Incomparable rows imply isolation by set differences, which implies distinct non-zero rows.",
        claim=Claim("P_anti", "=>", "P_diff => P_rows"),
        provenance="derived",
        expected="proved",
    ),
    Theorem(
        id="concept_identifiability.diagnosis",
        paper=PAPER,
        title="The diagnosis is that of set algebra",
        statement=(
            "diagnose(M) reports the atoms, the predicates of every concept and the pairs of classes that isolate it "
            "as a search through all sets does."
        ),
        claim=Claim("diagnose(M)", "=", "search through sets"),
        provenance="derived",
    ),
    Theorem(
        id="concept_identifiability.extra_classes",
        paper=PAPER,
        title="Classes still to be collected",
        statement="The fewest classes that split all atoms with a class number ceil(log2(size of the largest)).",
        claim=Claim("number of classes", "=", "ceil(log2(largest atom))"),
        provenance="derived",
    ),
    Theorem(
        id="concept_identifiability.sperner",
        paper=PAPER,
        title="How many concepts K classes can tell apart",
        statement="Incomparable rows number at most binomial(K, floor(K/2)); distinct non-zero rows 2^K - 1.",
        claim=Claim("number of concepts", "<=", bounds.SPERNER_LIMIT),
        provenance="prior",
        expected="proved",
    ),
    Theorem(
        id="concept_identifiability.D6",
        paper=PAPER,
        title="Linear Gaussian criterion",
        statement=(
            "From the class covariances of x = A z a concept is identified up to scale iff its variances over the "
            "classes are not proportional to those of another concept; otherwise the proportional ones form a block."
        ),
        claim=Claim("identified concepts", "=", "concepts without a proportional partner"),
        provenance="prior",
    ),
    Theorem(
        id="concept_identifiability.D6_rate",
        paper=PAPER,
        title="Sampling error of joint diagonalisation",
        statement="With N samples a class the Amari distance of the estimate decreases as N^(-1/2).",
        claim=Claim("median Amari distance", "~", "N^(-1/2)"),
        provenance="prior",
        expected="consistent",
    ),
    Theorem(
        id="concept_identifiability.P2_sampled",
        paper=PAPER,
        title="The structure is recovered from samples",
        statement=(
            "From 50 rows in each of nine contexts, for three concepts and two class variables, joint diagonalisation "
            "and F tests return M up to a permutation of rows, except with probability 0.2."
        ),
        claim=Claim("P(M^ != P M)", "<=", "0.2"),
        provenance="derived",
        not_claimed="A rate in general; the models are the fixed ones of the check.",
    ),
    Theorem(
        id="concept_identifiability.D7_single",
        paper=PAPER,
        title="One class-independent concept",
        statement="A single class-independent concept is identified by independence, given identified atoms.",
        assumptions=(FAITHFUL, ONE_INDEPENDENT),
        claim=Claim("z^_B", "=", "h(z_B)"),
        provenance="derived",
        reading="Decided on linear Gaussian models.",
    ),
    Theorem(
        id="concept_identifiability.D7_twisted",
        paper=PAPER,
        title="Class laws and independence do not identify a class-independent pair",
        statement=(
            "Rotating a standard Gaussian pair z_B by an angle that is a function of z_A, or of its own radius, keeps "
            "the density of every class; where the angle moves with z_A, z^_B is no function of z_B."
        ),
        claim=Claim("p^(h(z) | c) |det J|", "=", "p(z | c), while dz^_B/dz_A != 0"),
        provenance="derived",
        expected="proved",
        not_claimed=(
            "That the paper's theorem fails: its condition on class-independent concepts was not read, and sparsity of "
            "the generating map can exclude these rotations."
        ),
    ),
    Theorem(
        id="concept_identifiability.D7_correlation",
        paper=PAPER,
        title="What is left of a twisted concept",
        statement="If the angle is N(0, s^2), the mean cosine between z_B and z^_B is exp(-s^2/2).",
        claim=Claim("E cos angle(z_B, z^_B)", "=", bounds.TWISTED_CORRELATION),
        provenance="derived",
    ),
    Theorem(
        id="concept_identifiability.D7_cylinder",
        paper=PAPER,
        title="A set that no class tells from another",
        statement=(
            "If z_B is symmetric without mass at 0, the set {z_A z_B > 0} has probability 1/2 whatever the law of z_A "
            "without mass at 0, though it is no cylinder over z_B: a variability condition over all such sets is void."
        ),
        claim=Claim("P(z_A z_B > 0 | c)", "=", "1/2"),
        provenance="derived",
        not_claimed="That the paper's condition has this form; it is to be compared with the paper's text.",
    ),
    Theorem(
        id="concept_identifiability.estimator",
        paper=PAPER,
        title="The regularised flow finds distinct concepts",
        statement=(
            "On the fixed non-linear mixtures of the check, whose structures have distinct rows and levels that span, "
            "the flow with gated class-conditional base reaches a correlation centred by class of 0.95 or more."
        ),
        claim=Claim("centred mean correlation", ">=", "0.95"),
        provenance="derived",
        not_claimed="A probability over data sets; the paper's own figures were not seen.",
    ),
    Theorem(
        id="concept_identifiability.pooling",
        paper=PAPER,
        title="Pooled correlations are no evidence",
        statement=(
            "Shifting every class of both codes by constants leaves the correlations centred by class unchanged, while "
            "pooled correlations of independent codes with class means +-d reach d^2/(1+d^2)."
        ),
        claim=Claim("pooled correlation", "=", bounds.POOLED_CORRELATION),
        provenance="derived",
    ),
)

THEOREMS = (*REPORTED, *DERIVED)

"""Checks of T5a (plain marginals of quadratic forms) and T10 (congruence of their Hamming sums)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from whp.algorithms import marginalization as solvers
from whp.proofs_checks.engine import (
    Check,
    ClaimedRate,
    Cost,
    Instances,
    Mutant,
    Slack,
    at_least,
    at_most,
    identity,
    requires,
)
from whp.proofs_checks.marginalization.brute_force_oracle import refuses
from whp.proofs_checks.marginalization.instances import (
    FormQuery,
    draw_form_queries,
    form_queries,
    real_form_queries,
    structured_form_queries,
)
from whp.proofs_checks.marginalization.outputs import exact_number, exact_numbers
from whp.theory.core import Slot
from whp.theory.marginalization import (
    Pattern,
    QuadraticForm,
    TruthTable,
    gauss_sum_by_definition,
    hamming_congruence,
)
from whp.theory.marginalization.theorems import ELIMINATION_WORDS

FORMS = Instances(
    scope="quadratic forms on n <= 9 variables, random patterns: empty, complete, star-like, disconnected ones",
    examples=form_queries,
    draw=draw_form_queries,
    strategy=structured_form_queries,
)

PM_QUADRATIC = Slot(
    "pm_quadratic",
    "(form, q)",
    "form: QuadraticForm; q: Pattern",
    "Σ_{x ⊨ q} (-1)^Q(x), int",
    ("form", "q"),
    validate=exact_number,
)
PM_EVEN_PARITY = Slot(
    "pm_even_parity",
    "(form, q)",
    "form; q: Pattern",
    "#{x ⊨ q : Q(x) = 0}, int",
    ("form", "q"),
    validate=exact_number,
)
BUILD_FORM = Slot(
    "quadratic_form_from_terms", "(n, terms)", "n: int; terms: monomials", "QuadraticForm", ("n", "terms")
)
GAUSS_SUM = Slot(
    "gauss_sum",
    "(form)",
    "form: QuadraticForm",
    "object with value: int and word_operations: int, as counted by the subject",
    ("form",),
    validate=lambda output, form: exact_numbers((output.value, output.word_operations)),
)
HAMMING_SUMS = Slot(
    "hamming_sums", "(form)", "form: QuadraticForm", "C_a for a = 0..n, ints", ("form",), validate=exact_numbers
)


def marginals_are_gauss_sums(instance: FormQuery, *, pm_quadratic: Any, pm_even_parity: Any) -> Slack:
    """Both marginals against enumeration, and the shape 0 or ±2^e with s/2 <= e <= s."""
    form, q = instance.form, instance.pattern
    answer, expected = pm_quadratic(form, q), gauss_sum_by_definition(form, q)
    even = sum(1 - form(x) for x in q.assignments())
    power = abs(expected)
    shaped = power == 0 or (power & (power - 1) == 0 and 2**q.s <= power**2 <= 4**q.s)
    return (
        identity("PM of (-1)^Q", answer, expected)
        & identity("PM of [Q = 0]", pm_even_parity(form, q), even)
        & requires("0 or a power of two", shaped)
    )


def marginals_add_up(instance: FormQuery, *, pm_quadratic: Any) -> Slack:
    """``PM(q) = PM(q, x_i = 0) + PM(q, x_i = 1)`` down a path of evidence, and the value at its end.

    Additivity at every pattern and the values at the points determine PM, so wide forms need no enumeration.
    """
    form, q = instance.form, instance.pattern
    clauses = Slack(())
    letters = q.letters
    for i in q.stars:
        zero, one = (letters[:i] + bit + letters[i + 1 :] for bit in "01")
        parts = [pm_quadratic(form, Pattern(branch)) for branch in (zero, one)]
        clauses &= identity("additivity", pm_quadratic(form, Pattern(letters)), sum(parts))
        letters = one if i % 3 == 0 else zero
    return clauses & identity("value", pm_quadratic(form, Pattern(letters)), 1 - 2 * form([int(c) for c in letters]))


def additivity_without_one_branch(instance: FormQuery, *, pm_quadratic: Any) -> Slack:
    """Only the branch ``x_i = 0``."""
    form, q = instance.form, instance.pattern
    clauses = Slack(())
    for i in q.stars[:3]:
        zero = Pattern(q.letters[:i] + "0" + q.letters[i + 1 :])
        clauses &= identity("additivity", pm_quadratic(form, q), pm_quadratic(form, zero))
    return clauses


def forms_have_degree_two(instance: FormQuery, *, quadratic_form_from_terms: Any) -> Slack:
    """Built from its monomials a form takes the right values at all points of weight at most 2, which determine it.

    The constant is left out, ``x_n x_n = x_n`` is added, ``x_1 x_2 + x_2 x_1`` cancels; a cubic monomial is refused.
    """
    form = instance.form
    n = max(form.n, 3)
    built = quadratic_form_from_terms(n, [*form.terms, (n - 1, n - 1), (0, 1), (1, 0)])
    ones = itertools.chain.from_iterable(itertools.combinations(range(n), weight) for weight in range(3))
    points = [[int(i in chosen) for i in range(n)] for chosen in ones]
    expected = [(form(x[: form.n]) + form.constant + x[-1]) % 2 for x in points]
    return identity("values", [built(x) for x in points], expected) & requires(
        "cubic monomial refused", refuses(quadratic_form_from_terms, n, [(0, 1, 2)])
    )


def elimination_cost(instance: FormQuery, *, gauss_sum: Any) -> Cost:
    """Word operations on a dense random form."""
    return Cost(instance.form.n, gauss_sum(instance.form).word_operations, "word operations")


def elimination_within_bound(instance: FormQuery, *, gauss_sum: Any) -> Slack:
    """Word operations within the stated formula, for the right value.

    The value is judged by its definition up to ten variables, beyond by ``S(Q) = S(Q|x_1=0) + S(Q|x_1=1)``.
    """
    form = instance.form
    answer = gauss_sum(form)
    halves = (_with_the_first_fixed(form, bit) for bit in (0, 1))
    expected = gauss_sum_by_definition(form) if form.n <= 10 else sum(gauss_sum(half).value for half in halves)
    return (
        identity("value", answer.value, expected)
        & at_most("word operations", answer.word_operations, float(ELIMINATION_WORDS(n=form.n)))
        & at_least("work", answer.word_operations, min(form.n, 1))
    )


def _with_the_first_fixed(form: QuadraticForm, bit: int) -> QuadraticForm:
    """``Q`` with ``x_1`` replaced by a bit, over the other variables."""
    linear = form.linear[1:] ^ (form.quadratic[0, 1:] & bool(bit))
    return QuadraticForm(form.quadratic[1:, 1:], linear, (form.constant + bit * int(form.linear[0])) % 2)


def hamming_sums_are_congruent(instance: FormQuery, *, hamming_sums: Any) -> Slack:
    """``C_a`` against the residues of T10, and their sum against the Gauss sum."""
    form = instance.form
    sums = hamming_sums(form)
    residues = hamming_congruence(form)
    return identity("entries", len(sums), form.n + 1) & identity(
        "residue mod 4", [value % 4 for value in sums], list(residues)
    )


def congruence_without_linear_term(instance: FormQuery, *, hamming_sums: Any) -> Slack:
    """The residues without ``2 C(n-1,a-1) Σα``."""
    form = instance.form
    bare = QuadraticForm(form.quadratic, np.zeros(form.n, dtype=np.bool_), form.constant)
    sums = [value % 4 for value in hamming_sums(form)]
    return identity("residue mod 4", sums, list(hamming_congruence(bare)))


def congruence_mod_eight(instance: FormQuery, *, hamming_sums: Any) -> Slack:
    """The same residues read mod 8."""
    residues = hamming_congruence(instance.form)
    return identity("residue mod 4", [value % 8 for value in hamming_sums(instance.form)], list(residues))


# instances of the rate


def dense_forms() -> Mapping[str, FormQuery]:
    """Fair random bits, n = 64 to 1024."""
    return {f"dense, n = {n}": _whole(dense_form(n)) for n in (64, 128, 256, 512, 1024)}


def small_dense_forms() -> Mapping[str, FormQuery]:
    """Fair random bits, n = 8 to 128."""
    return {f"dense, n = {n}": _whole(dense_form(n)) for n in (8, 16, 32, 64, 128)}


def _whole(form: QuadraticForm) -> FormQuery:
    return FormQuery(form, Pattern.free(form.n))


def dense_form(n: int) -> QuadraticForm:
    """Form of fair random bits whose sum is not cut short by a zero."""
    rng = np.random.default_rng(n)
    upper = np.triu(rng.integers(0, 2, size=(n, n), dtype=np.int8), 1)
    return QuadraticForm(upper, rng.integers(0, 2, size=n, dtype=np.int8))


def draw_dense_forms(rng: np.random.Generator, size: int) -> Sequence[FormQuery]:
    """Dense and complete forms on 1 to 200 variables."""
    found = []
    for _ in range(size):
        n = int(rng.integers(1, 201))
        upper = np.triu(rng.random((n, n)) < rng.choice([0.1, 0.5, 1.0]), 1)
        found.append(_whole(QuadraticForm(upper, rng.random(n) < 0.5)))
    return found


# mutants


def _losing_squares(form: QuadraticForm, q: Pattern) -> int:
    """Elimination that forgets ``x_i x_i = x_i``."""
    restricted = solvers.restrict_quadratic(form, q)
    return _eliminate(restricted, keep_squares=False, keep_constant=True)


def _wrong_sign(form: QuadraticForm, q: Pattern) -> int:
    """Elimination that forgets the product of the two constants."""
    restricted = solvers.restrict_quadratic(form, q)
    return _eliminate(restricted, keep_squares=True, keep_constant=False)


def _eliminate(form: QuadraticForm, keep_squares: bool, keep_constant: bool) -> int:
    """The elimination on plain bits, with one step left out."""
    partners = form.quadratic | form.quadratic.T
    linear, constant, active, result = form.linear.copy(), form.constant, np.ones(form.n, dtype=np.bool_), 1
    for v in range(form.n):
        if not active[v]:
            continue
        active[v] = False
        row = partners[v] & active
        if not row.any():
            if linear[v]:
                return 0
            result *= 2
            continue
        p = int(np.flatnonzero(row)[0])
        active[p] = False
        solved, multiplier = row & active, partners[p] & active
        c, d = bool(linear[v]), bool(linear[p])
        partners ^= np.outer(solved, multiplier) ^ np.outer(multiplier, solved)
        linear = linear ^ (c & multiplier) ^ (d & solved)
        if keep_squares:
            linear ^= solved & multiplier
        if keep_constant:
            constant ^= int(c and d)
        result *= 2
    return -result if constant else result


def _evidence_ignored(form: QuadraticForm, q: Pattern) -> int:
    return solvers.gauss_sum(form).value


def _half_of_everything(form: QuadraticForm, q: Pattern) -> int:
    """``2^{s-1}``: the sum left out."""
    return int(2**q.s) // 2


def _dropping_cubic_terms(n: int, terms: Any) -> QuadraticForm:
    return QuadraticForm.from_terms(n, [term for term in terms if len(set(term)) <= 2])


def _adding_a_pair(n: int, terms: Any) -> QuadraticForm:
    """Two linear terms more: right where all variables are 1."""
    return QuadraticForm.from_terms(n, [*terms, (0,), (1,)])


def _dropping_squares(n: int, terms: Any) -> QuadraticForm:
    """``x_i x_i`` taken as 0."""
    return QuadraticForm.from_terms(n, [term for term in terms if len(term) < 2 or len(set(term)) == len(term)])


def _without_sign(form: QuadraticForm) -> solvers.GaussSum:
    value = solvers.gauss_sum(form)
    return solvers.GaussSum(abs(value.sign), value.exponent, value.word_operations)


def _without_work(form: QuadraticForm) -> solvers.GaussSum:
    """A certificate that lies about its own cost."""
    value = solvers.gauss_sum(form)
    return solvers.GaussSum(value.sign, value.exponent, 0)


def _by_enumeration(form: QuadraticForm) -> solvers.GaussSum:
    """Right, with 2^n operations."""
    value = solvers.gauss_sum(form)
    return solvers.GaussSum(value.sign, value.exponent, 2**form.n)


def _entry_by_entry(form: QuadraticForm) -> solvers.GaussSum:
    """Right, but each substitution rewrites the whole matrix for every pair of variables."""
    value = solvers.gauss_sum(form)
    rounds = form.n // 2
    return solvers.GaussSum(value.sign, value.exponent, rounds * form.n * form.n * -(-form.n // 64))


def _hamming_sums_of_ones(form: QuadraticForm) -> tuple[int, ...]:
    """Weights shifted by one."""
    sums = solvers.hamming_sums_by_enumeration(form)
    return sums[1:] + sums[:1]


def _hamming_sums_without_linear_terms(form: QuadraticForm) -> tuple[int, ...]:
    bare = QuadraticForm(form.quadratic, np.zeros(form.n, dtype=np.bool_), form.constant)
    return solvers.hamming_sums_by_enumeration(bare)


def _numbers_of_even_points(form: QuadraticForm) -> tuple[int, ...]:
    """Counts of ``Q = 0`` in place of signed sums."""
    table = solvers.quadratic_truth_table(form)
    even = TruthTable(form.n, (table.values + 1) // 2)
    counts = solvers.TruthTableOracle(even).hamming_marginals(Pattern.free(form.n))
    return tuple(int(value) for value in counts)


CHECKS = (
    Check(
        theorem="marginalization.T5a",
        name="marginals",
        kind="slack",
        observe=marginals_are_gauss_sums,
        instances=FORMS,
        slots={PM_QUADRATIC: solvers.pm_quadratic, PM_EVEN_PARITY: solvers.pm_even_parity},
        mutants=(
            Mutant("x_i x_i = x_i forgotten", "PM of (-1)^Q", {"pm_quadratic": _losing_squares}),
            Mutant("sign when both constants are 1", "PM of (-1)^Q", {"pm_quadratic": _wrong_sign}),
            Mutant("evidence ignored", "PM of (-1)^Q", {"pm_quadratic": _evidence_ignored}),
            Mutant("half of the assignments", "PM of [Q = 0]", {"pm_even_parity": _half_of_everything}),
        ),
        cost=5,
    ),
    Check(
        theorem="marginalization.T5a",
        name="additivity",
        kind="slack",
        observe=marginals_add_up,
        instances=Instances(
            scope="forms of the karate club (34), Les Misérables (77) and Petersen graphs; forms on n <= 8 variables",
            examples=real_form_queries,
            draw=draw_form_queries,
        ),
        slots={PM_QUADRATIC: solvers.pm_quadratic},
        mutants=(
            Mutant("x_i x_i = x_i forgotten", "additivity", {"pm_quadratic": _losing_squares}),
            Mutant("one branch only", "additivity", observe=additivity_without_one_branch),
        ),
        cost=8,
    ),
    Check(
        theorem="marginalization.T5a",
        name="degree",
        kind="slack",
        observe=forms_have_degree_two,
        instances=FORMS,
        slots={BUILD_FORM: QuadraticForm.from_terms},
        mutants=(
            Mutant(
                "cubic term dropped", "cubic monomial refused", {"quadratic_form_from_terms": _dropping_cubic_terms}
            ),
            Mutant("x_1 + x_2 added", "values", {"quadratic_form_from_terms": _adding_a_pair}),
            Mutant("squares dropped", "values", {"quadratic_form_from_terms": _dropping_squares}),
        ),
        cost=2,
    ),
    Check(
        theorem="marginalization.T5a",
        name="operations",
        kind="slack",
        observe=elimination_within_bound,
        instances=Instances(
            scope="forms on 1 to 200 variables, dense and complete; dense ones up to n = 1024; operations as the "
            "subject counts them",
            examples=lambda: {**small_dense_forms(), **dense_forms()},
            draw=draw_dense_forms,
        ),
        slots={GAUSS_SUM: solvers.gauss_sum},
        mutants=(
            Mutant("sign lost", "value", {"gauss_sum": _without_sign}),
            Mutant("no work admitted", "work", {"gauss_sum": _without_work}),
            Mutant("enumeration", "word operations", {"gauss_sum": _by_enumeration}),
            Mutant("entry by entry", "word operations", {"gauss_sum": _entry_by_entry}),
        ),
        cost=20,
    ),
    Check(
        theorem="marginalization.T5a",
        name="growth",
        kind="rate",
        observe=elimination_cost,
        instances=Instances(scope="dense random forms, n = 64, 128, 256, 512, 1024", examples=dense_forms),
        slots={GAUSS_SUM: solvers.gauss_sum},
        rate=ClaimedRate(3.0, tolerance=0.3),
        mutants=(
            Mutant(
                "enumeration",
                "word operations",
                {"gauss_sum": _by_enumeration},
                instances=Instances(scope="dense random forms, n = 8, 16, 32, 64, 128", examples=small_dense_forms),
            ),
            Mutant("entry by entry", "word operations", {"gauss_sum": _entry_by_entry}),
        ),
    ),
    Check(
        theorem="marginalization.T10",
        name="residues",
        kind="slack",
        observe=hamming_sums_are_congruent,
        instances=FORMS,
        slots={HAMMING_SUMS: solvers.hamming_sums_by_enumeration},
        mutants=(
            Mutant("weights shifted by one", "residue mod 4", {"hamming_sums": _hamming_sums_of_ones}),
            Mutant("linear terms lost", "residue mod 4", {"hamming_sums": _hamming_sums_without_linear_terms}),
            Mutant("counts of Q = 0", "residue mod 4", {"hamming_sums": _numbers_of_even_points}),
            Mutant("no linear term in the formula", "residue mod 4", observe=congruence_without_linear_term),
            Mutant("modulus 8", "residue mod 4", observe=congruence_mod_eight),
        ),
        cost=2,
    ),
)

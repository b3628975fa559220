"""The statements on marginalization as data.

Only the paper's abstract, the first paragraphs of its introduction and the caption of its figure 1 were available. What
they say is quoted nowhere as a theorem: each statement here is either a known result or was worked out here, and its
``reading`` says which claim of the paper it makes precise.
"""

from __future__ import annotations

from typing import Any

from whp.theory.core import Assumption, Bound, Claim, Domain, Paper, Symbol, Theorem

__all__ = [
    "BACKWARD_OPERATIONS",
    "CUT_QUERIES",
    "ELIMINATION_WORDS",
    "EXTRACTED_GATES",
    "HAMMING_CUT_QUERIES",
    "HAMMING_CUT_VALUES",
    "HAMMING_QUERIES",
    "PAPER",
    "SAMPLING_QUERIES",
    "THEOREMS",
]

PAPER = Paper(
    slug="marginalization",
    title="The Limits of Tractable Marginalization",
    authors=("Oliver Broadrick", "Sanyam Agarwal", "Guy Van den Broeck", "Markus Bläser"),
    venue="ICML 2025",
    arxiv="2506.12020",
)

_VARIABLES = Symbol("n", Domain.integers(0), "number of binary variables", "increasing")
_EDGES = Symbol("edges", Domain.integers(0), "number of edges of the graph", "increasing")

HAMMING_QUERIES = Bound("VM queries for all Hamming marginals", lambda m, n: n + 1, (_VARIABLES,), "queries")
SAMPLING_QUERIES = Bound("PM queries for one draw", lambda m, n: n + 1, (_VARIABLES,), "queries")
CUT_QUERIES = Bound("VM queries for the cut distribution", lambda m, edges: edges + 1, (_EDGES,), "queries")
HAMMING_CUT_VALUES = Bound(
    "values of the Hamming generating functions for the joint cut distribution",
    lambda m, vertices, edges: (vertices + 1) * (edges + 1),
    (Symbol("vertices", Domain.integers(0), "number of vertices of the graph", "increasing"), _EDGES),
    "values",
)
HAMMING_CUT_QUERIES = Bound(
    "HM queries for the joint cut distribution",
    lambda m, vertices, edges: (edges + 1) * (vertices + 1) + edges * (edges + 1) * (edges + 2) / 2,
    (Symbol("vertices", Domain.integers(0), "number of vertices of the graph", "increasing"), _EDGES),
    "queries",
)
ELIMINATION_WORDS = Bound(
    "64-bit word operations of the Gauss sum",
    lambda m, n: (n**2 + 1) / 2 * (n + 63) / 64,
    (_VARIABLES,),
    "word operations",
)
EXTRACTED_GATES = Bound(
    "gates of the division-free circuit",
    lambda m, n, steps: (n + 1) ** 2 * steps + 2 * n,
    (_VARIABLES, Symbol("steps", Domain.integers(0), "arithmetic operations of the program", "increasing", "T")),
    "gates",
)
BACKWARD_OPERATIONS = Bound(
    "operations for all partial derivatives",
    lambda m, size: 5 * size,
    (Symbol("size", Domain.integers(0), "gates of the circuit", "increasing", "s"),),
    "operations",
)


def _table_of(instance: Any) -> Any:
    return getattr(instance, "table", instance)


_NONNEGATIVE = Assumption("non-negative", "f(x) >= 0 for all x", lambda instance: _table_of(instance).is_nonnegative)
_NONZERO = Assumption("nonzero", "f(x) > 0 for some x", lambda instance: bool((_table_of(instance).values != 0).any()))

_ABSTRACT = "The abstract and the caption of figure 1 were read, the body was not. "


def _theorem(name: str, title: str, statement: str, claim: Claim, **fields: Any) -> Theorem:
    return Theorem(id=f"marginalization.{name}", paper=PAPER, title=title, statement=statement, claim=claim, **fields)


THEOREMS = (
    _theorem(
        "T1",
        "inclusion chain of the query classes",
        "UFMAC ⊆ VM ⊆ HM ⊆ PM ⊆ EV, with these costs: PM takes one VM query, weights (1,1) at stars, (1,0) at"
        " evidence 1 and (0,1) at evidence 0, or n+1 HM queries summed over k; EV takes one PM query; all HM answers"
        " for a pattern take n+1 VM queries at weights (t,1), (t,0), (0,1) for distinct t and interpolation, or"
        " s(q)+1 after division by t^m, m the number of ones in the evidence.",
        Claim("VM queries for all Hamming marginals", "<=", HAMMING_QUERIES),
        provenance="derived",
        reading=_ABSTRACT + "That the classes form a hierarchy is the paper's; this chain and its costs were worked out"
        " here.",
        expected="proved",
        not_claimed="that UFMAC = VM for Turing machines",
    ),
    _theorem(
        "T2",
        "marginals are values of the multilinear extension on a grid",
        "Σ_{x ⊨ q} f(x) = 2^{s(q)} p(u), u_i = 1/2 at stars and u_i = q_i elsewhere; and, where w_i + w̄_i ≠ 0 for"
        " all i, N(w, w̄) = Π(w_i + w̄_i) p(w_1/(w_1+w̄_1), …). So PM is evaluation of p on {0, 1/2, 1}^n, HM"
        " evaluation along the lines u_i = t/(1+t) at the stars, VM evaluation anywhere. At w_i + w̄_i = 0 the right"
        " side has the limit w_i (p|x_i=1 - p|x_i=0).",
        Claim("Σ_{x ⊨ q} f(x)", "=", "2^s(q) p(u)"),
        provenance="derived",
        expected="proved",
        not_claimed="anything for a polynomial that agrees with f on the cube without being multilinear",
    ),
    _theorem(
        "T3",
        "polynomial semantics are interchangeable for binary variables",
        "From any one of the network polynomial N, the multilinear extension p, the generating polynomial g and the"
        " Fourier polynomial F the others follow: p(x) = N(x, 1-x), g(z) = N(z, 1), F(s) = p((1-s)/2); N = Π w̄_i"
        " g(w/w̄) and N = Π(w_i+w̄_i) p(w/(w+w̄)), so circuits convert with polynomial blow-up.",
        Claim("N(w, w̄)", "=", "Π w̄_i g(w/w̄)"),
        provenance="prior",
        reading="Broadrick, Zhang and Van den Broeck (UAI 2024); Agarwal and Bläser (ICML 2024).",
        expected="proved",
        not_claimed="the same for variables with three or more values under the generating-polynomial encoding,"
        " where marginalization is #P-hard",
    ),
    _theorem(
        "T4",
        "determinantal functions answer virtual evidence by one determinant",
        "For any n×n matrix L and f(x) = det(L_S), S the ones of x: N(w, w̄) = det(diag(w̄) + diag(w) L), Σ_x f(x) ="
        " det(I + L), Σ_x f(x) t^|x| = det(I + tL).",
        Claim("N(w, w̄)", "=", "det(diag(w̄) + diag(w) L)"),
        provenance="prior",
        reading="The identity is classical; a division-free circuit of size O(n^4) exists (Samuelson, Berkowitz).",
        expected="proved",
        not_claimed="f >= 0, which needs a positive semidefinite L (say)",
    ),
    _theorem(
        "T5a",
        "quadratic forms over GF(2) have tractable plain marginals",
        "For a quadratic form Q over GF(2) and any pattern q, Σ_{x ⊨ q} (-1)^{Q(x)} is a Gauss sum over the stars,"
        " equal to 0 or ±2^e with s/2 <= e <= s, and takes O(n^3) bit operations. The same holds of [Q = 0], whose"
        " marginal is (2^s + S)/2.",
        Claim("64-bit word operations", "<=", ELIMINATION_WORDS),
        provenance="derived",
        reading=_ABSTRACT + "That simple functions have polynomial-time marginalization but no small multilinear"
        " circuits unless FP = #P is the paper's; its witness was not seen, and this one was worked out here.",
        expected="proved",
    ),
    _theorem(
        "T5b",
        "virtual evidence on the edge-parity witness counts maximum cuts",
        "For f(x,y) = (-1)^{Σ y_ij (x_i + x_j)} with weight (1,1) on x, (w,1) on one copy of each edge and (0,1) on"
        " the other y, N = Σ_x (1+w)^{|E|-cut(x)} (1-w)^{cut(x)}. So N/(1+w)^{|E|} = Σ_c D_c ρ^c with ρ ="
        " (1-w)/(1+w), and |E|+1 distinct w ≠ -1 give every D_c = #{x : cut(x) = c}. Hence VM in FP for f implies FP"
        " = #P. The same holds of b = (1 + f)/2 and of b/Σb, one query for one.",
        Claim("VM queries", "<=", CUT_QUERIES),
        provenance="derived",
        reading=_ABSTRACT + "The separation under FP ≠ #P is the paper's; witness and proof were worked out here.",
        expected="proved",
        not_claimed="unconditional lower bounds, hardness of approximation, hardness for planar or bounded-treewidth"
        " graphs",
    ),
    _theorem(
        "T5c",
        "Hamming-weight marginals of the edge-parity witness count maximum cuts",
        "With d copies of each edge free, H_d(t) = Σ_x t^|x| [(1+t)^{|E|-cut(x)} (1-t)^{cut(x)}]^d. For t in (0,1)"
        " and d = 1..|E|+1, H_d(t)/(1+t)^{d|E|} = Σ_c A_c(t) ρ(t)^{dc} has distinct nodes, so A_c(t) = Σ_a N(a,c)"
        " t^a follows, and m+1 values of t give every N(a,c) = #{x : |x| = a, cut(x) = c}: (m+1)(|E|+1) values H_d(t)"
        " in all, from the m + d|E| + 1 HM answers of each d. Hence HM in FP for f implies FP = #P.",
        Claim("HM queries", "<=", HAMMING_CUT_QUERIES),
        provenance="derived",
        reading=_ABSTRACT + "The separation under FP ≠ #P is the paper's; witness and proof were worked out here.",
        expected="proved",
        not_claimed="that one copy of each edge suffices",
    ),
    _theorem(
        "T6",
        "the pair lift answers Hamming weights by plain marginals",
        "g(x,y) = f(x) [y_i = 1 - x_i for all i] has all its support at weight n: HM(g; q, k) = 0 for k ≠ n, and for"
        " k = n it is one PM query of f (none where the evidence clashes). VM of g with weight (1,1) on y is VM of"
        " f. So f ∈ PM implies g ∈ HM, and f ∉ VM implies g ∉ VM.",
        Claim("PM queries per HM query", "<=", "1"),
        provenance="derived",
        reading="Whether the paper separates HM from VM in this way is not known.",
        expected="proved",
    ),
    _theorem(
        "T6b",
        "a full count without evidence is weaker than plain marginals",
        "For a CNF φ over n variables, f(x,s) = φ(x) if s = 0 and 1 - φ(x) if s = 1 has Σ f = 2^n, while the PM"
        " query s = 0 is the number of models of φ.",
        Claim("Σ f", "=", "2^n"),
        provenance="derived",
        expected="proved",
    ),
    _theorem(
        "T6c",
        "the assumption FP ≠ #P cannot be dropped",
        "For integer-valued f each query answer is (A - B)/D with A and B counts of nondeterministic choices and D a"
        " product of denominators, so FP = #P would give PM = HM = VM = EV.",
        Claim("N(w, w̄)", "=", "(A - B)/D"),
        provenance="derived",
    ),
    _theorem(
        "T7",
        "a real-RAM program for virtual evidence is a small circuit",
        "If a real-RAM program without floor returns p(w) exactly for every real w within T arithmetic operations,"
        " then p has a division-free arithmetic circuit of at most (n+1)^2 T + 2n gates: the path taken at a generic"
        " point ξ is a straight-line program for p, and its divisions are removed on power series truncated at"
        " degree n. Conversely a circuit of size s is a program of time s.",
        Claim("gates", "<=", EXTRACTED_GATES),
        provenance="derived",
        reading=_ABSTRACT + "That efficient real-RAM virtual-evidence marginalization implies small circuits is the"
        " paper's; the constants and this proof were worked out here.",
        expected="proved",
        not_claimed="the same for Turing machines, for monotone circuits, or for finding circuits from data",
    ),
    _theorem(
        "T8",
        "all single marginals for the price of a few evaluations",
        "From a circuit of size s for N, all ∂N/∂w_i and ∂N/∂w̄_i take at most 5s operations together; w_i ∂N/∂w_i"
        " is the VM value restricted to x_i = 1, and w_i ∂N/∂w_i + w̄_i ∂N/∂w̄_i = N for every i.",
        Claim("backward operations", "<=", BACKWARD_OPERATIONS),
        provenance="prior",
        reading="Baur and Strassen (1983); Darwiche (2003).",
        expected="proved",
    ),
    _theorem(
        "T9",
        "marginals give exact sampling",
        "For f >= 0, f ≢ 0, drawing x_1, x_2, … with probability PM(prefix, 1)/PM(prefix) gives x with probability"
        " exactly f(x)/Σf, by n+1 PM queries. With HM one can condition on |x| = k, with VM on soft evidence.",
        Claim("PM queries for one draw", "<=", SAMPLING_QUERIES),
        assumptions=(_NONNEGATIVE, _NONZERO),
        provenance="derived",
        expected="proved",
        not_claimed="anything for signed f, even of positive total",
    ),
    _theorem(
        "T10",
        "congruence mod 4 of the Hamming sums of a quadratic form",
        "C_a = Σ_{|x|=a} (-1)^{Q(x)} ≡ C(n,a) + 2 C(n-1,a-1) Σα_i + 2 C(n-2,a-2) Σβ_ij (mod 4) for γ = 0, and its"
        " negative for γ = 1.",
        Claim("C_a mod 4", "=", "C(n,a) + 2 C(n-1,a-1) Σα_i + 2 C(n-2,a-2) Σβ_ij"),
        provenance="prior",
        reading="Found in a public question-and-answer thread.",
        expected="proved",
        not_claimed="sufficiency: vectors with these residues need not be Hamming sums",
    ),
)

"""Theorems, papers and slots as data: what their constructors refuse."""

import pytest

from whp.theory import Assumption, Bound, Claim, Domain, Paper, Slot, Symbol, Theorem

PAPER = Paper("sample_paper", "A title", ("An author",), "A venue")


def state(**given):
    plain = {
        "id": "sample_paper.T1",
        "paper": PAPER,
        "title": "short",
        "statement": "x <= y",
        "claim": Claim("x", "<=", "y"),
        "provenance": "paper",
    }
    return Theorem(**{**plain, **given})


def test_a_plain_statement_is_accepted():
    assert state(locator="Theorem 1").expected == "holds"
    assert state().bound is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"id": "other.T1"}, "id must be 'sample_paper.NAME'"),
        ({"id": "sample_paper."}, "id must be"),
        ({"id": "sample_paper.T 1"}, "id must be"),
        ({"provenance": "hearsay"}, "provenance of sample_paper.T1 must be one of"),
        ({"expected": "true"}, "expected of sample_paper.T1 must be one of"),
        ({"provenance": "reported"}, "which source and under which reading"),
        ({"provenance": "derived", "locator": "Theorem 3"}, "must not carry the paper's locator"),
        ({"provenance": "corrected"}, "go together"),
        ({"corrects": "sample_paper.T0"}, "go together"),
    ],
)
def test_a_statement_that_breaks_the_rules_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        state(**given)


def test_a_reported_statement_has_a_reading_and_a_corrected_one_names_the_refuted():
    assert state(provenance="reported", reading="abstract, empty buckets left out").reading
    assert state(provenance="corrected", corrects="sample_paper.T0").corrects == "sample_paper.T0"


def test_a_claim_with_a_bound_can_be_evaluated():
    bound = Bound("twice", lambda m, x: 2 * x, (Symbol("x", Domain.reals(), "x"),))
    theorem = state(claim=Claim("y", "<=", bound))
    assert theorem.bound is bound and theorem.claim.text == "y <= twice"


def test_papers_and_slots_need_their_names():
    for slug in ("Upper", "1st", "", "a b", "a-b"):
        with pytest.raises(ValueError, match="slug must be"):
            Paper(slug, "t", ("a",), "v")
    with pytest.raises(ValueError, match="needs a title"):
        Paper("fine", "", ("a",), "v")
    with pytest.raises(ValueError, match="identifier"):
        Slot("not a name", "()", "", "", ())


def test_a_statement_shows_itself_escaped_in_notebooks():
    html = state(statement="x < y & <b>", assumptions=(Assumption("a", "x > 0", lambda x: x > 0),))._repr_html_()
    assert "x &lt; y &amp; &lt;b&gt;" in html and "assumes a" in html

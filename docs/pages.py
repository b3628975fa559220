"""Pages made from the registry when the site is built: the catalogue of theorems and what has been refuted."""

from __future__ import annotations

import re
from pathlib import Path

from whp.proofs_checks.engine import verify
from whp.proofs_checks.engine.decide import smallest_violation
from whp.proofs_checks.engine.evidence import Recipe
from whp.proofs_checks.engine.registry import checks_of, proofs_of
from whp.proofs_checks.engine.verdict import Kind
from whp.theory import papers, theorems

HERE = Path(__file__).parent
OUT = HERE / "generated"
NOTES = HERE / "findings"
BUDGET = "quick"
LONGEST = 1200
PROVENANCE = {
    "paper": "the paper's own words were read",
    "reported": "known through abstracts, code or summaries",
    "corrected": "repairs a refuted statement",
    "derived": "worked out here",
    "prior": "a known result that the paper rests on",
}


def text(value):
    """Escape what Markdown would take for its own."""
    return re.sub(r"([\\`*_{}\[\]<>()#+\-.!|$~&^])", r"\\\1", " ".join(str(value).split()))


def code(value):
    """Plain text in a code span."""
    plain = " ".join(str(value).split()).replace("`", "'")
    return f"`{plain}`"


def write(name, lines):
    """Write a page unless it is already there word for word, so that an unchanged page is not built again."""
    path, page = OUT / f"{name}.md", "\n".join(lines) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != page:
        path.write_text(page, encoding="utf-8")


def entry(theorem):
    """Lines of the catalogue on one theorem."""
    lines = [
        f"(theorem-{theorem.id})=",
        f"## {text(theorem.id)}: {text(theorem.title)}",
        "",
        text(theorem.statement),
        "",
    ]
    where = f"{theorem.locator}; " if theorem.locator else ""
    facts = [
        ("Claim", code(theorem.claim.text)),
        ("Provenance", f"{theorem.provenance}: {text(where)}{PROVENANCE[theorem.provenance]}"),
        ("Expected verdict", theorem.expected),
        ("Reading", text(theorem.reading)),
        ("Not claimed", text(theorem.not_claimed)),
        ("Corrects", code(theorem.corrects) if theorem.corrects else ""),
    ]
    facts += [(f"Assumes {text(a.name)}", text(a.statement)) for a in theorem.assumptions]
    facts += [(f"Check {code(c.name)}", f"{c.kind} on {text(c.instances.scope)}") for c in checks_of(theorem.id)]
    facts += [(f"Proof {code(p.name)}", f"for {text(p.scope)}") for p in proofs_of(theorem.id)]
    slots = {s.name: s for c in checks_of(theorem.id) for s in c.slots}
    facts += [
        (f"Slot {code(s.name + s.signature)}", f"{text(s.arguments)}; returns {text(s.returns)}")
        for s in slots.values()
    ]
    lines += [f"- **{name}:** {fact}" for name, fact in facts if fact]
    if theorem.bound is not None:
        lines += ["", "```{math}", theorem.bound.latex(), "```", ""]
        lines += [f"- {code(s.name)}: {text(s.meaning)}, {text(s.domain)}" for s in theorem.bound.symbols]
    return [*lines, ""]


def catalogue():
    """One page a paper, and their index."""
    index = ["# Catalogue of theorems", "", "Made from the registry when this site was built.", ""]
    index += ["| paper | theorems | refuted |", "| --- | ---: | ---: |"]
    for paper in papers():
        stated = theorems(f"{paper.slug}.*")
        refuted = sum(t.expected == "refuted" for t in stated)
        index.append(f"| [{text(paper.title)}](catalogue/{paper.slug}.md) | {len(stated)} | {refuted} |")
        source = f"{', '.join(paper.authors)}. {paper.venue}." + (f" arXiv {paper.arxiv}." if paper.arxiv else "")
        lines = [f"# {text(paper.title)}", "", text(source), ""]
        write(f"catalogue/{paper.slug}", lines + [line for t in stated for line in entry(t)])
    slugs = [f"catalogue/{p.slug}" for p in papers()]
    write("catalogue", [*index, "", "```{toctree}", ":hidden:", "", *slugs, "```"])


def finding(theorem, reports):
    """Lines on one refuted statement: reading, counterexample, by hand, correction, replay."""
    report = reports[theorem.id]
    lines = [f"## {text(theorem.id)}: {text(theorem.title)}", "", f"> {text(theorem.statement)}", ""]
    source = f"{text(theorem.paper.title)}" + (f", {text(theorem.locator)}" if theorem.locator else "")
    who = {
        "reported": f"As reported of {source}.",
        "paper": f"{source}.",
        "derived": "No publication's: stated here, because it is tempting, beside what does hold.",
    }.get(theorem.provenance, f"A known result that {source} rests on.")
    lines += [f"**Whose statement.** {who} {('Reading: ' + text(theorem.reading)) if theorem.reading else ''}", ""]
    lines += [f"**Verdict.** {report.statement.kind.value}: {text(report.statement.text)}.", ""]
    shown = [c for c in report.checks if c.evidence is not None and c.evidence.violations]
    if shown:
        found = [(c.check, smallest_violation(c.evidence).instance) for c in shown]
        check, encoded = min(found, key=lambda f: (isinstance(f[1].decode(), Recipe), len(f[1].text)))
        instance = repr(encoded.decode())
        cut = instance if len(instance) <= LONGEST else f"{instance[:LONGEST]}... ({len(instance)} characters)"
        lines += ["**Smallest instance found.**", "", "```text", cut, "```", ""]
    note = NOTES / f"{theorem.id}.md"
    if note.exists():
        lines += ["**By hand.**", "", note.read_text(encoding="utf-8").strip(), ""]
    for better in [t for t in theorems() if t.corrects == theorem.id]:
        judged = reports[better.id].statement
        lines += [f"**Corrected** ([`{better.id}`](#theorem-{better.id})): {text(better.statement)}", ""]
        lines += [f"Its evidence: {judged.kind.value}: {text(judged.text)}.", ""]
    name = check.id if shown else next(c.check.id for c in report.checks if c.verdict.kind is Kind.REFUTED)
    file = f".whp/evidence/{name.replace('/', '-')}--seed0.json"
    return [*lines, "```console", f"$ whp verify {theorem.id}", f"$ whp replay {file}", "```", ""]


def findings():
    """Every statement that is expected to be refuted, run now."""
    chosen = [t for t in theorems() if t.expected == "refuted"]
    lines = [
        "# Findings",
        "",
        "Statements that came out refuted, as they were read, with what repairs them. This page is made from the "
        f"registry and from evidence gathered when the site was built (`whp verify`, budget {BUDGET}).",
        "",
    ]
    if chosen:
        ids = {t.id for t in chosen}
        report = verify(*sorted(ids | {t.id for t in theorems() if t.corrects in ids}), budget=BUDGET)
        reports = {t.theorem.id: t for t in report.theorems}
        lines += [line for t in chosen for line in finding(t, reports)]
    write("findings", lines)


def make(app=None):
    """Write all generated pages; called by Sphinx before it reads its sources."""
    catalogue()
    findings()

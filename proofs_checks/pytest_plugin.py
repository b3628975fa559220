"""Theorems as tests of your own implementation, in the manner of scikit-learn's ``parametrize_with_checks``.

Loaded by every pytest run in an environment that has whp, hence light: the engine is imported when a test needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from whp.proofs_checks.engine.report import Report

_LONGEST = 600  # characters of an instance in a failure
_PROPERTY = "whp_verdict"
_NOT_RUN = ("not applicable", "unavailable", "skipped")


@dataclass
class _Options:
    budget: str = "quick"
    seed: int = 0
    evidence: Path = Path(".whp/evidence")


_OPTIONS = _Options()


class TheoremViolationError(AssertionError):
    """A subject broke a theorem; the message holds statement, instance, both sides, control and replay command."""


@dataclass(frozen=True)
class TheoremCheck:
    """One theorem held against a subject; call it inside a test.

    Attributes
    ----------
    theorem : str
        Id of the theorem.
    subject : mapping
        Implementation by slot name.
    """

    theorem: str
    subject: Mapping[str, Any] = field(default_factory=dict)
    modules: tuple[str, ...] = ()

    def __call__(self) -> Report:
        """Run the theorem's checks.

        Raises
        ------
        TheoremViolationError
            If the subject breaks the theorem or fails to answer.
        """
        __tracebackhide__ = True
        from whp.proofs_checks.engine import verify
        from whp.proofs_checks.engine.files import write_all
        from whp.theory import theorem

        slots = _slots_of(self.theorem)
        mine = {k: v for k, v in self.subject.items() if k in slots}
        if not mine:
            _skip("not applicable", f"{self.theorem} has none of the slots {sorted(self.subject)} (it has {slots})")
        report = verify(self.theorem, subject=mine, budget=_OPTIONS.budget, seed=_OPTIONS.seed, modules=self.modules)
        verdict = report.theorems[0].subject
        if verdict.kind.value in (*_NOT_RUN, "vacuous", "inconclusive"):
            _skip(verdict.kind.value, verdict.text)
        if report.theorems[0].blames_itself:
            _skip("not applicable", f"the reference breaks {self.theorem} on the same instance: {verdict.text}")
        _LAST[:] = [verdict.kind.value]
        if not verdict.passed:
            paths = write_all(report, _OPTIONS.evidence)
            raise TheoremViolationError(_message(theorem(self.theorem).statement, report, paths, mine))
        return report


_LAST: list[str] = []  # verdict of the check that ran in the current test, for the report's summary


def _skip(kind: str, text: str) -> None:
    _LAST[:] = [kind]
    pytest.skip(f"{kind}: {text}")


def _slots_of(theorem_id: str) -> list[str]:
    from whp.proofs_checks.engine.registry import checks_of

    return sorted({s.name for c in checks_of(theorem_id) for s in c.slots})


def _instance_lines(path: Path, subject: Mapping[str, Any]) -> list[str]:
    from whp.proofs_checks.engine import replay

    try:
        again = replay(path, subject=subject)
    except ValueError as error:  # a failure that no instance goes with
        return [f"    {error}"]
    shown = [] if again.instance is None else [f"    instance: {_shortened(again.instance)}"]
    return shown + [
        f"    {e.clause.name}: {e.left} {e.clause.relation} {e.right} {'FAILS' if e.violated else 'kept'}"
        for e in again.entries
    ]


def _shortened(instance: Any) -> str:
    """One line; the evidence file holds all of it."""
    text = " ".join(repr(instance).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text)} characters)"


def _message(statement: str, report: Report, paths: Mapping[str, Path], mine: Mapping[str, Any]) -> str:
    lines = [f"{report.theorems[0].theorem.id}: {statement}"]
    for c in report.theorems[0].checks:
        if c.verdict.passed or c.verdict.kind.value in _NOT_RUN:
            continue
        lines.append(f"  {c.check.id}: {c.verdict.kind}: {c.verdict.text}")
        path = paths.get(c.check.id)
        if path is not None:
            lines += _instance_lines(path, {k: v for k, v in mine.items() if k in c.subjects})
        if c.control is not None:
            lines.append(f"    control: {c.control.text}; this speaks against the {c.control.blames}")
        if path is not None:
            lines.append(f"    replay: whp replay {path}")
    return "\n".join(lines)


def parametrize_with_theorems(
    *patterns: str,
    subject: Mapping[str, Any],
    expected_failures: Mapping[str, str] | None = None,
    theorems: Iterable[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Parametrize a test over theorems; the test takes ``theorem_check`` and calls it.

    Parameters
    ----------
    *patterns : str
        Ids or globs of theorems.
    subject : mapping
        Your implementation by slot name.
    expected_failures : mapping, optional
        Reason by theorem id; such a test must fail, and a pass is reported as unexpected.
    theorems : iterable of str
        Outside modules or files that state theorems.

    Raises
    ------
    ValueError
        If a pattern matches nothing or an expected failure is not among the chosen theorems.

    Examples
    --------
    >>> @parametrize_with_theorems("marginalization.T2", subject={"marginalize": sum})  # doctest: +SKIP
    ... def test_marginals(theorem_check):
    ...     theorem_check()
    """
    from whp.theory.core.registry import load_papers

    for name in theorems:
        load_papers().add_module(name)
    chosen = [t.id for t in load_papers().theorems(*patterns)]
    expected = dict(expected_failures or {})
    unknown = sorted(set(expected) - set(chosen))
    if unknown:
        raise ValueError(f"expected_failures names theorems that are not chosen: {', '.join(unknown)}")
    cases = [
        pytest.param(
            TheoremCheck(id, subject, tuple(theorems)),
            id=id,
            marks=[pytest.mark.xfail(reason=expected[id], strict=True)] if id in expected else [],
        )
        for id in chosen
    ]
    return pytest.mark.parametrize("theorem_check", cases)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of the plugin."""
    group = parser.getgroup("whp", "theorems held against implementations")
    group.addoption("--whp-budget", default="quick", help="quick, standard, thorough, xK or seconds (default: quick)")
    group.addoption("--whp-seed", type=int, default=0, help="campaign seed (default: 0)")
    group.addoption("--whp-evidence", default=".whp/evidence", help="folder for the evidence of failures")
    group.addoption("--whp-allow-none", action="store_true", help="accept a run in which no theorem check ran")


def pytest_configure(config: pytest.Config) -> None:
    """Take the options over."""
    _OPTIONS.budget = config.getoption("--whp-budget")
    _OPTIONS.seed = config.getoption("--whp-seed")
    _OPTIONS.evidence = Path(config.getoption("--whp-evidence"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """Attach the verdict to the test's report; it travels from the workers of xdist to the terminal."""
    outcome = yield
    if "theorem_check" not in getattr(item, "fixturenames", ()):
        return
    report = outcome.get_result()
    if call.when == "call":
        report.user_properties.append((_PROPERTY, _LAST.pop() if _LAST else "error"))
    elif call.when == "setup" and not report.passed:  # a mark that skips, or a fixture that fails: nothing ran
        report.user_properties.append((_PROPERTY, "skipped"))


def _verdicts(config: pytest.Config) -> Counter[str]:
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return Counter()
    reports = [r for kind in reporter.stats.values() for r in kind if getattr(r, "when", "") in ("setup", "call")]
    return Counter(v for r in reports for k, v in r.user_properties if k == _PROPERTY)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Fail a run in which theorem checks were asked for and none ran."""
    kinds = _verdicts(session.config)
    ran = sum(n for k, n in kinds.items() if k not in _NOT_RUN)
    if kinds and not ran and exitstatus == 0 and not session.config.getoption("--whp-allow-none"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many theorem checks ran, were skipped and were vacuous."""
    kinds = _verdicts(config)
    total = sum(kinds.values())
    if not total:
        return
    skipped = sum(kinds[k] for k in _NOT_RUN)
    ran = total - skipped
    text = f"whp: {ran} of {total} theorem checks ran, {skipped} skipped, {kinds['vacuous']} vacuous"
    terminalreporter.write_line(text, red=ran == 0, green=ran > 0)

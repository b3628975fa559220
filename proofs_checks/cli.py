"""The command line: list, show, verify, mutants, replay, bound, experiment, new.

Nothing heavy is imported before a command needs it: a person waits for ``whp --help``.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

app = typer.Typer(
    name="whp",
    help="Theorems of machine-learning papers as executable checks, run against reference algorithms or yours.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Patterns = Annotated[list[str] | None, typer.Argument(help="Ids or globs, e.g. 'marginalization.*'; all without one.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Seed = Annotated[int, typer.Option(help="Campaign seed.", min=0)]
BudgetOption = Annotated[str, typer.Option(help="quick, standard, thorough, xK (K times quick) or seconds: 30s, 5m.")]
Jobs = Annotated[int, typer.Option(help="Worker processes; 0 takes one per processor.", min=0)]
Modules = Annotated[
    list[str] | None, typer.Option("--theorems", help="A module or .py file of your own that states theorems.")
]


_LEDGER = Path(".whp/ledger.sqlite")


def _stop(message: object, status: int = 2) -> NoReturn:
    typer.echo(f"whp: {' '.join(str(message).split())}", err=True)
    raise typer.Exit(status)


@contextmanager
def _errors() -> Iterator[None]:
    """Turn a user's mistakes into one line on standard error and exit status 2."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has enough
        raise
    except (ValueError, OSError) as error:
        _stop(error)
    except RuntimeError as error:
        from concurrent.futures import BrokenExecutor

        if not isinstance(error, BrokenExecutor):
            raise
        _stop(error)
    except KeyboardInterrupt:
        _stop("interrupted", 130)


def _load(modules: list[str] | None) -> tuple[str, ...]:
    from whp.proofs_checks.engine.registry import leave_out_broken
    from whp.theory.core.registry import load_papers

    for source, reason in leave_out_broken().items():
        typer.echo(f"whp: the installed module {source!r} is left out: {' '.join(reason.split())}", err=True)
    for name in modules or []:
        load_papers().add_module(name)
    return tuple(modules or [])


def _emit(data: Any) -> None:
    typer.echo(json.dumps(_finite(data), indent=1, default=str, allow_nan=False))


def _finite(data: Any) -> Any:
    """JSON has no infinities: write them as text."""
    if isinstance(data, dict):
        return {k: _finite(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [_finite(v) for v in data]
    return str(data) if isinstance(data, float) and not math.isfinite(data) else data


@app.command("list")
def list_(patterns: Patterns = None, theorems: Modules = None, as_json: Json = False) -> None:
    """List theorems with provenance and the verdict whp stands for."""
    with _errors():
        _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine.registry import checks_of, proofs_of
        from whp.theory import theorems as find

        rows = [(t, len(checks_of(t.id)), len(proofs_of(t.id))) for t in find(*(patterns or []))]
        if as_json:
            _emit([{**_theorem_json(t), "checks": c, "proofs": p} for t, c, p in rows])
        else:
            tables.show_list(rows)


@app.command()
def show(id: str, theorems: Modules = None, as_json: Json = False) -> None:
    """Show one theorem: statement, assumptions, provenance, checks, mutants, slots."""
    with _errors():
        _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine.registry import checks_of, proofs_of
        from whp.theory import theorem

        found = theorem(id)
        checks, proofs = checks_of(id), proofs_of(id)
        if as_json:
            _emit(
                {
                    **_theorem_json(found),
                    "checks": [
                        {
                            "name": c.name,
                            "kind": c.kind,
                            "scope": c.instances.scope,
                            "slots": {s.name: s.signature for s in c.slots},
                            "mutants": [m.name for m in c.mutants],
                        }
                        for c in checks
                    ],
                    "proofs": [{"name": p.name, "scope": p.scope} for p in proofs],
                }
            )
        else:
            tables.show_theorem(found, checks, proofs)


def _theorem_json(t: Any) -> dict[str, Any]:
    return {
        "id": t.id,
        "title": t.title,
        "paper": t.paper.title,
        "locator": t.locator,
        "statement": t.statement,
        "claim": t.claim.text,
        "assumptions": {a.name: a.statement for a in t.assumptions},
        "provenance": t.provenance,
        "reading": t.reading,
        "expected": t.expected,
        "not_claimed": t.not_claimed,
        "corrects": t.corrects,
    }


@app.command()
def verify(
    patterns: Patterns = None,
    subject: Annotated[
        list[str] | None, typer.Option(help="slot=module:function, slot=file.py:function or slot=exec:PROGRAM.")
    ] = None,
    budget: BudgetOption = "standard",
    seed: Seed = 0,
    jobs: Jobs = 0,
    cluster: Annotated[str | None, typer.Option(help="Dask scheduler to run on: its address or file.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds that one observation may take.", min=0.01)] = None,
    memory: Annotated[int | None, typer.Option(help="MiB that one observation may add.", min=1)] = None,
    evidence: Annotated[Path, typer.Option(help="Folder for evidence files.")] = Path(".whp/evidence"),
    report: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write a Markdown report to this file.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    ledger: Annotated[Path, typer.Option(help="Ledger file; every block is committed to it.")] = _LEDGER,
    resume: Annotated[bool, typer.Option("--resume", help="Repeat nothing that the ledger already holds.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would run and about how long it takes.")] = False,
    theorems: Modules = None,
    as_json: Json = False,
) -> None:
    """Decide theorems, or hold your implementation to them.

    Exit status: 0 every verdict is the expected one, 1 some verdict is not, 2 it could not run.
    """
    with _errors():
        modules = _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine import Limits
        from whp.proofs_checks.engine import verify as run
        from whp.proofs_checks.engine.files import write_all
        from whp.proofs_checks.engine.ledger import Ledger

        if dry_run:
            _dry_run(patterns or [], _slots(subject or []), budget, seed, as_json)
            return
        limits = None
        if timeout is not None or memory is not None:
            limits = Limits(timeout, None if memory is None else memory * 2**20)
        with (
            tables.progress(enabled=not as_json) as progress,
            Ledger(ledger) as open_ledger,
            _executor(cluster, modules, subject or []) as executor,
        ):
            open_ledger.begin({"patterns": patterns or [], "subject": subject or [], "budget": budget, "seed": seed})
            result = run(
                *(patterns or []),
                subject=_slots(subject or []),
                budget=budget,
                seed=seed,
                jobs=_jobs(jobs),
                executor=executor,
                limits=limits,
                modules=modules,
                progress=progress,
                ledger=open_ledger,
                resume=resume,
            )
            open_ledger.finish()
        paths = write_all(result, evidence)
        if as_json:
            _emit({**result.to_json(), "evidence": {k: str(p) for k, p in paths.items()}})
        else:
            tables.show_report(result, paths)
        _write_reports(result, paths, report, markdown, junit, quiet=as_json)
    raise typer.Exit(result.exit_status)


def _write_reports(
    result: Any, paths: Any, html: Path | None, markdown: Path | None, junit: Path | None, *, quiet: bool
) -> None:
    if html is None and markdown is None and junit is None:
        return
    from whp.proofs_checks.html import write_junit, write_markdown, write_report

    written = [write_report(result, paths, html)] if html is not None else []
    written += [write_markdown(result, markdown)] if markdown is not None else []
    written += [write_junit(result, junit)] if junit is not None else []
    for path in written:
        typer.echo(f"report: {path}", err=quiet)


@app.command()
def report(
    patterns: Patterns = None,
    out: Annotated[Path, typer.Option(help="The HTML file.")] = Path(".whp/report.html"),
    budget: BudgetOption = "standard",
    seed: Seed = 0,
    jobs: Jobs = 0,
    ledger: Annotated[Path, typer.Option(help="Ledger that answers what was computed before.")] = _LEDGER,
    with_mutants: Annotated[
        bool, typer.Option("--mutants", help="Run the mutants too and show how each died.")
    ] = False,
    theorems: Modules = None,
) -> None:
    """Write one self-contained HTML file; what the ledger holds is not computed again.

    Exit status: as `whp verify`.
    """
    with _errors():
        modules = _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine import mutants as run_mutants
        from whp.proofs_checks.engine import verify as run
        from whp.proofs_checks.engine.files import write_all
        from whp.proofs_checks.engine.ledger import Ledger
        from whp.proofs_checks.html import write_report

        chosen, workers = patterns or [], _jobs(jobs)
        with tables.progress(enabled=True) as progress, Ledger(ledger) as opened:
            opened.begin({"patterns": chosen, "subject": [], "budget": budget, "seed": seed})
            result = run(
                *chosen,
                budget=budget,
                seed=seed,
                jobs=workers,
                modules=modules,
                progress=progress,
                ledger=opened,
                resume=True,
            )
            opened.finish()
            killed = None
            if with_mutants:
                killed = run_mutants(
                    *chosen, budget=result.budget, seed=seed, jobs=workers, modules=modules, progress=progress
                )
        typer.echo(f"report: {write_report(result, write_all(result, ledger.parent / 'evidence'), out, killed)}")
    raise typer.Exit(result.exit_status)


def _jobs(jobs: int) -> int:
    return jobs or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


@contextmanager
def _executor(cluster: str | None, modules: tuple[str, ...], subject: list[str]) -> Iterator[Any]:
    """Executor on a cluster; None without one."""
    if cluster is None:
        yield None
        return
    from whp.proofs_checks.cluster import ClusterExecutor

    with ClusterExecutor(cluster, modules=modules, subjects=_slots(subject)) as executor:
        yield executor


def _slots(texts: list[str]) -> dict[str, str]:
    slots: dict[str, str] = {}
    for text in texts:
        name, separator, reference = text.partition("=")
        if not separator or ":" not in reference:
            raise ValueError(f"--subject is written slot=module:function or slot=exec:PROGRAM, got {text!r}")
        slots[name] = reference
    return slots


def _dry_run(patterns: list[str], subject: dict[str, str], budget: str, seed: int, as_json: bool) -> None:
    from whp.proofs_checks import tables
    from whp.proofs_checks.engine.estimate import estimate

    rows = estimate(*patterns, budget=budget, seed=seed, subject=subject)
    if as_json:
        _emit([r.to_json() for r in rows])
    else:
        tables.show_estimate(rows)


@app.command()
def hunt(
    id: str,
    observations: Annotated[int, typer.Option(help="How often each check may be observed.", min=1)] = 4000,
    seconds: Annotated[float | None, typer.Option(help="Stop earlier after this time.", min=0.1)] = None,
    seed: Seed = 0,
    ledger: Annotated[Path, typer.Option(help="Ledger that keeps the tightest instance.")] = _LEDGER,
    theorems: Modules = None,
    as_json: Json = False,
) -> None:
    """Search instances for a violation or the tightest case; later `whp verify` runs start from it.

    Exit status: 0 nothing unexpected, 1 a claim expected to hold was violated, 2 it could not run.
    """
    with _errors():
        modules = _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine.hunt import hunt as run
        from whp.proofs_checks.engine.ledger import Ledger
        from whp.theory import theorem

        show = None if as_json else tables.show_step
        found = run(id, observations=observations, seconds=seconds, seed=seed, modules=modules, progress=show)
        with Ledger(ledger) as opened:
            for h in found:
                if h.instance is not None:
                    opened.keep_tightest(h.check.id, h.ratio, h.instance.text)
        if as_json:
            _emit([tables.hunt_json(h) for h in found])
        else:
            tables.show_hunts(found)
        unexpected = any(h.violated for h in found) and theorem(id).expected != "refuted"
    raise typer.Exit(int(unexpected))


@app.command()
def mutants(
    patterns: Patterns = None,
    budget: BudgetOption = "standard",
    seed: Seed = 0,
    jobs: Jobs = 0,
    theorems: Modules = None,
    as_json: Json = False,
) -> None:
    """Show that every check can fail: broken subjects, wrong constants, its own bound tightened.

    Exit status: 0 every mutant was refuted by the clause it breaks, 1 some was not, 2 there was none.
    """
    with _errors():
        modules = _load(theorems)
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine import mutants as run

        with tables.progress(enabled=not as_json) as progress:
            result = run(
                *(patterns or []), budget=budget, seed=seed, jobs=_jobs(jobs), modules=modules, progress=progress
            )
        if as_json:
            _emit(result.to_json())
        else:
            tables.show_mutants(result)
    raise typer.Exit(result.exit_status)


@app.command()
def replay(evidence: Path, as_json: Json = False) -> None:
    """Run a stored counterexample again.

    Exit status: 0 it showed the same as recorded, 1 it did not, 2 it could not run.
    """
    with _errors():
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine import replay as run

        result = run(evidence)
        if as_json:
            _emit(tables.replay_json(result))
        else:
            tables.show_replay(result)
    raise typer.Exit(0 if result.reproduced else 1)


@app.command()
def bound(
    id: str,
    values: Annotated[
        list[str] | None, typer.Argument(help="name=value for each symbol, or name=LOW:HIGH[:log|lin][:POINTS].")
    ] = None,
    solve: Annotated[str | None, typer.Option(help="Symbol to solve for.")] = None,
    at_most: Annotated[float | None, typer.Option(help="Target for --solve.")] = None,
    at_least: Annotated[float | None, typer.Option(help="Target for --solve.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the range into an .svg, .png or .pdf file.")] = None,
    theorems: Modules = None,
    as_json: Json = False,
) -> None:
    """Evaluate a theorem's bound, with a rigorous enclosure, or invert it; at a point or over ranges."""
    with _errors():
        _load(theorems)
        from whp.proofs_checks import tables
        from whp.theory import theorem

        found = theorem(id).bound
        if found is None:
            raise ValueError(f"the claim of {id} has no bound to evaluate: {theorem(id).claim.text}")
        ranges = dict(t.split("=", 1) for t in values or [] if ":" in t and "=" in t)
        given = _values([t for t in values or [] if t.partition("=")[0] not in ranges])
        if solve is None and (at_most is not None or at_least is not None):
            raise ValueError("--at-most and --at-least go with --solve")
        if ranges:
            _bound_over(found, given, ranges, (solve, at_most, at_least), plot, as_json)
            return
        if plot is not None:
            raise ValueError("--plot needs a range, such as n=1e2:1e6:log")
        if solve is not None:
            answer = found.solve(solve, at_most=at_most, at_least=at_least, **given)
            data = {"bound": found.name, "solved": solve, "value": answer, "at": given}
        else:
            low, high = found.enclosure(**given)
            data = {"bound": found.name, "value": found(**given), "at": given}
            data |= {"low": _outward(low, -math.inf), "high": _outward(high, math.inf)}
        if as_json:
            _emit(data)
        else:
            tables.show_bound(found, data)


def _bound_over(
    found: Any,
    given: dict[str, Any],
    ranges: dict[str, str],
    target: tuple[str | None, float | None, float | None],
    file: Path | None,
    as_json: bool,
) -> None:
    from whp.proofs_checks import curves, tables

    solve, at_most, at_least = target
    drawn = curves.curves(found, given, ranges, solve=solve, at_most=at_most, at_least=at_least)
    if file is not None:
        words = (
            f"at most {at_most:g}" if at_most is not None else f"at least {at_least:g}" if at_least is not None else ""
        )
        curves.plot(found, drawn, file, solve, words)
    if as_json:
        _emit(
            {
                "bound": found.name,
                "solved": solve,
                "curves": [
                    {"at": c.at, "symbol": c.axis.symbol, "points": list(zip(c.axis.values, c.values, strict=True))}
                    for c in drawn
                ],
                "plot": None if file is None else str(file),
            }
        )
        return
    tables.show_curves(found, drawn, solve)
    if file is not None:
        typer.echo(f"plot: {file}")


def _outward(end: Any, direction: float) -> float:
    """Nearest float on the far side of an end, so that what is printed still encloses."""
    try:
        nearest = float(end)
    except OverflowError:
        nearest = math.inf if end > 0 else -math.inf
    inside = nearest > end if direction < 0 else nearest < end
    return math.nextafter(nearest, direction) if inside else nearest


def _values(texts: list[str]) -> dict[str, Any]:
    from fractions import Fraction

    values: dict[str, Any] = {}
    for text in texts:
        name, separator, number = text.partition("=")
        _, _, exponent = number.lower().partition("e")
        if len(number) > 400 or (exponent.lstrip("+-").isdigit() and abs(int(exponent)) > 400):
            raise ValueError(f"{name} is far beyond the range of numbers that a bound is evaluated at, got {number!r}")
        try:
            exact = Fraction(number)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"a value is written name=number, got {text!r}") from None
        if not separator:
            raise ValueError(f"a value is written name=number, got {text!r}")
        values[name] = int(exact) if exact.denominator == 1 else exact if "/" in number else float(number)
    return values


@app.command()
def experiment(
    slug: Annotated[str | None, typer.Argument(help="The paper; without it, lists the papers that have one.")] = None,
    scale: Annotated[str, typer.Option(help="quick or full.")] = "quick",
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for tables and figures.")] = Path(".whp/experiments"),
    option: Annotated[
        list[str] | None, typer.Option("--set", help="name=value: a parameter of whp.experiments.SLUG.run.")
    ] = None,
) -> None:
    """Run a paper's experiment on real data: tables and figures beside the paper's numbers."""
    with _errors():
        from whp.proofs_checks.experiment_runner import experiments, run_experiment

        if slug is None:
            typer.echo("\n".join(sorted(experiments())) or "no experiment is installed")
            return
        try:
            result = run_experiment(slug, scale, seed, out, option or [])
        except ImportError as error:
            _stop(error)
        typer.echo(result)


ledger_app = typer.Typer(help="Look into a ledger of campaigns, or make it smaller.", no_args_is_help=True)
app.add_typer(ledger_app, name="ledger")
LedgerFile = Annotated[Path, typer.Option("--ledger", help="Ledger file.")]


@contextmanager
def _ledger(path: Path) -> Iterator[Any]:
    from whp.proofs_checks.engine.ledger import Ledger

    if not path.is_file():
        raise ValueError(f"no ledger {path}; `whp verify` makes one")
    with Ledger(path) as opened:
        yield opened


@ledger_app.command("list")
def ledger_list(ledger: LedgerFile = _LEDGER, as_json: Json = False) -> None:
    """List campaigns, oldest first."""
    with _errors(), _ledger(ledger) as opened:
        from whp.proofs_checks import tables

        rows = opened.campaigns()
        if as_json:
            _emit([{**vars(r)} for r in rows])
        else:
            tables.show_campaigns(rows)


@ledger_app.command("show")
def ledger_show(campaign: int, ledger: LedgerFile = _LEDGER, as_json: Json = False) -> None:
    """Show what a campaign stored, merged by check."""
    with _errors(), _ledger(ledger) as opened:
        from whp.proofs_checks import tables
        from whp.proofs_checks.engine.evidence import merge

        if campaign not in {r.id for r in opened.campaigns()}:
            raise ValueError(f"no campaign {campaign} in {ledger}; see `whp ledger list`")
        found: dict[str, Any] = {}
        for block, evidence in opened.shards(campaign):
            key = block["check"] + (f" ({block['mutant']})" if block["mutant"] else "")
            found[key] = merge(found[key], evidence) if key in found else evidence
        if as_json:
            _emit({k: v.to_json() for k, v in found.items()})
        else:
            tables.show_shards(found)


@ledger_app.command("prune")
def ledger_prune(
    keep: Annotated[int, typer.Option(help="How many of the newest campaigns stay.", min=0)],
    ledger: LedgerFile = _LEDGER,
) -> None:
    """Delete old campaigns and give the space back."""
    with _errors(), _ledger(ledger) as opened:
        typer.echo(f"{opened.prune(keep)} blocks deleted")


@app.command()
def new(
    id: Annotated[str, typer.Argument(help="slug.NAME of your theorem.")],
    folder: Annotated[Path, typer.Option(help="Where the file is written.")] = Path("."),
    as_json: Json = False,
) -> None:
    """Write a file that states and checks a theorem of your own, to be filled in."""
    with _errors():
        from whp.proofs_checks.scaffold import write_scaffold

        path = write_scaffold(id, folder)
        if as_json:
            _emit({"path": str(path)})
            return
        slug = id.split(".")[0]
        typer.echo(f"{path}\ntry: whp verify {slug} --theorems {path}\n     whp mutants {slug} --theorems {path}")


def main(arguments: list[str] | None = None) -> None:
    """Entry point of ``whp``: a wrong call is one line on standard error, too.

    Modules in the present folder can be named, as with ``python -m``.
    """
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    given = sys.argv[1:] if arguments is None else arguments
    usage_error: Any = typer.BadParameter.__base__
    try:
        status = app(given or ["--help"], prog_name="whp", standalone_mode=False)
    except usage_error as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()
            sys.exit(2)
        command = error.ctx.command_path if error.ctx is not None else "whp"
        message = " ".join(error.format_message().split()).rstrip(".")
        typer.echo(f"whp: {message}. See `{command} --help`.", err=True)
        sys.exit(2)
    sys.exit(status if isinstance(status, int) else 0)


if __name__ == "__main__":
    main()

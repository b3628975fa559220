"""From merged evidence to a verdict; nothing here runs a check."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from whp.proofs_checks.engine.check import Check
from whp.proofs_checks.engine.evidence import EventCounts, Evidence, MeanCounts
from whp.proofs_checks.engine.statistics import event as events
from whp.proofs_checks.engine.statistics import mean as means
from whp.proofs_checks.engine.statistics.levels import HOLDS_LEVEL, REFUTATION_LEVEL, split_level
from whp.proofs_checks.engine.statistics.rate import fit_rate
from whp.proofs_checks.engine.verdict import Kind, Verdict

ENDED = ("SubjectHung", "SubjectOutOfMemory", "SubjectCrashed", "WorkerKilled", "MemoryError")
"""Failures that depend on the machine as well as on the subject."""
_ALMOST_NEVER = 0.01  # a check whose assumptions are met less often than this says nothing


def decided(check: Check, evidence: Evidence, fixed: int) -> str | None:
    """Whether a prefix of blocks already settles the check, and how.

    Parameters
    ----------
    check : Check
        The check.
    evidence : Evidence
        Merged evidence of the prefix.
    fixed : int
        Number of fixed instances among which the level is split.

    Returns
    -------
    str or None
        ``"refuted"`` as soon as that is certain at the check's level; ``"error"`` once enough failures are kept to
        show; None while more blocks may tell.
    """
    if check.kind == "slack" and evidence.violations:
        return "refuted"
    if check.kind in ("event", "sample") and refuted_keys(evidence, fixed):
        return "refuted"
    ended = any(e.type in ENDED for e in evidence.errors)
    return "error" if evidence.total.errors >= 5 or ended else None


def refuted_keys(evidence: Evidence, fixed: int) -> list[str]:
    """Fixed instances on which a random claim is refuted, each at its share of the level."""
    bar = -math.log(_share(fixed))
    bad = [k for k, c in evidence.events.items() if _event_log_e_value(c, c.events) >= bar]
    return bad + [k for k, c in evidence.means.items() if mean_log_e_value(c) >= bar]


def mean_log_e_value(counts: MeanCounts) -> float:
    """Evidence against the claimed mean."""
    sides: Mapping[str, means.Side] = {"<=": "at most", ">=": "at least", "==": "equal"}
    low, high, claimed = float(counts.low), float(counts.high), float(counts.claimed)
    return means.log_e_value(counts.counts, low, high, claimed, sides[counts.relation])


def _event_log_e_value(c: EventCounts, bad: int) -> float:
    """Evidence against the claimed probability; a claim of 1 or more cannot be refuted."""
    return -math.inf if float(c.delta) >= 1 else float(events.log_e_value(c.replicates, bad, float(c.delta)))


def _share(fixed: int) -> float:
    """Level of each fixed instance; their number is known before anything runs."""
    return split_level(REFUTATION_LEVEL, max(fixed, 1))


def verdict(check: Check, evidence: Evidence, fixed: int, scope: str) -> Verdict:
    """Verdict of a finished check-run.

    Parameters
    ----------
    check : Check
        The check.
    evidence : Evidence
        Merged evidence of its deciding prefix of blocks.
    fixed : int
        Number of fixed instances of a random claim.
    scope : str
        The instances, in words.
    """
    total = evidence.total
    refuted = decided(check, evidence, fixed) == "refuted"
    if not refuted and evidence.errors:
        first = evidence.errors[0]
        runs = max(total.instances, total.replicates)
        often = f"{total.errors} of {runs} runs" if first.instance is not None else f"{total.errors} blocks"
        text = f"{first.type} on {often}: {first.message}"
        return Verdict(Kind.ERROR, text, scope, {"errors": total.errors})
    if total.instances + total.replicates == 0:
        return Verdict(Kind.ERROR, "nothing was run", scope)
    return {"slack": _slack, "event": _event, "sample": _sample, "rate": _rate}[check.kind](
        check, evidence, fixed, scope
    )


def _slack(check: Check, evidence: Evidence, fixed: int, scope: str) -> Verdict:
    total = evidence.total
    judged = total.instances - total.vacuous
    details: dict[str, Any] = {"instances": total.instances, "vacuous": total.vacuous, **_extremes(evidence)}
    if evidence.violations:
        first = smallest_violation(evidence)
        share = f"{total.violations} of {judged} instances"
        text = f"violated: clause '{first.clause}' fails by {_short(-first.slack)} ({share})"
        return Verdict(Kind.REFUTED, text, scope, {**details, "violations": total.violations})
    if judged < _ALMOST_NEVER * total.instances or judged == 0:
        text = f"assumptions met, with a bound that says something, on {judged} of {total.instances} instances only"
        return Verdict(Kind.VACUOUS, text, scope, details)
    if total.inside_rounding:
        text = (
            f"{total.inside_rounding} of {judged} instances fail by less than the rounding model; "
            "exact instances or a re-decision in fractions would settle them"
        )
        return Verdict(Kind.INCONCLUSIVE, text, scope, {**details, "inside_rounding": total.inside_rounding})
    text = f"no violation in {judged} instances; {_tightness(evidence)}"
    return Verdict(Kind.HOLDS, text, scope, details)


def smallest_violation(evidence: Evidence) -> Any:
    """Return the violation to show: a shrunk one before one that was drawn, then the shortest."""
    return min(
        evidence.violations, key=lambda v: (v.location.phase != "structured", len(v.instance.text), v.location.order)
    )


def tightness(evidence: Evidence) -> float | None:
    """Highest ratio of left to right side over the inequality clauses; None without one."""
    ratios = [_nearest(c.tightness.value) for c in evidence.clauses.values() if c.tightness is not None]
    return max(ratios, default=None)


def _extremes(evidence: Evidence) -> dict[str, Any]:
    slacks = [_nearest(c.worst_slack.value) for c in evidence.clauses.values() if c.worst_slack is not None]
    return {"worst_slack": min(slacks, default=None), "tightness": tightness(evidence)}


def _tightness(evidence: Evidence) -> str:
    ratio = tightness(evidence)
    residual = min(
        (_nearest(c.worst_slack.value) for c in evidence.clauses.values() if c.worst_slack is not None), default=0.0
    )
    if ratio is None:
        return "exact" if residual == 0 else f"largest residual {_short(max(-residual, 0.0))}"
    return f"tightest {ratio:.6g} of the bound"


def _event(check: Check, evidence: Evidence, fixed: int, scope: str) -> Verdict:
    level = _share(fixed)
    rows = {k: _event_row(c, level) for k, c in evidence.events.items()}
    details: dict[str, Any] = {"replicates": evidence.total.replicates, "level": REFUTATION_LEVEL, "instances": rows}
    if not rows:
        return Verdict(Kind.VACUOUS, "assumptions met by none of the fixed instances", scope, details)
    refuted = refuted_keys(evidence, fixed)
    if refuted:
        c = evidence.events[refuted[0]]
        text = (
            f"'{refuted[0]}' happened {c.events} times in {c.replicates}, claimed at most {_short(c.delta)}; "
            f"a true claim shows this with probability below {REFUTATION_LEVEL:g}"
        )
        return Verdict(Kind.REFUTED, text, scope, details)
    if all(r["claimed"] >= 1 for r in rows.values()):
        return Verdict(Kind.VACUOUS, "the claimed probability is 1 or more on every instance", scope, details)
    powerless = [k for k, c in evidence.events.items() if _powerless(c, level)]
    if powerless:
        c = evidence.events[powerless[0]]
        need = events.replicates_needed(float(c.delta), level, 1.0)
        text = f"{c.replicates} replicates could refute nothing at level {level:.1e}; at least {need} are needed"
        return Verdict(Kind.INCONCLUSIVE, text, scope, details)
    share = max((r["margin"] / r["claimed"] for r in rows.values() if r["claimed"] > 0), default=0.0)
    upper = max(r["interval"][1] for r in rows.values())
    text = (
        f"not refuted in {evidence.total.replicates} replicates on {len(rows)} instances; probability at most "
        f"{_short(upper)} at level {HOLDS_LEVEL:g}; refutes claims up to {share:.3g} of this one"
    )
    return Verdict(Kind.HOLDS, text, scope, {**details, "margin": share})


def _event_row(c: EventCounts, level: float) -> dict[str, Any]:
    return {
        "replicates": c.replicates,
        "events": c.events,
        "claimed": float(c.delta),
        "interval": list(events.confidence_interval(c.replicates, c.events, HOLDS_LEVEL)),
        "margin": events.margin(c.replicates, c.events, level),
    }


def _powerless(c: EventCounts, level: float) -> bool:
    return float(c.delta) < 1 and _event_log_e_value(c, c.replicates) < -math.log(level)


def _sample(check: Check, evidence: Evidence, fixed: int, scope: str) -> Verdict:
    rows = {k: _mean_row(c, _share(fixed)) for k, c in evidence.means.items()}
    details: dict[str, Any] = {"replicates": evidence.total.replicates, "level": REFUTATION_LEVEL, "instances": rows}
    if not rows:
        return Verdict(Kind.VACUOUS, "assumptions met by none of the fixed instances", scope, details)
    refuted = refuted_keys(evidence, fixed)
    if refuted:
        c = evidence.means[refuted[0]]
        low, high = rows[refuted[0]]["interval"]
        text = (
            f"mean of '{refuted[0]}' lies in [{_short(low)}, {_short(high)}] over {c.replicates} replicates, "
            f"claimed {c.relation} {_short(c.claimed)}"
        )
        return Verdict(Kind.REFUTED, text, scope, details)
    if all(r["trivial"] for r in rows.values()):
        text = "the claimed mean is never inside the declared range, so that no sample could break it"
        return Verdict(Kind.VACUOUS, text, scope, details)
    margin = max((r["margin"] for r in rows.values()), default=0.0)
    text = (
        f"not refuted in {evidence.total.replicates} replicates on {len(rows)} instances; "
        f"refutes claims up to {margin:.3g} of this one"
    )
    return Verdict(Kind.HOLDS, text, scope, {**details, "margin": margin})


def _mean_row(c: MeanCounts, level: float) -> dict[str, Any]:
    low, high, claimed = float(c.low), float(c.high), float(c.claimed)
    side: Any = "at least" if c.relation == ">=" else "at most"
    spent = level / 2 if c.relation == "==" else level  # an equality is tested from both sides
    sharpest = means.margin(c.counts, low, high, spent, side)
    reach, room = (high - sharpest, high - claimed) if side == "at least" else (sharpest - low, claimed - low)
    trivial = claimed >= high if side == "at most" and c.relation != "==" else claimed <= low and c.relation == ">="
    return {
        "replicates": c.replicates,
        "claimed": claimed,
        "relation": c.relation,
        "interval": list(means.confidence_interval(c.counts, low, high, HOLDS_LEVEL)),
        "refutes": sharpest,
        "margin": reach / room if room > 0 else 0.0,
        "trivial": trivial,
    }


def _rate(check: Check, evidence: Evidence, fixed: int, scope: str) -> Verdict:
    assert check.rate is not None
    fits: dict[str, Any] = {}
    consistent = True
    for name, rows in evidence.rates.items():
        sizes, values = np.array([r.size for r in rows], float), np.array([float(r.value) for r in rows])
        if len(np.unique(sizes)) < 3:
            return Verdict(Kind.INCONCLUSIVE, f"{name}: a rate needs at least 3 sizes, got {sorted(set(sizes))}", scope)
        try:
            fit = fit_rate(sizes, values, check.rate.log_power)
        except ValueError as error:  # a cost of zero has no exponent
            return Verdict(Kind.ERROR, f"{name}: {error}", scope)
        agrees = fit.consistent(check.rate.exponent, check.rate.relation, check.rate.tolerance)
        consistent = consistent and agrees
        fits[name] = {"exponent": fit.exponent, "low": fit.low, "high": fit.high, "sizes": sorted(set(sizes.tolist()))}
    if not fits:
        return Verdict(Kind.VACUOUS, "no size met the assumptions", scope)
    logs = f" after dividing out log^{check.rate.log_power:g}" if check.rate.log_power else ""
    text = "; ".join(
        f"{name}: exponent {f['exponent']:.3f} [{f['low']:.3f}, {f['high']:.3f}]{logs} over sizes "
        f"{f['sizes'][0]:g} to {f['sizes'][-1]:g}, claimed {check.rate.relation} {check.rate.exponent:g}"
        for name, f in fits.items()
    )
    return Verdict(Kind.CONSISTENT if consistent else Kind.INCONSISTENT, text, scope, {"fits": fits})


def _short(value: Any) -> str:
    return f"{_nearest(value):.6g}"


def _nearest(value: Any) -> float:
    """Nearest float; infinite beyond the range."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

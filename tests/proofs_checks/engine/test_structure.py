"""Structured search: a function of the seed, whatever else is imported, that shrinks what it finds."""

import inspect
import json
import random
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies as st

from whp.proofs_checks.engine import structure
from whp.proofs_checks.engine.structure import deterministic, drawn, search

PROGRAM = """
import json, sys
sys.path.insert(0, {folder!r})
{extra}
from hypothesis import strategies as st
from whp.proofs_checks.engine.structure import drawn
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
print(json.dumps(drawn(st.lists(numbers), seed=5, examples=60)))
"""

PROFILE = """
from hypothesis import settings
settings.register_profile("mine", derandomize=True, max_examples=3)
settings.load_profile("mine")
"""


def seen_by(strategy, seed=3, examples=80):
    met = []

    def observe(instance):
        met.append(instance)
        return False, float(-abs(instance))

    assert search(strategy, observe, seed=seed, examples=examples) is None
    return met


def test_the_shim_takes_hold_of_the_pinned_version():
    with deterministic() as held:
        assert held is True


def test_the_shim_leaves_hypothesis_as_it_was():
    from hypothesis.internal.conjecture import engine, providers

    before = providers._get_local_constants, engine.MAX_SHRINKS, engine.MAX_SHRINKING_SECONDS
    with deterministic():
        assert engine.MAX_SHRINKS == structure.MAX_SHRINKS
    assert (providers._get_local_constants, engine.MAX_SHRINKS, engine.MAX_SHRINKING_SECONDS) == before


def test_an_unknown_version_is_reported_and_works_without_the_shim(monkeypatch):
    from hypothesis.internal.conjecture import providers

    monkeypatch.delattr(providers, "_get_local_constants")
    with deterministic() as held:
        assert held is False


def test_the_stream_does_not_depend_on_constants_of_imported_modules(tmp_path):
    numbers = ", ".join(str(1000003 * k + 17) for k in range(400))
    (tmp_path / "full_of_constants.py").write_text(
        f"NUMBERS = [{numbers}]\nFLOATS = [{numbers.replace(',', '.5,')}.5]\n"
    )
    printed = []
    for extra in (
        "",
        "import full_of_constants",
        PROFILE,
    ):
        script = PROGRAM.format(folder=str(tmp_path), extra=extra)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        printed.append(json.loads(done.stdout))
    assert printed[0] == printed[1] == printed[2]
    assert len({str(i) for i in printed[0]}) > 20


def test_the_search_is_a_function_of_its_seed():
    assert seen_by(st.integers()) == seen_by(st.integers())
    assert seen_by(st.integers()) != seen_by(st.integers(), seed=4)


def test_every_field_of_the_settings_is_set():
    fields = set(inspect.signature(hypothesis.settings.__init__).parameters) - {"self", "parent"}
    assert "max_examples" in fields
    assert [f for f in fields if f"{f}=" not in inspect.getsource(structure._settings)] == []


@pytest.mark.parametrize("seed", range(4))
def test_a_violation_is_shrunk_to_the_smallest(seed):
    found, ended = search(st.lists(st.integers(0, 10**6)), lambda xs: (sum(xs) > 1000, 0.0), seed=seed, examples=200)
    assert (found, ended) == ([1001], True)


def test_shrinking_ends_by_count(monkeypatch):
    monkeypatch.setattr(structure, "MAX_SHRINK_CALLS", 5)
    calls = []

    def observe(instance):
        calls.append(instance)
        return sum(instance) > 100, 0.0

    found, ended = search(st.lists(st.integers(0, 10**9), min_size=3), observe, seed=0, examples=50)
    assert sum(found) > 100 and not ended and len(calls) < 60


def test_the_slack_guides_the_search():
    found = search(st.integers(0, 2**40), lambda n: (n > 2**39 + 2**38, float(2**40 - n)), seed=1, examples=300)
    assert found is not None and found[0] == 2**39 + 2**38 + 1


def test_searching_leaves_the_global_generator_alone():
    random.seed(1)
    before = random.getstate()
    seen_by(st.integers())
    drawn(st.integers(), 1, 5)
    assert random.getstate() == before


def test_a_fault_of_the_observer_is_raised():
    def observe(instance):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        search(st.integers(), observe, seed=0, examples=10)

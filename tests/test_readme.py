"""Every whp command of README.md names theorems, slots and evidence files that exist."""

import re
import shlex
from pathlib import Path

import pytest

from whp.proofs_checks.engine.registry import checks_of
from whp.theory import theorems

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = "".join(re.findall(r"^```\n(.*?)^```$", README, re.MULTILINE | re.DOTALL))
COMMANDS = [shlex.split(c, comments=True)[1:] for c in re.findall(r"^whp .*$", BLOCKS, re.MULTILINE)]


def named(words):
    """Theorems that a command is about."""
    return [t for w in words[1:] if not w.startswith("-") and "=" not in w for t in theorems(w)]


def test_the_commands_of_all_three_questions_are_found():
    assert {words[0] for words in COMMANDS} >= {"list", "show", "verify", "replay", "mutants"}


@pytest.mark.parametrize("words", [w for w in COMMANDS if w[0] != "replay"], ids=" ".join)
def test_a_command_names_theorems_and_slots_that_exist(words):
    slots = {s.name for t in named(words) for c in checks_of(t.id) for s in c.slots}
    assert all(w.partition("=")[0] in slots for w in words if "=" in w)


@pytest.mark.parametrize("words", [w for w in COMMANDS if w[0] == "replay"], ids=" ".join)
def test_the_replayed_file_is_one_that_a_refuted_statement_leaves(words):
    refuted = [c.id for t in theorems() if t.expected == "refuted" for c in checks_of(t.id)]
    assert words[1] in {f".whp/evidence/{id.replace('/', '-')}--seed0.json" for id in refuted}

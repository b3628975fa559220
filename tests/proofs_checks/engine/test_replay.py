"""Evidence files and running them again."""

import json

import pytest

from whp.proofs_checks.engine import Limits, replay
from whp.proofs_checks.engine.blocks import run_block
from whp.proofs_checks.engine.budget import Budget
from whp.proofs_checks.engine.files import EvidenceFile, read, write, write_all
from whp.proofs_checks.engine.plan import plan
from whp.proofs_checks.engine.registry import find_check


def written(report, folder):
    (path,) = write_all(report, folder).values()
    return path


@pytest.mark.parametrize("name", ["sums", "product", "coin", "learner", "growth", "arrays", "faulty"])
def test_what_was_recorded_is_reproduced(run, tmp_path, name):
    for path in write_all(run(name), tmp_path).values():
        if "no_data" not in path.name:
            assert replay(path).reproduced, path


def test_a_refutation_is_replayed_with_both_sides(run, tmp_path):
    found = replay(written(run("product"), tmp_path))
    assert (found.status, sorted(found.instance)) == ("violated", [2, 3])
    (entry,) = found.entries
    assert (entry.left, entry.right) == (6, 5)


def test_a_refuted_random_claim_is_replayed_by_count(run, tmp_path):
    import tiny_theorems

    path = written(run("coin", subject={"toss": "tiny_theorems:heads"}), tmp_path)
    found = replay(path)
    assert found.reproduced and found.status == "violated" and "identical counts" in found.text
    other = replay(path, subject={"toss": tiny_theorems.toss})
    assert not other.reproduced and "different counts" in other.text


def test_a_subject_that_was_mended_no_longer_reproduces(run, tmp_path):
    import tiny_theorems

    path = written(run("sums", subject={"total": tiny_theorems.wrong_total}), tmp_path)
    assert replay(path).reproduced
    mended = replay(path, subject={"total": tiny_theorems.right_total})
    assert not mended.reproduced and mended.text == "kept now, violated then"


def test_a_subject_that_cannot_be_imported_must_be_given(run, tmp_path):
    path = written(run("sums", subject={"total": lambda values, names: 0}), tmp_path)
    with pytest.raises(ValueError, match="cannot be imported; replay"):
        replay(path)
    assert replay(path, subject={"total": lambda values, names: 0}).reproduced


def test_a_subject_whose_source_has_changed_is_said_to_have(tmp_path, tiny, whp):
    subject = tmp_path / "changing_subject.py"
    subject.write_text("def total(values, names):\n    return 0\n")
    done = whp(
        "verify",
        "tiny.sums",
        "--theorems",
        tiny,
        "--subject",
        f"total={subject}:total",
        "--budget",
        "quick",
        "--jobs",
        "1",
    )
    assert done.returncode == 1, done.stderr
    (path,) = (tmp_path / ".whp" / "evidence").glob("*.json")
    again = whp("replay", str(path))
    assert again.returncode == 0 and "changed" not in again.stdout, again.stderr
    subject.write_text("def total(values, names):\n    return int(values.sum())\n")
    mended = whp("replay", str(path))
    assert mended.returncode == 1 and "the source of subject 'total' has changed since" in " ".join(
        mended.stdout.split()
    )


def test_a_hanging_subject_hangs_no_replay(run, tmp_path):
    path = written(run("sums", subject={"total": "tiny_theorems:hanging_total"}, limits=Limits(0.3, None)), tmp_path)
    found = replay(path)
    assert found.reproduced and found.status == "error" and "0.3 seconds" in found.text


@pytest.mark.parametrize("mutant", ["forgets the last", "tightened 0.5"])
def test_a_mutant_can_be_replayed(tiny, tmp_path, mutant):
    check = find_check("tiny.sums/sum")
    evidence = run_block(plan(check, Budget.parse("x1"), 0, mutant=mutant)[0])
    path = write(EvidenceFile(evidence, "refuted", mutant, modules=(tiny,)), tmp_path)
    found = replay(path)
    assert found.reproduced and found.status == "violated"


def test_names_of_files_do_not_collide(run, tmp_path):
    evidence = run("sums").theorems[0].checks[0].evidence
    given = [
        {"subjects": {"total": "a.b:c"}},
        {"subjects": {"total": "a.b-c"}},
        {"subjects": {"total": "a/b:c"}},
        {"subjects": {"total": "x" * 400 + ":a"}},
        {"subjects": {"total": "x" * 400 + ":b"}},
        {"mutant": "forgets the last"},
        {"mutant": "forgets-the-last"},
        {},
    ]
    paths = [write(EvidenceFile(evidence, "holds", **g), tmp_path) for g in given]
    assert len(set(paths)) == len(given) == len(list(tmp_path.iterdir()))
    assert paths[-1].name == "tiny.sums-sum--seed0.json"
    assert all(len(p.name) < 200 for p in paths)


def test_a_file_holds_what_is_needed_to_read_it_again(run, tmp_path):
    path = written(run("sums", subject={"total": "tiny_theorems:wrong_total"}, limits=Limits(5.0, None)), tmp_path)
    stored = read(path)
    assert stored.check_id == "tiny.sums/sum" and stored.verdict == "refuted"
    assert stored.limits == Limits(5.0, None) and stored.fingerprints["total"]
    assert write(stored, tmp_path) == path and read(path) == stored


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "cannot read"),
        ("", "is not JSON"),
        ('{"format": "whp evidence", "evid', "truncated or foreign"),
        ("[]", "is not a whp evidence file"),
        ('{"format": "other"}', "is not a whp evidence file"),
        ('{"format": "whp evidence", "evidence": {}}', "malformed|missing|schema|evidence"),
    ],
)
def test_a_file_that_is_no_evidence_is_refused_in_one_sentence(tmp_path, text, words):
    path = tmp_path / "file.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=words) as raised:
        read(path)
    assert len(str(raised.value).splitlines()) == 1


def test_evidence_of_a_newer_schema_is_refused(run, tmp_path):
    path = written(run("sums"), tmp_path)
    data = json.loads(path.read_text())
    data["evidence"]["schema"] = 99
    path.write_text(json.dumps(data))
    with pytest.raises(ValueError, match="schema 99"):
        read(path)


def test_a_folder_that_cannot_be_written_leaves_nothing_behind(run, tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(OSError):
        write_all(run("sums"), tmp_path / "taken")
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_evidence_without_an_instance_cannot_be_replayed(run, tmp_path):
    path = next(p for k, p in write_all(run("faulty"), tmp_path).items() if "no_data" in k)
    with pytest.raises(ValueError, match="holds no instance"):
        replay(path)

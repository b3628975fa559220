"""The command line: every command, as tables and as JSON, exit statuses, errors in one line."""

import json

import pytest

from whp.proofs_checks.cli import main


@pytest.fixture
def call(capsys, monkeypatch, tmp_path):
    """Call the command line in this process; returns exit status, standard output and standard error."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return left.value.code, out, err

    return run


@pytest.fixture
def tell(call, tiny):
    """The same with the small theorems loaded and a small budget where there is one."""

    def run(command, *arguments):
        budget = ["--budget", "quick", "--jobs", "1"] if command in ("verify", "mutants") else []
        return call(command, *arguments, *budget, "--theorems", tiny)

    return run


def told(result, status=0):
    assert result[0] == status, result
    return json.loads(result[1])


def assert_readable(text):
    """No line beyond 80 columns, but for commands that are to be copied."""
    long = [line for line in text.splitlines() if len(line) > 80 and not line.startswith("whp replay")]
    assert long == []


def assert_one_line(result, *words):
    status, out, err = result
    assert (status, out, err.count("\n")) == (2, "", 1) and err.startswith("whp: "), result
    assert all(w in err for w in words), err


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", "tiny"),
        ("show", "tiny.sums"),
        ("show", "tiny.arrays"),
        ("verify", "tiny.sums", "tiny.product", "tiny.coin", "tiny.faulty", "tiny.proved"),
        ("verify", "tiny.sums", "--dry-run"),
        ("verify", "tiny.sums", "--subject", "total=tiny_theorems:wrong_total"),
        ("mutants", "tiny.sums", "tiny.coin", "tiny.product"),
        ("bound", "tiny.arrays", "x=0.1"),
    ],
)
def test_tables_fit_eighty_columns(tell, arguments):
    _, out, err = tell(*arguments)
    assert out.strip() and err == ""
    assert_readable(out)


def test_list_tells_provenance_and_expected_verdicts(tell):
    rows = told(tell("list", "tiny", "--json"))
    assert {r["id"]: (r["expected"], r["checks"], r["proofs"]) for r in rows}["tiny.proved"] == ("proved", 1, 2)
    status, out, _ = tell("list", "tiny.prod*")
    assert status == 0 and "refuted" in out and "tiny.sums" not in out


def test_show_tells_everything_about_one_theorem(tell):
    data = told(tell("show", "tiny.sums", "--json"))
    assert data["assumptions"] == {"short": "n < 40"}
    assert data["checks"][0]["slots"] == {"total": "(values, names)"}
    assert data["checks"][0]["mutants"] == ["forgets the last", "lying certificate"]
    status, out, _ = tell("show", "tiny.sums")
    assert status == 0 and "slot total(values, names)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["tiny.sums", "tiny.product"], 0),
        (["tiny.doubted"], 1),
        (["tiny.faulty"], 1),
        (["tiny.bare"], 2),
        (["tiny.sums", "--subject", "total=tiny_theorems:right_total"], 0),
        (["tiny.sums", "--subject", "total=tiny_theorems:wrong_total"], 1),
        (["tiny.sums", "--subject", "total=tiny_theorems:hanging_total", "--timeout", "0.2"], 1),
    ],
)
def test_the_exit_status_of_verify(tell, arguments, status):
    assert told(tell("verify", *arguments, "--json"), status)["exit_status"] == status


def test_nothing_run_is_said_in_words(tell):
    status, out, _ = tell("verify", "tiny.bare", "tiny.extra")
    assert status == 2 and "0 of 1 checks ran, 1 skipped" in out


def test_verify_writes_evidence_that_replay_reproduces(tell, call):
    data = told(tell("verify", "tiny.product", "tiny.coin", "--json"), 0)
    path = data["evidence"]["tiny.product/below_sum"]
    replayed = told(call("replay", path, "--json"))
    assert replayed["reproduced"] and replayed["clauses"][0]["violated"]
    status, out, _ = call("replay", path)
    assert status == 0 and "reproduced: violated now, violated then" in out
    assert_readable(out)
    assert told(call("replay", data["evidence"]["tiny.coin/heads"], "--json"))["reproduced"]


def test_a_refutation_prints_instance_control_and_replay_command(tell):
    status, out, _ = tell("verify", "tiny.sums", "--subject", "total=tiny_theorems:wrong_total")
    text = " ".join(out.replace("│", " ").split())
    assert status == 1 and "this speaks against the subject" in text and "smallest instance found: Numbers(" in text
    (command,) = [line for line in out.splitlines() if line.startswith("whp replay ")]
    assert command.endswith(".json")


def test_the_seed_changes_instances_and_the_budget_is_named(tell):
    first, second = (told(tell("verify", "tiny.coin", "--json", "--seed", s)) for s in (0, 1))
    assert (first["seed"], second["seed"], first["budget"]) == (0, 1, "quick")
    assert first["theorems"][0]["checks"][0]["details"] != second["theorems"][0]["checks"][0]["details"]


def test_a_dry_run_estimates_and_runs_nothing(tell, tmp_path):
    (row,) = told(tell("verify", "tiny.sums", "--dry-run", "--json"))
    assert row["check"] == "tiny.sums/sum" and row["instances"] > 200
    assert not (tmp_path / ".whp").exists()
    status, out, _ = tell("verify", "tiny.sums", "--dry-run")
    assert status == 0 and "on one process" in out


def test_mutants_tell_who_died_by_what(tell):
    data = told(tell("mutants", "tiny.sums", "--json"))
    assert all(m["killed"] for m in data["mutants"]) and len(data["mutants"]) == 3
    assert tell("mutants", "tiny.product")[0] == 1
    assert tell("mutants", "tiny.bare")[0] == 2


def test_bound_prints_a_value_and_a_rigorous_enclosure(tell):
    from fractions import Fraction

    data = told(tell("bound", "tiny.arrays", "x=0.1", "--json"))
    assert data["value"] == 0.1 * 0.1
    assert Fraction(data["low"]) <= Fraction(0.1) ** 2 <= Fraction(data["high"])
    assert data["low"] < data["high"]
    assert told(tell("bound", "tiny.arrays", "x=3", "--json"))["high"] == 9
    assert told(tell("bound", "tiny.arrays", "--solve", "x", "--at-most", "2", "--json"))["value"] == pytest.approx(
        2**0.5
    )


def test_bound_at_huge_values_neither_breaks_nor_lies(tell):
    data = told(tell("bound", "tiny.arrays", "x=1e300", "--json"))
    assert (data["value"], data["high"]) == ("inf", "inf") and data["low"] > 1e308
    assert_one_line(tell("bound", "tiny.arrays", "x=1e310"), "beyond the range")
    assert_one_line(tell("bound", "tiny.arrays", "x=1e999999999"), "far beyond")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["list", "tiny.sum"], ["no theorem matches 'tiny.sum'", "did you mean tiny.sums"]),
        (["show", "tiny.sumz"], ["did you mean", "tiny.sums"]),
        (["verify", "tyni"], ["did you mean", "tiny"]),
        (["verify", "tiny.sums", "--subject", "total"], ["slot=module:function"]),
        (["verify", "tiny.sums", "--subject", "totl=tiny_theorems:right_total"], ["did you mean 'total'"]),
        (["verify", "tiny.sums", "--subject", "total=tiny_theorems:no"], ["has no 'no'"]),
        (["verify", "tiny.sums", "--subject", "total=no_such_module:f"], ["cannot import", "no_such_module"]),
        (["bound", "tiny.arrays", "y=1"], ["no symbol 'y'"]),
        (["bound", "tiny.arrays", "x"], ["written name=number"]),
        (["bound", "tiny.arrays", "x=-1"], ["x must be real in [0, inf)"]),
        (["bound", "tiny.sums"], ["has no bound"]),
        (["bound", "tiny.arrays", "x=1", "--at-most", "3"], ["go with --solve"]),
    ],
)
def test_a_mistake_is_one_line_on_standard_error_with_the_mend(tell, arguments, words):
    assert_one_line(tell(*arguments), *words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "--budget", "vast"], ["budget must be one of quick"]),
        (["mutants", "--budget", "3s"], ["in seconds is for verifying"]),
        (["verify", "--seed", "-1"], ["--seed", "See `whp verify --help`."]),
        (["verify", "--jobs", "many"], ["--jobs", "integer. See `whp verify --help`."]),
        (["verify", "--no-such-option"], ["--no-such-option"]),
        (["no-such-command"], ["no-such-command"]),
        (["show"], ["Missing argument 'id'"]),
        (["replay", "nothing.json"], ["cannot read nothing.json"]),
        (["list", "--theorems", "nothing.py"], ["no file 'nothing.py'"]),
        (["ledger", "list"], ["no ledger", "whp verify"]),
        (["experiment", "no_such_experiment"], ["no experiment"]),
        (["hunt", "marginalization"], ["marginalization is a paper", "marginalization.T1"]),
        (["new", "NotAnId"], ["slug.NAME"]),
    ],
)
def test_a_wrong_call_is_one_line_too(call, arguments, words):
    assert_one_line(call(*arguments), *words)


class _Experiment:
    """An installed experiment whose data are not installed."""

    def load(self):
        def run(scale, seed, out, words=""):
            raise ImportError("the data are not installed")

        return run


def test_experiments_are_listed_and_missing_data_are_one_line(call, monkeypatch):
    from whp.proofs_checks import experiment_runner

    monkeypatch.setattr(experiment_runner, "experiments", lambda: {"hungry": _Experiment()})
    assert call("experiment") == (0, "hungry\n", "")
    assert_one_line(call("experiment", "hungry"), "the data are not installed")
    assert_one_line(call("experiment", "hungry", "--set", "word=1"), "no option 'word'", "words")


def test_ids_of_the_list_are_never_broken_over_lines(call):
    from whp.theory import theorems

    words = call("list")[1].split()
    assert all(t.id.partition(".")[2] in words for t in theorems())


def test_a_file_of_theorems_that_does_not_import_is_one_line(call, tmp_path):
    (tmp_path / "broken_theorems.py").write_text("PAPER = (\n")
    assert_one_line(call("list", "--theorems", "broken_theorems.py"), "broken_theorems.py", "SyntaxError")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["verify", "--help"]])
def test_help_is_no_error(call, arguments):
    status, out, err = call(*arguments)
    assert (status, err) == (0, "") and "Usage" in out


def test_the_ledger_resumes_lists_shows_and_prunes(tell, call):
    assert tell("verify", "tiny.growth", "tiny.coin")[0] == 0
    assert tell("verify", "tiny.growth", "tiny.coin", "--resume")[0] == 0
    first, second = told(call("ledger", "list", "--json"))
    assert first["request"]["patterns"] == ["tiny.growth", "tiny.coin"] and second["finished"]
    assert "tiny.coin/heads" in told(call("ledger", "show", "1", "--json"))
    for arguments in (("list",), ("show", "1")):
        status, out, _ = call("ledger", *arguments)
        assert status == 0
        assert_readable(out)
    assert_one_line(call("ledger", "show", "7"), "no campaign 7")
    assert call("ledger", "prune", "--keep", "0")[0] == 0
    assert told(call("ledger", "list", "--json")) == []


def test_what_new_writes_verifies_and_its_mutants_die(call, tmp_path):
    path = told(call("new", "my_fresh_paper.T1", "--json"))["path"]
    assert told(call("verify", "my_fresh_paper", "--theorems", path, "--budget", "quick", "--jobs", "1", "--json"))
    data = told(call("mutants", "my_fresh_paper", "--theorems", path, "--budget", "quick", "--jobs", "1", "--json"))
    assert len(data["mutants"]) == 3 and data["too_few"] == []
    assert_one_line(call("new", "my_fresh_paper.T2"), "exists")
    status, out, _ = call("new", "other_paper.T1", "--folder", "deep/er")
    assert status == 0 and (tmp_path / "deep" / "er" / "other_paper.py").is_file() and "whp verify other_paper" in out


def test_infinities_are_text_in_json(call, tiny, monkeypatch):
    from whp.proofs_checks.cli import _finite

    assert _finite({"a": [float("inf"), 1.0], "b": (float("nan"),)}) == {"a": ["inf", 1.0], "b": ["nan"]}


def test_two_processes_and_the_json_of_one_agree(tell, call, tiny):
    one = told(tell("verify", "tiny.sums", "tiny.coin", "--json"))
    two = told(
        call("verify", "tiny.sums", "tiny.coin", "--theorems", tiny, "--budget", "quick", "--jobs", "2", "--json")
    )
    assert [t["checks"] for t in one["theorems"]] == [t["checks"] for t in two["theorems"]]


def test_the_installed_command_answers(whp, tiny):
    done = whp("show", "tiny.product", "--theorems", tiny)
    assert (done.returncode, done.stderr) == (0, "") and "refuted" in done.stdout
    done = whp("show", "tiny.prodct", "--theorems", tiny)
    assert done.returncode == 2 and done.stderr.count("\n") == 1

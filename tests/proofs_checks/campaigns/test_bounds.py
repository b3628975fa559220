"""`whp bound` over ranges: numbers, inverses, plots, refusals."""

import json
import math

import pytest

from whp.proofs_checks.cli import main
from whp.proofs_checks.curves import curves, parse_range
from whp.theory.core import Bound, Domain, Symbol

RADIUS = Bound(
    "radius",
    lambda m, n, delta: m.sqrt(m.log(1 / delta) / (2 * n)),
    (
        Symbol("n", Domain.integers(1), "sample size", "decreasing"),
        Symbol("delta", Domain.reals(0, 1, open="both"), "failure probability", "decreasing"),
    ),
)
COMMAND = ["bound", "hoeffding.T1", "--theorems", "whp_textbook.hoeffding"]


def status(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([*COMMAND, *map(str, arguments)])
    return ended.value.code


def test_a_range_agrees_with_the_bound_at_each_of_its_points():
    (curve,) = curves(RADIUS, {"delta": 0.05}, {"n": "10:1000:log:3"})
    assert curve.axis.values == (10, 100, 1000)
    assert curve.values == tuple(RADIUS(n=n, delta=0.05) for n in (10, 100, 1000))


def test_a_second_range_gives_a_curve_for_each_of_its_values():
    found = curves(RADIUS, {}, {"n": "1:3", "delta": "0.1:0.3:3"})
    assert [c.at["delta"] for c in found] == pytest.approx([0.1, 0.2, 0.3])
    assert all(c.axis.values == (1, 2, 3) for c in found)


def test_the_inverse_meets_the_target_at_each_point_and_one_less_does_not():
    (curve,) = curves(RADIUS, {}, {"delta": "1e-9:0.5:log:7"}, solve="n", at_most=0.01)
    for delta, n in zip(curve.axis.values, curve.values, strict=True):
        assert RADIUS(n=n, delta=delta) <= 0.01 < RADIUS(n=n - 1, delta=delta)


def test_where_nothing_meets_the_target_there_is_no_value():
    share = Bound(
        "share",
        lambda m, n, floor: floor + 1 / n,
        (Symbol("n", Domain.integers(1), "size", "decreasing"), Symbol("floor", Domain.reals(0, 1), "floor")),
    )
    (curve,) = curves(share, {}, {"floor": "0:1:3"}, solve="n", at_most=0.6)
    assert curve.values == (2, 10, None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1e3", "is written LOW:HIGH"),
        ("a:b", "is written LOW:HIGH"),
        ("1:10:cubic", "is written LOW:HIGH"),
        ("1:10:1", "is written LOW:HIGH"),
        ("10:1", "finite and in order"),
        ("1:inf", "finite and in order"),
        ("1:nan", "finite and in order"),
        ("0:10:log", "must start above zero"),
    ],
)
def test_a_malformed_range_is_refused_in_one_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        parse_range(RADIUS, "n", text, 5)


def test_values_outside_the_domain_unknown_symbols_and_three_ranges_are_refused():
    with pytest.raises(ValueError, match=r"delta must be real in \(0, 1\)"):
        curves(RADIUS, {"n": 10}, {"delta": "0.5:2:3"})
    with pytest.raises(ValueError, match="has no symbol 'm'"):
        curves(RADIUS, {"delta": 0.1}, {"m": "1:2"})
    with pytest.raises(ValueError, match="one or two symbols"):
        curves(RADIUS, {}, {"n": "1:2", "delta": "0.1:0.2", "x": "1:2"})


@pytest.mark.parametrize(("ending", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_the_plot_is_of_the_kind_that_its_name_says(ending, magic, tmp_path, capsys):
    file = tmp_path / "folder" / f"plot.{ending}"
    assert status("n=1e3:1e7:log", "delta=0.01:0.1:2", "--plot", file) == 0
    assert file.read_bytes().startswith(magic)
    assert "plot:" in capsys.readouterr().out


def test_json_holds_every_point(capsys):
    assert status("delta=1e-6:1e-1:log:3", "--solve", "n", "--at-most", 0.05, "--json") == 0
    data = json.loads(capsys.readouterr().out)
    assert data["solved"] == "n" and data["plot"] is None
    ((*_, (delta, n)),) = [c["points"] for c in data["curves"]]
    assert delta == 0.1 and n == math.ceil(math.log(10) / (2 * 0.05**2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["n=10", "delta=0.1", "--plot", "x.svg"], "--plot needs a range"),
        (["n=10:20", "delta=0.1", "--plot", "x.gif"], "ending in .svg, .png, .pdf"),
        (["n=10:20", "delta=0.1", "--at-most", "1"], "go with --solve"),
        (["n=10:20"], "needs delta"),
        (["n=10:20", "--solve", "n", "--at-most", "0.1", "delta=0.1"], "must not be given"),
    ],
)
def test_what_cannot_be_drawn_is_one_line_and_status_2(arguments, message, capsys):
    assert status(*arguments) == 2
    errors = capsys.readouterr().err
    assert errors.startswith("whp: ") and message in errors and errors.count("\n") == 1

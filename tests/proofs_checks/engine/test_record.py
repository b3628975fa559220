import itertools
import json
import random
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.proofs_checks.engine.evidence import (
    PHASES,
    ClauseRecord,
    Encoded,
    ErrorRecord,
    EventCounts,
    Evidence,
    EvidenceBuilder,
    Extreme,
    Location,
    MeanCounts,
    PhaseCounts,
    RateRow,
    SlackHistogram,
    Violation,
    allow_namespace,
    merge,
)
from whp.proofs_checks.engine.evidence.record import KEPT_VIOLATIONS, merge_all
from whp.proofs_checks.engine.evidence.slack_histogram import EDGES, bin_ranges, slack_bins

EMPTY = Evidence.empty("slug.T1", "bound", 7, "quick")

names = st.sampled_from(["a", "b"])
counts = st.integers(0, 3)
numbers = st.sampled_from([-1, -0.0, 0.0, 0.5, Fraction(1, 2), Fraction(1, 3), 1, 1.0, float("inf"), 10**400])
locations = st.builds(Location, st.sampled_from([*PHASES, "own"]), counts, counts)
instances = st.sampled_from([0, 0.0, -0.0, (1, 2), "x", np.array([1.5])]).map(Encoded.of)
extremes = st.none() | st.builds(Extreme, numbers, locations, st.none() | instances)
histograms = st.dictionaries(st.integers(-5, 5), counts).map(lambda bins: SlackHistogram(tuple(bins.items())))
phases = st.dictionaries(
    st.sampled_from(PHASES), st.builds(PhaseCounts, counts, counts, counts, counts, counts, counts)
)
clauses = st.dictionaries(names, st.builds(ClauseRecord, extremes, extremes, histograms))
events = st.dictionaries(names, st.builds(lambda n, k: EventCounts(Encoded.of(1), 0.05, n + k, k), counts, counts))
means = st.dictionaries(
    names, st.tuples(counts, counts, counts).map(lambda bins: MeanCounts(Encoded.of("i"), 0, 1, Fraction(1, 3), bins))
)
violations = st.lists(st.builds(Violation, locations, names, numbers, instances), max_size=8).map(tuple)
errors = st.lists(st.builds(ErrorRecord, locations, names, names, names, st.none() | instances), max_size=8).map(tuple)
rates = st.dictionaries(
    names, st.lists(st.builds(RateRow, st.integers(1, 3), numbers, locations), max_size=3).map(tuple)
)


@st.composite
def shards(draw):
    return replace(
        EMPTY,
        phases=draw(phases),
        clauses=draw(clauses),
        events=draw(events),
        means=draw(means),
        violations=draw(violations),
        errors=draw(errors),
        rates=draw(rates),
    )


@settings(max_examples=150, deadline=None)
@given(shards(), shards(), shards())
def test_merge_is_associative_commutative_and_has_an_identity_to_the_last_byte(a, b, c):
    left, right = merge(merge(a, b), c), merge(a, merge(b, c))
    assert left == right
    assert left.canonical_bytes() == right.canonical_bytes()
    assert merge(a, b).canonical_bytes() == merge(b, a).canonical_bytes()
    assert merge(a, EMPTY) == merge(EMPTY, a) == a


@settings(max_examples=150, deadline=None)
@given(shards(), shards())
def test_json_round_trip_and_equal_evidence_has_equal_bytes(a, b):
    for shard in (a, b):
        back = Evidence.from_bytes(shard.canonical_bytes())
        assert back == shard
        assert back.canonical_bytes() == shard.canonical_bytes()
        assert Evidence.from_json(json.loads(json.dumps(shard.to_json()))) == shard
    assert (a == b) == (a.canonical_bytes() == b.canonical_bytes())


def test_shards_of_different_runs_do_not_merge():
    for name, value in (("theorem", "slug.T2"), ("check", "other"), ("campaign_seed", 8), ("budget", "standard")):
        with pytest.raises(ValueError, match=f"cannot merge evidence with {name}"):
            merge(EMPTY, replace(EMPTY, **{name: value}))


def test_fixed_instances_and_claims_must_agree():
    event = EventCounts(Encoded.of(1), 0.05, 10, 1)
    with pytest.raises(ValueError, match="cannot merge evidence with delta"):
        event + replace(event, delta=0.1)
    with pytest.raises(ValueError, match="cannot merge evidence with instance 1 and 2"):
        event + replace(event, instance=Encoded.of(2))
    mean = MeanCounts(Encoded.of(1), 0, 1, 0.5, (1, 2))
    with pytest.raises(ValueError, match="histograms of 2 and 3 bins"):
        mean + replace(mean, counts=(1, 2, 3))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: EventCounts(Encoded.of(1), 0.05, 1, 2), "events must be between 0 and replicates=1, got 2"),
        (lambda: MeanCounts(Encoded.of(1), 1, 0, 0.5, (1,)), "low must be below high"),
        (lambda: MeanCounts(Encoded.of(1), 0, 1, 0.5, (-1,)), "counts must be nonnegative"),
        (lambda: Extreme(float("nan"), Location("sampled", 0, 0)), "got nan"),
        (lambda: SlackHistogram(((0, -1),)), "nonnegative"),
        (lambda: SlackHistogram(((1000, 1),)), "in bins"),
        (lambda: replace(EMPTY, schema=2), "reads schema 1 only"),
    ],
)
def test_impossible_records_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data.pop("theorem"),
        lambda data: data.update(surprise=1),
        lambda data: data.update(campaign_seed="7"),
        lambda data: data.update(schema=2),
        lambda data: data.update(phases={"sampled": {"instances": 1.5}}),
        lambda data: data.update(violations=[{}]),
        lambda data: data.update(phases=[]),
    ],
)
def test_damaged_json_is_refused_with_a_value_error(damage):
    data = EMPTY.to_json()
    damage(data)
    with pytest.raises(ValueError):
        Evidence.from_json(data)


def test_only_the_earliest_violations_are_kept_in_the_order_of_phases():
    places = [Location(phase, block, 0) for phase in (*reversed(PHASES), "own") for block in range(3)]
    merged = merge_all(replace(EMPTY, violations=(Violation(place, "c", -1, Encoded.of(1)),)) for place in places)
    kept = [(violation.location.phase, violation.location.block) for violation in merged.violations]
    assert kept == [(PHASES[0], 0), (PHASES[0], 1), (PHASES[0], 2), (PHASES[1], 0), (PHASES[1], 1)]
    assert len(kept) == KEPT_VIOLATIONS


def test_equal_numbers_of_different_types_are_one_number():
    place = Location("sampled", 0, 0)
    assert {type(Extreme(value, place).value) for value in (1, 1.0, Fraction(1), np.float64(1), True)} == {float}
    assert str(Extreme(-0.0, place).value) == "0.0"
    assert Extreme(Fraction(1, 3), place).value == Fraction(1, 3)
    assert Extreme(2**53 + 1, place).value == Fraction(2**53 + 1)


def test_an_error_record_holds_no_path_and_no_address():
    def subject():
        raise KeyError(object())

    try:
        subject()
    except KeyError as error:
        record = ErrorRecord.of(Location("sampled", 1, 2), error, Encoded.of((1, 2)))
    assert record.type == "KeyError"
    assert "object at 0x...>" in record.message
    assert record.traceback.endswith(" subject")
    assert "/" not in record.traceback
    assert record.traceback.startswith("test_record.py:")
    assert record.instance.decode() == (1, 2)


def test_tracebacks_given_as_text_lose_their_folders_and_addresses():
    trace = 'File "/opt/me/solver.py", line 3, in solve\n  File "C:\\me\\b.py", line 1\n<object at 0x7f0011223344>'
    record = ErrorRecord(Location("sampled", 0, 0), "E", 'File "/tmp/x.py"', trace)
    assert record.traceback == 'File "solver.py", line 3, in solve\n  File "b.py", line 1\n<object at 0x...>'
    assert record.message == 'File "x.py"'
    assert ErrorRecord(record.location, "E", record.message, record.traceback) == record


def build(observations, builder=None):
    builder = builder or EvidenceBuilder("slug.T1", "bound", 7, "quick")
    for block, index, left, right in observations:
        place = Location("sampled", block, index)
        builder.count("sampled", instances=1)
        builder.slack("c", place, right - left, left, right, instance=(left, right))
        if left > right:
            builder.violation(place, "c", right - left, (left, right))
            builder.failure(place, "ValueError", "no", "", (left, right))
        builder.event("fixed", "instance", 0.05, 1, int(left > right))
        builder.mean("fixed", "instance", 0, 4, 2, [int(left == value) for value in range(4)])
        builder.rate("calls", index + 1, left, place)
    return builder.build()


@pytest.mark.parametrize("seed", range(5))
def test_evidence_does_not_depend_on_shards_or_their_order(seed):
    rng = random.Random(seed)
    observations = [
        (block, index, rng.randrange(4), rng.choice([0, 1, 2.0, Fraction(3, 2)]))
        for block in range(8)
        for index in range(5)
    ]
    whole = build(observations)
    blocks = [build(list(part)) for _, part in itertools.groupby(observations, key=lambda item: item[0])]
    rng.shuffle(blocks)
    assert merge_all(blocks).canonical_bytes() == whole.canonical_bytes()
    rng.shuffle(observations)
    assert build(observations).canonical_bytes() == whole.canonical_bytes()
    assert whole.total.instances == 40
    assert whole.clauses["c"].relative_slack.total == 40


@pytest.mark.parametrize("seed", range(5))
def test_batches_record_what_single_observations_record(seed):
    rng = np.random.default_rng(seed)
    left, right = rng.choice([0.0, 0.3, 1.0, 1.5], 60), rng.choice([-1.0, 0.0, 0.1, 1.0, 2.0, np.inf], 60)
    single, batch = (EvidenceBuilder("slug.T1", "bound", 7, "quick") for _ in range(2))
    for index in range(60):
        place = Location("sampled", 3, index)
        single.slack("c", place, right[index] - left[index], left[index], right[index], instance=index)
    for first in (0, 20, 40):
        part = slice(first, first + 20)
        batch.slacks(
            "c", "sampled", 3, (right - left)[part], left[part], right[part],
            instance_at=lambda index, first=first: first + index, first_index=first,
        )  # fmt: skip
    batch.slacks("c", "sampled", 4, [], instance_at=[])
    assert single.build().canonical_bytes() == batch.build().canonical_bytes()


def test_instances_are_encoded_only_when_kept():
    asked = []

    def look_up(index):
        asked.append(index)
        return index

    builder = EvidenceBuilder("slug.T1", "bound", 7, "quick")
    builder.slacks("c", "sampled", 0, np.arange(1000.0, 0.0, -1.0), instance_at=look_up)
    builder.slack("c", Location("sampled", 1, 0), 5, instance=object())  # not data, and not needed
    assert asked == [999]
    worst = builder.build().clauses["c"].worst_slack
    assert (worst.value, worst.location.index, worst.instance.decode()) == (1.0, 999, 999)


@dataclass(frozen=True)
class CallableProblem:
    size: int

    def __call__(self):
        raise AssertionError("an instance must not be called")


def test_an_instance_that_can_be_called_is_still_data():
    allow_namespace(__name__)
    builder = EvidenceBuilder("slug.T1", "bound", 7, "quick")
    builder.slack("c", Location("sampled", 0, 0), 1, instance=CallableProblem(3))
    assert builder.build().clauses["c"].worst_slack.instance.decode() == CallableProblem(3)


def test_a_tie_at_one_place_does_not_depend_on_the_order():
    texts = set()
    for instances in ((1, 2), (2, 1)):
        builder = EvidenceBuilder("slug.T1", "bound", 7, "quick")
        for instance in instances:
            builder.slack("c", Location("sampled", 0, 0), 1, 1, 2, instance=instance)
        texts.add(builder.build().canonical_bytes())
    assert len(texts) == 1


def test_a_slack_that_is_nan_is_refused_with_its_index():
    builder = EvidenceBuilder("slug.T1", "bound", 7, "quick")
    with pytest.raises(ValueError, match="got one at index 1"):
        builder.slacks("c", "sampled", 0, [1.0, float("nan")], instance_at=[1, 2])
    with pytest.raises(ValueError, match="got nan"):
        builder.slack("c", Location("sampled", 0, 0), float("nan"), instance=1)


def test_huge_exact_slacks_have_a_bin():
    builder = EvidenceBuilder("slug.T1", "bound", 7, "quick")
    builder.slack("c", Location("sampled", 0, 0), 10**400, 0, 10**400, instance=1)
    builder.slack("c", Location("sampled", 0, 1), Fraction(-1, 10**400), 1, 1, instance=2)
    builder.slack("c", Location("sampled", 0, 2), -(10**400), instance=3)
    record = builder.build().clauses["c"]
    assert record.worst_slack.value == -(10**400)
    assert record.relative_slack.total == 3


def test_bins_hold_what_their_ranges_say():
    values = np.array([0.0, 1e-20, 1e-18, 0.15, 0.2, 0.9, 1.0, 4e3, 5e3, np.inf, -0.15, -1e-20, -np.inf])
    for value, number in zip(values.tolist(), slack_bins(values).tolist(), strict=True):
        ((low, high, count),) = bin_ranges(SlackHistogram(((number, 1),)))
        assert count == 1
        assert low <= value < high or low < value <= high or value == low == high
    assert list(EDGES) == sorted(set(EDGES))
    with pytest.raises(ValueError, match="nan"):
        slack_bins([np.nan])

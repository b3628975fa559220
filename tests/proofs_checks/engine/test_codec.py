import contextlib
import dataclasses
import enum
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whp.proofs_checks.engine.evidence import (
    ContentHash,
    DecodeError,
    Recipe,
    allow_namespace,
    decode,
    dumps,
    encode,
    loads,
)

allow_namespace(__name__)


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Permission(enum.Flag):
    READ = 1
    WRITE = 2


class Level(enum.IntEnum):
    LOW = 0


@dataclasses.dataclass(frozen=True)
class Design:
    weights: np.ndarray
    name: str = "uniform"
    total: float = dataclasses.field(init=False, default=0.0)

    def __post_init__(self):
        weights = np.asarray(self.weights, dtype=float)
        if weights.ndim != 1:
            raise ValueError("weights must be one-dimensional.")
        weights = weights / weights.sum()
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "total", float(weights.sum()))

    @dataclasses.dataclass(frozen=True, slots=True)
    class Part:
        index: int


@dataclasses.dataclass
class Mutable:
    value: int


def same(left, right):
    """Equality of type and value, telling -0.0 from 0.0 and nan equal to nan."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        equal_form = left.dtype == right.dtype and left.shape == right.shape
        return equal_form and all(same(a, b) for a, b in zip(left.ravel(), right.ravel(), strict=True))
    if isinstance(left, float | np.floating):
        return (math.isnan(left) and math.isnan(right)) or (left == right and np.signbit(left) == np.signbit(right))
    if isinstance(left, complex | np.complexfloating):
        return same(left.real, right.real) and same(left.imag, right.imag)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict):
        return same([list(item) for item in left.items()], [list(item) for item in right.items()])
    return left == right


dtypes = st.sampled_from(["?", "i1", "<i8", ">u4", "u8", "f2", "<f4", "f8", ">f8", "c8", "c16"])


@st.composite
def arrays(draw):
    dtype = np.dtype(draw(dtypes))
    shape = draw(st.lists(st.integers(0, 3), max_size=3))
    count = math.prod(shape)
    raw = draw(st.binary(min_size=count * dtype.itemsize, max_size=count * dtype.itemsize))
    data = np.frombuffer(raw, dtype="u1") % 2 if dtype.kind == "b" else np.frombuffer(raw, dtype=dtype)
    return data.astype(dtype).reshape(shape)


def object_array(parts):
    array = np.empty(len(parts), dtype=object)
    for index, part in enumerate(parts):
        array[index] = part
    return array


hashable = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**60, 2**200),
    st.floats(),
    st.complex_numbers(),
    st.text(st.characters(exclude_categories=())),  # lone surrogates included
    st.binary(),
    st.fractions(),
    st.sampled_from([Colour.RED, Colour.BLUE, Permission.READ | Permission.WRITE, Level.LOW]),
    st.builds(Design.Part, st.integers()),
    st.builds(np.float32, st.floats(width=32)),
    st.builds(np.int64, st.integers(-(2**63), 2**63 - 1)),
    st.builds(np.str_, st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))),
)
keys = hashable.filter(lambda key: key == key)
values = st.recursive(
    hashable | arrays(),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(keys, inner, max_size=3),
        st.sets(keys, max_size=3),
        st.frozensets(keys, max_size=3),
        st.lists(inner, max_size=3).map(object_array),
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(values)
def test_every_value_survives_the_round_trip_exactly(value):
    text = dumps(value)
    assert text.isascii()
    assert same(loads(text), value)
    assert dumps(loads(text)) == text
    assert json.loads(json.dumps(encode(value))) == encode(value)


words = st.sampled_from(
    ["!", "type", "items", "value", "fields", "dtype", "shape", "flat", "nodes", "kind", "base64", "hex", "ratio", "x"]
)
tags = st.sampled_from(
    ["tuple", "array", "graph", "dataclass", "enum", "flag", "os:system", "<f8", "scalar", "recipe", "int", "fraction"]
)
damaged = st.recursive(
    st.none() | st.integers() | st.text(max_size=12) | tags,
    lambda part: (
        st.lists(part)
        | st.dictionaries(words, part)
        | st.builds(lambda d, t: {**d, "!": t}, st.dictionaries(words, part), tags)
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(damaged)
def test_damaged_data_raise_only_decode_error(data):
    with contextlib.suppress(DecodeError):
        decode(data)


def test_plain_values_stay_plain_json():
    assert encode([None, True, 3, 0.1, "a"]) == [None, True, 3, 0.1, "a"]


def test_integers_beyond_double_precision_and_beyond_the_digit_limit_are_exact():
    for value in (2**53 + 1, -(2**53) - 1, 7**20_000, -(10**5000)):
        assert loads(dumps(value)) == value
    assert loads(dumps(Fraction(7**9000, 10**5000))) == Fraction(7**9000, 10**5000)


def test_object_arrays_of_fractions_and_integers_keep_their_entries():
    array = np.array([[Fraction(1, 3), 2**100], [0, Fraction(-7, 2)]], dtype=object)
    back = loads(dumps(array))
    assert same(back, array)
    assert type(back[1, 0]) is int


def test_dictionaries_keep_their_order_and_sets_have_one():
    assert list(loads(dumps({"b": 1, "a": 2, (1, 2): 3}))) == ["b", "a", (1, 2)]
    assert dumps({3, 1, 2}) == dumps({2, 3, 1})


def test_text_does_not_depend_on_the_hash_seed():
    program = "from whp.proofs_checks.engine.evidence import dumps; print(dumps({str(n) for n in range(50)}))"
    texts = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        texts.add(
            subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True).stdout
        )
    assert len(texts) == 1


def test_a_dataclass_comes_back_through_its_constructor_with_every_bit():
    design = Design(np.array([0.1, 0.2, 0.3]))
    back = loads(dumps(design))
    assert type(back) is Design
    assert same(back.weights, design.weights)
    assert not back.weights.flags.writeable
    assert same(back.total, design.total)


def test_bits_moved_by_a_constructor_that_rescales_are_restored():
    moved = 0
    for seed in range(200):
        design = Design(np.random.default_rng(seed).random(5))
        moved += not same(Design(design.weights).weights, design.weights)
        assert same(loads(dumps(design)).weights, design.weights)
    assert moved > 0


def test_a_damaged_dataclass_is_refused_by_its_own_constructor():
    data = encode(Design(np.array([1.0, 2.0])))
    data["fields"]["weights"]["shape"] = [1, 2]
    with pytest.raises(DecodeError, match="one-dimensional"):
        decode(data)
    del data["fields"]["name"]
    with pytest.raises(DecodeError, match="fields of"):
        decode(data)


@pytest.mark.parametrize("graph_type", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(6))
def test_a_graph_keeps_the_order_of_its_nodes_and_neighbours(graph_type, seed):
    rng = np.random.default_rng(seed)
    graph = graph_type(name="random", limit=Fraction(1, 3))
    for tail, head in rng.integers(0, 8, (40, 2)).tolist():
        if graph.has_edge(tail, head) and rng.random() < 0.5:
            graph.remove_edge(tail, head)
        else:
            graph.add_edge(tail, head, weight=rng.random())
    back = loads(dumps(graph))
    assert type(back) is graph_type
    assert back.graph == graph.graph
    assert [(n, list(a)) for n, a in back.adj.items()] == [(n, list(a)) for n, a in graph.adj.items()]
    assert {n: dict(a) for n, a in back.adj.items()} == {n: dict(a) for n, a in graph.adj.items()}
    if graph.is_directed():
        assert [(n, list(a)) for n, a in back.pred.items()] == [(n, list(a)) for n, a in graph.pred.items()]


def test_a_graph_with_edited_tables_loses_no_edge():
    graph = nx.cycle_graph(3)
    graph._adj[0] = dict(reversed(graph._adj[0].items()))
    graph._adj[1] = dict(reversed(graph._adj[1].items()))
    graph._adj[2] = dict(reversed(graph._adj[2].items()))
    for permuted in (graph, nx.complete_graph(5)):
        assert nx.utils.graphs_equal(loads(dumps(permuted)), permuted)


def test_a_graph_of_another_class_is_refused():
    with pytest.raises(TypeError, match=r"value is a graph of class OrderedGraph.*convert"):
        dumps(type("OrderedGraph", (nx.Graph,), {})())


def test_recipes_and_hashes_are_values():
    recipe = Recipe("slug.table", {"rows": 3, "fill": Fraction(1, 2)}, seed=2**70)
    assert loads(dumps((recipe,))) == (recipe,)
    assert dumps(Recipe("a", {"x": 1, "y": 2})) == dumps(Recipe("a", {"y": 2, "x": 1}))
    assert loads(dumps(ContentHash("net", "0" * 64))) == ContentHash("net", "0" * 64)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), "value has type builtins.object, which is not data"),
        ({"f": [lambda: 0]}, r"value\['f'\]\[0\] has type builtins.function"),
        (Mutable(1), "must be frozen"),
        (np.ma.masked_array([1, 2], [0, 1]), "MaskedArray"),
        (np.longdouble(1), "dtype float128|dtype longdouble"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dtype datetime64"),
        (np.zeros(2, dtype=[("a", "f8")]), "which is not data"),
        (Fraction, "which is not data"),
        (type("Local", (tuple,), {})(), "which is not data"),
    ],
)
def test_what_is_not_data_is_refused_by_name(value, message):
    with pytest.raises(TypeError, match=message):
        encode(value)


def test_a_class_inside_a_function_is_refused():
    @dataclasses.dataclass(frozen=True)
    class Local:
        value: int

    with pytest.raises(TypeError, match="defined inside a function"):
        encode(Local(1))


def test_big_tables_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"value\[1\] is an array of shape \(1000, 1000\).*Recipe or a ContentHash"):
        encode([0, np.zeros((1000, 1000))])
    with pytest.raises(ValueError, match="Recipe"):
        encode(b"0" * 2_000_000)


def test_a_value_that_contains_itself_is_refused():
    loop: list[object] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="contains itself"):
        encode(loop)


@pytest.mark.parametrize(
    "address",
    [
        "subprocess:Popen",
        "os:system",
        "whp.theory:__builtins__",
        "whp.theory_evil:X",
        "whp.theory.:X",
        ":",
        "builtins:eval",
        f"{__name__}:np.ndarray",
        f"{__name__}:Fraction",
        f"{__name__}:same",
        f"{__name__}:Missing",
    ],
)
@pytest.mark.parametrize("tag", ["dataclass", "enum", "flag"])
def test_decoding_reaches_no_class_outside_the_allowed_namespaces(address, tag):
    with pytest.raises(DecodeError):
        decode({"!": tag, "type": address, "fields": {}, "name": "RED", "value": 1})


def test_decoding_does_not_import_foreign_modules():
    assert "this" not in sys.modules
    with pytest.raises(DecodeError, match="outside the allowed namespaces"):
        decode({"!": "dataclass", "type": "this:Zen", "fields": {}})
    assert "this" not in sys.modules


def test_encoding_refuses_what_could_not_be_decoded():
    from hypothesis.core import Example  # a frozen or plain class of another package

    with pytest.raises(TypeError, match=r"outside the allowed namespaces|not data"):
        encode(Example((), {}))


@pytest.mark.parametrize(
    "text", ["", "NaN", "[1,", '{"!":"nothing"}', "{}", '{"!":"fraction","ratio":[1,0]}', "[" * 100_000]
)
def test_malformed_text_raises_decode_error(text):
    with pytest.raises(DecodeError):
        loads(text)


@pytest.mark.parametrize("prefix", ["", "a b", "os.", 3])
def test_a_namespace_must_be_a_dotted_name(prefix):
    with pytest.raises(ValueError, match="dotted module name"):
        allow_namespace(prefix)

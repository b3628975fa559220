import hashlib

import numpy as np
import pytest

from whp.proofs_checks.engine.evidence import ContentHash, Recipe, content, dumps, loads, materialise, recipe

STORE = {}


@recipe("test_recipes.table")
def table(rng, rows, columns=2):
    return rng.random((rows, columns))


@content("test_recipes.store", parse=lambda data: np.frombuffer(data, dtype="<f8"))
def fetch(sha256):
    return STORE[sha256]


def test_a_recipe_builds_the_same_instance_after_a_round_trip():
    order = Recipe("test_recipes.table", {"rows": 3}, seed=5)
    first, second = materialise(order), materialise(loads(dumps(order)))
    assert first.shape == (3, 2)
    assert first.tobytes() == second.tobytes()
    assert not np.array_equal(first, materialise(Recipe("test_recipes.table", {"rows": 3}, seed=6)))


def test_materialise_reaches_into_containers_and_leaves_the_rest_alone():
    order = Recipe("test_recipes.table", {"rows": 1})
    plain = (1, ["a"], {"b": 2.0})
    assert materialise(plain) == plain
    built = materialise((order, {"t": [order]}))
    assert built[0].shape == built[1]["t"][0].shape == (1, 2)


def test_content_is_fetched_by_its_hash_and_compared():
    data = np.arange(3.0).tobytes()
    reference = ContentHash.of("test_recipes.store", data)
    assert reference.sha256 == hashlib.sha256(data).hexdigest()
    STORE[reference.sha256] = data
    assert materialise(reference).tolist() == [0.0, 1.0, 2.0]
    STORE[reference.sha256] = data + b"!"
    with pytest.raises(ValueError, match="fetched bytes with sha256"):
        materialise(reference)


def test_an_unknown_recipe_says_what_to_do():
    with pytest.raises(ValueError, match=r"no recipe is registered as 'no_such_paper.x'; import the module"):
        materialise(Recipe("no_such_paper.x", {}))
    with pytest.raises(ValueError, match="no content loader is registered as 'absent'"):
        materialise(ContentHash("absent", "0" * 64))


def test_a_name_has_one_holder_but_may_be_reloaded():
    recipe("test_recipes.table")(table)
    with pytest.raises(ValueError, match="already registered by"):
        recipe("test_recipes.table")(lambda rng: 0)
    with pytest.raises(ValueError, match="already registered by"):
        content("test_recipes.store", parse=bytes)(lambda sha256: b"")


@pytest.mark.parametrize("name", ["", "a b", "a.", "../x", 3])
def test_malformed_names_are_refused(name):
    with pytest.raises(ValueError, match="dotted identifiers"):
        Recipe(name, {})


@pytest.mark.parametrize("seed", [-1, 0.5, True, None])
def test_malformed_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="nonnegative int"):
        Recipe("a", {}, seed)


def test_malformed_hashes_are_refused():
    with pytest.raises(ValueError, match="64 lower-case hexadecimal digits"):
        ContentHash("a", "F" * 64)

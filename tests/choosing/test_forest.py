"""Forests: a small one by hand, and those that come with the package."""

import io
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import blobs
from edfkmeans.choosing.evidence import evidence
from edfkmeans.choosing.forest import Forest

FORESTS = ("one", "agreement", "near")
# Bytes that a wheel can bear.
MOST = 1_000_000

# Of the nodes of three trees: number asked, threshold, left, right, value. The last tree is a leaf.
NODES = [
    (0, 0.5, 1, 2, 1.0),
    (0, 0.0, 1, 1, -1.0),
    (1, 2.0, 3, 4, 3.0),
    (0, 0.0, 3, 3, 1.5),
    (0, 0.0, 4, 4, 5.0),
    (1, -1.0, 6, 7, 0.5),
    (0, 0.0, 6, 6, 0.25),
    (0, 0.0, 7, 7, 2.0),
    (0, 0.0, 8, 8, 0.125),
]


def forest(nodes=NODES, roots=(0, 5, 8), names=("a", "b")):
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return Forest(
        np.array(roots, np.int32),
        np.array(feature, np.int16),
        np.array(threshold, np.float32),
        np.array(left, np.int32),
        np.array(right, np.int32),
        np.array(value, np.float32),
        names,
    )


def descended(nodes, root, row):
    """Where a row ends, and the steps to there, by a plain loop."""
    at, steps = root, []
    while nodes[at][2] != at:
        asked, threshold, left, right, value = nodes[at]
        to = left if row[asked] <= threshold else right
        steps.append((asked, nodes[to][4] - value))
        at = to
    return nodes[at][4], steps


def test_trees_add_up():
    values, parts = forest().of({"a": [0.0, 1.0, 1.0], "b": [-2.0, 0.0, 3.0]})
    np.testing.assert_array_equal(values, [-1 + 0.25 + 0.125, 1.5 + 2 + 0.125, 5 + 2 + 0.125])
    np.testing.assert_array_equal(parts, [[-2.0, -0.25], [2.0, -1.5 + 1.5], [2.0, 2.0 + 1.5]])


def test_a_number_at_the_threshold_goes_left():
    values, _ = forest(roots=(0,)).of(
        {"a": [0.5, np.nextafter(np.float32(0.5), np.float32(1))], "b": [0, 0]}
    )
    np.testing.assert_array_equal(values, [-1.0, 1.5])


def test_a_tree_that_is_a_leaf_says_the_same_of_all():
    values, parts = forest(roots=(8,)).of({"a": [0.0, 9.0], "b": [1.0, -9.0]})
    np.testing.assert_array_equal(values, [0.125, 0.125])
    assert not parts.any()


def test_one_row_may_come_as_plain_numbers():
    values, parts = forest().of({"b": 3.0, "a": 1.0, "not asked": np.nan})
    assert values.tolist() == [7.125]
    assert parts.shape == (1, 2)


NUMBERS = st.floats(-4, 4, width=32)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=5))
def test_a_value_is_that_of_the_roots_and_its_parts(rows):
    whole = forest()
    first, second = zip(*rows, strict=True)
    values, parts = whole.of({"a": first, "b": second})
    np.testing.assert_allclose(values, whole.value[whole.roots].sum() + parts.sum(axis=1))
    for row, value, part in zip(rows, values, parts, strict=True):
        ends = [descended(NODES, root, row) for root in whole.roots]
        assert value == sum(end for end, _ in ends)
        for number in (0, 1):
            steps = [step for _, taken in ends for asked, step in taken if asked == number]
            assert part[number] == sum(steps)


# Those of the package


@pytest.fixture(scope="module")
def stored():
    content = (files("edfkmeans.choosing") / "judge.npz").read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as found:
        return len(content), {name: found[name] for name in found.files}


@pytest.fixture(scope="module")
def seen():
    return evidence(blobs(3)[0], 6, random_state=0)[0]


def test_the_model_is_small_and_plain(stored):
    size, arrays = stored
    assert size <= MOST
    assert all(array.dtype.kind in "ifU" for array in arrays.values())
    fields = ("roots", "feature", "threshold", "left", "right", "value", "names")
    assert set(arrays) >= {f"{name}_{field}" for name in FORESTS for field in fields}


@pytest.mark.parametrize("name", FORESTS)
def test_every_forest_can_be_walked(name):
    found = Forest.load(name)
    nodes = np.arange(len(found.value))
    for array in (found.feature, found.threshold, found.left, found.right):
        assert array.shape == nodes.shape
    leaf = found.left == nodes
    np.testing.assert_array_equal(found.right[leaf], nodes[leaf])
    for child in (found.left, found.right):
        assert (child[~leaf] > nodes[~leaf]).all()
        assert child.max() < len(nodes)
    assert found.feature.min() >= 0
    assert found.feature.max() < len(found.names)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.threshold).all()
    assert (np.diff(found.roots) > 0).all()
    assert found.roots[0] == 0
    assert found.roots[-1] < len(nodes)


@pytest.mark.parametrize("name", FORESTS)
def test_no_tree_reaches_into_the_next(name):
    found = Forest.load(name)
    ends = np.append(found.roots[1:], len(found.value))
    tree = np.searchsorted(found.roots, np.arange(len(found.value)), side="right") - 1
    assert (np.maximum(found.left, found.right) < ends[tree]).all()
    # Every node but the roots is the child of one other.
    inner = found.left != np.arange(len(found.value))
    children = np.concatenate([found.left[inner], found.right[inner]])
    others = np.setdiff1d(np.arange(len(found.value)), found.roots)
    np.testing.assert_array_equal(np.sort(children), others)


def test_forests_ask_what_evidence_tells(seen):
    assert sorted(Forest.load("one").names) == sorted(seen.whole)
    for name in ("agreement", "near"):
        assert sorted(Forest.load(name).names) == sorted(seen.curves)


@pytest.mark.parametrize("name", FORESTS)
def test_what_is_said_is_the_sum_of_its_parts(name, seen):
    found = Forest.load(name)
    values, parts = found.of(seen.whole if name == "one" else seen.curves)
    assert np.isfinite(values).all()
    base = found.value[found.roots].sum(dtype=float)
    np.testing.assert_allclose(values, base + parts.sum(axis=1), rtol=1e-5, atol=1e-5)

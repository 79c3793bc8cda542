"""What is odd about columns is found, whatever their units, and what is not odd is left alone."""

import numpy as np
import pytest

from conftest import blobs
from edfkmeans import select_k
from edfkmeans.cli import remedies as command_line
from edfkmeans.rows.findings import REMEDIES, findings_of, remarks_of
from edfkmeans.rows.shapes import skewed_columns

N = 400


def normal(seed=0, d=2, n=N):
    return np.random.default_rng(seed).normal(size=(n, d))


def with_column(column):
    return np.column_stack([normal(), column])


def far():
    column = normal(3, 1)[:, 0]
    column[17] = 900.0
    return column


RNG = np.random.default_rng(1)
ODD = {
    "number": RNG.permutation(np.arange(10_001, 10_001 + N)),
    "skewed": RNG.lognormal(sigma=1.2, size=N),
    "tails": RNG.standard_t(1.5, size=N),
    "far": far(),
    "copy": 2.54 * normal()[:, 0] + 3,
    "near": normal()[:, 0] + 0.1 * normal(5)[:, 1],
    "rare": np.arange(N) % 100 == 0,
    "constant": np.full(N, 7.0),
    "two": np.arange(N) % 2,
    "few": np.clip(np.rint(RNG.normal(3, 1, N)), 1, 5),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("form", ["as it is", "standardised", "float32"])
def test_each_is_found_in_any_unit(kind, form):
    X = with_column(np.asarray(ODD[kind], float))
    if form != "as it is":
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    found = findings_of(X.astype(np.float32) if form == "float32" else X)
    by_kind = {each.kind: each.columns for each in found if each.kind != "scales"}
    assert by_kind.pop(kind) == (2,)
    assert not by_kind or (kind, set(by_kind)) == ("tails", {"far"})
    assert {each.kind for each in findings_of(normal())} == set()


def test_the_mirror_of_a_skewed_column_has_no_logarithm():
    assert [each.kind for each in findings_of(with_column(-ODD["skewed"]))] == ["tails"]
    negative = findings_of(with_column(ODD["skewed"]), may_log=lambda column: False)
    assert [each.kind for each in negative] == ["tails"]


@pytest.mark.parametrize(
    "X",
    [
        np.concatenate([normal(0, 2, 950), normal(1, 2, 50) + 30]),  # a small group is no tail
        np.random.default_rng(0).random((100, 3)),
        np.random.default_rng(0).laplace(size=(1000, 2)),
        blobs(4, n=50)[0],
    ],
    ids=["small group", "uniform", "laplace", "groups"],
)
def test_what_is_not_odd_is_left_alone(X):
    assert findings_of(X) == ()


def test_numbers_of_rows_by_name_and_by_size():
    rng = np.random.default_rng(0)
    gaps = np.sort(rng.choice(5000, N, replace=False)).astype(float)
    names = ["a", "b", "user_id"]
    assert [e.kind for e in findings_of(with_column(gaps), names)] == ["number", "scales"]
    assert [e.kind for e in findings_of(with_column(gaps), ["a", "b", "income"])] == ["scales"]
    hashes = rng.choice(2**50, N, replace=False).astype(float)
    assert findings_of(with_column(hashes))[0].kind == "number"
    few = np.column_stack([normal(n=8), np.arange(8)])
    assert [each.kind for each in findings_of(few)] == ["number"]


def test_scales_are_compared_and_few_columns_have_all(wine):
    from sklearn.datasets import load_wine

    (found,) = select_k(load_wine().data, 4, random_state=0).findings
    assert (found.kind, found.columns) == ("scales", (12,))
    remark = select_k(load_wine(as_frame=True).data, 4, random_state=0).remarks[-1]
    assert "'proline' alone has 99.8 % of the variance" in remark
    assert "StandardScaler" in remark
    assert select_k(wine, 4, random_state=0).findings == ()
    # Most columns of an image share a unit, and a border that hardly varies is no matter.
    image = normal(d=30)
    image[:, :3] *= 1e-4
    assert findings_of(image) == ()
    body = normal(d=4) * [5.0, 2.0, 14.0, 800.0]  # millimetres and grams
    (found,) = findings_of(body)
    assert (found.kind, found.columns) == ("scales", (3,))


def test_words_name_columns_rows_and_what_to_do():
    X = np.column_stack([ODD["number"], ODD["far"], ODD["two"], ODD["two"]])
    names = ["key", "x", "p", "q"]
    remarks = remarks_of(findings_of(X, names), names)
    assert remarks[0].startswith("'key' numbers the rows")
    assert remarks[0].endswith("Leave 'key' out of X.")
    assert "Row 17 (counted from 0) lies far from all others in 'x'" in " ".join(remarks)
    assert any("'q' is 'p'. They count twice. Leave 'q' out" in each for each in remarks)
    assert any(each.startswith("'p', 'q' have two values") for each in remarks)
    assert set(REMEDIES) >= {each.kind for each in findings_of(X, names)}


@pytest.mark.parametrize("remedies", [REMEDIES, command_line.REMEDIES])
def test_one_column_alone_is_not_added_up(remedies):
    assert "Add up" in remedies["few"](["p", "q"])
    alone = remedies["few"](["p"])
    assert "Add up" not in alone
    assert alone[0].isupper()


def test_a_column_that_is_nearly_skewed_goes_along_with_those_that_are():
    mild = np.exp(0.3 * normal(8)[:, 0])
    assert findings_of(with_column(mild)) == ()
    both = np.column_stack([normal()[:, 0], mild, ODD["skewed"]])
    assert skewed_columns(both).tolist() == [False, True, True]
    (found,) = (each for each in findings_of(both) if each.kind == "skewed")
    assert found.columns == (1, 2)


def test_columns_that_go_together_by_nature_are_no_matter():
    waves = np.sin(np.arange(30) / 20 + normal(d=1) * 2)
    assert findings_of(waves + 0.01 * normal(d=30)) == ()
    few = np.array([[1, 2], [2, 4.1], [3, 6], [4, 7.9]])
    assert "near" not in {each.kind for each in findings_of(few)}


def test_one_row_far_out_makes_no_columns_alike():
    X = normal()[:, :2]
    X[3] = 500, -400
    assert [(each.kind, each.beside) for each in findings_of(X)] == [("far", (3,))]
    copied = np.column_stack([X, 7 - 2 * X[:, 0]])
    (copy,) = (each for each in findings_of(copied) if each.kind == "copy")
    assert (copy.columns, copy.beside) == ((2,), (0,))
    copied[:, 2] += normal(1)[:, 0] / 50
    (near,) = (each for each in findings_of(copied) if each.kind == "near")
    assert (near.columns, near.beside) == ((2,), (0,))


def test_a_few_odd_columns_of_very_many_are_no_matter():
    X = normal(d=60)
    X[:, 5] = ODD["two"]
    assert findings_of(X) == ()
    assert skewed_columns(np.exp(2 * X[:, :6])).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("value", [1e308, 1e-308])
def test_the_ends_of_the_range_of_a_float(value):
    with np.errstate(all="raise", under="ignore"):
        kinds = {each.kind for each in findings_of(with_column(ODD["skewed"] / 99 * value))}
    assert "skewed" in kinds


def test_the_cluster_of_a_single_row_is_told():
    X, _ = blobs(2, n=40)
    X[7] = 900
    found = select_k(X, 6, random_state=0).with_k(3, X)
    assert found.path.sizes(3).tolist() == [40, 39, 1]
    assert found.labels[7] == 2
    alone, far = found.remarks
    assert alone.startswith("Cluster 2 is a single row: row 7 (counted from 0), far from all")
    assert far.startswith("Row 7 (counted from 0) lies far from all others")
    X[3] = -900
    found = select_k(X, 6, random_state=0).with_k(4, X)
    (told,) = [r for r in found.remarks if "single rows" in r]
    named = "row 3 (counted from 0), row 7 (counted from 0)"
    assert f"2 of the 4 clusters are single rows: {named}, far from all others." in told
    assert told.endswith("Look at them, and choose again without them.")

"""Evidence: finite whatever the rows, and free of scale, seed and threads."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import blobs
from edfkmeans import fit_path, select_k
from edfkmeans.choosing.evidence import ABSENT, evidence
from edfkmeans.choosing.judge import _WORDS as WORDS
from edfkmeans.choosing.judge import verdict

few = settings(max_examples=settings.default.max_examples // 6)
SEEDS = st.integers(0, 2**32 - 1)


def mostly_constant(rng):
    """Columns that are 0 but in a few rows, beside one that is not."""
    X = np.zeros((90, 4))
    X[:, 0] = rng.normal(size=90)
    X[:5, 1], X[80:, 2], X[40, 3] = 1.0, rng.normal(size=10), -7.0
    return X


NASTY = {
    "ordinary": lambda rng: blobs(3)[0],
    "a cloud": lambda rng: rng.normal(size=(70, 3)),
    "one column": lambda rng: rng.normal(size=(60, 1)),
    "columns constant in part": mostly_constant,
    "duplicates": lambda rng: np.repeat(rng.normal(size=(9, 2)), 12, axis=0),
    "whole numbers": lambda rng: rng.integers(0, 4, size=(120, 3)),
    "two values": lambda rng: rng.random((80, 6)) < 0.3,
    "more columns than rows": lambda rng: rng.normal(size=(12, 50)),
    "five distinct rows": lambda rng: np.repeat(rng.normal(size=(5, 2)), 10, axis=0),
    "four rows": lambda rng: rng.normal(size=(4, 2)),
    "five rows in a line": lambda rng: np.arange(5.0)[:, None],
    "a row far away": lambda rng: np.r_[rng.normal(size=(50, 2)), [[1e9, 1e9]]],
    "huge": lambda rng: blobs(3)[0] * 1e150,
    "tiny": lambda rng: blobs(3)[0] * 1e-150,
    "far from zero": lambda rng: rng.normal([1e8, 0], 1.0, size=(50, 2)),
    "columns of many scales": lambda rng: rng.normal(size=(60, 4)) * [1e-9, 1.0, 1e3, 1e9],
    "heavy tails": lambda rng: rng.standard_cauchy(size=(80, 2)),
    "single precision": lambda rng: blobs(3)[0].astype(np.float32),
    "a lattice": lambda rng: np.stack(np.meshgrid(range(8), range(7)), -1).reshape(-1, 2),
}


def numbers(found):
    """All numbers of some evidence, a row for each name."""
    curves = pd.DataFrame(found.curves).T
    whole = pd.Series(found.whole)
    return curves, whole


def check(found, path):
    curves, whole = numbers(found)
    assert curves.shape[1] == path.k_max
    for each in (curves, whole):
        assert np.isfinite(each).all(axis=None)
        assert (each.abs() <= 1e4).all(axis=None)
        assert each.index.str.fullmatch(r"\w+\.\w+").all()
        assert set(each.index.str.split(".").str[0]) <= set(WORDS)
    said = verdict(found)
    assert ((said.confidence >= 0) & (said.confidence <= 1)).all(axis=None)
    assert np.isfinite(said.weights).all(axis=None)
    assert list(said.weights.columns) == list(WORDS)


@pytest.mark.parametrize("name", NASTY)
def test_evidence_is_finite(name):
    X = NASTY[name](np.random.default_rng(0))
    check(*evidence(X, random_state=0, n_jobs=1))


@few
@given(SEEDS, st.integers(6, 30), st.integers(1, 4), st.sampled_from([0, 1, 3]))
def test_evidence_of_any_rounded_rows_is_finite(seed, n, d, digits):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)) * 2, digits)
    if len(np.unique(X, axis=0)) >= 4:
        check(*evidence(X, random_state=0, n_jobs=1))


def test_names_do_not_hang_on_the_data(wine):
    first = evidence(wine, 8, random_state=0)[0]
    for name in ("one column", "four rows", "more columns than rows"):
        found = evidence(NASTY[name](np.random.default_rng(0)), random_state=0)[0]
        assert list(found.curves) == list(first.curves)
        assert list(found.whole) == list(first.whole)
        assert list(found.table) == list(first.table)


def test_what_there_is_none_of_is_marked():
    curves = evidence(blobs(3)[0], 6, random_state=0)[0].curves
    for name in ("silhouette.mean", "saddle.mean", "stability.halves", "gap.box_step"):
        assert curves[name][0] == ABSENT
        assert (curves[name][1:] != ABSENT).all()


@pytest.mark.parametrize("scale", [1e6, 1e-6, 1e100])
@pytest.mark.parametrize("name", ["ordinary", "a cloud", "duplicates", "columns constant in part"])
def test_scale_changes_nothing(name, scale):
    """Not even where rows that are clusters of their own lie on the border of two bins."""
    X = NASTY[name](np.random.default_rng(0)).astype(float)
    plain, other = (numbers(evidence(one, random_state=0)[0]) for one in (X, X * scale))
    for mine, theirs in zip(plain, other, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-6, atol=1e-7)


def test_scale_changes_nothing_on_wine(wine):
    plain, *others = (evidence(wine * s, random_state=0)[0] for s in (1.0, 1e6, 1e-6))
    for other in others:
        for mine, theirs in zip(numbers(plain), numbers(other), strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=1e-6, atol=1e-7)


def test_a_power_of_two_changes_the_last_digits_at_most(wine):
    plain, other = (numbers(evidence(wine * s, 8, random_state=0)[0]) for s in (1.0, 2.0**30))
    for mine, theirs in zip(plain, other, strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_the_last_digit_of_standardised_columns_changes_nothing(k):
    """Their spreads are 1 but for rounding, which no forest may lean on."""
    X, _ = blobs(k, n=40)
    frame = pd.DataFrame(X)
    ways = [(X - X.mean(axis=0)) / X.std(axis=0), (frame - frame.mean()) / frame.std(ddof=0)]
    first, second = (verdict(evidence(one, random_state=5)[0]).confidence for one in ways)
    np.testing.assert_allclose(first, second, rtol=1e-9)


@pytest.mark.parametrize("n", [120, 6000])
def test_the_seed_and_the_threads_change_nothing_on_the_same_fits(n):
    X = np.random.default_rng(0).normal(size=(n, 2))
    X[: n // 3] += 3
    path = fit_path(X, 6, random_state=0)
    first, *others = (
        select_k(X, path=path, random_state=seed, n_jobs=jobs).confidence
        for seed, jobs in ((0, 1), (1, 1), (7, 2), (None, 2))
    )
    for other in others:
        pd.testing.assert_frame_equal(other, first, check_exact=True)


def test_threads_change_no_number(wine):
    plain, other = (numbers(evidence(wine, 8, random_state=0, n_jobs=n)[0]) for n in (1, 2))
    for mine, theirs in zip(plain, other, strict=True):
        np.testing.assert_array_equal(theirs, mine)


def test_evidence_is_what_select_k_judges_by(wine):
    found, path = evidence(wine, random_state=3)
    selection = select_k(wine, path=path)
    pd.testing.assert_frame_equal(verdict(found).confidence, selection.confidence)
    for name, values in found.table.items():
        np.testing.assert_array_equal(selection.table[name], values)


# What must come of it


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_three_far_blobs_are_three(d):
    X, _ = blobs(3, n=40, d=d, gap=20.0)
    assert select_k(X, random_state=0).k == 3


@pytest.mark.parametrize("k", [2, 3, 5])
def test_rows_given_twice_leave_the_answer(k):
    X, _ = blobs(k, n=50)
    assert select_k(np.vstack([X, X]), random_state=0).k == select_k(X, random_state=0).k == k


@few
@given(SEEDS, st.integers(2, 5))
def test_the_order_of_rows_and_columns_leaves_the_answer(seed, k):
    X, _ = blobs(k, n=40)
    rng = np.random.default_rng(seed)
    shuffled = X[rng.permutation(len(X))][:, rng.permutation(X.shape[1])]
    assert select_k(shuffled, random_state=0, n_jobs=1).k == k

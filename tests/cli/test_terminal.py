"""What the terminal shows: no number is cut, and what a reader would stumble over is explained."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from conftest import blobs
from edfkmeans import select_k
from edfkmeans.choosing.candidates import Candidate
from edfkmeans.cli.preparing import prepare
from edfkmeans.cli.terminal import show_selection


def prepared_rows(unit=1.0, weights=None):
    X, _ = blobs(3, n=60)
    frame = pd.DataFrame(X * unit, columns=["x", "y", "z"])
    return prepare(frame, "t.csv", scale="none", weights=weights)


def shown(selection, prepared, capsys, monkeypatch, columns=80):
    monkeypatch.setenv("COLUMNS", str(columns))
    show_selection(selection, prepared)
    return capsys.readouterr().out


@pytest.mark.parametrize("method", ["judge", "paper"])
@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-9])
def test_no_number_is_cut(unit, method, capsys, monkeypatch):
    prepared = prepared_rows(unit)
    found = select_k(prepared.X, 30, method=method, random_state=0)
    for columns in (30, 60, 80, 120):
        text = shown(found, prepared, capsys, monkeypatch, columns)
        assert "…" not in text
        lines = text[text.index("\n  k  ") + 1 :].splitlines()
        table = [line for line in lines if line[:4].strip().isdigit() or line.startswith("  k ")]
        assert len(table) == 31
        gone = [name for name in ("df", "inertia", "silhouette", "near") if name not in table[0]]
        for line, (_, row) in zip(table[1:], found.table.iterrows(), strict=True):
            assert len(line) <= columns or (columns == 30 and "inertia" in gone)
            assert f"{row['inertia']:.6g}" in line or "inertia" in gone
            assert f" {row['bic']:.1f} " in line
        if method == "judge":
            assert bool(gone) == (columns < 80)
            assert ("No room for df" in text) == bool(gone)


def test_weights_are_not_called_rows(capsys, monkeypatch):
    plain = prepared_rows()
    weights = pd.Series(np.random.default_rng(0).uniform(0.5, 2, 180), name="w")
    for prepared, noun in (
        (plain, "Rows"),
        (prepared_rows(weights=weights), "Weight"),
        (prepared_rows(weights=weights.round() + 1), "Weight"),
    ):
        found = select_k(prepared.X, 4, sample_weight=prepared.weights, random_state=0)
        assert f"\n{noun} in each: " in shown(found, prepared, capsys, monkeypatch)


def test_a_higher_rated_k_is_explained(capsys, monkeypatch):
    prepared = prepared_rows()
    found = select_k(prepared.X, 6, random_state=0)
    assert found.k == 3
    confidence = found.confidence.copy()
    confidence.loc[[4, 5], "agreement"] = confidence.loc[3, "agreement"] + np.array([0.01, -0.01])
    candidates = tuple(Candidate(k, 0.0, 0.0, f"reason of {k}") for k in (4, 5))
    found = replace(found, confidence=confidence, candidates=candidates)
    text = shown(found, prepared, capsys, monkeypatch)
    why = "(higher by at most 0.02: of such k the smallest from 2 on is taken)"
    assert f"  k = 4: reason of 4 {why}\n" in text
    assert "  k = 5: reason of 5\n" in text
    own = found.with_k(2, prepared.X)  # which was asked for, and needs no reason
    assert why not in shown(own, prepared, capsys, monkeypatch)


def test_what_is_not_listed_is_told(capsys, monkeypatch):
    prepared = prepared_rows()
    found = select_k(prepared.X, 12, random_state=0)
    candidates = tuple(Candidate(k, 0.0, 0.0, f"reason of {k}") for k in (4, 5, 6, 7, 8, 9))
    shares = pd.Series({3: 0.7, 9: 0.2, 8: 0.05})
    found = replace(found, candidates=candidates, resamples=shares)
    text = shown(found, prepared, capsys, monkeypatch)
    assert [k for k in range(4, 10) if f"  k = {k}: reason of {k}\n" in text] == [4, 5, 6, 7, 9]
    assert "  and 1 more, in the table and the report\n" in text
    found = replace(found, candidates=candidates[:4], resamples=None)
    assert " more, in the table" not in shown(found, prepared, capsys, monkeypatch)

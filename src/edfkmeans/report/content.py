"""Content: what the script of a report draws from, small whatever the number of rows."""

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from edfkmeans._spreadsheets import harmless
from edfkmeans.fits.flow import flow
from edfkmeans.fits.profiles import principal_axes, scores, spread
from edfkmeans.profiles import (
    Rule,
    describe,
    descriptions,
    explained,
    quantiles,
    restored,
    shown_centers,
)
from edfkmeans.rows.units import Floats, Values
from edfkmeans.selection import AMBIGUOUS, Selection
from edfkmeans.soundness import Soundness

Restore = Callable[[Any], Any]

# Rows in the scatter plot: more would hide each other, and make the page large.
SHOWN_ROWS = 1200
# Columns in the profiles, as many as a screen is wide, and those whose distributions are drawn.
SHOWN_COLUMNS, DRAWN_COLUMNS = 24, 6
# What is drawn of a distribution: its middle, its middle half, and nine tenths of it.
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
# Characters that the clusters of all rows may take in the page, for all k together.
_MOST_CHARACTERS = 1_200_000
# Part by which steps differ, or how many times each is the one before, that is no rounding error.
_UNEVEN = 0.01
MEASURES = {
    "agreement": ("expected agreement", "higher is better"),
    "bic": ("BIC", "lower is better"),
    "silhouette_above": ("silhouette above reference", "higher is better"),
    "dof": ("degrees of freedom", ""),
    "inertia": ("inertia", "falls with every cluster"),
}


def content(
    selection: Selection,
    values: Values | None,
    names: Sequence[str],
    ids: Sequence[Any],
    restore: Restore | None,
    sound: Mapping[int, Soundness],
    dates: Sequence[str] = (),
) -> dict[str, Any]:
    """Collect what the script draws from."""
    path, ks = selection.path, range(1, selection.k_max + 1)
    columns = _telling_columns(selection, values)
    bent = _bent(selection, values, restore)
    data: dict[str, Any] = {
        "k": selection.k,
        "others": [candidate.k for candidate in selection.candidates],
        "measures": {
            name: [_number(value) for value in selection.table[name]]
            for name in MEASURES
            if name in selection.table
        },
        "labels": {name: " – ".join(filter(None, words)) for name, words in MEASURES.items()},
        "sizes": [path.sizes(k).round(1).tolist() for k in ks],
        "columns": [names[j] for j in columns],
        "dated": [names[j] in dates for j in columns],
        "bent": [bent[j] for j in columns],
        "hidden": len(names) - len(columns),
        "centers": [],
        "scores": [],
        "flows": [_flow(selection, k) for k in ks[:-1]],
        "points": None,
        "rows": None,
        "differences": None,
        "closely": {},
    }
    for k in ks:
        shown = shown_centers(path, k, restore)[:, columns]
        data["centers"].append(_short(shown, dated=data["dated"]))
        data["scores"].append(_short(scores(path, k)[:, columns], 2))
    if values is not None:
        data["points"] = _points(selection, values, ids)
        data["differences"] = _differences(selection, values, names, columns, restore, dates)
        data["closely"] = {
            str(k): _closely(selection, values, names, restore, each, dates)
            for k, each in sound.items()
        }
    if path.kept_rows is None:
        data["rows"] = _rows(selection, ids)
    return data


def _telling_columns(selection: Selection, values: Values | None) -> list[int]:
    """Find the columns in which the clusters differ most, in their order.

    Without the rows, or with one cluster, those in which the clusters of the finest fit do.
    """
    path = selection.path
    if values is None or selection.k == 1:
        telling = spread(path)
    else:
        telling = explained(path, selection.k, path.as_counted(values))
    return sorted(np.argsort(-telling, kind="stable")[:SHOWN_COLUMNS].tolist())


def _bent(selection: Selection, values: Values | None, restore: Restore | None) -> list[str]:
    """Say of every column what was clustered, if equal steps of that are not so in units shown.

    Its means are then not those of the numbers. An empty text where they are.
    """
    given = selection.path.centers(selection.path.k_max + 1) if values is None else values
    if restore is None:
        return [""] * given.shape[1]
    low, high = given.min(axis=0).astype(np.float64), given.max(axis=0).astype(np.float64)
    steps = np.diff(np.asarray(restore(np.linspace(low, high, 5)), np.float64), axis=0)
    found = []
    for own in steps.T:
        if np.ptp(own) <= _UNEVEN * np.abs(own).max():
            found.append("")
        elif (own == 0).any() or np.ptp(own[1:] / own[:-1]) > _UNEVEN * abs(own[1] / own[0]):
            found.append("transformed values")
        else:
            found.append("logarithms")  # each step is as many times the one before
    return found


def _differences(
    selection: Selection,
    values: Values,
    names: Sequence[str],
    columns: list[int],
    restore: Restore | None,
    dates: Sequence[str],
) -> list[dict[str, Any]]:
    """Tell for every k what the clusters are like, and draw the columns that tell most."""
    path, found = selection.path, []
    values = path.as_counted(values)
    for k in range(1, selection.k_max + 1):
        parts = explained(path, k, values)[columns]
        first = np.argsort(-parts, kind="stable")[:DRAWN_COLUMNS].tolist()
        drawn = [columns[j] for j in first]
        labels = path.as_counted(path.labels(k))
        spreads = quantiles(values[:, drawn], labels, k, LEVELS)
        flat = spreads.reshape(-1, len(drawn))
        low, high = flat.min(axis=0), flat.max(axis=0)
        ticks = restored(np.array([low, (low + high) / 2, high]), drawn, values, restore)
        found.append(
            {
                "words": descriptions(path, k, values, names, restore),
                "explained": [round(float(part), 4) for part in parts],
                "first": first,
                # By column, cluster and level: where they lie between the least and the largest,
                # in the units that were clustered. So logarithms stay apart that their numbers
                # would crowd; the ends and the middle of the axis are told in the units shown.
                "quantiles": [
                    _short(column)
                    for column in np.moveaxis(
                        (spreads - low) / np.where(high > low, high - low, 1), 2, 0
                    )
                ],
                "ticks": np.transpose(
                    _short(ticks, dated=[names[j] in dates for j in drawn])
                ).tolist(),
            }
        )
    return found


def _closely(
    selection: Selection,
    values: Values,
    names: Sequence[str],
    restore: Restore | None,
    sound: Soundness,
    dates: Sequence[str],
) -> dict[str, Any]:
    """Give the rules and the soundness of the clusters for a k that is looked at closely."""
    profiles = describe(selection, values, sound.k, names=names, restore=restore)
    return {
        "rules": [
            each.rule and [_in_words(each.rule, dates), each.rule.precision, each.rule.coverage]
            for each in profiles.clusters
        ],
        "sound": list(sound.words),
        "unsound": list(sound.unsound),
        "single": list(sound.single),
        "between": [int(count) for count in sound.table["between"]],
    }


def _flow(selection: Selection, k: int) -> dict[str, Any]:
    """List the rows that go from cluster to cluster, as [from, to, rows], and say it in words."""
    found = flow(selection.path, k)
    cells = np.argwhere(found.counts > 0).tolist()
    return {"rows": [[c, e, int(found.counts[c, e])] for c, e in cells], "words": found.words}


def _rows(selection: Selection, ids: Sequence[Any]) -> dict[str, Any] | None:
    """Pack the ids and the clusters of all rows for every k; None where that takes too much room.

    Rows that have been together for all k look alike, so that zlib packs them well.
    """
    ks = range(1, selection.k_max + 1)
    labels = np.stack([selection.path.labels(k) for k in ks], axis=1)
    numbered = isinstance(ids, range)
    names = [] if numbered else [harmless(str(name)) for name in ids]
    packed = {
        "id": harmless(str(getattr(ids, "name", None) or "row")),
        "ids": _packed(json.dumps(names).encode()),
        "labels": _packed(labels.astype("<u2").tobytes()),
    }
    return packed if sum(map(len, packed.values())) <= _MOST_CHARACTERS else None


def _packed(content: bytes) -> str:
    return b64encode(zlib.compress(content, 9)).decode("ascii")


def _points(selection: Selection, X: Values, ids: Sequence[Any]) -> dict[str, Any]:
    """Place a sample of the rows on two principal components, with their clusters for every k."""
    path = selection.path
    n = len(X)
    rows = np.arange(n)
    if n > SHOWN_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n, SHOWN_ROWS, replace=False))
    many = X if n <= 20_000 else X[np.sort(np.random.default_rng(1).choice(n, 20_000, False))]
    axes, shares = principal_axes(many)
    places = np.asarray((X[rows] - X.mean(axis=0, dtype=np.float64)) @ axes, np.float64)
    if places.shape[1] == 1:  # one column: spread the rows over the height, by their order
        places = np.column_stack([places, np.linspace(-1, 1, len(rows)) * np.ptp(places) / 4])
    size = float(np.abs(places).max()) or 1.0
    between = selection.ambiguity[rows] > AMBIGUOUS
    named = list(ids)
    return {
        "rows": n,
        "places": np.round(1000 * places / size).astype(int).tolist(),
        "ids": [str(named[row]) for row in rows],
        "between": np.flatnonzero(between).tolist(),
        "clusters": [path.labels(k)[rows].tolist() for k in range(1, selection.k_max + 1)],
        "explained": [round(100 * float(share)) for share in shares],
    }


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if np.isfinite(value) else None


def _short(values: Floats, digits: int = 4, dated: Sequence[bool] = ()) -> list[list[float]]:
    """Shorten numbers, but those of columns of dates, of which every day counts."""
    kept = [10 if day else digits for day in dated] or [digits] * values.shape[1]
    return [[float(f"{value:.{n}g}") for value, n in zip(row, kept, strict=True)] for row in values]


def _in_words(rule: Rule, dates: Sequence[str]) -> str:
    """Say a rule, with dates as dates."""
    conditions = [str(each) for each in rule.conditions]
    for nth, each in enumerate(rule.conditions):
        if each.column in dates:
            day = np.datetime64(0, "D") + np.timedelta64(int(np.floor(each.value)), "D")
            conditions[nth] = f"{each.column} {'>' if each.above else '<='} {day}"
    return " and ".join(conditions)

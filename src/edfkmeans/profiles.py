"""Profiles: what makes the clusters differ, in numbers and in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.fit import inertia_of
from edfkmeans.fits.path import KMeansPath, same_sum, single_precision
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import check_numeric
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Values
from edfkmeans.selection import Selection

Restore = Callable[[Any], Any]
Mask = npt.NDArray[np.bool_]

# Standard deviations of a column that a cluster's mean is above or below that of all rows, from
# which on it is called high or low, and very high or very low.
SLIGHTLY_HIGH, HIGH, VERY_HIGH = 0.2, 0.5, 1.5
# Columns in a description: the ones that tell most.
_NAMED = 3
# Columns that the rule for a cluster is made of, and those that they are chosen from: columns that
# tell little of a cluster by themselves may tell much beside another.
_IN_RULES, _LOOKED_AT = 8, 64
# Conditions in a rule, and what each further one must add to be worth reading; a rule is none if
# fewer than half of the rows that it names are in the cluster.
_CONDITIONS, _WORTH, _PRECISE = 3, 0.01, 0.5
# Means this small beside the largest mean of their column are rounding errors.
_ROUNDING = 1e-12
# Rows of a cluster and of all others that a rule is looked for in; it is measured on all rows.
_ROWS_INSIDE, _ROWS_OUTSIDE = 5_000, 15_000
# Rows of each that are enough to choose columns by.
_ROWS_TO_CHOOSE = 2_000


@dataclass(frozen=True)
class Condition:
    """One condition of a rule: a column is above a value, or at most that."""

    column: str
    above: bool
    value: float

    def __str__(self) -> str:
        return f"{self.column} {'>' if self.above else '<='} {self.value:.12g}"


@dataclass(frozen=True)
class Rule:
    """Conditions that tell a cluster from the others, and how well they do.

    Attributes
    ----------
    conditions : tuple of Condition
        All of them hold for a row that the rule names.
    precision : float
        Part of the rows that the rule names that are in the cluster.
    coverage : float
        Part of the rows of the cluster that the rule names.
    """

    conditions: tuple[Condition, ...]
    precision: float
    coverage: float

    def __str__(self) -> str:
        return " and ".join(map(str, self.conditions))


@dataclass(frozen=True)
class Profile:
    """One cluster: how many rows it has, what it is like, and a rule for it, if there is one."""

    cluster: int
    size: int
    description: str
    rule: Rule | None


@dataclass(frozen=True, repr=False, eq=False)
class Profiles:
    """What makes the clusters of one fit differ.

    Attributes
    ----------
    k : int
    explained : Series
        For every column the part of its variance that the clusters explain, the highest first.
    means : DataFrame of shape (k, n_features)
        The mean of every column in every cluster, columns in the same order, in the units shown. Of
        a column that was clustered in logarithms, it is the mean of these, turned back.
    clusters : tuple of Profile
        The clusters in words and rules, the largest first.
    """

    k: int
    explained: pd.Series
    means: pd.DataFrame
    clusters: tuple[Profile, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain numbers, words and lists, ready for JSON."""
        return {
            "columns": [
                {"name": str(name), "explained": float(part)}
                for name, part in self.explained.items()
            ],
            "clusters": [_as_dict(profile) for profile in self.clusters],
        }

    def __repr__(self) -> str:
        lines = [f"Profiles of {self.k} clusters; columns by the variance explained:"]
        lines += [f"{name}: {100 * part:.0f} %" for name, part in self.explained.head(5).items()]
        for each in self.clusters:
            lines.append(f"cluster {each.cluster} ({each.size} rows): {each.description}")
            if each.rule is not None:
                lines.append(
                    f"  {each.rule} (precision {each.rule.precision:.2f}, "
                    f"coverage {each.rule.coverage:.2f})"
                )
        return "\n  ".join(lines)


def describe(
    selection: Selection,
    X: Any,
    k: int | None = None,
    *,
    names: Sequence[str] | None = None,
    restore: Restore | None = None,
) -> Profiles:
    """Tell what makes the clusters differ.

    Columns are ranked by the part of their variance that the clusters explain. A cluster is
    described by the columns in which its mean is far from that of all rows: half a standard
    deviation or more is "high" or "low", one and a half "very high" or "very low"; of a column of 0
    and 1, in the units shown, the part of ones is told: "97 % member". Of clusters with the same
    words it is said in which column they differ most. A rule of at most three conditions comes from
    a shallow decision tree that tells the cluster from the other rows, by the columns that tell
    most of it; its precision and coverage are counted over all rows. Where fewer than half of the
    rows that it names would be in the cluster, there is none.

    Parameters
    ----------
    selection : Selection
    X : array-like of shape (n_samples, n_features)
        The data that were given to `select_k`.
    k : int, optional
        The fit to look at, by default the chosen one.
    names : sequence of str, optional
        The columns; by default those of the data frame that was clustered, or their numbers.
    restore : callable, optional
        Brings rows into the units to show means and rules in, column by column, such as
        ``inverse_transform`` of the scaler that X comes from.

    Returns
    -------
    Profiles

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.profiles import describe
    >>> X = load_iris(as_frame=True).data
    >>> found = describe(select_k(X, 8, random_state=0), X, k=3)
    >>> found.explained.round(2).head(2)
    petal length (cm)    0.94
    petal width (cm)     0.90
    dtype: float64
    >>> print(found.clusters[1].description)
    low petal length (cm), low petal width (cm), low sepal length (cm)
    >>> rule = found.clusters[1].rule
    >>> len(rule.conditions), rule.precision, rule.coverage
    (1, 1.0, 1.0)
    """
    k = selection.k if k is None else check_whole("k", k, 1)
    if k > selection.k_max:
        raise ValueError(f"k={k} is more than k_max={selection.k_max}. Give a smaller k.")
    values, names = check_shown(selection, X, names)
    path = selection.path
    values = path.as_counted(values)
    parts = explained(path, k, values)
    order = np.argsort(-parts, kind="stable")
    shown = shown_centers(path, k, restore)
    ordered = [names[j] for j in order]
    words = descriptions(path, k, values, names, restore)
    rules: list[Rule | None] = [None] * k
    if k > 1:
        far = np.argsort(-np.abs(_away(path, k, values)), axis=1, kind="stable")
        labels = path.as_counted(path.labels(k))
        rules = [_rule(values, labels == c, far[c, :_LOOKED_AT], names, restore) for c in range(k)]
    sizes = path.sizes(k).tolist()
    return Profiles(
        k=k,
        explained=pd.Series(parts[order], index=ordered),
        means=pd.DataFrame(shown[:, order], columns=ordered).rename_axis("cluster"),
        clusters=tuple(Profile(c, sizes[c], words[c], rules[c]) for c in range(k)),
    )


def check_shown(
    selection: Selection, X: Any, names: Sequence[str] | None
) -> tuple[Values, list[str]]:
    """Return the rows of a selection as a matrix, and the names of its columns."""
    if names is None:
        names = [str(name) for name in getattr(X, "columns", selection.columns)]
    values = in_metric(check_numeric(X), selection.path.metric)
    if len(values) != selection.path.n_rows:
        raise ValueError(
            f"X has {len(values)} rows, but the selection was made with "
            f"{selection.path.n_rows}. Give the same X."
        )
    d = selection.centers.shape[1]
    if len(names) != d:
        raise ValueError(f"names has {len(names)} entries, but X has {d} columns.")
    _check_same(selection, values)
    return values, list(names)


def _check_same(selection: Selection, values: Values) -> None:
    """Refuse other rows of the same shape in memory: their sum of squares is another one.

    With weights it is not looked for: what the path says is of weighed rows.
    """
    path, k = selection.path, selection.k
    weighed = path.spread is not None and path.spread.weights is not None
    if weighed or path.kept_rows is not None:
        return
    labels = np.asarray(selection.labels).astype(np.int32)
    with Threads(1) as pool:
        own = inertia_of(np.asarray(values, np.float64), labels, selection.centers, pool)
    expected = float(path.inertia[k - 1])
    rounding = single_precision(selection.centers)
    slack = float(np.sqrt(len(values)) * np.linalg.norm(rounding) + 1e-6 * path.inertia[0] ** 0.5)
    if np.isfinite(own) and not same_sum(own, expected, 1e-3, slack):
        raise ValueError(
            f"The rows of X have a sum of squares of {own:.6g} about the centres of their "
            f"clusters, not {expected:.6g}: they are others, or in another order. Give the X of "
            "the selection."
        )


def shown_centers(path: KMeansPath, k: int, restore: Restore | None) -> Floats:
    """Return the centres in the units to show; what is 0 but for rounding is 0."""
    both = [path.centers(k), path.centers(path.k_max)]
    if restore is not None:
        both = [np.asarray(restore(centers), np.float64) for centers in both]
    shown, finest = both
    return np.where(np.abs(shown) < _ROUNDING * np.abs(finest).max(axis=0), 0.0, shown)


def explained(path: KMeansPath, k: int, values: Values) -> Floats:
    """Return the part of every column's variance that the clusters explain, from 0 to 1."""
    variance = values.var(axis=0, dtype=np.float64)
    weights = path.sizes(k) / path.n_samples
    centers = path.centers(k)
    between = weights @ (centers - weights @ centers) ** 2
    return np.where(variance > 0, np.minimum(between / np.where(variance > 0, variance, 1.0), 1), 0)


def descriptions(
    path: KMeansPath, k: int, values: Values, names: Sequence[str], restore: Restore | None = None
) -> list[str]:
    """Say of every cluster in which columns it is far from the mean, the farthest first."""
    if k == 1:
        return ["all rows"]
    centers, away = path.centers(k), _away(path, k, values)

    @cache
    def ones(j: int) -> Floats | None:
        return _part_of_ones(values, j, centers[:, j], restore)

    words = [_description(row, c, names, ones) for c, row in enumerate(away)]
    kinds = [frozenset(each.split(", ")) for each in words]  # in any order
    for kind in set(kinds):
        same = [c for c in range(k) if kinds[c] == kind]
        if len(same) > 1:
            for c, more in zip(same, _told_apart(away[same], same, names), strict=True):
                words[c] += more
    return words


def _away(path: KMeansPath, k: int, values: Values) -> Floats:
    """Return how far clusters are from the mean of each column, in its standard deviations."""
    spread = values.std(axis=0, dtype=np.float64)
    away = path.centers(k) - values.mean(axis=0, dtype=np.float64)
    return np.asarray(away / np.where(spread > 0, spread, 1.0))


def _told_apart(away: Floats, clusters: list[int], names: Sequence[str]) -> list[str]:
    """Say of clusters that look alike in words in which column they differ most."""
    said = []
    for row in away:
        j = int(np.abs(away - row).max(axis=0).argmax())
        other = int(np.abs(away[:, j] - row[j]).argmax())
        more = "higher" if row[j] > away[other, j] else "lower"
        far = abs(row[j] - away[other, j]) >= SLIGHTLY_HIGH
        said.append(f", {more} {names[j]} than cluster {clusters[other]}" if far else "")
    return said


def _description(
    away: Floats, cluster: int, names: Sequence[str], ones: Callable[[int], Floats | None]
) -> str:
    order = np.argsort(-np.abs(away), kind="stable").tolist()
    far = [j for j in order[:_NAMED] if abs(away[j]) >= HIGH]
    words = []
    for j in far or [j for j in order[:2] if abs(away[j]) >= SLIGHTLY_HIGH]:
        parts = ones(j)
        how = "high" if away[j] > 0 else "low"
        if parts is not None:
            how = f"{100 * parts[cluster]:.0f} %"
        elif not far:
            how = f"slightly {how}"
        elif abs(away[j]) >= VERY_HIGH:
            how = f"very {how}"
        words.append(f"{how} {names[j]}")
    return ", ".join(words) or "near the mean in every column"


def _part_of_ones(
    values: Values, j: int, centers: Floats, restore: Restore | None
) -> Floats | None:
    """Return the part of ones in every cluster, of a column of 0 and 1 in the units to show."""
    column = values[:, j]
    low, high = column.min(), column.max()
    for rows in (column[:100], column):
        if not ((rows == low) | (rows == high)).all():
            return None
    ends = np.repeat(np.asarray(values[:1], np.float64), 2, axis=0)
    ends[:, j] = low, high
    shown = ends if restore is None else np.asarray(restore(ends), np.float64)
    if low == high or not np.allclose(shown[:, j], [0, 1], atol=1e-9):
        return None
    return np.asarray(np.clip((centers - low) / (float(high) - float(low)), 0, 1))


def quantiles(values: Values, labels: Labels, k: int, levels: Sequence[float]) -> Floats:
    """Return quantiles of the columns in every cluster, as an array (k, levels, columns)."""
    order = np.argsort(labels, kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(labels, minlength=k))[:-1])
    found = [np.quantile(np.asarray(part, np.float64), levels, axis=0) for part in parts]
    return np.stack(found)


def _rule(
    values: Values,
    inside: Mask,
    columns: npt.NDArray[np.intp],
    names: Sequence[str],
    restore: Restore | None,
) -> Rule | None:
    """Find the best short rule for a cluster among the nodes of a shallow tree.

    Of many columns a few are chosen first, for this cluster: those that a tree of a part of the
    rows uses, then those in which the cluster is far from the mean, which is how they come.
    """
    rng = stream(0, Purpose.RULES)

    def drawn(numbers: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
        many = len(numbers) > most
        return np.sort(rng.choice(numbers, most, replace=False)) if many else numbers

    own = drawn(np.flatnonzero(inside), _ROWS_INSIDE)
    others = drawn(np.flatnonzero(~inside), _ROWS_OUTSIDE)
    if len(columns) > _IN_RULES:
        few = np.concatenate([drawn(rows, _ROWS_TO_CHOOSE) for rows in (own, others)])
        used = _tree(values, inside, few, columns)[0].feature
        first = columns[np.unique(used[used >= 0])]
        columns = np.concatenate([first, columns[~np.isin(columns, first)]])[:_IN_RULES]
    nodes, thresholds = _tree(values, inside, np.concatenate([own, others]), columns)
    best: tuple[float, dict[tuple[int, bool], float], Mask] | None = None
    waiting: list[tuple[int, dict[tuple[int, bool], float], Mask]] = [
        (0, {}, np.ones(len(values), np.bool_))
    ]
    while waiting:
        node, limits, named = waiting.pop()
        if limits and named.any():
            hits = int((named & inside).sum())
            f1 = 2 * hits / (int(named.sum()) + int(inside.sum()))
            precise = hits >= _PRECISE * int(named.sum())
            if precise and (best is None or f1 - _WORTH * len(limits) > best[0]):
                best = (f1 - _WORTH * len(limits), limits, named)
        if nodes.children_left[node] < 0:
            continue
        j = int(columns[nodes.feature[node]])
        threshold = float(thresholds[node])
        above = values[:, j] > threshold
        # A second limit on the same side of a column takes the place of the first.
        for child, side, rows in (
            (nodes.children_right[node], True, above),
            (nodes.children_left[node], False, ~above),
        ):
            waiting.append((int(child), limits | {(j, side): threshold}, named & rows))
    if best is None:
        return None
    _, limits, named = best
    hits = int((named & inside).sum())
    return Rule(
        tuple(
            Condition(names[j], side, _short_limit(values, j, threshold, restore))
            for (j, side), threshold in limits.items()
        ),
        precision=hits / int(named.sum()),
        coverage=hits / int(inside.sum()),
    )


def _tree(
    values: Values, inside: Mask, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> tuple[Any, Floats]:
    """Grow a tree, as deep as a rule is long, that tells a cluster from the others.

    Returns its nodes, and their thresholds in the units of the values. The tree itself sees columns
    that reach from -1 to 1: it reckons in single precision, and takes 1e-7 for nothing.
    """
    from sklearn.tree import DecisionTreeClassifier

    some = values[np.ix_(rows, columns)].astype(np.float64)
    low, high = some.min(axis=0), some.max(axis=0)
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    half[half == 0] = 1.0
    tree = DecisionTreeClassifier(max_depth=_CONDITIONS, class_weight="balanced", random_state=0)
    nodes = tree.fit((some - middle) / half, inside[rows]).tree_
    columns_used = np.maximum(nodes.feature, 0)  # leaves have none
    return nodes, nodes.threshold * half[columns_used] + middle[columns_used]


def _short_limit(values: Values, j: int, threshold: float, restore: Restore | None) -> float:
    """Return the shortest number that parts the values of a column as a threshold does."""
    column = values[:, j]
    above = column > threshold
    ends = np.array([column[~above].max(), column[above].min()], np.float64)
    low, high = map(float, restored(ends[:, None], [j], values, restore)[:, 0])
    middle = low + (high - low) / 2
    for digits in range(1, 17):
        short = float(f"{middle:.{digits}g}")
        if low <= short < high:
            return short
    return middle


def restored(
    points: Floats, columns: Sequence[int], values: Values, restore: Restore | None
) -> Floats:
    """Bring values of some columns into the units to show; the other columns are at their means."""
    if restore is None:
        return points
    rows = np.tile(values.mean(axis=0, dtype=np.float64), (len(points), 1))
    rows[:, columns] = points
    return np.asarray(restore(rows), np.float64)[:, columns]


def _as_dict(profile: Profile) -> dict[str, Any]:
    rule = profile.rule
    return {
        "cluster": profile.cluster,
        "size": profile.size,
        "description": profile.description,
        "rule": None
        if rule is None
        else {
            "text": str(rule),
            "conditions": [
                {"column": each.column, "above": each.above, "value": each.value}
                for each in rule.conditions
            ],
            "precision": rule.precision,
            "coverage": rule.coverage,
        },
    }

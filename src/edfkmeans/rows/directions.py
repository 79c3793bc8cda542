"""Directions: rows scaled to length one, of which the angles between them are all that is left.

Of two such rows the squared distance is ``2 - 2 cos``. So the inertia of k-means is, for every
cluster, the sum over its pairs of rows of ``2 - 2 cos``, divided by its size: a function of the
cosines alone. That takes centres that are means and nothing else. They lie inside the sphere, the
nearer to its surface the closer the rows of the cluster are together; scaled to length one, which
changes no direction, they would not be what the inertia, the degrees of freedom and all criteria
are about.
"""

from typing import Any, NoReturn

import numpy as np

from edfkmeans._choices import METRICS, Metric
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.checks import NotFiniteError
from edfkmeans.rows.units import Values

# Rows that are scaled at a time.
_BLOCK = 16384
# Rows without a direction that an error names, and what to do with them.
_NAMED = 5
_ADVICE = "Leave out such rows, e.g. X[X.any(axis=1)], and keep them as a group of their own."


def unit_rows(rows: Values, numbers: Any = None) -> Values:
    """Scale every row to length one; a row of zeros has no direction and is an error.

    `numbers` are those by which the error names rows, where they are not the first ones.
    """
    scaled = unit_rows_or_none(rows)
    if np.isposinf(scaled).any():
        _refuse_zeros(rows, numbers)
    return scaled


def unit_rows_or_none(rows: Values) -> Values:
    """Scale every row to length one; rows of zeros become infinite, which nothing else does.

    Part of the rows do not know their numbers: `refuse_bad` tells of such rows when all are seen.
    """
    scaled = np.empty_like(rows)
    for first in range(0, len(rows), _BLOCK):
        part = rows[first : first + _BLOCK]
        # Squares of very large or small numbers would leave the range of a float.
        size = np.abs(part).max(axis=1, keepdims=True, initial=0.0).astype(np.float64)
        none = size == 0
        shorter = part / np.where(none, 1.0, size)
        length = np.where(none, 1.0, np.linalg.norm(shorter, axis=1, keepdims=True))
        scaled[first : first + _BLOCK] = np.where(none, np.inf, shorter / length)
    return scaled


def in_metric(rows: Values, metric: Metric, numbers: Any = None) -> Values:
    """Return rows as a metric sees them."""
    return unit_rows(rows, numbers) if metric == "cosine" else rows


def check_metric(metric: Any, path: Any) -> Metric:
    """Return the metric to use: that of a path where there is one."""
    check_one_of("metric", metric, METRICS)
    made = getattr(path, "metric", metric)
    if metric != made and metric != METRICS[0]:
        raise ValueError(
            f"metric={metric!r}, but path was fitted with metric={made!r}. Leave metric out, or "
            "fit a path with it."
        )
    asked: Metric = made
    return asked


def refuse_bad(error: NotFiniteError) -> NoReturn:
    """Tell about values that are not finite among rows from `unit_rows_or_none`."""
    bad, columns = error.bad, error.columns
    rows = bad.count // len(columns)  # all values of such a row are what one of them is
    if bad.nan:
        zeros = " or nothing but zeros" * bad.infinite
        raise ValueError(
            f"Input X contains NaN or infinity{zeros} in {rows} row{'s' * (rows > 1)}, the first "
            f"being row {bad.row} ({bad.where}). Drop those rows or fill them, e.g. with "
            "sklearn.impute.SimpleImputer."
        ) from None
    told = "" if rows == 1 else f", the first of {rows} such rows,"
    raise ValueError(
        f"metric='cosine' compares directions, and row {bad.row} ({bad.where}){told} holds nothing "
        f"but zeros: it has none. {_ADVICE}"
    ) from None


def _refuse_zeros(rows: Values, numbers: Any) -> None:
    zeros = np.flatnonzero(~rows.any(axis=1))
    zeros = zeros if numbers is None else np.asarray(numbers)[zeros]
    named = ", ".join(map(str, zeros[:_NAMED])) + (" ..." if len(zeros) > _NAMED else "")
    told = "1 row holds" if len(zeros) == 1 else f"{len(zeros)} rows hold"
    has = "has" if len(zeros) == 1 else "have"
    raise ValueError(
        f"metric='cosine' compares directions, and {told} nothing but zeros, which {has} none: "
        f"{named} (counted from 0). {_ADVICE}"
    )

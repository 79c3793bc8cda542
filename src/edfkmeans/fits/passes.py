"""Passes over rows that are not in memory: fits refined by Lloyd's algorithm, all together.

Fits begin on the sample, with all that can be done in memory. Then all of them, whatever their k,
go on together: one pass gives every row to the nearest centre of every fit that still moves, and
only counts, sums and sums of squares come back. Rows are added as whole numbers, so that centres,
and with them labels, do not depend on how rows are cut into chunks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from edfkmeans.fits.fit import Fit, counted, fit_of_labels
from edfkmeans.rows.assignments import Known, Nearest
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.tasks import Tally, products
from edfkmeans.rows.units import Floats

# Part of the inertia: a fit is done when moving its centres saved no more than this.
_ENOUGH = 1e-5
# Passes, at most; the fits of the sample are near enough that most need two or three.
MAX_PASSES = 10
# Where passes take little time: how many there are at most, the part that centres go on beyond
# their means, of what the means have moved by, and the part of the inertia a pass has to save.
_QUICK_PASSES, _FURTHER, _LITTLE = 16, 0.95, 1e-9
# Part of the number of rows: weights that add up to it but for so much do.
_ROUNDING = 1e-9


def refine(rows: Rows, starts: Sequence[Floats]) -> tuple[list[Fit], Floats | None]:
    """Take fits down on all rows, all together in one pass after another, from their centres.

    Returns the fits and the sum of the products of columns, over all rows; None where there are
    more columns than rows.
    """
    fits: dict[int, Fit] = {}
    moving = dict(enumerate(starts))
    found_products = None
    most, further, enough = MAX_PASSES, 0.0, _ENOUGH
    if rows.quick is not None:
        most, further, enough = _QUICK_PASSES, _FURTHER, _LITTLE
    for number in range(1, most + 1):
        tallies = [Tally(Nearest(centers), centers) for centers in moving.values()]
        with_products = number == 1 and rows.n_samples >= len(rows.units.mean)
        tasks: list[Any] = [*tallies, products] if with_products else tallies
        sums = rows.sums(tasks, f"pass {number}")
        if with_products:
            found_products = sums.pop()
        for tally, which, found in zip(tallies, list(moving), sums, strict=True):
            _check_count(found.sizes.sum(), rows.n_samples)
            before = fits.get(which)
            if found.sizes.min() == 0:
                # Centres that drift apart may leave one without rows; the fit before had none.
                if before is None:
                    _check_count(0, rows.n_samples)
                del moving[which]
                continue
            means = found.means
            saved = float(found.sizes @ ((means - tally.centers) ** 2).sum(axis=1))
            # About the new centres: exact, and rounding must not make it negative.
            inertia = max(found.inertia - saved, 0.0)
            if further and before is not None and inertia >= before.inertia:
                # It went too far: on from the best, unless that is where it comes from.
                moving[which] = before.centers
                if tally.centers is before.centers:
                    del moving[which]
                continue
            fits[which] = Fit(tally.assignment, means, found.sizes, inertia)
            moving[which] = means
            if further and before is not None:
                saved = before.inertia - inertia
                moving[which] = means + further * (means - before.centers)
            if saved <= enough * inertia:
                del moving[which]
        if not moving:
            break
    return [counted(fits[which], rows) for which in range(len(starts))], found_products


def _check_count(found: Any, n: int) -> None:
    if abs(found - n) > (_ROUNDING * n if isinstance(found, float) else 0):
        raise ValueError(
            "X did not give the same rows when it was read again. Make it so that it does, e.g. by "
            "X.persist() if it fits, or by writing it to Parquet first."
        )


def fits_in_sample(rows: Rows, fits: Sequence[Fit], starts: Sequence[Fit]) -> list[Fit]:
    """Return the fits of all rows as clusterings of the sample that they were started on."""
    sample, quick = rows.sample, rows.quick
    found: list[Fit] = []
    if quick is not None:
        sums = quick.sums([Tally(fit.assignment, fit.centers) for fit in fits])
        labels_of = quick.labels([fit.assignment for fit in fits])
        for fit, start, each, labels in zip(fits, starts, sums, labels_of, strict=True):
            if each.sizes.min() == 0:
                (labels,) = quick.labels([start.assignment])
                found.append(fit_of_labels(sample.values, labels, fit.k))
                continue
            means = each.means
            saved = float(each.sizes @ ((means - fit.centers) ** 2).sum(axis=1))
            inertia = max(each.inertia - saved, 0.0)
            found.append(Fit(Known(labels), means, each.sizes, inertia))
        return found
    for fit, start in zip(fits, starts, strict=True):
        labels = sample.per_row(fit.assignment.on, np.int32)
        # No row of the sample may be in a small cluster any more. A clustering of the sample with
        # an empty cluster is of no use: the one that was found on the sample is taken instead.
        empty = np.bincount(labels, minlength=fit.k).min() == 0
        found.append(start if empty else fit_of_labels(sample.values, labels, fit.k))
    return found


def fits_of_labels(rows: Rows, **labels: Any) -> tuple[Rows, list[Fit]]:
    """Return the fits that known labels stand for, and the rows with which they hold."""
    rows, known = rows.labelled(**labels)
    values, weights = rows.points
    if rows.sample is rows or weights is not None:
        held = [(each.labels, k) for each, k in known if isinstance(each, Known)]
        fits = [fit_of_labels(values, own, k, weights) for own, k in held]
        return rows, [counted(fit, rows) for fit in fits]
    assignments, ks = zip(*known, strict=True)
    centers = [np.zeros((k, len(rows.units.mean))) for k in ks]
    # Two passes: sums of squares about other points than the centroids would lose digits.
    for _ in range(2):
        sums = rows.sums(list(map(Tally, assignments, centers)))
        centers = [each.means for each in sums]
    for name, each in zip(labels, sums, strict=True):
        if each.sizes.min() == 0:
            raise ValueError(
                f"{name} has a cluster of which every row has weight 0. Leave those rows out, or "
                "give them the label of another cluster."
            )
    found = zip(assignments, centers, sums, strict=True)
    return rows, [
        counted(Fit(a, means, each.sizes, each.inertia), rows) for a, means, each in found
    ]

"""Islands: small groups apart from a large cloud, which k-means may cut before it finds them.

One half of the rows says in which directions such groups may lie: where rows far from the middle
are near to each other. The other half, which had no say in that, is looked at along these lines.
"""

import numpy as np
import numpy.typing as npt
from scipy.special import log_ndtr

from edfkmeans._streams import STEADY, Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.reference import some_rows
from edfkmeans.rows.blocks import row_blocks
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

# Rows that say how the cloud is stretched, and components that are looked at.
_ROWS, _COMPONENTS = 1000, 40
# Part of the mean variance that is added to every component's: those of little are not blown up.
_RIDGE = 0.1
# Rows far from the middle: a part of all, between two bounds.
_FAR, _FAR_LEAST, _FAR_MOST = 20, 20, 150
# Rows beside a far one whose mean gives a direction, and directions that are tried.
_BESIDE, _TRIED = 4, 6
# Cosine: directions nearer than this are the same.
_SAME = 0.9
# Rows of an island in half of the rows: at least, and at most.
_LEAST, _MOST = 3, 400
# Robust standard deviations: where the tail of a line begins.
_TAIL = 2.0
# Numbers: so many places of rows along several axes are held at once.
_TOGETHER = 1_000_000
# What is told of the clearest island, see `_island`.
_TOLD = ("clear", "lone", "size", "place", "gap", "spread", "opposite", "grain")

Rounded = npt.NDArray[np.floating]
Numbers = npt.NDArray[np.int64]


def islands(rows: Rows, pool: Threads) -> dict[str, float]:
    """Describe the clearest island, the mean over the two halves, and the lesser clearness."""
    values = rows.units.only_varying(rows.sample.values)
    if len(values) < 4 * _FAR_LEAST:
        return dict.fromkeys((*_TOLD, "clear_in_both"), np.nan)
    order = stream(STEADY, Purpose.ISLANDS).permutation(len(values))
    halves = [order[half::2] for half in (0, 1)]
    axes = _axes(some_rows(rows, _ROWS, STEADY))
    middle = _middle(values, axes, pool)
    directions = pool.map(lambda half: _directions(values, half, axes, middle), halves)
    found = np.empty((2, len(_TOLD)))
    for half, others, lines in zip((0, 1), halves[::-1], directions, strict=True):
        places = list(_along(values, others, axes @ lines.T))
        found[half] = max(pool.map(_island, places))  # the clearest
        del places  # before there are those of the other half
    return dict(zip(_TOLD, map(float, found.mean(axis=0)), strict=True)) | {
        "clear_in_both": float(found[:, 0].min())
    }


def _axes(some: Floats) -> Floats:
    """Return the first principal axes of some rows, as long as makes all spread about alike."""
    n, d = some.shape
    if n < d:
        squares, left = np.linalg.eigh(some @ some.T)
        axes = some.T @ left[:, ::-1][:, :_COMPONENTS]
        axes /= np.maximum(np.linalg.norm(axes, axis=0), 1e-300)
    else:
        squares, axes = np.linalg.eigh(some.T @ some)
        axes = axes[:, ::-1][:, :_COMPONENTS]
    variances = np.maximum(squares[::-1][:_COMPONENTS], 0.0) / n
    scale = np.sqrt(variances + _RIDGE * variances.mean())
    return np.asarray(axes / np.maximum(scale, 1e-300))


def _along(values: Rounded, numbers: Numbers, axes: Floats) -> Floats:
    """Return where some rows lie along every axis, a row of places for each."""
    places = np.empty((axes.shape[1], len(numbers)))
    for block in row_blocks(len(numbers)):
        places[:, block] = (values[numbers[block]] @ axes).T
    return places


def _middle(values: Rounded, axes: Floats, pool: Threads) -> Floats:
    """Return the median along every axis; of many rows, few axes at a time are held."""
    together = max(1, _TOGETHER // len(values))
    parts = [axes[:, first : first + together] for first in range(0, axes.shape[1], together)]
    every = np.arange(len(values))
    medians = pool.map(
        lambda part: np.median(_along(values, every, part), axis=1, overwrite_input=True), parts
    )
    return np.concatenate(medians)


def _directions(values: Rounded, half: Numbers, axes: Floats, middle: Floats) -> Floats:
    """Return the directions of rows far from the middle that have others beside them."""
    lengths = np.empty(len(half))
    for block in row_blocks(len(half)):
        lengths[block] = ((values[half[block]] @ axes - middle) ** 2).sum(axis=1)
    many = int(np.clip(len(half) // _FAR, _FAR_LEAST, _FAR_MOST))
    far = values[half[np.argsort(-lengths, kind="stable")[:many]]] @ axes - middle
    squares = (far**2).sum(axis=1)
    away = np.sqrt(np.maximum(squares[:, None] + squares - 2 * far @ far.T, 0.0))
    beside = np.argsort(away, axis=1, kind="stable")[:, : _BESIDE + 1]
    # Where one row is repeated most of the time, some of the far ones are in the middle: the last.
    loose = np.full(len(far), np.inf)
    near = np.take_along_axis(away, beside, axis=1).mean(axis=1)
    np.divide(near, np.sqrt(squares), out=loose, where=squares > 0)
    means = far[beside].mean(axis=1)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-300)
    # In two columns rows at the edge of a large cloud are near to each other anyway: the farthest
    # are tried as well as those with the nearest others, in turn.
    in_turn = np.stack([np.argsort(loose, kind="stable"), np.arange(many)], axis=1).ravel()
    taken: list[int] = []
    for row in in_turn:
        if len(taken) < _TRIED and (not taken or (means[taken] @ means[row]).max() < _SAME):
            taken.append(int(row))
    return np.asarray(means[taken])


def _island(line: Floats) -> tuple[float, ...]:
    """Describe the rows beyond the clearest gap in the upper tail.

    Places are in robust standard deviations of the rows. In a normal tail the rows beyond a gap,
    times the step of the tail's log-probability over it, are an exponential number; "clear" is the
    largest. "lone" is the same for a tail that falls by a constant rate, whatever it is: times the
    gap, over the mean distance from where it begins. Then the logarithm of the number of rows, the
    mean place, the gap, the spread; how far the rows reach the other way; and the grain, the
    largest gap among the middle rows, which rounding leaves.
    """
    n = len(line)
    z = -np.sort(-line)
    middle = float(np.median(z))
    spread = 1.4826 * float(np.median(np.abs(z - middle))) or float(z.std()) or 1.0
    z = (z - middle) / spread
    grain = float(-np.diff(z[n // 10 : n // 2]).min())
    sizes = np.arange(_LEAST, min(n // 4, _MOST) + 1)
    sizes = sizes[z[sizes - 1] >= _TAIL]
    if not sizes.size:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, float(-z[-1]), grain)
    gaps = z[sizes - 1] - z[sizes]
    means = np.cumsum(z)[sizes - 1] / sizes
    clear = sizes * (log_ndtr(-z[sizes]) - log_ndtr(-z[sizes - 1]))
    best = int(np.argmax(clear))
    m = int(sizes[best])
    return (
        float(clear[best]),
        float(m * gaps[best] / max(means[best] - z[m], 1e-9)),
        float(np.log(m)),
        float(means[best]),
        float(gaps[best]),
        float(z[:m].std()),
        float(-z[-1]),
        grain,
    )

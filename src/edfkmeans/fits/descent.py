"""The descent of a clustering of rows in memory to a single-point optimum."""

import warnings
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from edfkmeans.engines.threads import Threads
from edfkmeans.fits.fit import Fit, inertia_of
from edfkmeans.kernels import hartigan, lloyd
from edfkmeans.rows.assignments import Known
from edfkmeans.rows.blocks import row_blocks, row_spans
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Floats, Values

Bounds = npt.NDArray[np.float32]
Singles = npt.NDArray[np.float32]

MAX_SWEEPS = 1000
# Values times centres: up to so many, a whole descent takes well below a second, and one call of
# a kernel does it. Beyond, sweeps are called one by one, and Ctrl-C is heard between them.
_LITTLE = 2**22
# Columns: rows with more are weighed by products with the centres, so many rows at a time.
_WIDE, _PIECE = 72, 1024


class Descent:
    """A clustering on its way down, with the bounds that spare most rows a look.

    See `edfkmeans.kernels.hartigan` for what the bounds mean.
    """

    def __init__(self, values: Values, weights: Floats | None = None) -> None:
        n = len(values)
        self.values = values
        self.weights = weights
        self.labels: Labels = np.empty(n, np.int32)
        self.upper: Bounds = np.full(n, np.inf, np.float32)
        self.lower: Bounds = np.zeros(n, np.float32)
        self.moves: float = n

    @classmethod
    def from_centers(
        cls, values: Values, centers: Floats, pool: Threads, weights: Floats | None = None
    ) -> Self:
        """Give every row to its nearest centre and begin from there."""
        descent = cls(values, weights)
        pool.map(
            lambda rows: lloyd.assign(values[rows], centers, descent.labels[rows]),
            row_blocks(len(values)),
        )
        descent.start(centers, np.ones(len(centers), np.int64 if weights is None else np.float64))
        return descent

    def start(self, old: Floats, old_sizes: Any) -> None:
        """Begin from `labels`; the bounds hold for the centres `old`."""
        self.centers = np.empty_like(old)
        self.sizes = np.empty_like(old_sizes)
        self.drift = np.empty(len(old))
        self.shrink = hartigan.start(
            self.values, self.weights, self.labels, old, old_sizes,
            self.centers, self.sizes, self.drift,
        )  # fmt: skip

    def run(
        self,
        pool: Threads,
        *,
        enough: int = 0,
        max_sweeps: int = MAX_SWEEPS,
        parts: int | None = None,
    ) -> float:
        """Sweep until at most `enough` rows move; returns the inertia.

        `parts` says for how many threads a sweep is work, where others use the pool beside it.
        """
        state = (self.labels, self.centers, self.sizes, self.upper, self.lower, self.drift)
        spans = row_spans(len(self.values), parts or pool.n_jobs)
        if len(spans) == 1 and self.values.size * len(self.centers) <= _LITTLE:
            inertia, self.moves, self.shrink = hartigan.descend(
                self.values, self.weights, *state, self.shrink, enough, max_sweeps
            )
            return float(inertia)
        # The same sweeps, with the scan of the rows shared out, and room for Ctrl-C between them.
        movers = np.empty(len(self.values), np.int64)
        for _ in range(max_sweeps):
            pool.check()
            found = pool.share(partial(self._scan, movers), spans)
            wanting = [movers[rows][:m] + rows.start for rows, m in zip(spans, found, strict=True)]
            want = np.concatenate(wanting)
            self.moves, self.shrink = hartigan.apply_moves(
                self.values, self.weights, want, len(want), *state
            )
            if self.moves <= enough:
                break
        lloyd.weighted_centroids(self.values, self.weights, self.labels, self.centers, self.sizes)
        return inertia_of(self.values, self.labels, self.centers, pool, self.weights)

    def _scan(self, movers: npt.NDArray[np.int64], rows: slice) -> int:
        values, labels, into = self.values[rows], self.labels[rows], movers[rows]
        w = None if self.weights is None else self.weights[rows]
        bounds = self.upper[rows], self.lower[rows]
        state = (labels, self.centers, self.sizes, *bounds, self.drift, self.shrink)
        if values.shape[1] <= _WIDE:
            return int(hartigan.scan(values, w, *state, into))
        k = len(self.sizes)
        changed, factor, every = np.empty(k, np.int64), np.empty(k), np.arange(k)
        count, many = hartigan.doubted(w, *state, changed, factor, into)
        for asked in (every,) if many == k else (changed[:many], every):
            fixed = w, labels, self.sizes, asked, factor, *bounds
            count = _weigh(
                self.single[rows], self.squares[rows], self.centers[asked], into[:count], *fixed
            )
        exactly = labels, self.centers, self.sizes, every, factor, *bounds
        return int(hartigan.weigh(values, w, into, count, *exactly))

    @cached_property
    def single(self) -> Singles:
        """The values in single precision, for products; fits of the same rows may share them."""
        return np.asarray(self.values, np.float32)

    @cached_property
    def squares(self) -> Floats:
        """Squared lengths of the rows."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values, dtype=np.float64))


def _weigh(
    single: Singles, squares: Floats, centers: Floats, rows: npt.NDArray[np.int64], *fixed: Any
) -> int:
    """Weigh wide rows against some centres; puts those in doubt first and returns how many."""
    center_squares = np.einsum("ij,ij->i", centers, centers)
    lost = 4 * single.shape[1] * np.finfo(np.float32).eps
    directions, left = centers.T.astype(np.float32), 0
    for first in range(0, len(rows), _PIECE):
        some = rows[first : first + _PIECE]
        products = single[some] @ directions
        found = hartigan.weigh_products(products, squares, center_squares, lost, some, *fixed)
        rows[left : left + found] = some[:found].copy()
        left += found
    return left


def fit_from_centers(
    values: Values,
    centers: Floats,
    pool: Threads,
    *,
    enough: int = 0,
    weights: Floats | None = None,
) -> Fit:
    """Give every row to its nearest centre, then descend to a single-point optimum.

    With `enough` above 0, only so far that no more than so many rows move in a sweep.
    """
    descent = Descent.from_centers(values, centers, pool, weights)
    inertia = descent.run(pool, enough=enough)
    if descent.moves > enough:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"A fit with {len(centers)} clusters still moved {descent.moves:.6g} rows after "
            f"{MAX_SWEEPS} sweeps.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Fit(Known(descent.labels), descent.centers, descent.sizes, inertia)

"""Terms: every row's part of the excess degrees of freedom, of rows in memory or in chunks."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from edfkmeans.backends.threads import Threads, row_blocks
from edfkmeans.chunked import (
    ChunkedFit,
    blocks_of,
    encode_chunked,
    fits_of_columns,
    read_chunked,
)
from edfkmeans.fit import Fit, Sizes, fit_of_labels
from edfkmeans.kernels import envelope, jumps
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.path import ChunkedPath, KMeansPath
from edfkmeans.table import Centring, Floats, Table, Values

Terms = Literal["paper", "exact"]
# How far from the pilot's mean, in its standard deviations, switches along the exact path count:
# for one fit, where the next term is below 1e-12, and for a whole path, where 1e-6 will do.
FAR, NEAR = 7.5, 5.0


def pilot_sigma(table: Table, pilot: Fit | ChunkedFit) -> float:
    """Return the standard deviation of the pilot's residuals, over the columns that vary."""
    if pilot.inertia <= 0:
        raise ValueError(
            f"The pilot with {len(pilot.sizes)} clusters fits X without any residual, so there is "
            "no noise to measure the degrees of freedom with. Use a pilot with fewer clusters "
            "(a lower k_max), or data with more distinct rows."
        )
    return math.sqrt(pilot.inertia / (table.n_samples * table.n_features))


@dataclass(frozen=True, eq=False)
class Jumps:
    """What a block of rows needs to know of a fit and the pilot to find its terms."""

    centers: Floats
    sizes: Sizes
    gaps: Floats
    pilot_centers: Floats
    sigma: float
    method: Terms
    reach: float

    @classmethod
    def of(
        cls,
        table: Table,
        fit: Fit | ChunkedFit,
        pilot: Fit | ChunkedFit,
        method: Terms,
        reach: float,
    ) -> "Jumps":
        """Take it from fits in the units of a table."""
        k = len(fit.sizes)
        gaps = np.empty((k, k))
        centers, pilot_centers = map(table.only_varying, (fit.centers, pilot.centers))
        jumps.center_gaps(centers, gaps)
        sigma = pilot_sigma(table, pilot)
        return cls(centers, fit.sizes, gaps, pilot_centers, sigma, method, reach)

    def terms(self, values: Values, labels: Any, pilot_labels: Any, out: Floats) -> None:
        """Write every row's part of the excess; `values` has the columns that vary."""
        by_cluster = np.argsort(labels, kind="stable")
        fitted = (values, labels, by_cluster, self.centers, self.sizes, self.gaps)
        noise = (pilot_labels, self.pilot_centers, self.sigma)
        if self.method == "paper":
            jumps.paper_terms(*fitted, *noise, out)
        else:
            envelope.exact_terms(*fitted, *noise, self.reach, out)


def point_terms(
    table: Table, fit: Fit, pilot: Fit, method: Terms, pool: Threads, reach: float = FAR
) -> Floats:
    """Every row's part of the excess degrees of freedom."""
    found = Jumps.of(table, fit, pilot, method, reach)
    values = table.only_varying(table.values)
    terms = np.empty(table.n_samples)

    def block(rows: slice) -> None:
        found.terms(values[rows], fit.labels[rows], pilot.labels[rows], terms[rows])

    pool.map(block, row_blocks(table.n_samples))
    return terms


def path_excess(table: Table, path: KMeansPath, method: Terms, pool: Threads) -> Floats:
    """Excess degrees of freedom for k = 1 .. k_max; one cluster has none."""
    if isinstance(path, ChunkedPath):
        if path.k_max < 2:
            return np.zeros(1)
        # All k in one pass.
        common = _chunk_jumps(table, path, range(2, path.k_max + 1), method, NEAR)
        sums = path.chunks.add_up(_chunk_sums, common, title="degrees of freedom")
        return np.append(0.0, sums)
    k_max = path.k_max
    pilot = fit_of_labels(table.values, path.labels(k_max + 1), k_max + 1)

    def excess(k: int) -> float:
        fit = fit_of_labels(table.values, path.labels(k), k)
        return float(point_terms(table, fit, pilot, method, Threads(1), NEAR).sum())

    # Large k first: the longest tasks must not be the last ones.
    return np.array([*pool.map(excess, range(k_max, 1, -1)), 0.0][::-1])


def ambiguity_of(table: Table, path: KMeansPath, k: int, pool: Threads) -> Any:
    """Return what each row adds to the degrees of freedom of one fit, along the exact path."""
    nothing = k == 1 or path.inertia[-1] <= 0
    if isinstance(path, ChunkedPath):
        if nothing:
            return path.chunks.apply(_nothing, dtype=np.float64)
        common = _chunk_jumps(table, path, [k], "exact", FAR)
        return path.chunks.apply(_chunk_terms, common, dtype=np.float64)
    if nothing:
        return np.zeros(table.n_samples)
    last = path.k_max + 1
    chosen, pilot = (fit_of_labels(table.values, path.labels(m), m) for m in (k, last))
    return point_terms(table, chosen, pilot, "exact", pool)


# Rows in chunks.


@dataclass(frozen=True, eq=False)
class _ChunkJumps:
    """What a chunk needs to know to find the terms of its rows in some fits.

    Labels are those of the nearest of some centres, or, where there are none, the last columns of
    the chunk.
    """

    centring: Centring
    varying: npt.NDArray[np.bool_]
    found: list[Jumps]
    nearest: list[Floats]

    def terms(self, raw: Values) -> Iterator[tuple[slice, Floats]]:
        """Every row's part of the excess, block by block: which rows, and a row for each fit."""
        room = np.empty((len(self.found), BLOCK))
        for block in blocks_of(raw, self.centring, self.nearest):
            *labels, pilot_labels = block.labels
            values: Any = block.values
            if not self.varying.all():
                values = np.ascontiguousarray(values[:, self.varying])
            for m, found in enumerate(self.found):
                found.terms(values, labels[m], pilot_labels, room[m, : len(values)])
            yield block.rows, room[:, : len(values)]


def _chunk_terms(raw: Values, jumps: _ChunkJumps) -> Floats:
    """Every row's part of the excess in the first fit."""
    result = np.empty(len(raw))
    for rows, terms in jumps.terms(raw):
        result[rows] = terms[0]
    return result


def _chunk_sums(raw: Values, jumps: _ChunkJumps) -> Floats:
    """Sum over the rows, for every fit."""
    total = np.zeros(len(jumps.found))
    for _, terms in jumps.terms(raw):
        total += terms.sum(axis=1)
    return total


def _nothing(raw: Values) -> Floats:
    return np.zeros(len(raw))


def _chunk_jumps(
    table: Table, path: ChunkedPath, ks: Iterable[int], method: Terms, reach: float
) -> _ChunkJumps:
    """Take it from the fits of a path."""
    pilot = path.fit(path.k_max + 1)
    fits = [path.fit(k) for k in ks]
    found = [Jumps.of(table, fit, pilot, method, reach) for fit in fits]
    nearest = [fit.nearest for fit in [*fits, pilot]]
    return _ChunkJumps(path.centring, table.varying, found, nearest)


def chunked_terms(
    X: Any, labels: Any, pilot_labels: Any, method: Terms
) -> tuple[int, Any, None, float]:
    """Judge labels of rows in chunks: k d, every row's part (not yet computed), and their sum."""
    table = read_chunked(X, seed=0)
    columns, ks = zip(
        encode_chunked(labels, table, "labels"),
        encode_chunked(pilot_labels, table, "pilot_labels"),
        strict=True,
    )
    chunks = table.chunks.beside(columns)
    fit, pilot = fits_of_columns(table, chunks, ks)
    found = Jumps.of(table, fit, pilot, method, FAR)
    common = _ChunkJumps(table.centring, table.varying, [found], [])
    excess = float(chunks.add_up(_chunk_sums, common, title="degrees of freedom")[0])
    per_point = chunks.apply(_chunk_terms, common, dtype=np.float64)
    return len(fit.sizes) * table.n_features, per_point, None, excess

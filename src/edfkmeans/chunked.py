"""Rows that are not in memory: a table in chunks, a sample of it, and fits refined by passes.

The fits begin on a sample, with all that can be done in memory. Then all of them, whatever their k,
go on together: one pass gives every row of a chunk to the nearest centre of every fit that still
moves, and only counts, sums and sums of squares come back (Lloyd's algorithm). Rows are added as
whole numbers, so that centres, and with them labels, do not depend on how rows are cut into chunks.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from edfkmeans._streams import Purpose, stream
from edfkmeans.backends.threads import row_blocks
from edfkmeans.chain import SAMPLE
from edfkmeans.fit import Labels, Sizes
from edfkmeans.kernels import lloyd
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.table import (
    Bad,
    Centring,
    Floats,
    Table,
    Values,
    check_rows,
    encode_labels,
    find_bad,
    raise_bad,
)

if TYPE_CHECKING:
    from edfkmeans.backends.dask import Chunks

# A fit is done when moving its centres saved no more than this part of its inertia, and at the
# latest after so many passes.
_ENOUGH = 1e-5
MAX_PASSES = 10
# Values are below 2. In units of 2^-46 the sum of a block of 8192 rows stays below 2^60; it is put
# down in two parts of 30 bits or so, of which there may be billions before one overflows.
_UNIT = 46
_HALF = 30


@dataclass(frozen=True)
class ChunkedTable(Table):
    """Rows in chunks. `values` holds a sample of them, all else is about all rows."""

    chunks: "Chunks"
    centring: Centring
    rows: npt.NDArray[np.int64]
    """Numbers of the rows in the sample."""
    seed: int
    """What the sample was drawn with."""

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return sum(self.chunks.sizes)

    @property
    def sample(self) -> Table:
        """The sample as a table of its own."""
        return Table(self.values, self.offset, self.scale, self.varying)

    @property
    def rows_looked_at(self) -> str:
        """What `values` holds, in words."""
        return "X" if len(self.rows) == self.n_samples else f"a sample of {len(self.rows):,} rows"

    def labels_of_sample(self, labels: Any) -> Labels:
        """Return the part of known labels that belongs to the sample, as 0 .. k-1."""
        array = _check_labels(labels, self, "labels")
        return encode_labels(np.asarray(array[self.rows]), len(self.rows), "labels")


@dataclass(frozen=True, eq=False)
class ChunkedFit:
    """One clustering of rows in chunks: each row has the label of the nearest of `nearest`."""

    nearest: Floats
    centers: Floats
    sizes: Sizes
    inertia: float


def read_chunked(X: Any, seed: int, progress: bool = False) -> ChunkedTable:
    """Look at every row once: are all numbers finite, how far do they reach, and a sample."""
    from edfkmeans.backends.dask import Chunks

    chunks = Chunks(X, progress)
    n = sum(chunks.sizes)
    check_rows(n)
    rows = np.arange(n)
    if n > SAMPLE:
        # The rows that the chain in memory draws.
        rows = np.sort(stream(seed, Purpose.SAMPLE).choice(n, SAMPLE, replace=False))
    starts = chunks.starts
    cuts = np.searchsorted(rows, starts)
    each = [
        (number, int(start), size, rows[first:last] - start)
        for number, (start, size, first, last) in enumerate(
            zip(starts[:-1], chunks.sizes, cuts[:-1], cuts[1:], strict=True)
        )
    ]
    look = reduce(add, chunks.collect(_look, each, title="reading"))
    if look.bad is not None:
        raise_bad(look.bad, chunks.columns)
    raw: Any = np.concatenate(look.sample)
    centring = Centring.of(raw, look.low, look.high)
    return ChunkedTable(
        values=centring.values(raw),
        offset=centring.offset,
        scale=centring.scale,
        varying=look.low != look.high,
        chunks=chunks,
        centring=centring,
        rows=rows,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Look:
    """What there is to see in a chunk."""

    low: Floats
    high: Floats
    bad: Bad | None
    sample: list[Values]

    def __add__(self, other: "_Look") -> "_Look":
        bad = self.bad or other.bad
        if self.bad is not None and other.bad is not None:
            bad = replace(
                self.bad,
                count=self.bad.count + other.bad.count,
                nan=self.bad.nan | other.bad.nan,
                infinite=self.bad.infinite | other.bad.infinite,
            )
        return _Look(
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            bad,
            self.sample + other.sample,
        )


def _look(raw: Values, common: None, place: tuple[int, int, int, Any]) -> _Look:
    number, start, size, wanted = place
    if len(raw) != size:
        raise ValueError(f"it holds {len(raw)} rows, but {size} were announced")
    d = raw.shape[1]
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    bad = None
    if len(raw):
        low, high = (end(raw, axis=0).astype(np.float64) for end in (np.min, np.max))
        # NaN goes through to the ends.
        bad = None if np.isfinite([low, high]).all() else find_bad(raw)
    if bad is not None:
        bad = replace(bad, row=bad.row + start, where=f"counted from 0, in chunk {number}")
    return _Look(low, high, bad, [raw[wanted]])


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a chunk: where they are, their values, their labels in some fits."""

    rows: slice
    values: Values
    labels: list[Labels]
    room: Floats
    """Room for as many values in double precision."""


def blocks_of(raw: Values, centring: Centring, nearest: Sequence[Floats]) -> Iterator[Block]:
    """Go through a chunk, block by block.

    Labels are the nearest of some centres; where there are none, the columns that the chunk has
    beside those of X hold them. A block is good until the next one: all are made in the same place,
    as workers that take memory and give it back again and again are three times slower.
    """
    d = len(centring.mean)
    own: Any = np.ascontiguousarray(raw[:, :d])
    room, values = np.empty((BLOCK, d)), np.empty((BLOCK, d), raw.dtype)
    found: list[Labels] = [np.empty(BLOCK, np.int32) for _ in nearest or raw.T[d:]]
    for rows in row_blocks(len(raw)):
        count = rows.stop - rows.start
        block = Block(rows, values[:count], [labels[:count] for labels in found], room[:count])
        centring.fill(own[rows], block.values, block.room)
        for labels, centers in zip(block.labels, nearest, strict=bool(nearest)):
            lloyd.assign(block.values, centers, labels)
        if not nearest:
            for labels, column in zip(block.labels, raw[rows].T[d:], strict=True):
                labels[:] = column
        yield block


def nearest_labels(raw: Values, centring: Centring, centers: Floats) -> Labels:
    """Give the rows of a chunk to the nearest centre, in the units of a table."""
    labels: Labels = np.empty(len(raw), np.int32)
    for block in blocks_of(raw, centring, [centers]):
        labels[block.rows] = block.labels[0]
    return labels


def encode_chunked(labels: Any, table: ChunkedTable, name: str) -> tuple[Any, int]:
    """Turn any labels into a dask array of 0 .. k-1 with the table's chunks; also returns k."""
    array = _check_labels(labels, table, name)
    kinds = table.chunks.distinct(array)
    encode_labels(kinds, len(kinds), name)  # refuses NaN
    return array.map_blocks(partial(np.searchsorted, kinds), dtype=np.int64), len(kinds)


def _check_labels(labels: Any, table: ChunkedTable, name: str) -> Any:
    """Return labels as a dask array with the chunks of the table."""
    array = table.chunks.aligned(labels)
    if array.shape != (table.n_samples,):
        raise ValueError(
            f"{name} has shape {array.shape}, but X has {table.n_samples} rows. Give one label for "
            "each row."
        )
    return array


def fits_of_columns(table: ChunkedTable, chunks: "Chunks", ks: Sequence[int]) -> list[ChunkedFit]:
    """Return the fits that the columns beside X stand for: centroids, sizes and inertia."""
    blank = [np.zeros((k, len(table.offset))) for k in ks]
    sums = chunks.add_up(_advance, (table.centring, blank, True, False))
    bounds = np.cumsum([0, *ks])
    parts = [slice(*ends) for ends in pairwise(bounds)]
    means = [_means(sums.totals[:, part], sums.sizes[part]) for part in parts]
    # A second pass: sums of squares about other points than the centroids would lose digits.
    inertia = chunks.add_up(_advance, (table.centring, means, True, False)).inertia
    return [
        ChunkedFit(mean, mean, sums.sizes[part], float(inertia[m]))
        for m, (mean, part) in enumerate(zip(means, parts, strict=True))
    ]


def refine(table: ChunkedTable, starts: Sequence[Floats]) -> tuple[list[ChunkedFit], Floats]:
    """Take fits down on all rows, all together in one pass after another, from their centres.

    Returns the fits and the sum of the products of columns, over all rows.
    """
    fits: dict[int, ChunkedFit] = {}
    moving = dict(enumerate(starts))
    products = np.zeros((0, 0))
    for number in range(1, MAX_PASSES + 1):
        common = (table.centring, list(moving.values()), False, number == 1)
        sums = table.chunks.add_up(_advance, common, title=f"pass {number}")
        products = sums.products if number == 1 else products
        first = 0
        for m, (which, centers) in enumerate(list(moving.items())):
            part = slice(first, first + len(centers))
            first = part.stop
            sizes = sums.sizes[part]
            _check_count(int(sizes.sum()), table.n_samples)
            if sizes.min() == 0:
                # Centres that drift apart may leave one without rows; the fit before had none.
                if which not in fits:
                    _check_count(0, table.n_samples)
                del moving[which]
                continue
            means = _means(sums.totals[:, part], sizes)
            saved = float(sizes @ ((means - centers) ** 2).sum(axis=1))
            # About the new centres: exact, and rounding must not make it negative.
            inertia = max(float(sums.inertia[m]) - saved, 0.0)
            fits[which] = ChunkedFit(centers, means, sizes, inertia)
            moving[which] = means
            if saved <= _ENOUGH * inertia:
                del moving[which]
        if not moving:
            break
    return [fits[which] for which in range(len(starts))], products


def _check_count(found: int, n: int) -> None:
    if found != n:
        raise ValueError(
            "X did not give the same rows when it was read again. Make it so that it does, e.g. by "
            "X.persist() if it fits, or by writing it to Parquet first."
        )


@dataclass(frozen=True, eq=False)
class _Sums:
    """What a chunk adds to the fits: rows, and sums of squares about the old centres."""

    sizes: Sizes
    totals: npt.NDArray[np.int64]
    inertia: Floats
    products: Floats

    def __add__(self, other: "_Sums") -> "_Sums":
        return _Sums(
            self.sizes + other.sizes,
            self.totals + other.totals,
            self.inertia + other.inertia,
            self.products + other.products,
        )


def _advance(raw: Values, common: tuple[Centring, list[Floats], bool, bool]) -> _Sums:
    """Add up the rows of a chunk for fits with some centres.

    The labels are those of the nearest ones, or given in the columns beside X.
    """
    centring, moving, given, with_products = common
    d = len(centring.mean)
    bounds = np.cumsum([0, *map(len, moving)])
    sizes: Sizes = np.zeros(bounds[-1], np.int64)
    totals = np.zeros((2, bounds[-1], d), np.int64)
    inertia = np.zeros(len(moving))
    products = np.zeros((d, d) if with_products else (0, 0))
    whole = np.empty((BLOCK, d), np.int64)
    sums = np.empty((bounds[-1], d), np.int64)
    for block in blocks_of(raw, centring, [] if given else moving):
        added = whole[: len(block.values)]
        np.multiply(block.values, 2.0**_UNIT, out=block.room)
        np.copyto(added, np.rint(block.room, out=block.room), casting="unsafe")
        sums[:] = 0
        for m, centers in enumerate(moving):
            part = slice(bounds[m], bounds[m + 1])
            lloyd.add_rows(added, block.labels[m], sizes[part], sums[part])
            inertia[m] += lloyd.sum_of_squares(block.values, block.labels[m], centers)
        totals[0] += sums >> _HALF
        totals[1] += sums & (2**_HALF - 1)
        if with_products:
            block.room[:] = block.values
            products += block.room.T @ block.room
    return _Sums(sizes, totals, inertia, products)


def _means(totals: npt.NDArray[np.int64], sizes: Sizes) -> Floats:
    """Return centroids from sums of whole numbers, rounded once."""
    exact = totals[0].astype(object) * 2**_HALF + totals[1].astype(object)
    return np.asarray(exact / (sizes.astype(object)[:, None] * 2**_UNIT), np.float64)

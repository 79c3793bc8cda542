"""Rows on a GPU, or in memory and worked on by one."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans.engines._cuda_device import cupy, device_array
from edfkmeans.engines._cuda_passes import Layout, Pass, knows
from edfkmeans.engines._cuda_place import OnDevice, is_on_device
from edfkmeans.engines._cuda_search import Search
from edfkmeans.engines._cuda_source import Source
from edfkmeans.engines._cuda_weights import PART, Weights, most_weighted
from edfkmeans.engines.memory import MemoryRows
from edfkmeans.engines.memory import header as memory_header
from edfkmeans.rows.assignments import Known, Nearest
from edfkmeans.rows.blocks import (
    Assignment,
    Block,
    Room,
    Task,
    add_results,
    chunk_error,
    row_blocks,
)
from edfkmeans.rows.checks import check_kind, check_numeric, check_rows
from edfkmeans.rows.directions import unit_rows
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.look import Look, Place, sample_numbers
from edfkmeans.rows.rows import Quick, Rows, Sample
from edfkmeans.rows.tasks import Tally, Terms
from edfkmeans.rows.units import Floats, Units, Values
from edfkmeans.rows.weights import Tally as Counted
from edfkmeans.rows.weights import Weighing, check_weights

# Rows: of up to so many, computing is in double precision, as in memory. With more, rows of single
# precision are computed with in single precision, and only sums over rows in double precision.
FEW = 20_000


@dataclass(frozen=True, eq=False)
class CudaRows(Rows):
    """Rows that a GPU works on, and a sample of them in memory."""

    source: Source
    layout: Layout
    units: Units
    seed: int
    numbers: npt.NDArray[np.int64]
    """Numbers of the rows in the sample."""
    values: Values
    """The sample, in the units of all rows."""
    n_jobs: int = 1
    weights: Floats | None = None
    weighing: Weighing | None = None
    place = "on a GPU"

    @property
    def n_samples(self) -> int:
        return self.n_rows if self.weighing is None else self.weighing.total

    @property
    def n_rows(self) -> int:
        return self.source.shape[0]

    @property
    def whole(self) -> bool:  # type: ignore[override]
        return self.weighing is None or self.weighing.whole

    @cached_property
    def _weights(self) -> Weights | None:
        return None if self.weights is None else Weights(self.weights)

    @property
    def sample(self) -> Sample:
        return MemoryRows(self.values, self.units, self.n_jobs)

    @cached_property
    def quick(self) -> "CudaSample | None":
        few = len(self.values) <= FEW or not self.layout.d
        return None if few else CudaSample(self.values, self.units, self.source.device)

    def sums(self, tasks: Sequence[Task], title: str = "a pass over the rows") -> list[Any]:
        tasks = list(tasks)
        mine = [task for task in tasks if self._knows(task)]
        others = [task for task in tasks if not any(task is each for each in mine)]
        found: dict[int, Any] = {}
        with _told(self.source.device):
            if mine:
                one = Pass(self.layout, mine, weights=self._weights)
                for start, X in self._parts():
                    one.on(X, start)
                results = one.results()
                found = {id(task): results[id(_owner(task))] for task in mine}
        if others:
            total: list[Any] = [None] * len(others)
            for block in self._blocks():
                with _named(block):
                    total = add_results(total, [task(block) for task in others])
            found |= {id(task): each for task, each in zip(others, total, strict=True)}
        return [found[id(task)] for task in tasks]

    def _knows(self, task: Task) -> bool:
        """Whether a task can be done on the GPU."""
        many = isinstance(task, Tally) and len(task.centers) > most_weighted()
        return knows(task, self.layout) and not (many and self.weights is not None)

    def _parts(self) -> Iterator[tuple[int, Any]]:
        """Go through the rows; those with weights of their own come in smaller parts."""
        for start, X in self.source.chunks():
            step = len(X) if self.weights is None else PART
            for first in range(0, len(X), step):
                yield start + first, X[first : first + step]

    def per_row(self, task: Task, dtype: Any) -> Any:
        assignment = getattr(task, "__self__", None)
        layout = replace(self.layout)  # which leaves nothing on the GPU
        if isinstance(assignment, Nearest) and layout.d:
            one = Pass(layout, [], [assignment])
            return self._column(lambda X, start: one.labels(X, start)[0][0], dtype)
        if isinstance(task, Terms) and knows(task, layout):
            one = Pass(layout, [task], weights=self._weights)
            return self._column(lambda X, start: one.on(X, start, keep=True)[0][0], dtype)
        column = np.empty(self.n_rows, dtype)
        for block in self._blocks():
            with _named(block):
                column[block.rows] = task(block)
        return column if self.source.on_host else self.source.back(cupy().asarray(column))

    def _column(self, work: Callable[[Any, int], Any], dtype: Any) -> Any:
        with _told(self.source.device):
            column = cupy().empty(self.n_rows, dtype)
            for start, X in self._parts():
                column[start : start + len(X)] = work(X, start)
            return self.source.back(column)

    def total(self, column: Any, title: str = "adding up") -> float:
        if self.weights is None:
            return float(column.sum())
        own = column if self.source.on_host else cupy().asnumpy(device_array(column))
        return float(self.weights @ own)

    def labelled(self, **labels: Any) -> tuple[Rows, list[tuple[Assignment, int]]]:
        encoded = [self._encoded(each, name) for name, each in labels.items()]
        return self, [(Known(each), int(each.max()) + 1) for each in encoded]

    def labels_of_sample(self, labels: Any) -> Labels:
        return self._encoded(labels, "labels")[self.numbers]

    def _encoded(self, labels: Any, name: str) -> Labels:
        if is_on_device(labels):
            labels = cupy().asnumpy(device_array(labels))
        return encode_labels(labels, self.n_rows, name)

    def kept(self) -> Rows:
        # A result must not hold memory of the GPU that the caller does not know of.
        source = Source(self.source.X, self.source.like, stays=False)
        return replace(self, values=self.values[:0], source=source, layout=replace(self.layout))

    def shown(self) -> pd.DataFrame:
        with _told(self.source.device):
            return pd.DataFrame(self.source.take(self.numbers), index=self.numbers)

    def _blocks(self) -> Iterator[Block]:
        """Bring the rows into memory, block by block, for tasks that are not known here."""
        room = Room()
        for start, X in self.source.chunks():
            raw = cupy().asnumpy(X)
            for rows in row_blocks(len(raw)):
                shape = raw[rows].shape
                values = room.array("values", shape, raw.dtype)
                self.units.fill(raw[rows], values, room.array("doubles", shape))
                place = slice(start + rows.start, start + rows.stop)
                own = None if self.weights is None else self.weights[place]
                yield Block(place, values, self.units, room, weights=own)


class CudaSample(Quick):
    """The rows of the sample on the GPU, in the units of all rows."""

    def __init__(self, values: Values, units: Units, device: int | None = None) -> None:
        self.device = device
        nothing = np.zeros_like(units.mean)
        same = Units(1.0, nothing, nothing, 1.0, units.varying)
        self.layout = Layout(same, values.dtype.name, values.dtype.name)
        with _told(self.device):
            self.X = cupy().asarray(values)

    def search(self, k_last: int, seed: int, report: Callable[[int, float], None]) -> list[Floats]:
        with _told(self.device):
            found = Search(self.X, self.layout, seed).run(k_last, report)
        whole = [np.zeros((len(each), self.X.shape[1])) for each in found]
        for each, centers in zip(whole, found, strict=True):
            each[:, self.layout.varying] = centers
        return whole

    def sums(self, tasks: Sequence[Task]) -> list[Any]:
        with _told(self.device):
            one = Pass(self.layout, tasks)
            one.on(self.X, 0)
            results = one.results()
        return [results[id(task)] for task in tasks]

    def labels(self, assignments: Sequence[Assignment]) -> list[Labels]:
        with _told(self.device):
            found, _ = Pass(self.layout, [], assignments).labels(self.X, 0)
            return list(cupy().asnumpy(found).astype(np.int32))


def _owner(task: Any) -> Any:
    return task.__self__ if isinstance(getattr(task, "__self__", None), Terms) else task


@contextmanager
def _named(block: Block) -> Iterator[None]:
    """Say which rows a task failed on."""
    try:
        yield
    except Exception as error:
        rows = range(block.rows.start, block.rows.stop)
        raise chunk_error(0, error, rows, "") from error


@contextmanager
def _told(device: int | None = None) -> Iterator[None]:
    """Say what to do when the memory of the GPU is full, and hold none of it then.

    The GPU is the one that a number names, whichever the thread would use otherwise.
    """
    xp = cupy()
    try:
        with xp.cuda.Device(device):
            yield
    except xp.cuda.memory.OutOfMemoryError as error:
        xp.get_default_memory_pool().free_all_blocks()
        raise MemoryError(
            f"The GPU has no memory left for this: {error} Give X in memory with engine='cuda', "
            "which sends it part by part, or a part of the rows."
        ) from None


def _matrix(X: Any) -> Source:
    """Return the rows as a matrix of floats, contiguous, or say why they are none."""
    cupy()
    if isinstance(X, OnDevice):
        return Source(check_numeric(X.X), None)
    array = device_array(X)
    check_kind(array)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"X has shape {array.shape}, but must be a matrix with rows and columns. Give one of "
            "shape (n_samples, n_features)."
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"X has dtype {array.dtype}, which is no number. Give floats.")
    wanted = np.float32 if str(array.dtype) in ("float16", "float32") else np.float64
    with _told(array.device.id):
        ready = cupy().asarray(array, dtype=wanted)
        if not ready.flags.c_contiguous:
            ready = cupy().ascontiguousarray(ready)
    return Source(ready, X)


def directions(X: Any) -> OnDevice:
    """Return rows in memory scaled to length one; those on a GPU are left to their owner."""
    if isinstance(X, OnDevice):
        return OnDevice(unit_rows(check_numeric(X.X)))
    raise TypeError(
        f"metric='cosine' does not scale rows on a GPU, where X, a {type(X).__name__}, lies. "
        "Divide its rows by their lengths and leave metric out."
    )


def open_rows(
    X: Any,
    seed: int,
    n_jobs: int,
    progress: bool,
    sample_weight: Any = None,
    together: bool = False,
) -> CudaRows:
    """Look at every row once and draw a sample; equal rows are not put together."""
    source = _matrix(X)
    n, _ = source.shape
    weights, weighing = _weigh(sample_weight, n)
    check_rows(n if weighing is None else weighing.n_rows)
    if weights is None or weighing is None:
        numbers = sample_numbers(n, seed)
    else:
        numbers = weighing.copies(weights)
    low, high = _ends(source)
    with _told(source.device):
        look = Look(low, high, None, [source.take(numbers)])
    if not np.isfinite([low, high]).all():
        names = getattr(getattr(X, "X", X), "columns", range(len(low)))
        _bad(source).taken(names)
    if weights is not None and not weights.all():
        low, high = _ends(source, weights)
        look = Look(low, high, None, look.sample)
    values, units = look.taken(range(len(low)))
    real = "float32" if source.dtype == np.float32 and n > FEW else "float64"
    layout = Layout(units, source.dtype.name, real)
    return CudaRows(source, layout, units, seed, numbers, values, n_jobs, weights, weighing)


def _weigh(sample_weight: Any, n: int) -> tuple[Floats | None, Weighing | None]:
    """Return the weights of the rows, in memory, and what they mean."""
    if sample_weight is None:
        return None, None
    if is_on_device(sample_weight):
        sample_weight = cupy().asnumpy(device_array(sample_weight))
    weights = check_weights(sample_weight, n)
    weighing = Weighing.of(Counted.of(weights))
    return (None, None) if weighing is None else (weights * weighing.scale, weighing)


def _ends(source: Source, weights: Floats | None = None) -> tuple[Any, Any]:
    """Return the lowest and the highest value of every column; NaN goes through.

    With weights, of the rows that count.
    """
    xp = cupy()
    found = []
    with _told(source.device):
        for start, X in source.chunks():
            if weights is not None:
                count = np.flatnonzero(weights[start : start + len(X)])
                X = X[xp.asarray(count)]
            # Two steps: a GPU has little to do at once where all rows of a column are one piece.
            whole = len(X) // 1024 * 1024
            parts = [X[whole:]] if whole < len(X) else []
            if whole:
                pieces = X[:whole].reshape(-1, 1024, X.shape[1])
                parts += [pieces.min(axis=1), pieces.max(axis=1)]
            if parts:
                found.append(xp.asnumpy(xp.concatenate([
                    end(axis=0)[None] for part in parts for end in (part.min, part.max)
                ])))  # fmt: skip
    ends = np.concatenate(found).astype(np.float64)
    return ends.min(axis=0), ends.max(axis=0)


def _bad(source: Source) -> Look:
    """Look for what is not finite, where there is something."""
    looks = []
    for start, X in source.chunks():
        raw = cupy().asnumpy(X)
        looks.append(Look.at(raw, Place(None, start, len(raw), np.empty(0, np.int64))))
    total = looks[0]
    for each in looks[1:]:
        total = total + each
    return total


def map_rows(
    X: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    """Return ``function(rows, *common)``, computed in memory, where X is."""
    source = _matrix(X)
    parts = [
        np.asarray(function(cupy().asnumpy(part), *common), dtype) for _, part in source.chunks()
    ]
    found = np.concatenate(parts)
    return found if source.on_host else source.back(cupy().asarray(found))


def header(X: Any) -> Any:
    """Return what has the columns of X, having made sure that X is a matrix of numbers."""
    if isinstance(X, OnDevice):
        return memory_header(X.X)
    return np.empty((0, _matrix(X).shape[1]))

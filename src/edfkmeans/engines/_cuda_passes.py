"""A pass over rows on a GPU: the tasks that it knows, done for all fits at once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.engines._cuda_device import (
    FITS,
    MASK,
    STAGED,
    cupy,
    groups_of,
    held_by_sums,
    held_by_terms,
    held_by_totals,
    launch,
    module,
    most_clusters,
    most_shared,
    tiles,
)
from edfkmeans.engines._cuda_weights import Weights
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows.assignments import Known, Nearest
from edfkmeans.rows.blocks import Assignment, Task
from edfkmeans.rows.labels import Sizes
from edfkmeans.rows.tasks import HALF, UNIT, Sums, Tally, Terms, products
from edfkmeans.rows.units import Floats, Units

# Threads of a block where each does one number.
_SINGLE = 256
# Blocks that `sums` should have, and the fewest rows of one.
_BLOCKS, _LEAST_ROWS = 528, 512
_NOTHING = np.uint64(0)  # no array


@dataclass(frozen=True, eq=False)
class Layout:
    """How kernels read the rows: which columns vary, their units, types of numbers."""

    units: Units
    raw: str
    real: str
    """The type that is computed in. Sums over rows are in double precision, whatever this is."""

    @cached_property
    def varying(self) -> npt.NDArray[np.intp]:
        """Numbers of the columns that vary."""
        return np.flatnonzero(self.units.varying)

    @property
    def d(self) -> int:
        """How many columns vary."""
        return len(self.varying)

    @cached_property
    def _there(self) -> tuple[Any, Any]:
        units, xp = self.units, cupy()
        numbers = [[1 / units.unit, 1 / units.shrink], units.mean[self.varying]]
        together = np.concatenate([*numbers, units.rest[self.varying]])
        return xp.asarray(self.varying.astype(np.int32)), xp.asarray(together)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("units", "raw", "real")}

    def rows(self, X: Any) -> tuple[Any, ...]:
        """Return the first arguments of every kernel."""
        return (X, np.int64(len(X)), int(X.shape[1]), *self._there)

    def program(self, label: str) -> Any:
        """Return the kernels for these rows."""
        return module(self.d, self.raw, self.real, label)

    def centers(self, every: Iterable[Floats]) -> Any:
        """Send the centres of fits, one after the other."""
        found = np.concatenate([np.asarray(each) for each in every])
        if found.shape[1] != self.d:
            found = found[:, self.varying]
        return cupy().asarray(np.ascontiguousarray(found, dtype=self.real))


class Added(Sums):
    """What a pass of a GPU has added up."""

    @property
    def means(self) -> Floats:
        """Centroids, quickly: those of `Sums` but for the last digit, if at all."""
        whole = self.totals[0].astype(np.longdouble) * 2**HALF + self.totals[1]
        return np.asarray(whole / (self.sizes[:, None] * 2.0**UNIT), np.float64)


class Batch:
    """Fits whose rows are found, counted and added up together."""

    def __init__(self, layout: Layout, ks: Sequence[int], centers: Any, label: str) -> None:
        xp = cupy()
        self.layout, self.ks, self.centers, self.label = layout, list(ks), centers, label
        self.starts = np.concatenate([[0], np.cumsum(self.ks)]).astype(np.int32)
        groups = groups_of(self.ks, layout.d)
        self._held = held_by_sums(self.ks, groups, layout.d)
        together = xp.asarray(np.concatenate([self.starts, np.array(groups, np.int32)]))
        self.starts_there, self._groups = together[: len(ks) + 1], together[len(ks) + 1 :]
        self._sums = xp.zeros(self.n_centers * (1 + 2 * layout.d), np.uint64)
        self.sizes = self._sums[: self.n_centers]
        self.totals = self._sums[self.n_centers :].reshape(2, self.n_centers, layout.d)

    @property
    def n_centers(self) -> int:
        """Centres of all fits."""
        return int(self.starts[-1])

    def assign(self, X: Any, labels: Any, names: Any) -> Any:
        """Write the nearest centre of every row in every fit; returns parts of sums of squares."""
        fits = len(self.ks)
        parts = cupy().empty((tiles(len(X)), fits), np.float64)
        args = (*self.layout.rows(X), self.centers, self.starts_there, names, fits, labels, parts)
        grid = (tiles(len(X)), -(-fits // FITS))
        launch(self.layout.program(self.label), "assign", grid, 128, args)
        return parts

    def squares(self, X: Any, labels: Any) -> Any:
        """Return the sums of squared distances to the centres that rows are labelled with."""
        fits = len(self.ks)
        parts = cupy().empty((tiles(len(X)), fits), np.float64)
        args = (*self.layout.rows(X), self.centers, self.starts_there, fits, labels, parts)
        launch(self.layout.program(self.label), "squares", (tiles(len(X)), fits), 128, args)
        return parts.sum(axis=0)

    def add_up(self, X: Any, labels: Any) -> None:
        """Add the rows of every cluster to `sizes` and `totals`."""
        strips = -(-self.layout.d // 64)
        groups = len(self._groups) - 1
        # Few rows are cut finer, so that all of the GPU has something to do.
        rows = min(BLOCK, max(_LEAST_ROWS, len(X) * groups * strips // _BLOCKS // 32 * 32))
        args = (
            *self.layout.rows(X), self.starts_there, self._groups, labels, rows, 2.0**UNIT, HALF,
            np.int64(self.n_centers), self.sizes, self.totals,
        )  # fmt: skip
        grid = (-(-len(X) // rows), groups, strips)
        launch(self.layout.program(self.label), "sums", grid, 512, args, self._held)

    def move(self) -> None:
        """Put every centre where its rows are, and begin to count anew."""
        args = (
            self.sizes, self.totals, np.int64(self.n_centers), 2.0**UNIT, 2.0**HALF, self.centers,
        )  # fmt: skip
        grid = (-(-self.n_centers * self.layout.d // _SINGLE),)
        launch(self.layout.program(self.label), "means", grid, _SINGLE, args)
        self._sums.fill(0)


def knows(task: Task, layout: Layout) -> bool:
    """Whether a task can be done on the GPU."""
    if not layout.d:
        return False
    if task is products:
        return True
    if isinstance(task, Tally):
        fits = len(task.centers) <= most_clusters(layout.d)
        return fits and isinstance(task.assignment, Nearest | Known)
    terms = task if isinstance(task, Terms) else getattr(task, "__self__", None)
    if not isinstance(terms, Terms) or task not in (terms, terms.sum):
        return False
    k, pilots = len(terms.centers), len(terms.pilot_centers)
    held = held_by_terms(k, pilots, layout.d, layout.real)
    known = all(
        isinstance(each, Nearest | Known) for each in (terms.assignment, terms.pilot_assignment)
    )
    return known and k <= MASK and pilots <= 2**16 and held + 1024 <= most_shared()


class Pass:
    """What is added up by one pass for some tasks; `on` is called with every chunk of rows."""

    def __init__(
        self,
        layout: Layout,
        tasks: Sequence[Task],
        also: Sequence[Assignment] = (),
        weights: Weights | None = None,
    ) -> None:
        self.layout, self.weights = layout, weights
        self.products: Any = 0.0 if products in tasks else None
        self.tallies = [task for task in tasks if isinstance(task, Tally)]
        self.terms: list[Terms] = [_terms(task) for task in tasks if _is_terms(task)]
        # Tallies of nearest centres come first: one kernel finds their labels, in their order.
        self.tallies.sort(key=lambda task: not isinstance(task.assignment, Nearest))
        self.n_nearest = sum(isinstance(task.assignment, Nearest) for task in self.tallies)
        wanted: dict[int, Assignment] = {id(each): each for each in also}
        for terms in self.terms:
            for each in (terms.assignment, terms.pilot_assignment):
                wanted.setdefault(id(each), each)
        every: list[Any] = [task.assignment for task in self.tallies[: self.n_nearest]]
        every += [each for each in wanted.values() if isinstance(each, Nearest)]
        self.nearest: list[Nearest] = every
        self.known: list[Any] = [task.assignment for task in self.tallies[self.n_nearest :]]
        self.known += [each for each in wanted.values() if isinstance(each, Known)]
        self.place = {id(each): f for f, each in enumerate([*every, *self.known])}
        sizes = [len(each.centers) for each in self.nearest]
        sizes += [int(each.labels.max()) + 1 for each in self.known]
        self.label = "uint8" if max(sizes, default=1) <= 256 else "uint16"
        self._prepare()

    def _prepare(self) -> None:
        xp, layout = cupy(), self.layout
        if self.nearest:
            ks = [len(each.centers) for each in self.nearest]
            centers = layout.centers(each.centers for each in self.nearest)
            self.looked_for = Batch(layout, ks, centers, self.label)
            names = [
                np.arange(k) if each.numbers is None else each.numbers
                for each, k in zip(self.nearest, ks, strict=True)
            ]
            self.names = xp.asarray(np.concatenate(names).astype(np.int32))
        first = self.n_nearest
        self.batches = []
        for part, row in ((self.tallies[:first], 0), (self.tallies[first:], len(self.nearest))):
            if part:
                centers = layout.centers(task.centers for task in part)
                batch = Batch(layout, [len(task.centers) for task in part], centers, self.label)
                own = all(
                    isinstance(task.assignment, Nearest)
                    and task.assignment.centers is task.centers
                    and task.assignment.numbers is None
                    for task in part
                )
                self.batches.append((part, batch, slice(row, row + len(part)), own))
        self.squares: dict[int, Any] = {}
        groups: dict[Any, list[Terms]] = {}
        for terms in self.terms:
            key = (terms.method, id(terms.pilot_assignment), terms.sigma, terms.reach)
            groups.setdefault(key, []).append(terms)
        self.groups = [_Group(layout, each, self.place) for each in groups.values()]

    def labels(self, X: Any, start: int) -> tuple[Any, Any]:
        """Find the clusters of some rows in all that is asked for, and sums of squares."""
        xp = cupy()
        labels = xp.empty((len(self.nearest) + len(self.known), len(X)), self.label)
        squares = None
        if self.nearest:
            squares = self.looked_for.assign(X, labels, self.names).sum(axis=0)
        for f, each in enumerate(self.known, start=len(self.nearest)):
            part = np.asarray(each.labels[start : start + len(X)], self.label)
            labels[f] = xp.asarray(part)
        return labels, squares

    def on(self, X: Any, start: int, *, keep: bool = False) -> list[Any]:
        """Go through a chunk; returns the terms of its rows if these are to be kept."""
        labels, squares = self.labels(X, start)
        weights = None if self.weights is None else self.weights.part(start, len(X))
        for _, batch, rows, own in self.batches:
            if self.weights is not None:
                self.weights.add_up(batch, X, labels[rows], weights)
                found = self.weights.squares(batch, X, labels[rows], weights)
            else:
                batch.add_up(X, labels[rows])
                found = squares[rows] if own else batch.squares(X, labels[rows])
            self.squares[id(batch)] = self.squares.get(id(batch), 0.0) + found
        if self.products is not None:
            self.products = self.products + self._products(X, weights)
        return [
            group.on(X, labels, self.label, keep)
            if self.weights is None
            else group.weighted(X, labels, self.label, self.weights, weights)
            for group in self.groups
        ]

    def _products(self, X: Any, weights: Any) -> Any:
        values = cupy().empty((len(X), self.layout.d), np.float64)
        grid = (-(-values.size // _SINGLE),)
        args = (*self.layout.rows(X), values)
        launch(self.layout.program("uint8"), "fill", grid, _SINGLE, args)
        return values.T @ (values if weights is None else values * weights[:, None])

    def results(self) -> dict[int, Any]:
        """Return what has been added up, by the task."""
        found: dict[int, Any] = {}
        xp, layout = cupy(), self.layout
        width = len(layout.units.mean)
        for part, batch, _, _ in self.batches:
            sizes = xp.asnumpy(batch.sizes).astype(np.int64)
            totals = np.zeros((2, batch.n_centers, width), np.int64)
            totals[:, :, layout.varying] = xp.asnumpy(batch.totals).astype(np.int64)
            squares = xp.asnumpy(self.squares[id(batch)])
            cuts = batch.starts[1:-1]
            for task, n, both, inertia in zip(
                part, np.split(sizes, cuts), np.split(totals, cuts, axis=1), squares, strict=True
            ):
                counted: Sizes = n
                found[id(task)] = (
                    Added(counted, both, float(inertia))
                    if self.weights is None
                    else self.weights.found(counted, both, float(inertia))
                )
        for group in self.groups:
            totals_of = xp.asnumpy(group.total)
            found |= {id(t): float(v) for t, v in zip(group.terms, totals_of, strict=True)}
        if self.products is not None:
            whole = np.zeros((width, width))
            whole[np.ix_(layout.varying, layout.varying)] = xp.asnumpy(self.products)
            found[id(products)] = whole
        return found


def _is_terms(task: Task) -> bool:
    return isinstance(task, Terms) or isinstance(getattr(task, "__self__", None), Terms)


def _terms(task: Any) -> Terms:
    return task if isinstance(task, Terms) else task.__self__


class _Group:
    """Terms of several fits by one count, with one pilot."""

    def __init__(self, layout: Layout, terms: list[Terms], place: dict[int, int]) -> None:
        xp = cupy()
        self.layout, self.terms = layout, terms
        first = terms[0]
        ks = [len(each.centers) for each in terms]
        self.pilot_place = place[id(first.pilot_assignment)]
        which = np.array([place[id(each.assignment)] for each in terms], np.int32)
        starts = np.concatenate([[0], np.cumsum(ks)]).astype(np.int32)
        squared = np.concatenate([[0], np.cumsum(np.square(ks))]).astype(np.int32)
        gaps = np.concatenate([each.gaps.ravel() for each in terms]).astype(layout.real)
        sizes = np.concatenate([each.sizes for each in terms]).astype(np.float64)
        self.before = (
            layout.centers(each.centers for each in terms), xp.asarray(sizes), xp.asarray(gaps),
            xp.asarray(starts), xp.asarray(squared), xp.asarray(which), len(terms),
        )  # fmt: skip
        pilot, real = first.pilot_centers, layout.real
        self.pilot = layout.centers([pilot])
        self.noise = (first.sigma, float(first.reach))
        self.pilots, self.most = len(pilot), max(ks)
        self.held = held_by_terms(self.most, self.pilots, layout.d, real)
        self.held_for_totals = held_by_totals(self.most, layout.d, real)
        self.total: Any = 0.0

    def on(self, X: Any, labels: Any, label: str, keep: bool) -> Any:
        """Add up the terms of some rows, and return them if they are to be kept."""
        terms, parts = self._found(X, labels, label, keep)
        self.total = self.total + parts.sum(axis=0)
        return terms

    def weighted(self, X: Any, labels: Any, label: str, weights: Weights, own: Any) -> Any:
        """Add up the terms of some rows, which have weights of their own, and return the terms."""
        terms, _ = self._found(X, labels, label, True)
        _, sizes, _, starts, _, which, _ = self.before
        program = self.layout.program(label)
        found = weights.terms(program, (sizes, starts, which), labels, own, terms)
        self.total = self.total + found
        return terms

    def _found(self, X: Any, labels: Any, label: str, keep: bool) -> tuple[Any, Any]:
        """Return the terms of some rows, if they are to be kept, and their sums over tiles."""
        xp, layout = cupy(), self.layout
        n, fits = len(X), len(self.terms)
        program, method = layout.program(label), self.terms[0].method
        parts = xp.empty((tiles(n), fits), np.float64)
        before = (*layout.rows(X), *self.before, labels, labels[self.pilot_place], self.pilot)
        terms = xp.empty((fits, n), np.float64) if keep else _NOTHING
        if not keep and self.held_for_totals + 8192 <= most_shared():
            args = (*before, self.most, *self.noise, parts)
            launch(program, f"{method}_totals", (tiles(n),), 256, args, self.held_for_totals)
        else:
            values: Any = _NOTHING
            if layout.d > STAGED:
                values = xp.empty((layout.d, n), layout.real)
                launch(program, "transpose", (tiles(n),), 128, (*layout.rows(X), values))
            args = (*before, self.pilots, *self.noise, values, parts, terms)
            launch(program, method, (tiles(n), fits), 128, args, self.held)
        return terms, parts

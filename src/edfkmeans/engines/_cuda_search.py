"""The search for fits on a GPU: as `edfkmeans.fits.chain` does it, but many trials at once.

First come starts: sequences of rows, drawn as in k-means++, of which the first k are a start for k
clusters. Then come waves: for every k at once, a centre is added to the best fit known, and one is
dissolved, several of each tried; what got lowest for its k is taken further, and kept if it is
better. All trials of all k are one batch, which a kernel does in one go. Fits are improved by
Lloyd's algorithm alone: with this many rows, moves of single rows gain hardly anything.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines._cuda_device import FITS, cupy, launch, tiles
from edfkmeans.engines._cuda_passes import Batch, Layout
from edfkmeans.rows.units import Floats

# Starts for one k: this number divided by k, but no fewer and no more than these. With fewer
# centres than there are groups, the question is which groups to join: many starts are tried.
_STARTS, _LEAST_STARTS, _MOST_STARTS = 96, 6, 32
# Rows drawn for every further row of a start; the best of them is taken.
_CANDIDATES = 4
# Rows drawn for a further centre, and trials for one step, of those or of clusters to dissolve.
_DRAWS, _TRIED = 8, 3
# Starts of every k that are taken further.
_LEADS = 2
# Steps of Lloyd's algorithm: for a start, for a trial, for the best of them, and in the end.
_START_STEPS, _TRIAL_STEPS, _STEPS, _LAST_STEPS = 6, 3, 6, 6
# Waves, at least and at most; they end when one has lowered the inertia by less than this part, on
# the average over k.
_LEAST_WAVES, _WAVES, _LITTLE = 3, 6, 5e-5
# Standard deviations of a normal cluster between the centres of its halves.
_HALVES = 1.6
# Units of the costs that search.cu adds up.
_PRICES = 2.0**24


@dataclass(frozen=True, eq=False)
class Found:
    """A fit: where its centres are, in the columns that vary, its sizes and its inertia."""

    centers: Floats
    sizes: Floats
    inertia: float

    @property
    def rank(self) -> tuple[bool, float]:
        """What fits are ordered by: those with an empty cluster last, then by their inertia."""
        return bool(self.sizes.min() == 0), self.inertia


class Search:
    """Looks for the best fit of some rows, which are on the GPU, for every k."""

    def __init__(self, X: Any, layout: Layout, seed: int) -> None:
        self.X, self.layout, self.seed = X, layout, seed
        self.best: dict[int, Found] = {}

    def run(self, k_last: int, report: Callable[[int, float], None]) -> list[Floats]:
        """Return the centres of the best fits for k = 1 .. k_last, in the columns that vary."""
        (self.best[1],) = self._descend([np.zeros((1, self.layout.d))], 1)
        self._start(k_last)
        for number in range(_WAVES):
            if self._wave(k_last, number) < _LITTLE and number + 1 >= _LEAST_WAVES:
                break
        ks = range(1, k_last + 1)
        last = self._descend([self.best[k].centers for k in ks], _LAST_STEPS)
        for k, fit in zip(ks, last, strict=True):
            self._keep(k, fit)
            report(k, self.best[k].inertia)
        return [self.best[k].centers for k in ks]

    def _keep(self, k: int, fit: Found) -> None:
        """Remember a fit if it is the best of its k."""
        if k not in self.best or fit.rank < self.best[k].rank:
            self.best[k] = fit

    def _start(self, k_last: int) -> None:
        """Make starts for every k, and take the best of them further."""
        ks = [k for k in range(2, k_last + 1) for _ in range(_starts_for(k))]
        if not ks:
            return
        numbers = [s for k in range(2, k_last + 1) for s in range(_starts_for(k))]
        rows = self._sequences(k_last)
        trials = [rows[:k, s] for k, s in zip(ks, numbers, strict=True)]
        leads = self._leads(zip(ks, self._descend(trials, _START_STEPS), strict=True), _LEADS)
        self._go_on(leads)

    def _sequences(self, k_last: int) -> Floats:
        """Draw rows one after the other, as in k-means++: shape (k_last, sequences, columns)."""
        xp, layout, X = cupy(), self.layout, self.X
        n, count, d = len(X), _starts_for(2), layout.d
        rng = stream(self.seed, Purpose.STARTS, 0, 0)
        drawn = xp.asarray(rng.integers(0, n, count))
        uniforms = xp.asarray(rng.random((k_last, count * _CANDIDATES)))
        found = xp.zeros((k_last, count, d), layout.real)
        points = xp.empty((count * _CANDIDATES, d), layout.real)
        own = xp.empty((count, n), layout.real)
        own.fill(np.inf)
        self._bring(drawn, count, 1, 1, found[0])
        program = layout.program("uint8")
        drawn = xp.empty(count * _CANDIDATES, np.int64)
        for k in range(1, k_last):
            some = _starts_for(k + 1)
            parts = xp.empty((tiles(n), some), np.float64)
            args: tuple[Any, ...] = (*layout.rows(X), found[k - 1], some, own, parts)
            launch(program, "nearer", (tiles(n), -(-some // FITS)), 128, args)
            args = (own, np.int64(n), parts, tiles(n), some, uniforms[k], _CANDIDATES, drawn)
            launch(program, "draw", (some,), 128, args)
            self._bring(drawn, some, _CANDIDATES, _CANDIDATES, points)
            gained = self._gains(points, some * _CANDIDATES, _CANDIDATES, own)
            args = (gained, tiles(n), _CANDIDATES, points, found[k])
            launch(program, "pick", (some,), 128, args)
        return np.asarray(xp.asnumpy(found).astype(np.float64))

    def _wave(self, k_last: int, number: int) -> float:
        """Try a centre more and a centre less for every k at once; returns what it has gained."""
        before = {k: self.best[k].inertia for k in range(2, k_last + 1)}
        bases = [self.best[k] for k in range(1, k_last + 1)]
        rng = stream(self.seed, Purpose.STEPS, 0, number)
        points, costs = self._proposals(bases, rng)
        trials: list[Floats] = []
        kinds: list[tuple[int, int]] = []
        for base, few, cost in zip(bases, points, costs, strict=True):
            k = len(base.centers)
            if k < k_last:
                trials += [np.vstack([base.centers, p]) for p in few]
                kinds += [(k + 1, 0)] * len(few)
            if k > 2:
                for r in np.argsort(cost, kind="stable")[:_TRIED]:
                    trials.append(np.delete(base.centers, r, axis=0))
                    kinds.append((k - 1, 1))
        tried = self._leads(zip(kinds, self._descend(trials, _TRIAL_STEPS), strict=True), 1)
        # The best fits known go on too: they may not have come to rest.
        self._go_on([(k, self.best[k]) for k in before] + [(k, fit) for (k, _), fit in tried])
        return float(np.mean([1 - self.best[k].inertia / max(was, 1e-300)
                              for k, was in before.items()])) if before else 0.0  # fmt: skip

    def _leads(self, tried: Iterable[tuple[Any, Found]], most: int) -> list[tuple[Any, Found]]:
        """Return the best fits of every kind, some of each."""
        by: dict[Any, list[Found]] = {}
        for kind, fit in tried:
            by.setdefault(kind, []).append(fit)
        return [
            (kind, fit)
            for kind, fits in by.items()
            for fit in sorted(fits, key=lambda fit: fit.rank)[:most]
        ]

    def _go_on(self, leads: list[tuple[int, Found]]) -> None:
        """Take some fits further, and keep those that are the best of their k."""
        done = self._descend([fit.centers for _, fit in leads], _STEPS)
        for (k, _), fit in zip(leads, done, strict=True):
            self._keep(k, fit)

    def _descend(self, starts: list[Floats], steps: int) -> list[Found]:
        """Let all fits go down together, by some steps of Lloyd's algorithm."""
        xp, layout = cupy(), self.layout
        ks = [len(each) for each in starts]
        batch = Batch(layout, ks, layout.centers(starts), "uint8")
        labels = xp.empty((len(ks), len(self.X)), "uint8")
        names = xp.asarray(np.concatenate([np.arange(k, dtype=np.int32) for k in ks]))
        for _ in range(steps):
            batch.assign(self.X, labels, names)
            batch.add_up(self.X, labels)
            batch.move()
        inertia = batch.assign(self.X, labels, names).sum(axis=0)
        batch.add_up(self.X, labels)
        cuts = batch.starts[1:-1]
        centers = np.split(xp.asnumpy(batch.centers).astype(np.float64), cuts)
        sizes = np.split(xp.asnumpy(batch.sizes).astype(np.float64), cuts)
        return [
            Found(where, n, float(each))
            for where, n, each in zip(centers, sizes, xp.asnumpy(inertia), strict=True)
        ]

    def _proposals(
        self, bases: list[Found], rng: np.random.Generator
    ) -> tuple[list[Floats], list[Floats]]:
        """Return for every fit points for a further centre, and what each cluster is worth.

        Points are rows that were drawn, and points on the way to them; those that would save most
        at once are returned.
        """
        xp, layout, X = cupy(), self.layout, self.X
        n, fits, each = len(X), len(bases), 2 * _DRAWS
        batch = Batch(layout, [len(b.sizes) for b in bases], layout.centers(
            b.centers for b in bases), "uint8")  # fmt: skip
        program = layout.program("uint8")
        sizes = np.concatenate([b.sizes for b in bases])
        weights = xp.asarray((sizes / (sizes + 1)).astype(layout.real))
        own = xp.empty((fits, n), layout.real)
        parts = xp.empty((tiles(n), fits), np.float64)
        costs = xp.zeros(batch.n_centers, np.uint64)
        where = (batch.centers, batch.starts_there)
        args: tuple[Any, ...] = (*layout.rows(X), *where, weights, fits, own, parts, costs)
        launch(program, "weigh", (tiles(n), -(-fits // FITS)), 128, args)
        uniforms = xp.asarray(rng.random((fits, _DRAWS)))
        drawn = xp.empty((fits, _DRAWS), np.int64)
        args = (own, np.int64(n), parts, tiles(n), fits, uniforms, _DRAWS, drawn)
        launch(program, "draw", (fits,), 128, args)
        points = xp.empty((fits * each, layout.d), layout.real)
        self._bring(drawn, fits, _DRAWS, each, points)
        shrink = min(0.5, _HALVES / layout.d**0.5)
        launch(program, "closer", (fits * _DRAWS,), 128, (*where, _DRAWS, shrink, points))
        gained = self._gains(points, fits * each, each, own)
        gain = xp.asnumpy(gained.sum(axis=0)).reshape(fits, each)
        found = xp.asnumpy(points).astype(np.float64).reshape(fits, each, layout.d)
        best = np.argsort(-gain, axis=1, kind="stable")[:, :_TRIED]
        prices = np.split(xp.asnumpy(costs).astype(np.float64) / _PRICES, batch.starts[1:-1])
        return [found[f, best[f]] for f in range(fits)], prices

    def _bring(self, drawn: Any, fits: int, draws: int, places: int, points: Any) -> None:
        """Write the values of rows that were drawn to the first places of each fit's points."""
        layout = self.layout
        grid = (-(-fits * draws * layout.d // 256),)
        args = (*layout.rows(self.X), drawn, fits, draws, places, points)
        launch(layout.program("uint8"), "bring", grid, 256, args)

    def _gains(self, points: Any, count: int, each: int, own: Any) -> Any:
        """Return what further centres would save at once, in the rows of every tile."""
        layout, n = self.layout, len(self.X)
        gained = cupy().empty((tiles(n), count), np.float64)
        args = (*layout.rows(self.X), points, count, each, own, gained)
        grid = (tiles(n), -(-count // FITS))
        launch(layout.program("uint8"), "gains", grid, 128, args)
        return gained


def _starts_for(k: int) -> int:
    """Count the starts that are made for k clusters."""
    return min(_MOST_STARTS, max(_LEAST_STARTS, _STARTS // k))

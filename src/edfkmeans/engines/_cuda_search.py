"""The search for fits on a GPU: as `edfkmeans.fits.chain` does it, but many trials at once.

First a chain goes up, k by k: rows are drawn for a further centre, those that would save most at
once are tried, and the best trial goes on. Then come waves: for every k at once, a centre is added
to the best fit known, and one is dissolved, several of each tried; what got lowest for its k is
taken further, and kept if it is better. All trials of all k are one batch, which a kernel does in
one go. Fits are improved by Lloyd's algorithm alone: with this many rows, moves of single rows gain
hardly anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines._cuda_device import FITS, cupy, launch, tiles
from edfkmeans.engines._cuda_passes import Batch, Layout
from edfkmeans.rows.units import Floats

# Rows drawn for a further centre, and trials for one step, of those or of clusters to dissolve.
_DRAWS, _TRIED = 16, 3
# Chains that go up, each with draws of its own.
_CHAINS = 2
# k-means++ starts for one k: this number divided by k; and the largest k that they are made for.
_STARTS, _FEW = 24, 12
# Steps of Lloyd's algorithm: for a trial, for the best of them, and in the end.
_TRIAL_STEPS, _STEPS, _LAST_STEPS = 2, 6, 10
# Waves, at least and at most; they end when one has lowered the inertia by less than this part, on
# the average over k.
_LEAST_WAVES, _WAVES, _LITTLE = 3, 10, 2e-5
# Units of the costs that search.cu adds up.
_PRICES = 2.0**24


@dataclass(frozen=True, eq=False)
class Found:
    """A fit: where its centres are, in the columns that vary, its sizes and its inertia."""

    centers: Floats
    sizes: Floats
    inertia: float


class Search:
    """Looks for the best fit of some rows, which are on the GPU, for every k."""

    def __init__(self, X: Any, layout: Layout, seed: int) -> None:
        self.X, self.layout, self.seed = X, layout, seed
        self.best: dict[int, Found] = {}

    def run(self, k_last: int, report: Callable[[int, float], None]) -> list[Floats]:
        """Return the centres of the best fits for k = 1 .. k_last, in the columns that vary."""
        (first,) = self._descend([np.zeros((1, self.layout.d))], 1)
        self.best[1] = first
        chains = [first] * _CHAINS
        for k in range(1, k_last):
            chains = self._step_up(chains, k)
            self.best[k + 1] = min(chains, key=lambda fit: fit.inertia)
            report(k + 1, self.best[k + 1].inertia)
        self._few_clusters(min(k_last, _FEW))
        for number in range(_WAVES):
            if self._wave(k_last, number) < _LITTLE and number + 1 >= _LEAST_WAVES:
                break
        ks = range(1, k_last + 1)
        last = self._descend([self.best[k].centers for k in ks], _LAST_STEPS)
        for k, fit in zip(ks, last, strict=True):
            self._keep(k, fit)
        return [self.best[k].centers for k in ks]

    def _keep(self, k: int, fit: Found) -> None:
        """Remember a fit if it is the best of its k, and no cluster is empty."""
        if fit.sizes.min() > 0 and fit.inertia < self.best[k].inertia:
            self.best[k] = fit

    def _step_up(self, chains: list[Found], k: int) -> list[Found]:
        """Add a centre to the fit of every chain."""
        points, _ = self._proposals(chains, stream(self.seed, Purpose.STEPS, k, 0))
        trials = [np.vstack([fit.centers, p]) for fit, few in zip(chains, points, strict=True)
                  for p in few]  # fmt: skip
        tried = self._descend(trials, _TRIAL_STEPS)
        leads = [
            min(tried[c * _TRIED : (c + 1) * _TRIED], key=_rank).centers for c in range(len(chains))
        ]
        return self._descend(leads, _STEPS)

    def _few_clusters(self, k_most: int) -> None:
        """Try k-means++ starts for small k: sequences of rows, of which the first k are a start.

        With fewer centres than there are groups, the question is which groups to join, and one
        centre more or less rarely leads from one answer to a better one.
        """
        rng = stream(self.seed, Purpose.STARTS, 0, 0)
        drawn = np.sort(rng.choice(len(self.X), _STARTS // 2, replace=False))
        first = self._values(self.X[cupy().asarray(drawn)])
        rows = [Found(cupy().asnumpy(each)[None], np.ones(1), np.inf) for each in first]
        trials, ks = [], []
        for k in range(2, k_most + 1):
            points, _ = self._proposals(rows, rng)
            rows = [
                Found(np.vstack([fit.centers, few[0]]), np.ones(k), np.inf)
                for fit, few in zip(rows, points, strict=True)
            ]
            trials += [fit.centers for fit in rows[: _STARTS // k]]
            ks += [k] * (_STARTS // k)
        if not trials:
            return
        leads: dict[int, Found] = {}
        for k, fit in zip(ks, self._descend(trials, _TRIAL_STEPS), strict=True):
            if k not in leads or _rank(fit) < _rank(leads[k]):
                leads[k] = fit
        done = self._descend([fit.centers for fit in leads.values()], _STEPS)
        for k, fit in zip(leads, done, strict=True):
            self._keep(k, fit)

    def _values(self, rows: Any) -> Any:
        """Return some rows in their units, in double precision."""
        layout = self.layout
        values = cupy().empty((len(rows), layout.d), np.float64)
        grid = (-(-values.size // 256),)
        launch(layout.program("uint8"), "fill", grid, 256, (*layout.rows(rows), values))
        return values

    def _wave(self, k_last: int, number: int) -> float:
        """Try a centre more and a centre less for every k at once; returns what it has gained."""
        before = {k: self.best[k].inertia for k in range(2, k_last + 1)}
        bases = [self.best[k] for k in range(1, k_last + 1)]
        rng = stream(self.seed, Purpose.STEPS, 0, number + 1)
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
        leads: dict[tuple[int, int], Found] = {}
        for kind, fit in zip(kinds, self._descend(trials, _TRIAL_STEPS), strict=True):
            if kind not in leads or _rank(fit) < _rank(leads[kind]):
                leads[kind] = fit
        # The best fits known go on too: they may not have come to rest.
        going = [(k, self.best[k]) for k in before] + [(k, fit) for (k, _), fit in leads.items()]
        done = self._descend([fit.centers for _, fit in going], _STEPS)
        for (k, _), fit in zip(going, done, strict=True):
            self._keep(k, fit)
        return float(np.mean([1 - self.best[k].inertia / max(was, 1e-300)
                              for k, was in before.items()])) if before else 0.0  # fmt: skip

    def _descend(self, starts: list[Floats], steps: int) -> list[Found]:
        """Let all fits go down together, by some steps of Lloyd's algorithm."""
        xp, layout = cupy(), self.layout
        ks = [len(each) for each in starts]
        batch = Batch(layout, ks, layout.centers(starts), "uint8")
        labels = xp.empty((len(ks), len(self.X)), "uint8")
        names = np.concatenate([np.arange(k, dtype=np.int32) for k in ks])
        names = xp.asarray(names)
        for _ in range(steps):
            batch.assign(self.X, labels, names)
            batch.add_up(self.X, labels)
            batch.move()
        inertia = batch.assign(self.X, labels, names)
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
        """Return for every fit points for a further centre, and what each cluster is worth."""
        xp, layout, X = cupy(), self.layout, self.X
        n, fits = len(X), len(bases)
        batch = Batch(layout, [len(b.sizes) for b in bases], layout.centers(
            b.centers for b in bases), "uint8")  # fmt: skip
        program = layout.program("uint8")
        sizes = np.concatenate([b.sizes for b in bases])
        weights = xp.asarray((sizes / (sizes + 1)).astype(layout.real))
        own = xp.empty((fits, n), layout.real)
        parts = xp.empty((tiles(n), fits), np.float64)
        costs = xp.zeros(batch.n_centers, np.uint64)
        args = (
            *layout.rows(X),
            batch.centers,
            batch.starts_there,
            weights,
            fits,
            own,
            parts,
            costs,
        )
        launch(program, "weigh", (tiles(n), -(-fits // FITS)), 128, args)
        uniforms = xp.asarray(rng.random((fits, _DRAWS)))
        drawn = xp.empty((fits, _DRAWS), np.int64)
        args = (own, np.int64(n), parts, tiles(n), fits, uniforms, drawn)
        launch(program, "draw", (fits,), _DRAWS, args)
        values = self._values(X[drawn.ravel()])
        points = values.astype(layout.real)
        count = fits * _DRAWS
        gained = xp.empty((tiles(n), count), np.float64)
        args = (*layout.rows(X), points, count, _DRAWS, own, gained)
        launch(program, "gains", (tiles(n), -(-count // FITS)), 128, args)
        gain = xp.asnumpy(gained.sum(axis=0)).reshape(fits, _DRAWS)
        where = xp.asnumpy(values).reshape(fits, _DRAWS, layout.d)
        best = np.argsort(-gain, axis=1, kind="stable")[:, :_TRIED]
        prices = np.split(xp.asnumpy(costs).astype(np.float64) / _PRICES, batch.starts[1:-1])
        return [where[f, best[f]] for f in range(fits)], prices


def _rank(fit: Found) -> tuple[bool, float]:
    """Order fits: those with an empty cluster last, then by their inertia."""
    return bool(fit.sizes.min() == 0), fit.inertia

"""The chain over k: fits made from their neighbours' by one centre more or one centre less.

Going up, the fit with k clusters gets a further centre: rows are drawn by their squared distance,
as in greedy k-means++, those that would save most at once are tried, and the one that got lowest
after a few sweeps is taken down to an optimum. Going down, the clusters that cost least to dissolve
are tried in the same way. Up and down together swap centres, which is what restarts hope for and
seldom get.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from edfkmeans.backends.threads import Threads, row_blocks
from edfkmeans.fit import Descent, Fit, Sizes, fit_from_centers
from edfkmeans.kernels import chain as kernels
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.seeding import stream
from edfkmeans.table import Floats

ROUNDS = 2
_DRAWS = 16
_TRIED = 4
_TRIAL_SWEEPS = 3
# In the chain a fit may stop this close to its optimum (moves per row); at the end none does.
_ENOUGH = 1 / 2000
# Below this, threads take a chain each; above, those that are left over share the rows of one
# chain; and above the second, all do, as every chain needs memory of its own.
_SOME_ROWS, _MANY_ROWS = 4 * BLOCK, 64 * BLOCK


@dataclass(frozen=True)
class Centers:
    """What the chain remembers of a fit: giving rows to the nearest centre brings it back."""

    centers: Floats
    sizes: Sizes
    inertia: float


Found = dict[int, Centers]
Report = Callable[[int, float], None]


def chain_fits(
    values: Floats, k_last: int, n_chains: int, seed: int, n_jobs: int, report: Report
) -> list[Fit]:
    """Fit k = 1 .. k_last: chains with random streams of their own, the best of which go on."""
    n = len(values)
    mean = values.mean(axis=0, keepdims=True)
    best: Found = {1: Centers(mean, np.array([n]), float(((values - mean) ** 2).sum()))}
    with Threads(n_jobs) as pool:
        apart = n < (_SOME_ROWS if n_jobs > n_chains else _MANY_ROWS)
        for round_ in range(ROUNDS):
            before = dict(best)

            def one(chain: int, before: Found = before, round_: int = round_) -> Found:
                number = round_ * n_chains + chain
                steps = _Chain(values, pool, Threads(1) if apart else pool, report)
                return steps.up_and_down(before, k_last, seed, number)

            numbers = range(n_chains)
            results = pool.map(one, numbers) if apart else [one(chain) for chain in numbers]
            for found in results:
                best = {k: min((best.get(k, fit), fit), key=_inertia) for k, fit in found.items()}
        inner = Threads(1) if apart else pool

        def finish(k: int) -> Fit:
            pool.check()
            return fit_from_centers(values, best[k].centers, inner)

        ks = range(k_last, 0, -1)
        fits = (pool.map(finish, ks) if apart else [finish(k) for k in ks])[::-1]
        for k in range(1, k_last):
            # One centre more never costs anything; should a fit say so, it is a poor one.
            if fits[k].inertia >= fits[k - 1].inertia:
                fits[k] = _split(values, fits[k - 1], pool)
    return fits


def _split(values: Floats, fit: Fit, pool: Threads) -> Fit:
    """Put a further centre on the row furthest from its own."""
    away = ((values - fit.centers[fit.labels]) ** 2).sum(axis=1).argmax()
    return fit_from_centers(values, np.vstack([fit.centers, values[away]]), pool)


def _inertia(fit: Centers) -> float:
    return fit.inertia


class _Chain:
    """One chain at work: the weights of the fit it stands on, and room for two trials."""

    def __init__(self, values: Floats, outer: Threads, pool: Threads, report: Report) -> None:
        n = len(values)
        self.values = values
        self.outer = outer
        self.pool = pool
        self.report = report
        self.blocks = row_blocks(n)
        self.labels = np.empty(n, np.int32)
        self.target = np.empty(n, np.int32)
        self.own = np.empty(n, np.float32)
        self.enter = np.empty(n, np.float32)
        self.trial = Descent(values)
        self.lead = Descent(values)

    def up_and_down(self, known: Found, k_last: int, seed: int, number: int) -> Found:
        """Go up to k_last and back to 2; returns the best fit seen for every k."""
        best = dict(known)
        for k in range(1, k_last):
            self._keep(best, k + 1, self._more(best[k], stream(seed, k, number)))
        for k in range(k_last - 1, 1, -1):
            self._keep(best, k, self._fewer(best[k + 1]))
        return best

    def _keep(self, best: Found, k: int, fit: Centers) -> None:
        if k not in best or fit.inertia < best[k].inertia:
            best[k] = fit
        self.report(k, best[k].inertia)

    def _more(self, base: Centers, rng: np.random.Generator) -> Centers:
        """Add a centre to a fit."""
        k = len(base.sizes)
        self._stand_on(base)
        drawn = np.empty(_DRAWS, np.int64)
        kernels.draw(self.own, np.sort(rng.random(_DRAWS)), drawn)
        rows = np.unique(drawn)
        gain = np.empty((len(self.blocks), len(rows)))
        points = self.values[rows]

        def block(number: int) -> None:
            part = self.blocks[number]
            kernels.gains(self.values[part], self.own[part], points, gain[number])

        self.pool.map(block, range(len(self.blocks)))
        lowest = np.inf
        for choice in np.argsort(-gain.sum(axis=0), kind="stable")[:_TRIED]:
            trial = self.trial
            taken = kernels.insert(
                self.values, rows[choice], k, self.labels, self.own, self.enter,
                trial.labels, trial.upper, trial.lower,
            )  # fmt: skip
            old = np.concatenate([base.centers, self.values[rows[choice]][None]])
            lowest = self._try(old, np.append(base.sizes, taken), lowest)
        return self._finish()

    def _fewer(self, base: Centers) -> Centers:
        """Dissolve a cluster of a fit."""
        k = len(base.sizes)
        self._stand_on(base)
        costs = np.empty(k)
        kernels.removal_costs(self.labels, self.own, self.enter, costs)
        lowest = np.inf
        for r in np.argsort(costs, kind="stable")[:_TRIED]:
            trial = self.trial
            kernels.remove(
                r, k - 1, self.labels, self.own, self.enter, self.target,
                trial.labels, trial.upper, trial.lower,
            )  # fmt: skip
            order = np.arange(k - 1)
            order[order == r] = k - 1
            lowest = self._try(base.centers[order], base.sizes[order], lowest)
        return self._finish()

    def _stand_on(self, base: Centers) -> None:
        """Find the rows of a fit, what they cost and where else they might go."""
        self.outer.check()

        def block(rows: slice) -> None:
            kernels.weigh(
                self.values[rows], base.centers, base.sizes, self.labels[rows],
                self.own[rows], self.enter[rows], self.target[rows],
            )  # fmt: skip

        self.pool.map(block, self.blocks)

    def _try(self, old: Floats, old_sizes: Sizes, lowest: float) -> float:
        """Give a trial a few sweeps and the lead if it got lowest; returns the lowest so far."""
        trial = self.trial
        trial.start(old, old_sizes)
        inertia = trial.run(self.pool, max_sweeps=_TRIAL_SWEEPS)
        if inertia >= lowest:
            return lowest
        self.trial, self.lead = self.lead, trial
        return inertia

    def _finish(self) -> Centers:
        """Take the trial that leads down to (nearly) its optimum."""
        lead = self.lead
        inertia = lead.run(self.pool, enough=int(_ENOUGH * len(self.values)))
        return Centers(lead.centers, lead.sizes, inertia)

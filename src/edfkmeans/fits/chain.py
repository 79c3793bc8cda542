"""The chain over k: fits made from their neighbours' by one centre more or one centre less.

For small k it begins with k-means++ starts. Going up, the fit with k clusters gets a further
centre: rows are drawn by their squared distance, as in greedy k-means++, those that would save most
at once are tried, and the one that got lowest after a few sweeps is taken down to an optimum. Going
down, the clusters that cost least to dissolve are tried in the same way. Up and down together swap
centres, which is what restarts hope for and seldom get.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from edfkmeans._streams import Purpose, stream
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import Descent, fit_from_centers
from edfkmeans.fits.fit import Fit, fit_of_labels
from edfkmeans.fits.starts import Report, drawn_rows, plusplus_rows
from edfkmeans.kernels import steps as kernels
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows import look
from edfkmeans.rows.assignments import Known, Nearest
from edfkmeans.rows.blocks import row_blocks
from edfkmeans.rows.labels import Sizes
from edfkmeans.rows.units import Floats, Values

# Rounds: each goes on from the best fits of all chains in the round before.
ROUNDS = 2
# k-means++ starts for one k: this number divided by k.
_STARTS = 24
# The largest k that k-means++ starts are made for.
_FEW = 12
# Rows drawn for a further centre.
_DRAWS = 16
# Trials for one step of a chain: of the rows drawn, or of the clusters to dissolve, the best.
_TRIED = 3
# Sweeps that each trial is given before the lowest one is taken further.
_TRIAL_SWEEPS = 2
# Part of the inertia: a trial that lies further above the best fit known is dropped.
_BEHIND = 0.003
# Moves per row: a fit of a chain ends when a sweep has no more. The fits that are handed out go on
# to the end, unless there are more rows than a sample has: then the last moves take most of the
# time and gain some 1e-5 of the inertia.
_ENOUGH = 1 / 2000
# Rows: from here on, threads that have no chain of their own share the rows of one.
_MANY_ROWS = 4 * BLOCK
# Numbers for each thread: with fewer, threads wait for each other.
_PER_THREAD = 2500


# Fits by their k. All that is remembered of one is its centres, which rows are nearest to.
Found = dict[int, Fit]


def count_steps(n: int, k_last: int, n_chains: int, k_first: int | None = None) -> int:
    """Count the fits that `chain_fits` will report."""
    chains = ROUNDS * n_chains + (n > look.SAMPLE)
    stages = _stages(k_last, k_first)
    return sum(chains * (2 * (last - first) - 1) for first, last in stages) + min(k_last, _FEW) - 1


def _stages(k_last: int, k_first: int | None) -> list[tuple[int, int]]:
    """Return where chains begin and end: at 1 and k_last, or first at k_first and then beyond."""
    if k_first is None or not 1 < k_first < k_last:
        return [(1, k_last)]
    return [(1, k_first), (k_first, k_last)]


def chain_fits(
    values: Values,
    k_last: int,
    n_chains: int,
    seed: int,
    n_jobs: int,
    report: Report,
    k_first: int | None = None,
    weights: Floats | None = None,
) -> list[Fit]:
    """Fit k = 1 .. k_last: chains with random streams of their own, the best of which go on.

    With `k_first`, chains go up to that first, and further chains go on from there: the fits up to
    `k_first` are the same whatever `k_last` is.

    Of very many rows, the rounds see a sample. Their fits are refined on all rows, and one chain
    over all rows looks for what the sample did not show: it takes a trial further only if that is
    ahead of the best fit known at once.
    """
    n = len(values)
    with Threads(min(n_jobs, max(2, values.size // _PER_THREAD))) as pool:
        if n <= look.SAMPLE:
            best = _rounds(values, weights, k_last, n_chains, seed, pool, report, k_first)
        else:
            sample = look.sample_numbers(n, seed)
            part = None if weights is None else weights[sample]
            best = _rounds(values[sample], part, k_last, n_chains, seed, pool, report, k_first)
            found = _refine(values, weights, best, pool)
            best = {k: _remember(fit) for k, fit in enumerate(found, start=1)}
            del found  # labels of all rows
            chain = _Chain(values, weights, pool, pool, report, behind=0.0)
            for first, last in _stages(k_last, k_first):
                best = chain.up_and_down(best, first, last, seed, ROUNDS * n_chains)
            del chain
        return falling(values, weights, _refine(values, weights, best, pool), pool)


def falling(values: Values, weights: Floats | None, fits: list[Fit], pool: Threads) -> list[Fit]:
    """Replace fits that are no lower than the one before, which the best never are."""
    for k in range(1, len(fits)):
        if fits[k].inertia >= fits[k - 1].inertia:
            fits[k] = _split(values, fits[k - 1], pool, weights)
    return fits


def _rounds(
    values: Values,
    weights: Floats | None,
    k_last: int,
    n_chains: int,
    seed: int,
    pool: Threads,
    report: Report,
    k_first: int | None,
) -> Found:
    """Run the chains, each on from the best that all of them found in the round before."""
    apart = len(values) < _MANY_ROWS or pool.n_jobs <= n_chains
    best = {1: _remember(fit_of_labels(values, np.zeros(len(values), np.int32), 1, weights))}
    for k, fit in enumerate(_few_clusters(values, weights, k_last, seed, pool), start=2):
        best[k] = fit
        report(k, fit.inertia)
    for first, last in _stages(k_last, k_first):
        agreed: set[int] = set()
        for begin in range(0, ROUNDS * n_chains, n_chains):
            ask = partial(
                _one_chain, values, weights, best, first, last, seed, agreed, pool, report, apart,
                n_chains,
            )  # fmt: skip
            results = _each(pool, apart, ask, range(begin, begin + n_chains))
            for k in range(first + 1, last + 1):
                best[k] = min((found[k] for found in results), key=lambda fit: fit.inertia)
                # Where chains end with the same fit, the next round does not try again.
                enough = best[k].inertia * (1 + 1e-9)
                if sum(found[k].inertia <= enough for found in results) > 1:
                    agreed.add(k)
    return best


def _each(
    pool: Threads, apart: bool, function: Callable[[int], Any], numbers: Sequence[int]
) -> list[Any]:
    """Do something for every number: in a thread of the pool each, or all of them sharing it."""
    if apart:
        return pool.map(function, numbers)
    waits = [pool.beside(partial(function, number)) for number in numbers]
    return [wait() for wait in waits]


def _one_chain(
    values: Values, weights: Floats | None, known: Found, k_first: int, k_last: int, seed: int,
    agreed: Set[int], pool: Threads, report: Report, apart: bool, n_chains: int, number: int,
) -> Found:  # fmt: skip
    inner = Threads(1) if apart else pool
    chain = _Chain(values, weights, pool, inner, report, at_once=n_chains)
    return chain.up_and_down(known, k_first, k_last, seed, number, agreed)


def _few_clusters(
    values: Values, weights: Floats | None, k_last: int, seed: int, pool: Threads
) -> list[Fit]:
    """Run k-means++ starts for small k, where they cost little.

    With fewer centres than there are groups, the question is which groups to join, and one centre
    more or less rarely leads from one answer to a better one.
    """

    def best_start(k: int) -> Fit:
        inner, lowest = Threads(1), np.inf
        for start in range(_STARTS // k):
            pool.check()
            seeds = plusplus_rows(values, k, stream(seed, Purpose.STARTS, k, start), weights)
            trial = Descent.from_centers(values, seeds, inner, weights)
            inertia = trial.run(inner, max_sweeps=_TRIAL_SWEEPS)
            if inertia < lowest:
                lowest, lead = inertia, trial
        inertia = lead.run(inner, enough=_enough(values, weights))
        return _nearest(lead.centers, lead.sizes, inertia)

    return pool.map(best_start, range(2, min(k_last, _FEW) + 1))


def _enough(values: Values, weights: Floats | None) -> int:
    """Return how many rows may still move when a fit of a chain ends."""
    return int(_ENOUGH * (len(values) if weights is None else round(weights.sum())))


def _refine(values: Values, weights: Floats | None, best: Found, pool: Threads) -> list[Fit]:
    """Take every fit down to its optimum on all rows."""
    small = np.min_scalar_type(len(best))
    enough = _enough(values, weights) if len(values) > look.SAMPLE else 0

    def one(k: int, inner: Threads) -> Fit:
        pool.check()
        fit = fit_from_centers(values, best[k].centers, inner, enough=enough, weights=weights)
        return replace(fit, assignment=Known(fit.labels.astype(small)))

    ks = sorted(best)
    if len(values) > look.SAMPLE:
        return [one(k, pool) for k in ks]
    # Large k first: the longest tasks must not be the last ones.
    return pool.map(lambda k: one(k, Threads(1)), ks[::-1])[::-1]


def _remember(fit: Fit) -> Fit:
    return _nearest(fit.centers, fit.sizes, fit.inertia)


def _nearest(centers: Floats, sizes: Sizes, inertia: float) -> Fit:
    return Fit(Nearest(centers), centers, sizes, inertia)


def _split(values: Values, fit: Fit, pool: Threads, weights: Floats | None = None) -> Fit:
    """Put a further centre on the row furthest from its own."""
    away = ((values - fit.centers[fit.labels]) ** 2).sum(axis=1).argmax()
    centers = np.vstack([fit.centers, values[away]])
    return fit_from_centers(values, centers, pool, weights=weights)


class _Chain:
    """One chain at work: the weights of the fit it stands on, and room for its trials."""

    def __init__(
        self,
        values: Values,
        weights: Floats | None,
        outer: Threads,
        pool: Threads,
        report: Report,
        behind: float = _BEHIND,
        at_once: int = 1,
    ) -> None:
        n = len(values)
        self.parts = max(1, pool.n_jobs // at_once)  # threads for each of the chains at once
        self.behind = behind
        self.values = values
        self.weights = weights
        self.outer = outer
        self.pool = pool
        self.report = report
        self.blocks = row_blocks(n)
        self.labels = np.empty(n, np.int32)
        self.target = np.empty(n, np.int32)
        self.own = np.empty(n, np.float32)
        self.enter = np.empty(n, np.float32)
        # Threads that share the rows of a sample try all at once: much of a trial is one thread's.
        at_once = min(_TRIED, self.parts) if n <= look.SAMPLE else 1
        self.trials = [Descent(values, weights) for _ in range(at_once)]
        self.lead = Descent(values, weights)

    def up_and_down(
        self,
        known: Found,
        k_first: int,
        k_last: int,
        seed: int,
        number: int,
        agreed: Set[int] = frozenset(),
    ) -> Found:
        """Go up from k_first to k_last and back; returns the best fit seen for every k.

        The fits up to k_first and those of `agreed` are left as they are.
        """
        best = dict(known)
        for k in range(k_first, k_last):
            if k + 1 not in agreed:
                rng = stream(seed, Purpose.STEPS, k, number)
                self._settle(best, k + 1, self._more(best[k], rng))
            self.report(k + 1, best[k + 1].inertia)
        for k in range(k_last - 1, k_first, -1):
            if k not in agreed:
                self._settle(best, k, self._fewer(best[k + 1]))
            self.report(k, best[k].inertia)
        return best

    def _settle(self, best: Found, k: int, lowest: float) -> None:
        """Take the trial that leads down to (nearly) its optimum, unless it is clearly behind."""
        if k not in best or lowest < best[k].inertia * (1 + self.behind):
            lead = self.lead
            enough = _enough(self.values, self.weights)
            inertia = lead.run(self.pool, enough=enough, parts=self.parts)
            if k not in best or inertia < best[k].inertia:
                best[k] = _nearest(lead.centers, lead.sizes, inertia)

    def _more(self, base: Fit, rng: np.random.Generator) -> float:
        """Add a centre to a fit; returns how low the trial that leads has got."""
        k = len(base.sizes)
        self._stand_on(base)
        rows = drawn_rows(self.own, np.sort(rng.random(_DRAWS)), self.weights)
        gain = np.empty((len(self.blocks), len(rows)))
        points = self.values[rows].astype(np.float64)

        def block(number: int) -> None:
            part = self.blocks[number]
            w = self._weights(part)
            kernels.gains(self.values[part], w, self.own[part], points, gain[number])

        self.pool.map(block, range(len(self.blocks)))
        best = np.argsort(-gain.sum(axis=0), kind="stable")[:_TRIED]
        tried: dict[int, int] = {}
        for choice in best:  # two copies of one row lead to the same fit
            tried.setdefault(int(rows[choice]), choice)

        def put(choice: int, trial: Descent) -> tuple[Floats, Sizes]:
            taken = kernels.insert(
                self.values, self.weights, rows[choice], k, self.labels, self.own, self.enter,
                trial.labels, trial.upper, trial.lower,
            )  # fmt: skip
            centers, sizes = np.empty((k + 1, points.shape[1])), np.empty(k + 1, base.sizes.dtype)
            centers[:k], centers[k] = base.centers, points[choice]
            sizes[:k], sizes[k] = base.sizes, taken
            return centers, sizes

        return self._try([partial(put, choice) for choice in tried.values()])

    def _fewer(self, base: Fit) -> float:
        """Dissolve a cluster of a fit; returns how low the trial that leads has got."""
        k = len(base.sizes)
        self._stand_on(base)
        costs = np.empty(k)
        kernels.removal_costs(self.weights, self.labels, self.own, self.enter, costs)

        def dissolve(r: int, trial: Descent) -> tuple[Floats, Sizes]:
            kernels.remove(
                r, k - 1, self.labels, self.own, self.enter, self.target,
                trial.labels, trial.upper, trial.lower,
            )  # fmt: skip
            order = np.arange(k - 1)
            order[r : r + 1] = k - 1
            return base.centers[order], base.sizes[order]

        least = np.argsort(costs, kind="stable")[:_TRIED]
        return self._try([partial(dissolve, r) for r in least])

    def _stand_on(self, base: Fit) -> None:
        """Find the rows of a fit, what they cost and where else they might go."""
        self.outer.check()

        def block(rows: slice) -> None:
            kernels.weigh(
                self.values[rows], self._weights(rows), base.centers, base.sizes,
                self.labels[rows], self.own[rows], self.enter[rows], self.target[rows],
            )  # fmt: skip

        self.pool.map(block, self.blocks)

    def _weights(self, rows: slice) -> Floats | None:
        return None if self.weights is None else self.weights[rows]

    def _try(self, starts: list[Callable[[Descent], tuple[Floats, Sizes]]]) -> float:
        """Give every trial a few sweeps, and the lead to the one that got lowest; returns that."""

        def one(start: Callable[[Descent], tuple[Floats, Sizes]], trial: Descent) -> float:
            trial.start(*start(trial))
            parts = max(1, self.parts // len(self.trials))
            return trial.run(self.pool, max_sweeps=_TRIAL_SWEEPS, parts=parts)

        lowest = np.inf
        for first in range(0, len(starts), len(self.trials)):
            some = zip(starts[first:], self.trials, strict=False)
            waits = [self.pool.beside(partial(one, start, trial)) for start, trial in some]
            for number, wait in enumerate(waits):
                inertia = wait()
                if inertia < lowest:
                    lowest = inertia
                    self.trials[number], self.lead = self.lead, self.trials[number]
        return lowest

"""Parametric bootstrap: data drawn from the pilot are fitted again, which sees every switch."""

import math

import numpy as np

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.dof.terms import pilot_sigma
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.path import fit_of_copies
from edfkmeans.fits.search import fit_rows
from edfkmeans.rows.rows import Rows, Sample
from edfkmeans.rows.units import Floats

# Draws at a time, and at most.
_BATCH, _MOST = 8, 256


def bootstrap_terms(
    given: Rows, fit: Fit, pilot: Fit, seed: int, precision: float, pool: Threads
) -> tuple[Floats, float]:
    """Return every row's part of the excess, and the standard error of the total.

    Data are drawn until that is at most the part `precision` of the total. Where a row stands for
    several, each of them is drawn, and its part is their mean.
    """
    rows, spread = given.sample, given.spread
    if spread is not None:
        if len(rows.values) != given.n_samples or not given.whole:
            raise ValueError(
                "method='bootstrap' draws noise for every row that a row stands for, so "
                "sample_weight must be whole numbers that add up to 131072 at most. Use "
                "method='exact'."
            )
        fit, pilot = fit_of_copies(given, fit), fit_of_copies(given, pilot)
    sigma = corrected_sigma(rows, pilot, seed, pool)
    draws: list[Floats] = []
    total, error = 1.0, np.inf
    while error > precision * total and len(draws) < _MOST:
        numbers = range(len(draws), len(draws) + _BATCH)
        draws += [
            terms
            for (terms,) in pool.map(
                lambda b: bootstrap_draw(rows, [fit], pilot, sigma, seed, b), numbers
            )
        ]
        totals = np.sum(draws, axis=1)
        total, error = totals.mean(), totals.std(ddof=1) / np.sqrt(len(draws))
    smooth_part = rows.n_features / fit.sizes[fit.labels]
    terms = np.asarray(np.mean(draws, axis=0) - smooth_part)
    if spread is not None:
        sums = np.bincount(spread.copies, weights=terms)
        terms = spread.over_rows(sums / np.bincount(spread.copies))
    return terms, float(error)


def bootstrap_draw(
    rows: Sample, fits: list[Fit], pilot: Fit, sigma: float, seed: int, number: int
) -> list[Floats]:
    """Draw data from the pilot, fit them again and take every row's product of noise and fit.

    The fits for the number of clusters of each of `fits` are compared with that one, not with
    their own mean: any fixed fit does, as the noise has mean 0, and a near one leaves little noise.
    """
    rng = stream(seed, Purpose.BOOTSTRAP, number)
    noise = rng.normal(size=rows.values.shape) * rows.units.varying
    drawn = pilot.centers[pilot.labels] + sigma * noise
    ks = [fit.k for fit in fits]
    path = fit_rows(read_rows(drawn), max(2, *ks) - 1, seed_of(rng), n_init=1)
    return [
        ((path.centers(k)[path.labels(k)] - fit.centers[fit.labels]) * noise).sum(axis=1) / sigma
        for k, fit in zip(ks, fits, strict=True)
    ]


def corrected_sigma(rows: Sample, pilot: Fit, seed: int, pool: Threads) -> float:
    """Return the standard deviation of the noise: the pilot's, corrected for what the pilot spends.

    A pilot with many clusters has fitted some of the noise. How much is measured by a few draws.
    """
    sigma = pilot_sigma(rows, pilot)
    draws = pool.map(
        lambda b: float(bootstrap_draw(rows, [pilot], pilot, sigma, seed, b)[0].sum()),
        range(_MOST, _MOST + _BATCH),
    )
    residuals = rows.n_samples * rows.n_features
    spent = min(max(float(np.mean(draws)), 0.0), 0.9 * residuals)
    return sigma / math.sqrt(1 - spent / residuals)

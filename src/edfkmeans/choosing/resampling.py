"""Resampling: k chosen again on random parts of the rows."""

from typing import cast

import numpy as np
import pandas as pd

from edfkmeans._choices import Fits
from edfkmeans._progress import progress_bar
from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.criteria import Criterion, Work
from edfkmeans.criteria.criterion import judge
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.search import fit_rows
from edfkmeans.rows.checks import count_distinct
from edfkmeans.rows.rows import Sample

# Resamples: enough to tell one half from one third.
N_RESAMPLES = 20
# Part of the rows in each: as many as a bootstrap has distinct ones.
_PART = 0.632
# Rows in each, at most.
_MOST_ROWS = 20_000


def chosen_again(
    rows: Sample, path: KMeansPath, criterion: Criterion, seed: int, pool: Threads, progress: bool
) -> pd.Series:
    """Choose again on parts of the rows: how often each k is chosen."""
    fits = cast("Fits", path.fits)

    def one(number: int) -> int:
        pool.check()
        rng = stream(seed, Purpose.RESAMPLES, number)
        size = min(_MOST_ROWS, max(4, round(_PART * rows.n_samples)))
        drawn = np.sort(rng.choice(rows.n_samples, min(size, rows.n_samples), replace=False))
        part = read_rows(rows.values[drawn])
        most = min(path.k_max, count_distinct(part.values, path.k_max + 2) - 2)
        if most < 1:
            return 1
        part_path = fit_rows(part, most, seed_of(rng), fits=fits, n_init=1)
        return judge(criterion, part, part_path, Work(seed_of(rng), Threads(1))).k

    with progress_bar(progress, "resampling", N_RESAMPLES) as bar:

        def tell(number: int, k: int) -> None:
            bar.update()

        chosen = pool.map(one, range(N_RESAMPLES), tell)
    counts = pd.Series(chosen).value_counts().sort_index()
    return pd.Series(counts / N_RESAMPLES, name="share").rename_axis("k")

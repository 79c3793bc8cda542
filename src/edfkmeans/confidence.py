"""How sure: k chosen again on random parts of the rows."""

from typing import Any, cast

import numpy as np
import pandas as pd
from tqdm.auto import tqdm

from edfkmeans._streams import Purpose, seed_of, stream
from edfkmeans.backends.threads import Threads
from edfkmeans.fitting import PATIENCE, Fits, fit_table
from edfkmeans.path import KMeansPath
from edfkmeans.table import Table, count_distinct, read_table
from edfkmeans.verdict import Method, judge

# So many resamples, each of this part of the rows (as many as a bootstrap has distinct ones).
N_RESAMPLES = 20
_PART = 0.632
_MOST_ROWS = 20_000


def resample(
    table: Table,
    path: KMeansPath,
    method: Method,
    rule: Any,
    seed: int,
    pool: Threads,
    progress: bool,
) -> pd.Series:
    """Choose again on parts of the rows: how often each k is chosen."""
    k_max, fits = path.k_max, cast("Fits", path.fits)

    def one(number: int) -> int:
        pool.check()
        rng = stream(seed, Purpose.RESAMPLES, number)
        size = min(_MOST_ROWS, max(4, round(_PART * table.n_samples)))
        rows = np.sort(rng.choice(table.n_samples, min(size, table.n_samples), replace=False))
        part = read_table(table.values[rows])
        most = min(k_max, count_distinct(part.values, k_max + 2) - 2)
        if most < 1:
            return 1
        part_path = fit_table(
            part, most, fits=fits, n_init=1, seed=seed_of(rng), n_jobs=1, progress=False
        )
        return judge(part, part_path, method, rule, seed_of(rng), Threads(1)).k

    with tqdm(total=N_RESAMPLES, disable=not progress, desc="resampling", delay=PATIENCE) as bar:

        def tell(number: int, k: int) -> None:
            bar.update()

        chosen = pool.map(one, range(N_RESAMPLES), tell)
    counts = pd.Series(chosen).value_counts().sort_index()
    return pd.Series(counts / N_RESAMPLES, name="share").rename_axis("k")

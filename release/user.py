"""A user's program, as mypy --strict and pyright must accept it; release/dist.py lets them."""

from typing import assert_type

import numpy as np
import pandas as pd

from edfkmeans import (
    Candidate,
    Comparison,
    DegreesOfFreedom,
    EDFKMeans,
    KMeansPath,
    Selection,
    compare,
    degrees_of_freedom,
    fit_path,
    select_k,
)

rng = np.random.default_rng(0)
X = np.concatenate([rng.normal(8 * group, size=(40, 2)) for group in range(3)])

found = select_k(pd.DataFrame(X, columns=["a", "b"]), k_max=8, random_state=0)
assert_type(found, Selection)
assert_type(found.k, int)
assert_type(found.headline, str)
assert_type(found.table, pd.DataFrame)
others: list[int] = [candidate.k for candidate in found.candidates]
first: Candidate | None = found.candidates[0] if found.candidates else None

path = fit_path(X, 5, random_state=0)
assert_type(path, KMeansPath)
freedom = degrees_of_freedom(X, path.labels(3), path.labels(5))
assert_type(freedom, DegreesOfFreedom)
assert_type(freedom.total, float)

several = compare(X, ["bic", "silhouette"], k_max=6, random_state=0)
assert_type(several, Comparison)
model = EDFKMeans(k_max=6, random_state=0).fit(X)
print(found.k, others, freedom.total, model.n_clusters_)

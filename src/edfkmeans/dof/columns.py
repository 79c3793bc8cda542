"""How many columns the residuals are worth."""

from dataclasses import dataclass

import numpy as np

from edfkmeans.fits.fit import Fit
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.blocks import Block
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats


@dataclass(frozen=True, eq=False)
class _Scatter:
    """The task of adding up the products of a fit's residuals, for every two columns."""

    fit: Fit

    def __call__(self, block: Block) -> Floats:
        residual = block.values - self.fit.centers[block.labels(self.fit.assignment)]
        if block.weights is not None:
            return np.asarray((residual.T * block.weights) @ residual)
        return np.asarray(residual.T @ residual)


def effective_columns(rows: Rows, path: KMeansPath) -> float:
    """Count the columns that the pilot's residuals are worth: between 1 and their number.

    Correlated residuals carry less than one piece of evidence each. The eigenvalues w of their
    covariance are worth ``(sum w)^2 / sum w^2`` columns if only their spread counts; the geometric
    mean of that and the number of columns is what served best.
    """
    pilot = path.pilot
    if path.products is not None:
        scatter = path.products - (pilot.centers.T * pilot.sizes) @ pilot.centers
    elif rows.n_samples < len(rows.units.mean):
        # Few rows, many columns: the products of rows have the same trace and sum of squares.
        values, weights = rows.points
        pilot = path.sample.pilot if weights is None else pilot
        residual = values - pilot.centers[pilot.labels]
        if weights is not None:
            residual *= np.sqrt(weights)[:, None]
        scatter = residual @ residual.T
    else:
        (scatter,) = rows.sums([_Scatter(pilot)])
    total = np.trace(scatter)
    # Divided first: squares of small residuals leave the range of a float.
    spread = 1 / ((scatter / total) ** 2).sum() if total > 0 else 1.0
    return float(np.sqrt(rows.n_features * spread))

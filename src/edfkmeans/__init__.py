"""How many clusters? The number of clusters for k-means by effective degrees of freedom."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from edfkmeans.choosing.candidates import Candidate
    from edfkmeans.comparison import Comparison, compare
    from edfkmeans.criteria.silhouettes import Silhouettes, silhouettes
    from edfkmeans.dof import DegreesOfFreedom, degrees_of_freedom
    from edfkmeans.estimator import EDFKMeans
    from edfkmeans.fits.path import KMeansPath
    from edfkmeans.fits.search import fit_path
    from edfkmeans.logarithm import LogTransformer
    from edfkmeans.model import Model
    from edfkmeans.scoring import score
    from edfkmeans.selection import Selection, select_k

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Comparison",
    "DegreesOfFreedom",
    "EDFKMeans",
    "KMeansPath",
    "LogTransformer",
    "Model",
    "Selection",
    "Silhouettes",
    "compare",
    "degrees_of_freedom",
    "fit_path",
    "score",
    "select_k",
    "silhouettes",
]

# Where the public names live. They are imported on first use, so that `import edfkmeans` and
# `edfkmeans --help` do not wait for scikit-learn and numba.
_HOMES = {
    "Candidate": "choosing.candidates",
    "Comparison": "comparison",
    "DegreesOfFreedom": "dof",
    "EDFKMeans": "estimator",
    "KMeansPath": "fits.path",
    "LogTransformer": "logarithm",
    "Model": "model",
    "Selection": "selection",
    "Silhouettes": "criteria.silhouettes",
    "compare": "comparison",
    "degrees_of_freedom": "dof",
    "fit_path": "fits.search",
    "score": "scoring",
    "select_k": "selection",
    "silhouettes": "criteria.silhouettes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

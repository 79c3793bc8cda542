"""Criteria: from the fits, and what else they declare they need, to a value for every k.

Every module of this package is loaded and registers the criteria it holds, so that a new one is a
class in one file and nothing else.
"""

from importlib import import_module
from pkgutil import iter_modules

from edfkmeans.criteria.criterion import (
    Criterion,
    Curve,
    Given,
    Labelling,
    Need,
    NotApplicable,
    Work,
    register,
    registered,
)

__all__ = [
    "Criterion",
    "Curve",
    "Given",
    "Labelling",
    "Need",
    "NotApplicable",
    "Work",
    "register",
    "registered",
]

# The order in which they are shown; a module that is not named here comes last.
_ORDER = ["information", "separation", "gap", "distortion", "resampling", "combined"]

for _module in sorted(
    (module.name for module in iter_modules(__path__)),
    key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER),
):
    import_module(f"{__name__}.{_module}")

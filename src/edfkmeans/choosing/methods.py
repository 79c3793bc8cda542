"""Methods: the criterion that each stands for, and the table that it was judged by."""

from dataclasses import fields, replace

import numpy as np
import pandas as pd

from edfkmeans._choices import METHODS, Method
from edfkmeans.choosing.judge import Judge
from edfkmeans.criteria import Criterion, Curve
from edfkmeans.criteria.combined import Combined
from edfkmeans.criteria.information import Information
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.arguments import check_one_of

_CRITERIA: dict[Method, Criterion] = {
    "judge": Judge(),
    "combined": Combined(),
    "paper": Information(),
    "naive": Information("bic-naive", count="naive"),
}


def criterion_of(method: Method, rule: str | None) -> Criterion:
    """Return the criterion that a method stands for, with a rule if one is given."""
    check_one_of("method", method, METHODS)
    criterion = _CRITERIA[method]
    if rule is None:
        return criterion
    with_rule = [name for name, each in _CRITERIA.items() if _has_rule(each)]
    if method not in with_rule:
        raise ValueError(
            f"rule={rule!r} is for methods {' and '.join(map(repr, with_rule))}; "
            f"method={method!r} has its own. Leave rule out, or set method={with_rule[0]!r}."
        )
    return replace(criterion, rule=rule)  # type: ignore[call-arg]


def _has_rule(criterion: Criterion) -> bool:
    return any(field.name == "rule" for field in fields(criterion))


def table_of(path: KMeansPath, curve: Curve) -> pd.DataFrame:
    """Put down what k was judged by, a row for each k."""
    last = len(curve.values)
    index = pd.Index(np.arange(1, last + 1), name="k")
    return pd.DataFrame({"inertia": path.inertia[:last], **curve.columns}, index=index)

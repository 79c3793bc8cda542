"""The weights of the rows of a file."""

from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._choices import Missing, Scale
from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import counted, some
from edfkmeans.rows.units import Floats


def check_named_once(
    weights: str | None, columns: list[str] | None, drop: list[str] | None, id_column: str | None
) -> None:
    """Refuse a column of weights that is to be something else too."""
    if weights is None:
        return
    if weights == id_column:
        raise BadFileError(f"--weights {weights!r} is the --id column too. Name another one.")
    for option, names in (("--columns", columns), ("--drop", drop)):
        if weights in (names or []):
            raise BadFileError(
                f"--weights {weights!r} is named by {option} too. Weights are no part of the rows "
                f"anyway: leave it out of {option}."
            )


def check_numbers(kind: Any, weights: str, source: str) -> None:
    """Refuse a column of weights whose dtype is not one of numbers."""
    # Booleans of Arrow are not numeric to pandas, as its own are.
    if not (pd.api.types.is_numeric_dtype(kind) or pd.api.types.is_bool_dtype(kind)):
        raise BadFileError(
            f"--weights {weights!r} of {source} holds values that are no numbers. Weights are "
            "numbers, 0 or more: correct them, or name another column."
        )


def check_enough(weights: Floats, name: str, missing: Missing | None, source: str) -> None:
    """Refuse weights of which fewer than two are above 0."""
    n = int((weights > 0).sum())
    if n < 2:
        whole = " and nothing missing" if missing == "drop" else ""
        raise BadFileError(
            f"{source} has {counted(n, 'row')} with {name!r} above 0{whole}, but at least 2 are "
            "needed. Give more rows."
        )


def weights_in(column: pd.Series, scale: Scale, missing: Missing | None, source: str) -> Floats:
    """Return a column as weights, or refuse it, and what knows no weights beside it."""
    if scale == "robust" or missing in ("mean", "median"):
        option, other = "--scale robust", "--scale standard"
        if scale != "robust":
            option, other = f"--missing {missing}", "--missing drop"
        raise BadFileError(f"{option} knows no weights. Use {other}, or leave --weights out.")
    kind: Any = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        kind = kind.categories.dtype
    if not pd.api.types.is_string_dtype(kind):  # of text and objects, the values are looked at
        check_numbers(kind, str(column.name), source)
    weights = pd.to_numeric(column, errors="coerce").to_numpy(np.float64)
    bad = ~((weights >= 0) & np.isfinite(weights))
    if bad.any():
        values = some([str(value) for value in column[bad]], 3)
        raise BadFileError(
            f"--weights {str(column.name)!r}: {int(bad.sum())} of {len(column)} values of {source} "
            f"are no weights: {values}. Weights are numbers, 0 or more: correct them, or give such "
            "rows weight 0."
        )
    if not weights.any():
        raise BadFileError(
            f"--weights {str(column.name)!r} is 0 in every row of {source}. Name another column, "
            "or leave --weights out."
        )
    return np.asarray(weights)


def told_of(weights: Floats, name: str) -> str:
    """Say what the weights of the rows that are clustered mean."""
    if (weights == np.floor(weights)).all():
        return f"Rows count as often as {name!r} says: {weights.sum():,.0f} rows."
    return f"Rows have the importances in {name!r} (--weights)."

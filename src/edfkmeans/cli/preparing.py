"""Prepared: the rows of a file as numbers, with what was done to them; `prepare` does it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._choices import SCALES, Metric, Missing, Scale
from edfkmeans.cli.columns import chosen_columns, known_column, label_columns, quoted, split_names
from edfkmeans.cli.errors import BadFileError
from edfkmeans.cli.gaps import of_known_group, without_gaps
from edfkmeans.cli.inputs import inputs_of
from edfkmeans.cli.kept import Kept
from edfkmeans.cli.remedies import remedies
from edfkmeans.cli.row_names import row_name, row_names
from edfkmeans.cli.weights import check_enough, told_of, weights_in
from edfkmeans.rows.arguments import check_one_of, some
from edfkmeans.rows.findings import Finding, findings_of, remarks_of
from edfkmeans.rows.inputs import Input
from edfkmeans.rows.scaling import Scaling, log_shift, logarithms
from edfkmeans.rows.shapes import skewed_columns
from edfkmeans.rows.units import Floats


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows of a file, ready to be clustered.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The numbers, scaled.
    names : list of str
        The columns of X.
    scaling : Scaling
        How the numbers in the file became X.
    inputs : tuple of Input
        The columns of the file, and how they became numbers.
    fill : ndarray of shape (n_features,)
        What missing values were filled by; NaN where they were not.
    ids : Series
        What each row is called: a column of the file, or its number, counted from 1.
    kept : Index
        The places of the rows in the file, counted from 0, without those left out.
    source : str
        Where the rows come from.
    notes : tuple of str
        What was done to them, in words.
    remarks : tuple of str
        What is odd about them, what it does, and what to do about it; None for rows that are not
        in memory, of which only a sample can be asked.
    weights : ndarray of shape (n_samples,), or None
        How many rows each row stands for.
    table : Kept, or None
        The rows as they are in the file, all columns, where that is to be written again.
    dates : tuple of str
        The columns that hold days since 1970-01-01.
    left_out : int
        How many rows of the file were left out for missing values.
    """

    X: Floats
    names: list[str]
    scaling: Scaling
    inputs: tuple[Input, ...]
    fill: Floats
    ids: pd.Series
    kept: pd.Index
    source: str
    notes: tuple[str, ...]
    remarks: tuple[str, ...] | None
    weights: Floats | None = None
    table: Kept | None = None
    dates: tuple[str, ...] = ()
    left_out: int = 0

    def restore(self, metric: Metric) -> Callable[[Any], Any] | None:
        """Return what brings centres into the file's units; rows of length one have left them."""
        return None if metric == "cosine" else self.scaling.restore


def prepare(
    frame: pd.DataFrame,
    source: str,
    *,
    columns: list[str] | None = None,
    drop: list[str] | None = None,
    id_column: str | None = None,
    encode: bool = False,
    dates: bool = False,
    missing: Missing | None = None,
    log: list[str] | None = None,
    scale: Scale = "standard",
    notes: tuple[str, ...] = (),
    weights: pd.Series | None = None,
    truth: pd.Series | None = None,
) -> Prepared:
    """Choose columns, turn them into numbers, fill or drop what is missing, and scale.

    Rows whose group in `truth` is missing are left out as those are that miss something else.
    """
    check_one_of("scale", scale, SCALES)
    told = list(notes)
    weighed = None if weights is None else weights_in(weights, scale, missing, source)
    if frame.empty:
        raise BadFileError(
            f"{source} has a header but no rows. Give at least a few rows of numbers."
        )
    columns_before = frame.columns
    frame, ids = row_names(frame, id_column, source, told)
    # A first column without a name has gone, also where it is to be dropped by name.
    drop = split_names(columns_before, drop or [])
    drop = [name for name in drop if name in frame.columns or name not in columns_before]
    for ours, name in zip(label_columns(ids.name), ("cluster", "ambiguity"), strict=True):
        if ours != name:
            told.append(f"The id is called {name!r}: in the labels our column is {ours!r}.")
    frame = chosen_columns(frame, columns, drop, id_column, source)
    inputs = inputs_of(frame, encode, dates, source, told, rows_named=id_column is not None)
    names = [name for each in inputs for name in each.names]
    sources = [each.name for each in inputs for _ in each.names]
    dated = [each.name for each in inputs if each.kind == "date"]
    lengths = frame.select_dtypes("timedelta").columns  # days too, but since no day
    made = pd.DataFrame(np.concatenate([each.numbers(frame[each.name]) for each in inputs], axis=1))
    if truth is not None:
        made = of_known_group(made, truth, missing, source, told)
    values, fill = without_gaps(made, sources, missing, source, told)
    kept = values.index
    ids = ids.loc[kept].reset_index(drop=True)
    numbers = np.array(values.to_numpy(np.float64), order="C")  # ours, to be scaled in place
    del made, values
    if weights is not None and weighed is not None:
        weighed = weighed[kept]
        check_enough(weighed, str(weights.name), missing, source)
        told.append(told_of(weighed, str(weights.name)))
    low, high = _ends(numbers, weighed)
    if (low == high).all():
        raise BadFileError(
            f"In {source} every column holds a single value: there is nothing to cluster. Check "
            "that the file holds what you meant to cluster."
        )
    idle = next((name for name in log or [] if name in columns_before and name not in names), None)
    if idle is not None:
        raise BadFileError(
            f"--log {idle!r}: this column of {source} is not clustered as a number, so its "
            "logarithm would change nothing. Leave that --log out."
        )
    shift = _shifts(numbers, names, log, scale, source, told)
    numbers = logarithms(numbers, shift, names)
    may_log = np.isnan(shift) & (numbers.min(axis=0) >= 0)
    findings = findings_of(numbers, names, lambda column: bool(may_log[column]))
    findings = tuple(_to_tell(findings, scale, [names.index(name) for name in dated]))
    offset, spread = _scale(numbers, scale, weighed)
    told.append(f"Columns {_SCALED[scale]} (--scale {scale}).")
    return Prepared(
        X=numbers,
        names=names,
        scaling=Scaling(shift, offset, spread),
        inputs=tuple(inputs),
        fill=fill,
        ids=ids,
        kept=kept,
        source=source,
        notes=tuple(told),
        remarks=remarks_of(
            findings,
            names,
            remedies(rows_named=id_column is not None),
            lambda row: row_name(ids, row),
            sources,
        ),
        weights=weighed,
        dates=tuple(name for name in dated if name not in lengths),
        left_out=len(frame) - len(kept),
    )


def _to_tell(findings: tuple[Finding, ...], scale: Scale, dated: list[int]) -> Iterator[Finding]:
    """Leave out scales that are about to be the same, and dates, which have been told of."""
    for found in findings:
        if found.kind == "number":
            own = tuple(j for j in found.columns if j not in dated)
            if own:
                yield replace(found, columns=own)
        elif scale == "none" or found.kind != "scales":
            yield found


_SCALED = {
    "standard": "standardised",
    "robust": "by median and quartiles",
    "log": "in logarithms, then standardised",
    "none": "as they are",
}


def _shifts(
    values: Floats,
    names: list[str],
    log: list[str] | None,
    scale: Scale,
    source: str,
    told: list[str],
) -> Floats:
    """Return what to add to columns before their logarithm is taken; NaN for those left alone."""
    shift = np.full(len(names), np.nan)
    if scale == "log":
        if log:
            raise BadFileError(
                "--scale log takes the logarithm of every column. Leave --log out, or --scale log."
            )
        chosen = names
    else:
        chosen = []
        for name in split_names(names, log or []):
            if name == "auto" and name not in names:
                skewed = (values.min(axis=0) >= 0) & skewed_columns(values)
                chosen += [names[j] for j in np.flatnonzero(skewed)]
                if not skewed.any():
                    told.append("No column is heavily skewed: no logarithms taken (--log auto).")
            else:
                chosen.append(known_column(pd.DataFrame(columns=names), name, "--log", source))
    for j, name in enumerate(names):
        if name not in chosen:
            continue
        low = float(values[:, j].min())
        if low < 0:
            option = "--scale log" if scale == "log" else f"--log {quoted(name)}"
            raise BadFileError(
                f"{option}: {name!r} of {source} holds negative values, down to {low:.6g}, which "
                "have no logarithm. Name the columns to take logarithms of with --log, without "
                "this one."
            )
        shift[j] = log_shift(values[:, j])
    taken = [name for name, each in zip(names, shift, strict=True) if not np.isnan(each)]
    if taken and scale != "log":
        told.append(f"In logarithms: {some(taken)} (--log).")
    added = [f"{by:.3g} to {name!r}" for name, by in zip(names, shift, strict=True) if by > 0]
    if added:
        more = f" and so on for {len(added) - 3} more" * (len(added) > 3)
        told.append(f"Zero has no logarithm: added before, {', '.join(added[:3])}{more}.")
    return shift


def _ends(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the lowest and the highest value of every column, of the rows that count."""
    count = values if weights is None else values[weights > 0]
    return count.min(axis=0), count.max(axis=0)


def _scale(values: Floats, scale: Scale, weights: Floats | None) -> tuple[Floats, Floats]:
    """Scale columns in place; returns their offset and spread; a constant one has spread 1.

    Constant is what does not vary in the rows that count: the others may be anywhere.
    """
    d = values.shape[1]
    if scale == "none":
        return np.zeros(d), np.ones(d)
    low, high = _ends(values, weights)
    same = low == high
    constant = values[:, same] - low[same]
    # A power of two costs no digits; squares of very large or small numbers would leave the range
    # of a float.
    unit = np.ldexp(1.0, np.frexp(np.maximum(-values.min(axis=0), values.max(axis=0)))[1] - 1)
    values /= unit
    offset, spread = values.mean(axis=0), values.std(axis=0)
    if weights is not None:
        offset = np.average(values, axis=0, weights=weights)
        spread = np.sqrt(np.average((values - offset) ** 2, axis=0, weights=weights))
    if scale == "robust":
        lower, offset, upper = np.percentile(values, [25, 50, 75], axis=0)
        spread = np.where(upper > lower, upper - lower, spread)
    spread[same] = 1.0
    values -= offset
    values /= spread
    values[:, same] = constant
    return np.where(same, low, offset * unit), np.where(same, 1.0, spread * unit)

"""Gaps: values that are missing, to be left out or filled."""

import numpy as np
import pandas as pd

from edfkmeans._choices import MISSING, Missing
from edfkmeans.cli.columns import repeated
from edfkmeans.cli.errors import BadFileError
from edfkmeans.rows.arguments import check_one_of, counted, some
from edfkmeans.rows.units import Floats

# Columns that are named with what they miss, and those of a command that is offered, at most.
_NAMED, _OFFERED = 6, 20


def of_known_group(
    frame: pd.DataFrame, truth: pd.Series, missing: Missing | None, source: str, told: list[str]
) -> pd.DataFrame:
    """Leave out the rows whose true group is not known, or refuse them."""
    known = truth.notna().to_numpy()
    rows, name = len(known) - int(known.sum()), str(truth.name)
    if rows == 0:
        return frame
    if rows == len(known):
        raise BadFileError(f"--truth {name!r} of {source} holds nothing at all. Name another one.")
    if missing != "drop":
        raise BadFileError(
            f"--truth {name!r} of {source} is missing in {rows} of {len(known)} rows. Leave those "
            "rows out with --missing drop, or give them groups in the file."
        )
    told.append(f"{counted(rows, 'row')} without a group in {name!r} (--truth) left out.")
    return frame[known]


def without_gaps(
    frame: pd.DataFrame, sources: list[str], missing: Missing | None, source: str, told: list[str]
) -> tuple[pd.DataFrame, Floats]:
    """Leave out or fill what is missing; returns also what each column was filled by.

    `sources` are the columns of the file that these come from, which can be left out.
    """
    fill = np.full(len(sources), np.nan)
    infinite = pd.DataFrame(np.isinf(frame))
    if infinite.any(axis=None):
        raise BadFileError(
            f"{source} has infinite values in {_counts(infinite, sources)}. Correct them, leave "
            "them empty and choose --missing, or leave the columns out with --drop."
        )
    counts = frame.isna().sum()
    if not counts.any():
        return frame, fill
    rows = int(frame.isna().any(axis=1).sum())
    if missing is None:
        # Where only columns without any value miss something, nothing is left to fill or drop.
        some_values = counts[counts > 0] < len(frame)
        choose = (
            " Choose --missing drop (leave those rows out), --missing mean or --missing median "
            "(fill them)."
        )
        raise BadFileError(
            f"{source} has missing values in {rows} of {len(frame)} rows: "
            f"{_counts(frame.isna(), sources)}.{_way_out(frame, sources)}"
            f"{choose * bool(some_values.any())}"
        )
    check_one_of("missing", missing, MISSING)
    if missing == "drop":
        whole = frame.dropna()
        if whole.empty:
            raise BadFileError(
                f"Every row of {source} has a missing value: {_counts(frame.isna(), sources)}."
                f"{_way_out(frame, sources)} Leave columns out with --drop, or fill them with "
                "--missing mean."
            )
        told.append(f"{counted(rows, 'row')} with missing values left out, {len(whole)} kept.")
        return whole, fill
    if (counts == len(frame)).any():
        raise BadFileError(f"{source} has nothing to fill from.{_way_out(frame, sources)}")
    told.append(
        f"{counted(int(counts.sum()), 'missing value')} in {counted(rows, 'row')} filled by the "
        f"{missing}."
    )
    # In units of a power of two, where the sum of huge values is no infinity.
    exponent = np.frexp(frame.abs().max().to_numpy(np.float64))[1]
    scaled = pd.DataFrame(np.ldexp(frame.to_numpy(np.float64), -exponent))
    middle = scaled.mean() if missing == "mean" else scaled.median()
    fill[:] = np.ldexp(middle, exponent)
    return frame.fillna(dict(enumerate(fill))), fill


def _counts(missing: pd.DataFrame, sources: list[str]) -> str:
    """Name the columns that miss something, and in how many rows, the worst first."""
    # Of several columns that are made of one, each misses the same.
    counts = dict(zip(sources, missing.sum().tolist(), strict=True))
    order = sorted(counts, key=lambda name: -counts[name])
    named = [f"{name!r} ({counts[name]})" for name in order if counts[name]]
    more = f" and {len(named) - _NAMED} more columns" if len(named) > _NAMED else ""
    return ", ".join(named[:_NAMED]) + more


def _way_out(frame: pd.DataFrame, sources: list[str]) -> str:
    """Say which columns to leave out: those without any value, or the few that spoil most rows."""
    gaps = frame.isna().T.groupby(sources, sort=False).any().T
    names, lost = list(map(str, gaps.columns)), gaps.to_numpy()
    counts = lost.sum(axis=0)
    empty = [name for name, count in zip(names, counts, strict=True) if count == len(lost)]
    words = ""
    if empty:
        one = len(empty) == 1
        words = (
            f" {some(empty)} {'holds' if one else 'hold'} nothing at all: leave "
            f"{'it' if one else 'them'} out with {repeated('--drop', empty, _OFFERED)}."
        )
    # How many of the worst columns must go before a row is whole, and then half of the rows.
    order = np.argsort(-counts, kind="stable")
    needed = np.sort((lost[:, order] * np.arange(1, len(names) + 1)).max(axis=1))
    few = int(needed[(len(needed) - 1) // 2])
    if len(empty) < few <= min(_OFFERED, len(names) - 1):
        spoilt = [names[j] for j in order[:few]]
        whole = int((needed <= few).sum())
        words += f" With {repeated('--drop', spoilt, _OFFERED)} {whole} rows have no gap."
    return words

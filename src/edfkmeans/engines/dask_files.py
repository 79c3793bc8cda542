"""Files larger than memory: open one lazily, bring its columns to one scale, write its labels."""

import glob
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans.engines._dask_chunks import Chunks, apply
from edfkmeans.engines.dask import weights_of, write_labels
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.moments import Moments, Scaled, to_scale
from edfkmeans.rows.units import Floats, Values

__all__ = [
    "Scaled",
    "connected",
    "first_rows",
    "open_lazily",
    "open_text",
    "scaled",
    "write_labels",
]

# The name of a column that no file has.
_BEYOND = "\0beyond"
_READERS = (".parquet", ".pq", ".csv", ".tsv", ".zarr")


def open_lazily(source: str | Path, columns: Sequence[str] | None = None) -> Any:
    """Open a file, or a folder or pattern of Parquet files, as a dask data frame or array.

    Parameters
    ----------
    source : str or Path
        Parquet, CSV or TSV with a header, or Zarr, by its ending; a folder holds Parquet.
    columns : sequence of str, optional
        Columns of Parquet; by default all that are not the index of a data frame of pandas.

    Returns
    -------
    dask data frame, or dask array where it is Zarr
    """
    name = str(source)
    ending = Path(name).suffix.lower()
    if ending not in _READERS and not Path(name).is_dir():
        raise ValueError(
            f"{name} is not one of {', '.join(_READERS)} or a folder of Parquet files. Convert it "
            "to Parquet first."
        )
    try:
        return _open(name, ending, columns)
    except FileNotFoundError:
        raise
    except Exception as error:  # dask's readers have many, for files of any kind, cut off, wrong
        raise _not_opened(name, error) from error


def _not_opened(name: str, error: Exception) -> ValueError:
    reason = str(error).rpartition("Original Message: ")[2].strip().rstrip(".")
    return ValueError(
        f"{name} could not be opened: {reason}. Is it whole, and what its ending says?"
    )


def _open(name: str, ending: str, columns: Sequence[str] | None) -> Any:
    if ending == ".zarr":
        import dask.array as da

        return da.from_zarr(name)
    import dask.dataframe as dd

    if ending in (".csv", ".tsv"):
        return _with_header(name, "\t" if ending == ".tsv" else ",")
    if columns is None:
        columns = list(dd.read_parquet(name).columns)
    # Rows are told apart by their order, and some kinds of index dask opens but cannot read.
    return _plain_numbers(dd.read_parquet(name, index=False, columns=list(columns)))


def _with_header(name: str, separator: str) -> Any:
    """Open text in UTF-8 whose first line that is not blank holds the names."""
    from dask.bytes.core import read_bytes

    head, _ = read_bytes(name, delimiter=b"\n", sample=2**18)
    blank = head[: len(head) - len(head.lstrip(b"\r\n"))].count(b"\n")
    names = pd.read_csv(io.BytesIO(head), sep=separator, nrows=0, index_col=False).columns
    return _text([name], separator, ".", list(names), blank + 1, "utf8")


def open_text(
    files: Sequence[str],
    *,
    separator: str,
    decimal: str,
    names: Sequence[str],
    skip: int,
    encoding: str,
) -> Any:
    """Open files of text as a dask data frame, having been told how they are written down.

    Parameters
    ----------
    files : sequence of str
    separator, decimal, names, skip, encoding
        As of `edfkmeans.engines.arrow_files.open_lazily`; a blank separates by any number of them.

    Returns
    -------
    dask data frame
    """
    try:
        # These are names, though dask would take some for patterns.
        escaped = [glob.escape(file) for file in files]
        return _text(escaped, separator, decimal, names, skip, encoding)
    except Exception as error:  # as in `open_lazily`
        raise _not_opened(files[0], error) from error


def _text(
    files: Sequence[str],
    separator: str,
    decimal: str,
    names: Sequence[str],
    skip: int,
    encoding: str,
) -> Any:
    import dask.dataframe as dd

    options: dict[str, Any] = {
        "sep": r"\s+" if separator == " " else separator,
        "decimal": decimal,
        "header": None,
        # A column more, for what rows hold beyond their columns. Where a block begins with such
        # rows, pandas would otherwise make an index of their first fields, or drop their last.
        "names": [*names, _BEYOND],
        "index_col": False,
        "skiprows": skip or None,
        "skipinitialspace": True,
        "encoding": encoding,
        # In Windows' there are letters that stand for nothing; they are in texts only.
        "encoding_errors": "strict" if encoding == "utf8" else "replace",
    }
    first = dd.read_csv(list(files), **options)
    # Whole numbers at first, and then others; or nothing at first.
    kinds: dict[Any, Any] = {
        name: np.float64 for name, kind in first.dtypes.items() if kind.kind in "if"
    }
    frame = dd.read_csv(list(files), **options, dtype={**kinds, _BEYOND: str})
    return frame.map_partitions(_nothing_beyond, meta=_without(frame._meta))


def first_rows(frame: Any, count: int) -> Any:
    """Read a few rows here: workers of a cluster are not known to be as they should yet."""
    return frame.head(count, compute=False).compute(scheduler="synchronous")


def _plain_numbers(frame: Any) -> Any:
    """Make floats of decimals, and of categories that are numbers: of these a few are looked at."""
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    plain = [name for name, kind in kinds.items() if kind.startswith("decimal")]
    coded = [name for name, kind in kinds.items() if kind == "category"]
    if coded:
        seen = first_rows(frame[coded], 1)
        plain += [
            name for name in coded if pd.api.types.is_numeric_dtype(seen[name].cat.categories.dtype)
        ]
    return frame.astype(dict.fromkeys(plain, np.float64)) if plain else frame


@contextmanager
def connected(address: str | None, timeout: float = 10.0) -> Iterator[None]:
    """Work on the cluster of a scheduler, such as "tcp://10.0.0.1:8786"; None: in this process."""
    if address is None:
        yield
        return
    from distributed import Client

    try:
        client = Client(address, timeout=timeout)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No scheduler answers at {address} ({error}). Start one with `dask scheduler`, and "
            "workers with `dask worker ADDRESS`, or leave the address out."
        ) from error
    with client:
        yield


def scaled(
    X: Any, scale: str = "standard", *, sample_weight: Any = None, progress: bool = False
) -> Scaled:
    """Give every column of a dask array or data frame mean 0 and standard deviation 1.

    Parameters
    ----------
    X : dask array or data frame
    scale : {"standard", "none"}
        "none" leaves the columns as they are.
    sample_weight : array-like or dask array of shape (n_samples,), optional
        See `fit_path`.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Scaled

    Examples
    --------
    >>> import dask.array as da
    >>> from edfkmeans.engines.dask_files import scaled
    >>> ready = scaled(da.arange(12, chunks=5).reshape(6, 2))
    >>> ready.offset, ready.X.std(axis=0).compute()
    (array([5., 6.]), array([1., 1.]))
    """
    check_one_of("scale", scale, ("standard", "none"))
    chunks = Chunks(X, progress)
    array, columns = chunks.array, list(chunks.columns)
    if scale == "none":
        return Scaled(array, columns, np.zeros(len(columns)), np.ones(len(columns)))
    if sample_weight is not None:
        chunks.weights = weights_of(chunks, sample_weight)
    offset, spread = chunks.add_up(_moments, None, title="scaling").scale()
    array = apply(array, to_scale, offset, spread, dtype=array.dtype, n_columns=len(columns))
    return Scaled(array, columns, offset, spread)


# What runs inside a task.


def _nothing_beyond(part: pd.DataFrame) -> pd.DataFrame:
    """Refuse rows with more fields than there are columns."""
    longer = np.flatnonzero(part[_BEYOND].notna())
    if len(longer):
        raise ValueError(
            f"row {longer[0]} of it (counted from 0) has more fields than there are columns"
        )
    return _without(part)


def _without(part: pd.DataFrame) -> pd.DataFrame:
    return part.drop(columns=[_BEYOND])


def _moments(rows: Values, common: None, weights: Floats | None = None) -> Moments:
    return Moments.of(rows, weights)

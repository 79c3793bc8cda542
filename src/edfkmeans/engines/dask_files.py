"""Files larger than memory: open one lazily, bring its columns to one scale, write its labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from edfkmeans.engines._dask_chunks import Chunks, apply
from edfkmeans.engines.dask import weights_of, write_labels
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.moments import Moments, Scaled, to_scale
from edfkmeans.rows.units import Floats, Values

__all__ = ["Scaled", "connected", "open_lazily", "scaled", "write_labels"]

_READERS = (".parquet", ".pq", ".csv", ".tsv", ".zarr")


def open_lazily(source: str | Path) -> Any:
    """Open a file, or a folder or pattern of Parquet files, as a dask data frame or array.

    Parameters
    ----------
    source : str or Path
        Parquet, CSV or TSV with a header, or Zarr, by its ending; a folder holds Parquet.

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
        return _open(name, ending)
    except FileNotFoundError:
        raise
    except Exception as error:  # dask's readers have many, for files of any kind, cut off, wrong
        reason = str(error).rpartition("Original Message: ")[2].strip().rstrip(".")
        raise ValueError(
            f"{name} could not be opened: {reason}. Is it whole, and what its ending says?"
        ) from error


def _open(name: str, ending: str) -> Any:
    if ending == ".zarr":
        import dask.array as da

        return da.from_zarr(name)
    import dask.dataframe as dd

    if ending in (".csv", ".tsv"):
        return dd.read_csv(name, sep="\t" if ending == ".tsv" else ",")
    return dd.read_parquet(name)


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


def _moments(rows: Values, common: None, weights: Floats | None = None) -> Moments:
    return Moments.of(rows, weights)

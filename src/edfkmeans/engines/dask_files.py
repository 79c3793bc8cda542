"""Files larger than memory: open one lazily, bring its columns to one scale, write its labels."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from edfkmeans.engines._dask_chunks import Chunks, apply
from edfkmeans.engines.dask import write_labels
from edfkmeans.rows.arguments import check_one_of
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


@dataclass(frozen=True, eq=False)
class Scaled:
    """Columns brought to one scale.

    Attributes
    ----------
    X : dask array
        ``X * spread + offset`` is what was given.
    names : list
        Names of the columns.
    offset, spread : ndarray of shape (n_features,)
    """

    X: Any
    names: list[Any]
    offset: Floats
    spread: Floats


def scaled(X: Any, scale: str = "standard", *, progress: bool = False) -> Scaled:
    """Give every column of a dask array or data frame mean 0 and standard deviation 1.

    Parameters
    ----------
    X : dask array or data frame
    scale : {"standard", "none"}
        "none" leaves the columns as they are.
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
    d = len(chunks.columns)
    offset, spread = np.zeros(d), np.ones(d)
    array = chunks.array
    if scale == "standard":
        look = chunks.add_up(_moments, None, title="scaling")
        deviation = np.sqrt(look.squares / max(look.count, 1))
        # NaN and infinity are left for `select_k` to tell about.
        usable = np.isfinite(deviation)
        offset = np.where(usable, look.mean, 0.0)
        spread = np.where(usable & (look.low < look.high), deviation, 1.0)
        array = apply(array, _scale, offset, spread, dtype=array.dtype, n_columns=d)
    return Scaled(array, list(chunks.columns), offset, spread)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Count, mean and sum of squares about it, which add up without losing digits (Chan 1979)."""

    count: int
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats

    def __add__(self, other: "_Moments") -> "_Moments":
        if not (self.count and other.count):
            return self if self.count else other
        count = self.count + other.count
        with np.errstate(invalid="ignore", over="ignore"):
            step = other.mean - self.mean
            mean = self.mean + step * (other.count / count)
            between = step**2 * (self.count * other.count / count)
        return _Moments(
            count,
            mean,
            self.squares + other.squares + between,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def _moments(rows: Values, common: None) -> _Moments:
    d = rows.shape[1]
    nothing = np.zeros(d)
    if not len(rows):
        return _Moments(0, nothing, nothing, nothing, nothing)
    with np.errstate(invalid="ignore", over="ignore"):
        mean = rows.mean(axis=0, dtype=np.float64)
        squares = ((rows - mean) ** 2).sum(axis=0)
    low, high = (end(rows, axis=0).astype(np.float64) for end in (np.min, np.max))
    return _Moments(len(rows), mean, squares, low, high)


def _scale(rows: Values, offset: Floats, spread: Floats) -> Values:
    values: Any = np.asarray((rows - offset) / spread, rows.dtype)
    return values  # type: ignore[no-any-return]

"""Files larger than memory, on one machine: open them as a stream, bring columns to one scale."""

from collections.abc import Sequence
from functools import partial, reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset as ds

from edfkmeans.engines._arrow_chunks import Chunks
from edfkmeans.engines._arrow_streams import DatasetStream, ScaledStream, index_columns, stream_of
from edfkmeans.engines.arrow import part_of, write_labels
from edfkmeans.engines.threads import effective_jobs
from edfkmeans.rows.arguments import check_one_of
from edfkmeans.rows.checks import check_rows
from edfkmeans.rows.moments import Moments, Scaled
from edfkmeans.rows.units import Floats, Values
from edfkmeans.rows.weights import check_weights

__all__ = [
    "DatasetStream",
    "Scaled",
    "column_of",
    "files_of",
    "index_columns",
    "open_lazily",
    "scaled",
    "write_labels",
]

_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".csv": "csv",
    ".tsv": "csv",
    ".csv.gz": "csv",
    ".tsv.gz": "csv",
}


def files_of(source: str | Path) -> tuple[Any, list[str], str]:
    """Return the files that a name stands for.

    Parameters
    ----------
    source : str or Path
        A file, a folder or a pattern with ``*``, on this machine or wherever fsspec gets at, such
        as ``s3://bucket/folder``. Of a folder, the files that can be read are taken, those of its
        folders too, but none whose name begins with a dot or an underscore.

    Returns
    -------
    filesystem : of fsspec
    files : list of str, sorted
    kind : {"parquet", "feather", "csv"}
    """
    from fsspec.core import url_to_fs

    name = str(source)
    system, path = url_to_fs(name)
    if "*" in path:
        found = system.glob(path)
    elif system.isdir(path):
        found = [file for file in system.find(path) if not _hidden(file.removeprefix(path))]
        found = [file for file in found if _kind(file)]
        if not found:
            raise ValueError(
                f"{name} is a folder without a file that ends in {', '.join(_FORMATS)}. Name the "
                "file with the table in it."
            )
    else:
        found = [path] if system.exists(path) else []
    if not found:
        raise FileNotFoundError(f"There is no file {name}. Check the name and the folder.")
    kinds = {_kind(file) for file in found}
    if len(kinds) > 1 or "" in kinds:
        raise ValueError(
            f"{name} is not one of {', '.join(_FORMATS)}, nor a folder of files of one of these "
            "kinds. Convert it to Parquet first."
        )
    return system, sorted(found), kinds.pop()


def _hidden(path: str) -> bool:
    return any(part.startswith((".", "_")) for part in path.split("/"))


def _kind(file: str) -> str:
    return next((kind for end, kind in _FORMATS.items() if file.lower().endswith(end)), "")


def open_lazily(
    source: str | Path,
    *,
    separator: str | None = None,
    decimal: str = ".",
    names: Sequence[str] | None = None,
    skip: int = 0,
    encoding: str = "utf8",
    gaps: Sequence[str] | None = None,
) -> Any:
    """Open files as a `pyarrow.dataset.Dataset`.

    Parameters
    ----------
    source : str or Path
        See `files_of`.
    separator, decimal, names, skip, encoding, gaps
        How text is written down: what stands between fields (a tab where the name ends in .tsv,
        else a comma), the decimal point, the names of the columns (else the first line holds
        them), how many lines to leave out before it, the encoding, and what stands for a missing
        value.

    Returns
    -------
    pyarrow.dataset.Dataset

    Examples
    --------
    >>> import pandas as pd
    >>> from edfkmeans.engines.arrow_files import open_lazily
    >>> frame = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]})
    >>> frame.to_parquet("memory://numbers/part0.parquet")
    >>> open_lazily("memory://numbers").schema.names
    ['a', 'b']
    """
    system, files, kind = files_of(source)
    how: Any = kind
    try:
        if kind == "csv":
            if separator is None:
                separator = "\t" if ".tsv" in Path(files[0]).name.lower() else ","
            read = pa.csv.ReadOptions(
                encoding=encoding,
                column_names=None if names is None else list(names),
                skip_rows=skip,
            )
            # A text in quotation marks may go on over the end of a line, and of a block.
            parse = pa.csv.ParseOptions(delimiter=separator, newlines_in_values=True)
            how = _text(system, files[0], read, parse, decimal, gaps)
        return ds.dataset(files, filesystem=system, format=how, partitioning="hive")
    except Exception as error:  # pyarrow has many, for files of any kind, cut off, wrong
        raise ValueError(
            f"{source} could not be opened: {str(error).rstrip('.')}. Is it whole, and what its "
            "ending says?"
        ) from error


def _text(
    system: Any, file: str, read: Any, parse: Any, decimal: str, gaps: Sequence[str] | None
) -> Any:
    """Return how to read text: the first lines of the first file say which columns are numbers."""
    convert = {"decimal_point": decimal, "null_values": None if gaps is None else list(gaps)}
    first = ds.CsvFileFormat(parse, read_options=read, convert_options=_convert(**convert))
    schema = ds.dataset([file], filesystem=system, format=first).schema
    # Whole numbers at first, and then others; or nothing at first.
    numbers = [
        field.name
        for field in schema
        if pa.types.is_integer(field.type) or pa.types.is_null(field.type)
    ]
    types = dict.fromkeys(numbers, pa.float64())
    options = _convert(column_types=types, **convert)
    return ds.CsvFileFormat(parse, read_options=read, convert_options=options)


def _convert(**options: Any) -> Any:
    given = {name: value for name, value in options.items() if value is not None}
    return pa.csv.ConvertOptions(**given)


def scaled(
    X: Any,
    scale: str = "standard",
    *,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Scaled:
    """Give every column of a stream mean 0 and standard deviation 1, as it is read.

    Parameters
    ----------
    X : Dataset, LazyFrame, DuckDB relation or callable
        See `fit_path`.
    scale : {"standard", "none"}
        "none" leaves the columns as they are.
    sample_weight, n_jobs, progress
        See `fit_path`.

    Returns
    -------
    Scaled

    Examples
    --------
    >>> import pyarrow as pa
    >>> from edfkmeans import fit_path
    >>> from edfkmeans.engines.arrow_files import scaled
    >>> batch = pa.record_batch({"a": [1.0, 2.0, 3.0, 9.0], "b": [0.0, 10.0, 20.0, 70.0]})
    >>> ready = scaled(lambda: [batch])
    >>> ready.offset
    array([ 3.75, 25.  ])
    >>> float(fit_path(ready.X, 1, random_state=0).inertia[0].round(6))
    8.0
    """
    check_one_of("scale", scale, ("standard", "none"))
    stream = stream_of(X)
    chunks = Chunks(stream, effective_jobs(n_jobs), progress)
    columns: list[Any] = chunks.columns
    if scale == "none":
        return Scaled(stream, columns, np.zeros(len(columns)), np.ones(len(columns)))
    check_rows(chunks.n_rows)
    weights = None if sample_weight is None else check_weights(sample_weight, chunks.n_rows)
    moments: Moments = reduce(add, chunks.run(partial(_moments, weights), "scaling"))
    offset, spread = moments.scale()
    return Scaled(ScaledStream(stream, offset, spread), columns, offset, spread)


def column_of(dataset: Any, name: str, n_jobs: int | None = None) -> Floats:
    """Read one column of a dataset into memory, what is missing being NaN.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    name : str
    n_jobs : int, optional
        See `fit_path`.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    chunks = Chunks(DatasetStream(dataset, (name,)), effective_jobs(n_jobs))
    parts = [np.asarray(part, np.float64) for part in chunks.run(_first, "reading")]
    return np.concatenate([np.empty(0), *parts])


def _moments(weights: Floats | None, raw: Values, start: int) -> Moments:
    return Moments.of(raw, part_of(weights, raw, start))


def _first(raw: Values, start: int) -> Values:
    return raw[:, 0]

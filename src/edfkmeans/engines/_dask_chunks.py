"""Run functions on the chunks of a dask array or data frame, wherever these are computed.

The caller's client is used, or else dask's local scheduler; no cluster is made here. A pass gives
every chunk to a function whose results add up; only sums come back. Chunks are read again in every
pass and never kept.
"""

import os
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from operator import add
from typing import Any

import dask.array as da
import numpy as np
from dask.base import compute, get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from edfkmeans._progress import progress_bar
from edfkmeans.rows.blocks import chunk_error
from edfkmeans.rows.checks import check_columns
from edfkmeans.rows.labels import check_length
from edfkmeans.rows.units import Values

# So many results are added up in one task.
_TOGETHER = 16


def check_workers(client: Any) -> None:
    """Refuse workers that could not read what is sent to them: they would end, or wait for ever."""
    for package in ("edfkmeans", "numpy"):
        own = pkgutil.resolve_name(f"{package}:__version__")
        # A function that every Python has: one of ours cannot be sent there before this is known.
        found = client.run(pkgutil.resolve_name, f"{package}:__version__", on_error="return")
        for worker, version in found.items():
            if isinstance(version, ImportError):
                raise ImportError(
                    f"The worker {worker} has no {package} ({version}). Install {package} {own} on "
                    "every worker, as here."
                )
            told = isinstance(version, str)  # one that has just ended does not answer
            if told and _generation(package, version) != _generation(package, own):
                raise ImportError(
                    f"The worker {worker} has {package} {version}, and here it is {own}: they do "
                    f"not understand each other. Install {package} {own} on every worker."
                )


def _generation(package: str, version: str) -> str:
    """Return the part of a version that must be the same: of numpy the first number."""
    return version.split(".")[0] if package == "numpy" else version


class Chunks:
    """The rows of a dask collection, chunk by chunk.

    Attributes
    ----------
    array : dask array of shape (n_samples, n_features)
        The rows as float32 or float64; every chunk holds whole rows.
    columns : sequence
        Names of the columns.
    weights : dask array of shape (n_samples,), or None
        Weights of the rows, in the same chunks; functions are given those of their chunk.
    """

    def __init__(self, X: Any, progress: bool = False, weights: Any = None) -> None:
        self.progress = progress
        self.array, self.columns = matrix(X)
        self._blocks = list(self.array.to_delayed().ravel())
        self.weights = weights
        client = self._client()
        if client is not None:
            check_workers(client)
        if any(np.isnan(self.array.chunks[0])):
            sizes = self.add_up(_count, None, title="counting")
            self.array = _with_sizes(self.array, tuple(sizes))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of rows of every chunk."""
        return tuple(map(int, self.array.chunks[0]))

    def add_up(
        self,
        function: Callable[..., Any],
        common: Any,
        title: str = "a pass over the rows",
        together: Callable[[Any, Any], Any] = add,
    ) -> Any:
        """Return the sum of ``function(rows, common)`` over the chunks, added in their order."""
        shared = delayed(common, traverse=False, pure=False)
        task = delayed(_plain, pure=False)
        pairs = zip(self._blocks, self._weights(), strict=True)
        parts = whole = [task(block, function, shared, *weights) for block, weights in pairs]
        while len(whole) > 1:
            whole = [
                delayed(reduce, pure=False)(together, whole[i : i + _TOGETHER])
                for i in range(0, len(whole), _TOGETHER)
            ]
        return self._run(parts, whole[0], title)

    def collect(self, function: Callable[..., Any], each: Sequence[Any], title: str) -> list[Any]:
        """Return ``function(rows, each[i])`` of every chunk i.

        For results that are too large to be added up by a worker.
        """
        task = delayed(_plain, pure=False)
        trios = zip(self._blocks, each, self._weights(), strict=True)
        parts = [task(block, function, one, *weights) for block, one, weights in trios]
        return list(self._run(parts, None, title))

    def _weights(self) -> list[Any]:
        """Return what functions are given beside the rows of every chunk."""
        if self.weights is None:
            return [()] * len(self._blocks)
        return [(block,) for block in self.weights.to_delayed().ravel()]

    def _client(self) -> Any:
        """Return the caller's client, or None where dask's local scheduler is used."""
        return getattr(get_scheduler(collections=[self.array]), "__self__", None)

    def _run(self, parts: list[Any], whole: Any, title: str) -> Any:
        """Compute the sum of the parts or, without one, the parts."""
        client = self._client()
        with progress_bar(self.progress, title, len(parts), "chunk") as bar:
            if client is None:
                return self._run_here(parts, whole, bar)
            return self._run_there(client, parts, whole, bar)

    def _run_there(self, client: Any, parts: list[Any], whole: Any, bar: Any) -> Any:
        """Run on the cluster of a client; whatever happens, nothing is left running there."""
        from distributed import as_completed

        futures = client.compute(parts if whole is None else [*parts, whole])
        number = {future.key: i for i, future in enumerate(futures[: len(parts)])}
        results: list[Any] = [None] * len(parts)
        try:
            for future in as_completed(futures[: len(parts)]):
                i = number[future.key]
                if future.status == "error":
                    raise self._failed(i, future.exception())
                if whole is None:
                    results[i] = future.result()
                bar.update()
            return results if whole is None else futures[-1].result()
        finally:
            # What nobody waits for any more, the scheduler drops. (To cancel what is done already
            # makes it stumble.)
            for future in futures:
                future.release()

    def _run_here(self, parts: list[Any], whole: Any, bar: Any) -> Any:
        """Run on the local scheduler."""
        number = {part.key: i for i, part in enumerate(parts)}
        done: set[int] = set()

        def after(key: Any, *rest: Any) -> None:
            if key in number:
                done.add(number[key])
                bar.update()

        try:
            with Callback(posttask=after):
                return list(compute(*parts)) if whole is None else compute(whole)[0]
        except Exception:
            # The scheduler does not say which chunk it was: ask those that did not finish.
            for i in sorted(set(range(len(parts))) - done):
                try:
                    compute(parts[i])
                except Exception as error:
                    raise self._failed(i, error) from error
            raise

    def _failed(self, i: int, error: BaseException) -> BaseException:
        files = sorted(set(_files(self._blocks[i])))
        rows = None
        if not any(np.isnan(self.array.chunks[0])):
            first = sum(self.sizes[:i])
            rows = range(first, first + self.sizes[i])
        return chunk_error(i, error, rows, ", ".join(files) if len(files) <= 3 else "")

    def beside(self, columns: Sequence[Any]) -> "Chunks":
        """Return the rows with further columns at the end."""
        dtype = self.array.dtype
        further = [column[:, None].astype(dtype) for column in columns]
        whole = da.concatenate([self.array, *further], axis=1)
        return Chunks(whole, self.progress, self.weights)

    def aligned(
        self,
        labels: Any,
        name: str,
        check: Callable[[tuple[int, ...], int, str], None] = check_length,
    ) -> Any:
        """Return labels, of any kind, as a dask array with the chunks of the rows."""
        if hasattr(labels, "to_dask_array"):
            labels = labels.to_dask_array()
        if not isinstance(labels, da.Array):
            labels = da.from_array(np.asarray(labels), chunks=-1)
        if labels.ndim and any(np.isnan(labels.chunks[0])):
            labels = labels.compute_chunk_sizes()
        check(labels.shape, sum(self.sizes), name)
        return labels.rechunk((self.sizes,))


def apply(
    array: Any, function: Callable[..., Any], *common: Any, dtype: Any, n_columns: int | None = None
) -> Any:
    if n_columns is None:
        form: dict[str, Any] = {"drop_axis": 1, "meta": np.empty(0, dtype)}
    else:
        chunks = (array.chunks[0], (n_columns,))
        form = {"chunks": chunks, "meta": np.empty((0, 0), dtype)}
    return array.map_blocks(_plain, function, *common, dtype=dtype, **form)


def is_frame(X: Any) -> bool:
    """Whether X is a dask data frame; dask arrays do without what is needed to import that type."""
    return type(X).__name__ == "DataFrame" and type(X).__module__.startswith("dask.dataframe")


def matrix(X: Any) -> tuple[Any, Any]:
    """Return a dask array of floats, whole rows in every chunk, and the names of the columns."""
    if is_frame(X):
        if not len(X.columns):
            raise ValueError("X has no columns. Give at least one column of numbers.")
        check_columns(X._meta_nonempty)
        types = [getattr(dtype, "numpy_dtype", dtype) for dtype in X.dtypes]
        dtype = _float_type(np.result_type(*types))
        columns = list(X.columns)
        # Optimised first: that may join small files, and chunks must be the same in every pass.
        array = X.optimize().map_partitions(
            _partition_values, dtype, meta=np.empty((0, len(columns)), dtype)
        )
        return array, columns
    if not isinstance(X, da.Array):
        raise TypeError(
            f"X is a dask {type(X).__name__}, but must be a dask array or data frame of numbers."
        )
    if X.ndim != 2:
        raise ValueError(
            f"X has shape {X.shape}, but must have rows and columns. Reshape it, e.g. with "
            "X[:, None] if it is one column."
        )
    if not isinstance(X._meta, np.ndarray) or isinstance(X._meta, np.ma.MaskedArray):
        raise TypeError(
            f"X is a dask array of {type(X._meta).__name__}, but must be one of numpy arrays. Turn "
            "it into one with X.map_blocks(...)."
        )
    return X.rechunk({1: -1}).astype(_float_type(X.dtype)), range(X.shape[1])


def _with_sizes(array: Any, sizes: tuple[int, ...]) -> Any:
    """Tell an array how many rows its chunks have."""
    return da.Array(array.dask, array.name, (sizes, array.chunks[1]), meta=array._meta)


def _float_type(dtype: Any) -> Any:
    """float32 stays, all other numbers become float64."""
    if dtype.kind not in "biuf":
        raise ValueError(
            f"X has dtype {dtype}, which is not numbers. Drop or encode what is not a number."
        )
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def _partition_values(frame: Any, dtype: Any) -> Values:
    values: Values = frame.to_numpy(dtype=dtype, na_value=np.nan)
    return values


# What runs inside a task.


def _plain(block: Any, function: Callable[..., Any], *common: Any) -> Any:
    return function(np.ascontiguousarray(block), *common)


def _count(rows: Values, common: None) -> list[int]:
    return [len(rows)]


def _files(block: Delayed) -> Iterator[str]:
    """Find the names of files that a chunk is made from."""
    graph = dict(block.__dask_graph__())
    waiting: list[Any] = [graph.pop(block.key)]
    while waiting:
        task = waiting.pop()
        if isinstance(task, str) and (os.sep in task or "://" in task):
            yield task
        elif isinstance(task, dict):
            waiting.extend(task.values())
        elif isinstance(task, list | tuple | set | frozenset):
            waiting.extend(task)
        elif hasattr(task, "args") and hasattr(task, "kwargs"):
            waiting.extend([*task.args, *task.kwargs.values()])
            waiting.extend(graph.pop(key, ()) for key in task.dependencies)

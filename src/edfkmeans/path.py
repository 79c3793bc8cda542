"""KMeansPath: the best fit found for every k; its rows in memory, or in chunks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from edfkmeans.chunked import ChunkedFit, ChunkedTable, nearest_labels
from edfkmeans.fit import Fit, Labels, Sizes, SmallLabels, fit_of_labels
from edfkmeans.table import (
    Centring,
    Floats,
    Table,
    check_whole,
    encode_labels,
    read_table,
)

if TYPE_CHECKING:
    from edfkmeans.backends.dask import Chunks


@dataclass(frozen=True, repr=False, eq=False)
class KMeansPath:
    """The k-means fits of one data set for k = 1 .. k_max + 1.

    The last fit is the pilot: it gives the mean and the variance that the degrees of freedom of
    all the others are measured with.

    Attributes
    ----------
    inertia : ndarray of shape (k_max + 1,)
        Sum of squared distances to the centroids; entry k - 1 belongs to k.
    n_samples, n_features : int
        Rows, and columns that vary.
    fits : str
        How the fits were found: "best", "paper", or "given" for `from_labels`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import fit_path
    >>> path = fit_path(load_iris().data, k_max=5, random_state=0)
    >>> path
    KMeansPath(k=1..5 and a pilot of 6, n=150, d=4, fits='best')
    >>> path.inertia[:4].round(2)
    array([681.37, 152.35,  78.85,  57.23])
    >>> sorted(path.sizes(3).tolist())
    [38, 50, 62]
    """

    inertia: Floats
    n_samples: int
    n_features: int
    fits: str
    _labels: tuple[SmallLabels, ...]
    _centers: tuple[Floats, ...]

    @property
    def k_max(self) -> int:
        """The largest k that can be chosen; the path holds one fit more, the pilot."""
        return len(self.inertia) - 1

    @property
    def sample(self) -> "KMeansPath":
        """The path of the rows to look at one by one, see `edfkmeans.table.Table.sample`."""
        return self

    def labels(self, k: int) -> Labels:
        """Cluster of every row, 0 .. k-1, in the fit with k clusters."""
        return self._labels[self._index(k)].astype(np.int32)

    def centers(self, k: int) -> Floats:
        """Centroids of the fit with k clusters, in the units of X."""
        return self._centers[self._index(k)].copy()

    def up_to(self, k_max: int) -> "KMeansPath":
        """Return the first part of the path, with the fit of k_max + 1 clusters as pilot."""
        last = self._index(k_max + 1) + 1
        return replace(
            self,
            inertia=self.inertia[:last],
            _labels=self._labels[:last],
            _centers=self._centers[:last],
        )

    def sizes(self, k: int) -> Sizes:
        """Count the rows in each cluster of the fit with k clusters."""
        return np.bincount(self._labels[self._index(k)], minlength=k)

    def _index(self, k: int) -> int:
        k = check_whole("k", k, 1)
        if k > self.k_max + 1:
            raise ValueError(
                f"k={k} is not on this path, which has k = 1 .. {self.k_max + 1}. "
                "Fit a path with a larger k_max."
            )
        return k - 1

    def __repr__(self) -> str:
        return (
            f"KMeansPath(k=1..{self.k_max} and a pilot of {self.k_max + 1}, "
            f"n={self.n_samples}, d={self.n_features}, fits={self.fits!r})"
        )

    @classmethod
    def from_labels(cls, X: Any, labels: Mapping[int, Any]) -> "KMeansPath":
        """Make a path from clusterings of one's own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        labels : mapping from k to the labels of the rows
            Every k from 2 to k_max + 1; k = 1 may be left out. Labels may be any values.

        Returns
        -------
        KMeansPath

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.cluster import AgglomerativeClustering
        >>> from edfkmeans import KMeansPath, select_k
        >>> rng = np.random.default_rng(0)
        >>> X = np.concatenate([rng.normal(m, 1, size=(30, 2)) for m in (0, 9, 18)])
        >>> path = KMeansPath.from_labels(
        ...     X, {k: AgglomerativeClustering(k).fit_predict(X) for k in range(2, 9)})
        >>> select_k(X, path=path).k
        3
        """
        table = read_table(X)
        if table.n_features == 0:
            raise ValueError("X has 1 distinct row: there is nothing to cluster.")
        if not isinstance(labels, Mapping):
            raise TypeError(
                f"labels is a {type(labels).__name__}, but must map each k to the labels of its "
                "clustering: {2: labels2, 3: labels3, ...}."
            )
        last = max((check_whole("k in labels", k, 1) for k in labels), default=0)
        missing = [k for k in range(2, last + 1) if k not in labels]
        if last < 2 or missing:
            raise ValueError(
                f"labels holds k = {sorted(labels)}, but a path needs every k from 2 to k_max + 1. "
                + (f"Add k = {missing}." if missing else "")
            )
        fits = []
        for k in range(1, last + 1):
            encoded = encode_labels(
                labels.get(k, np.zeros(table.n_samples)), table.n_samples, f"labels[{k}]"
            )
            if encoded.max() + 1 != k:
                raise ValueError(
                    f"labels[{k}] has {encoded.max() + 1} distinct labels instead of {k}. "
                    "Give each clustering under its own number of clusters."
                )
            fits.append(fit_of_labels(table.values, encoded, k))
        return path_of(table, fits, "given")


@dataclass(frozen=True, repr=False, eq=False)
class ChunkedPath(KMeansPath):
    """The fits of rows in chunks: labels are dask arrays, all else is as in memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import fit_path
    >>> X = da.from_array(load_iris().data, chunks=(40, 4))
    >>> path = fit_path(X, k_max=5, random_state=0)
    >>> path.labels(3).chunks
    ((40, 40, 40, 30),)
    >>> path.inertia[:4].round(2)
    array([681.37, 152.35,  78.85,  57.23])
    """

    seed: int
    """What the sample of rows was drawn with."""
    rows: npt.NDArray[np.int64]
    """Numbers of the rows in the sample."""
    chunks: "Chunks"
    """The rows, not yet read."""
    centring: Centring
    _fits: tuple[ChunkedFit, ...]
    _products: Floats
    _sample: KMeansPath

    @property
    def sample(self) -> KMeansPath:
        """The labels of the rows in the sample."""
        return self._sample

    def labels(self, k: int) -> Any:
        """Cluster of every row, 0 .. k-1, as a dask array with the chunks of X."""
        nearest = self._fits[self._index(k)].nearest
        return self.chunks.apply(nearest_labels, self.centring, nearest, dtype=np.int32)

    def sizes(self, k: int) -> Sizes:
        """Count the rows in each cluster of the fit with k clusters."""
        return self._fits[self._index(k)].sizes.copy()

    def fit(self, k: int) -> ChunkedFit:
        """Return the fit with k clusters, in the units of the table."""
        return self._fits[self._index(k)]

    def up_to(self, k_max: int) -> "ChunkedPath":
        """Return the first part of the path, with the fit of k_max + 1 clusters as pilot."""
        last = self._index(k_max + 1) + 1
        return replace(
            self,
            inertia=self.inertia[:last],
            _centers=self._centers[:last],
            _fits=self._fits[:last],
            _sample=self._sample.up_to(k_max),
        )

    @property
    def residual_products(self) -> Floats:
        """Sums of the products of the pilot's residuals, for every two columns."""
        pilot = self._fits[-1]
        return self._products - (pilot.centers.T * pilot.sizes) @ pilot.centers


def check_path(path: KMeansPath, table: Table, k_max: int | None) -> int:
    """Return the k_max to judge, having made sure that the path belongs to X."""
    if not isinstance(path, KMeansPath):
        raise TypeError(
            f"path is a {type(path).__name__}, not a KMeansPath. "
            "Make one with fit_path or KMeansPath.from_labels."
        )
    if isinstance(path, ChunkedPath) != isinstance(table, ChunkedTable):
        where = "in chunks" if isinstance(path, ChunkedPath) else "in memory"
        raise TypeError(
            f"path was fitted to rows {where}, but X is not {where}. Give the X of the path, or "
            "fit a path to X."
        )
    if (path.n_samples, path.n_features) != (table.n_samples, table.n_features):
        raise ValueError(
            f"path was fitted to {path.n_samples} rows and {path.n_features} varying columns, "
            f"X has {table.n_samples} and {table.n_features}. Give the X of the path."
        )
    if isinstance(path, ChunkedPath):
        # The same rows of both are looked at.
        return check_path(path.sample, table.sample, k_max)
    spread = float(table.squared(table.inertia))
    if not np.isclose(spread, path.inertia[0], rtol=1e-6, atol=0):
        raise ValueError(
            f"path was fitted to data with a sum of squares of {path.inertia[0]:.6g}, X has "
            f"{spread:.6g}. Give the X of the path."
        )
    last = path.k_max + 1
    pilot = float(table.squared(fit_of_labels(table.values, path.labels(last), last).inertia))
    if not np.isclose(pilot, path.inertia[-1], rtol=1e-6, atol=1e-12 * spread):
        raise ValueError(
            f"path's labels for {last} clusters have an inertia of {pilot:.6g} in X, not "
            f"{path.inertia[-1]:.6g}: the rows of X are others, or in another order. Give the X of "
            "the path."
        )
    if k_max is None:
        return path.k_max
    k_max = check_whole("k_max", k_max, 1)
    if k_max > path.k_max:
        raise ValueError(
            f"k_max={k_max} is more than path.k_max={path.k_max}. Lower k_max or fit a longer path."
        )
    return k_max


def path_of(table: Table, fits: list[Fit], kind: str) -> KMeansPath:
    """Make a path of fits in the units of a table."""
    small = np.min_scalar_type(len(fits) - 1)
    return KMeansPath(
        inertia=original_inertia(table, fits),
        n_samples=table.n_samples,
        n_features=table.n_features,
        fits=kind,
        _labels=tuple(fit.labels.astype(small, copy=False) for fit in fits),
        _centers=tuple(table.to_original(fit.centers) for fit in fits),
    )


def original_inertia(table: Table, fits: Sequence[Fit | ChunkedFit]) -> Floats:
    """Return the inertia of fits in the units of X, if a float can hold it."""
    inertia = np.array([fit.inertia for fit in fits])
    original: Floats = table.squared(inertia)
    if ((original < 1e-300) & (inertia > 0)).any() or not np.isfinite(original).all():
        raise ValueError(
            f"X spreads over about {table.scale:.0e}, whose square is out of a float's range. "
            f"Divide X by {table.scale:.0e} first: it changes no cluster."
        )
    return original

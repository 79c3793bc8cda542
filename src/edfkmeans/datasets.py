"""The 28 public data sets of the paper: from a folder, from scikit-learn, or downloaded."""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans._download import guarded
from edfkmeans.rows.units import Floats

FOLDER_VARIABLE = "EDFKMEANS_DATA"
_UCI = "https://archive.ics.uci.edu/dataset/"
# What scikit-learn's client ends in, and we after it, where an answer is not what it should be.
_WRONG_ANSWERS = (
    OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError, HTTPException
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """What is known of a set: its size, where it comes from, and a numerical checksum.

    The checksum is the three largest eigenvalues of the correlation matrix: it does not depend on
    the order of rows or columns, nor on the unit of a column.
    """

    title: str
    n_samples: int
    n_features: int
    classes: str
    page: str
    checksum: tuple[float, float, float]
    openml: int | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set with its true classes.

    Attributes
    ----------
    name, title : str
        The short name, and the paper's.
    X : ndarray of shape (n_samples, n_features)
        Columns of mean 0 and variance 1 (ddof=1), as the paper has them; constant ones dropped.
    labels : tuple of ndarray
        The true classes; some sets have two or three label sets.
    verified : bool
        Whether it is the table that the tables of this project were made with: same size, same
        checksum.
    """

    name: str
    title: str
    X: Floats
    labels: tuple[npt.NDArray[Any], ...]
    verified: bool


# fmt: off
SOURCES = {
    "wine": Source("Wine", 178, 13, "3", _UCI + "109", (4.7059, 2.4970, 1.4461), 187),
    "seeds": Source("Seeds", 210, 7, "3", _UCI + "236", (5.0312, 1.1976, 0.6780), 1499),
    "ionosphere": Source("Ionosphere", 351, 33, "2", _UCI + "52", (8.8121, 4.2386, 2.7162), 59),
    "votes": Source("Votes", 435, 16, "2", _UCI + "105", (7.4794, 1.4087, 1.1150), 56,
                    "y = 1, n = 0, missing replaced by the column's mean"),
    "iris": Source("Iris", 150, 4, "3", _UCI + "53", (2.9108, 0.9212, 0.1474), 61),
    "libras": Source("Libras", 360, 90, "15", _UCI + "181", (21.0551, 18.8965, 16.0777), 299),
    "heart": Source("Heart", 294, 13, "2", _UCI + "45", (2.8669, 1.3741, 1.2264), 1565,
                    "the Hungarian part, missing coded -9, label: disease or not"),
    "glass": Source("Glass", 214, 9, "6", _UCI + "42", (2.5112, 2.0500, 1.4048), 41),
    "mammography": Source("Mammography", 828, 5, "2", _UCI + "161", (2.3891, 0.9856, 0.6930), None,
                          "incomplete rows dropped"),
    "parkinsons": Source("Parkinsons", 195, 22, "2", _UCI + "174", (12.9581, 2.4859, 1.5420), 1488),
    "yeast": Source("Yeast", 698, 72, "5", "https://genome-www.stanford.edu/cellcycle/",
                    (14.3868, 10.6637, 4.6514)),
    "forest": Source("Forest", 523, 27, "4", _UCI + "333", (10.1461, 5.0141, 3.7722), None,
                     "training and testing files stacked"),
    "breast_cancer": Source("Breast Cancer", 699, 9, "2", _UCI + "15", (5.8871, 0.7741, 0.5388), 15,
                            "missing coded 0"),
    "dermatology": Source("Dermatology", 366, 34, "6", _UCI + "33", (9.2397, 5.4821, 3.1082), 35),
    "synth": Source("Synth", 600, 60, "6", _UCI + "139", (31.4788, 5.9303, 4.1839), 377),
    "soy_bean": Source("Soy Bean", 683, 35, "19", _UCI + "90", (9.9463, 5.0156, 3.2407), 42,
                       "category codes, missing coded -1"),
    "olive_oil": Source("Olive Oil", 572, 8, "3/9",
                        "https://cran.r-project.org/package=pdfCluster", (3.7214, 1.7658, 1.0164)),
    "bank": Source("Bank", 1372, 4, "2", _UCI + "267", (2.1799, 1.2932, 0.3514), 1462),
    "optidigits": Source("Optidigits", 5620, 62, "10", _UCI + "80", (7.1956, 6.3055, 4.8374), 28),
    "image_seg": Source("Image Seg", 2310, 18, "7", _UCI + "147", (7.6214, 2.9167, 1.7927), 36),
    "mf_digits": Source("MF Digits", 2000, 216, "10", _UCI + "72", (48.5982, 32.6703, 25.8164), 12),
    "satellite": Source("Satellite", 6435, 36, "6", _UCI + "146", (16.3274, 14.3575, 1.5766), 294),
    "texture": Source("Texture", 5500, 40, "11", "https://www.openml.org/d/40499",
                      (30.2676, 3.6512, 2.2937), 40499),
    "pen_digits": Source("Pen Digits", 7494, 16, "10", _UCI + "81", (4.6780, 3.1912, 2.6403), 32,
                         "the training part: the first 7494 rows"),
    "phoneme": Source("Phoneme", 4509, 256, "5", "https://hastie.su.domains/ElemStatLearn/data.html",
                      (141.8654, 38.8782, 12.3673)),
    "frogs": Source("Frogs", 7195, 22, "4/8/10", _UCI + "406", (7.6570, 3.2996, 2.4976)),
    "auto": Source("Auto", 392, 7, "3", _UCI + "9", (5.0106, 0.8656, 0.7284), 196,
                   "incomplete rows dropped, label: origin"),
    "yeast_uci": Source("Yeast UCI", 1484, 8, "10", _UCI + "110", (1.8142, 1.2703, 1.0212), 181),
}
# fmt: on


def load(name: str, folder: str | Path | None = None, *, download: bool = False) -> Dataset:
    """Load one of the paper's data sets, its columns standardised.

    Looked for, in this order: in `folder`, in the folder that the environment variable
    EDFKMEANS_DATA names, in scikit-learn (iris and wine) and, if `download` allows it, in
    scikit-learn's cache of OpenML and at OpenML.

    Parameters
    ----------
    name : str
        One of ``SOURCES``.
    folder : str or Path, optional
        A folder with one file ``NAME.csv.gz`` or ``NAME.csv`` for each set: columns f0, f1, ...
        and label (or label_1, label_2, ... where there are several label sets).
    download : bool
        Whether the network may be used: by https only, for no more than 100 MB, and what comes must
        have OpenML's MD5 checksum. While it lasts this holds for every call of scikit-learn's
        ``fetch_openml`` in the process.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from edfkmeans import select_k
    >>> from edfkmeans.datasets import load
    >>> wine = load("wine")
    >>> wine.X.shape, wine.verified
    ((178, 13), True)
    >>> select_k(wine.X, random_state=0).k
    3
    """
    if name not in SOURCES:
        raise ValueError(f"name={name!r} must be one of {list(SOURCES)}.")
    for place in (folder, os.environ.get(FOLDER_VARIABLE)):
        file = place and _file(Path(place), name)
        if file:
            return _from_file(name, file)
    if name in _BUNDLED:
        values, target = _BUNDLED[name]()
        return _dataset(name, values, [target])
    if SOURCES[name].openml is not None and download:
        return _from_openml(name)
    raise FileNotFoundError(_how_to_get(name, folder))


def _file(folder: Path, name: str) -> Path | None:
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is not a folder. Name one that holds {name}.csv.gz.")
    found = [folder / f"{name}{end}" for end in (".csv.gz", ".csv")]
    return next((file for file in found if file.exists()), None)


def _from_file(name: str, file: Path) -> Dataset:
    frame = pd.read_csv(file)
    labels = [frame[column].to_numpy() for column in frame if str(column).startswith("label")]
    features = frame.filter(regex=r"^f\d+$")
    if not labels or features.empty:
        raise ValueError(
            f"{file} has the columns {list(frame)[:5]}..., but needs f0, f1, ... and label."
        )
    return _dataset(name, features, labels)


def _from_openml(name: str) -> Dataset:
    """Fetch a set by scikit-learn's client, which checks OpenML's checksum and keeps a copy."""
    from sklearn.datasets import fetch_openml, get_data_home

    with guarded():
        try:
            bunch = fetch_openml(
                data_id=SOURCES[name].openml, as_frame=True, parser="auto", n_retries=1
            )
            features, target = _TREATMENTS.get(name, _as_numbers)(bunch.data, bunch.target)
            return _dataset(name, features, [pd.factorize(target)[0]])
        except _WRONG_ANSWERS as error:
            what = str(error) if isinstance(error, OSError | ValueError) else repr(error)
            kept = f"Delete {Path(get_data_home()) / 'openml'} to ask again for what is kept there."
            raise FileNotFoundError(
                f"OpenML gave: {what}. {_how_to_get(name, None)} {kept}"
            ) from error


def _how_to_get(name: str, folder: str | Path | None) -> str:
    source = SOURCES[name]
    where = f"in {folder} " if folder else ""
    steps = [
        f"The set {name!r} is not {where}on this machine.",
        f"It is described at {source.page}" + (f" ({source.note})." if source.note else "."),
    ]
    if source.openml is not None:
        steps.append("Call load(..., download=True) to fetch it from OpenML when online, or")
    steps.append(
        f"save it as {name}.csv with the columns f0, f1, ... and label, and name its folder by "
        f"folder= or the environment variable {FOLDER_VARIABLE}."
    )
    return " ".join(steps)


def _dataset(name: str, features: pd.DataFrame | Floats, labels: list[Any]) -> Dataset:
    source = SOURCES[name]
    X = np.asarray(features, np.float64)
    if len(X) < 2 or not np.isfinite(X).all():
        raise ValueError(
            f"{name} has {len(X)} rows and {np.sum(~np.isfinite(X))} values that are missing or "
            "infinite. It needs 2 rows or more, and numbers everywhere."
        )
    spread = X.std(axis=0, ddof=1)
    X = (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    verified = X.shape == (source.n_samples, source.n_features) and bool(
        np.allclose(checksum(X), source.checksum, rtol=1e-4, atol=2e-4)
    )
    if not verified:
        warnings.warn(
            f"{name} has {len(X)} rows, {X.shape[1]} varying columns and the checksum "
            f"{np.round(checksum(X), 4).tolist()}; the set of this project's tables has "
            f"{source.n_samples}, {source.n_features} and {list(source.checksum)}. "
            f"Compare with {source.page} before you compare results.",
            stacklevel=3,
        )
    return Dataset(name, source.title, X, tuple(np.asarray(each) for each in labels), verified)


def checksum(X: Floats) -> Floats:
    """Return the three largest eigenvalues of the correlation matrix of standardised columns."""
    return np.asarray(np.linalg.eigvalsh(X.T @ X / (len(X) - 1))[::-1][:3])


def _as_numbers(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    return features.apply(pd.to_numeric), target


def _missing_as(value: float) -> Callable[[pd.DataFrame, Any], tuple[pd.DataFrame, Any]]:
    return lambda features, target: (features.apply(pd.to_numeric).fillna(value), target)


def _heart(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    return features.apply(pd.to_numeric).fillna(-9), pd.to_numeric(target) > 0


def _votes(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    numbers = features.apply(lambda column: column.astype(object).map({"y": 1.0, "n": 0.0}))
    return numbers.fillna(numbers.mean()), target


def _dermatology(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    numbers = features.apply(pd.to_numeric, errors="coerce")
    return numbers.fillna(numbers.mean()), target


def _soy_bean(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    return features.apply(lambda column: column.astype("category").cat.codes), target


def _auto(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    numbers = features.apply(pd.to_numeric).assign(mpg=pd.to_numeric(target)).dropna()
    return numbers.drop(columns="origin"), numbers["origin"]


def _pen_digits(features: pd.DataFrame, target: Any) -> tuple[pd.DataFrame, Any]:
    return features[:7494].apply(pd.to_numeric), target[:7494]


_TREATMENTS: dict[str, Callable[[pd.DataFrame, Any], tuple[pd.DataFrame, Any]]] = {
    "auto": _auto,
    "breast_cancer": _missing_as(0),
    "dermatology": _dermatology,
    "heart": _heart,
    "pen_digits": _pen_digits,
    "soy_bean": _soy_bean,
    "votes": _votes,
}


def _load_iris() -> tuple[Floats, Any]:
    """Return scikit-learn's iris with the two errors of UCI's copy, which the paper used."""
    from sklearn.datasets import load_iris

    bunch = load_iris()
    bunch.data[[34, 37]] = [4.9, 3.1, 1.5, 0.1]
    return bunch.data, bunch.target


def _load_wine() -> tuple[Floats, Any]:
    from sklearn.datasets import load_wine

    bunch = load_wine()
    return bunch.data, bunch.target


_BUNDLED: dict[str, Callable[[], tuple[Floats, Any]]] = {"iris": _load_iris, "wine": _load_wine}

"""The page of a report: what it shows, and `write_report`, which writes it."""

import json
import platform
import zlib
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from edfkmeans._atomic import atomic_write
from edfkmeans._extras import needs
from edfkmeans._spreadsheets import harmless
from edfkmeans.choosing.resampling import N_RESAMPLES
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.profiles import principal_axes, scores, spread
from edfkmeans.rows.checks import check_numeric
from edfkmeans.rows.units import Floats
from edfkmeans.selection import AMBIGUOUS, Selection

# Rows in the scatter plot: more would hide each other, and make the page large.
SHOWN_ROWS = 1200
# Columns in the profiles, as many as a screen is wide.
SHOWN_COLUMNS = 24
# Characters that the clusters of all rows may take in the page, for all k together.
_MOST_CHARACTERS = 1_200_000
# Rows in the list of ambiguous ones.
SHOWN_AMBIGUOUS = 20
_MEASURES = {
    "agreement": ("expected agreement", "higher is better"),
    "bic": ("BIC", "lower is better"),
    "silhouette_above": ("silhouette above reference", "higher is better"),
    "dof": ("degrees of freedom", ""),
    "inertia": ("inertia", "falls with every cluster"),
}


def write_report(
    selection: Selection,
    file: str | Path,
    X: Any = None,
    *,
    names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    restore: Callable[[Any], Any] | None = None,
    title: str = "How many clusters?",
    notes: Sequence[str] = (),
    command: str | None = None,
    n_rows: int | None = None,
) -> None:
    """Write a report as one HTML file that needs no network.

    Parameters
    ----------
    selection : Selection
    file : str or Path
        Written whole or not at all.
    X : array-like of shape (n_samples, n_features), optional
        The data that were given to `select_k`, to show the rows too.
    names : sequence of str, optional
        The columns; by default those of the data frame that was clustered, or their numbers.
    ids : sequence, optional
        What each row is called; by default its number, counted from 1.
    restore : callable, optional
        Brings centres into the units to show them in, such as ``inverse_transform`` of the scaler
        that X comes from.
    title : str
    notes : sequence of str
        What was done to the data, in words.
    command : str, optional
        How to get the same answer again.
    n_rows : int, optional
        Number of rows in all, where X is a sample of them.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> X = load_iris(as_frame=True).data
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "report.html"
    ...     select_k(X, k_max=8, random_state=0).to_html(file, X)
    ...     "petal width (cm)" in file.read_text(encoding="utf-8")
    True
    """
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(needs("A report", "jinja2", "report")) from error
    values = None
    if X is not None:
        if names is None and hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
        values = check_numeric(X)
        if len(values) != selection.path.n_samples:
            raise ValueError(
                f"X has {len(values)} rows, but the selection was made with "
                f"{selection.path.n_samples}. Give the same X."
            )
        if np.isnan(selection.ambiguity).any():
            selection = selection.with_k(selection.k, X)
    d = selection.centers.shape[1]
    if names is None:
        names = selection.columns
    if len(names) != d:
        raise ValueError(f"names has {len(names)} entries, but X has {d} columns.")
    if ids is None:
        ids = range(1, selection.path.n_samples + 1)
    if len(ids) != selection.path.n_samples:
        raise ValueError(f"ids has {len(ids)} entries, but X has {selection.path.n_samples} rows.")
    here = files("edfkmeans.report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((here / "page.html").read_text(encoding="utf-8"))
    text = template.render(
        title=title,
        selection=selection,
        n_rows=n_rows or selection.path.n_samples,
        n_resamples=N_RESAMPLES,
        sure=_sure(selection),
        shares=_shares(selection),
        measures={k: v for k, v in _MEASURES.items() if k in selection.table},
        data=_data(selection, values, list(names), ids, restore),
        ambiguous=None if np.isnan(selection.ambiguity).any() else _ambiguous(selection, ids),
        notes=notes,
        command=command,
        versions=_versions(),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=(here / "page.css").read_text(encoding="utf-8"),
        script=(here / "page.js").read_text(encoding="utf-8"),
    )
    with atomic_write(file) as part:
        part.write_text(text, encoding="utf-8")


def _sure(selection: Selection) -> list[tuple[int, float, float, str]]:
    """How sure the judge is of the choice and of the other candidates, and why."""
    if selection.confidence is None:
        return []
    ks = [selection.k, *(candidate.k for candidate in selection.candidates)]
    rows = selection.confidence.loc[ks]
    pairs = zip(rows["agreement"], rows["near"], strict=True)
    return [(k, *pair, selection.reasons[k]) for k, pair in zip(ks, pairs, strict=True)]


def _shares(selection: Selection) -> list[tuple[int, int]]:
    """How often each k was chosen in the resamples, in percent, most often first."""
    if selection.resamples is None:
        return []
    ordered = selection.resamples.sort_values(ascending=False, kind="stable")
    return [(int(str(k)), round(100 * float(share))) for k, share in ordered.items()]


def _data(
    selection: Selection,
    X: Any,
    names: list[str],
    ids: Sequence[Any],
    restore: Callable[[Any], Any] | None,
) -> dict[str, Any]:
    """Collect what the script draws from: small, whatever the number of rows and columns."""
    path, ks = selection.path, range(1, selection.k_max + 1)
    columns = _telling_columns(path)
    data: dict[str, Any] = {
        "k": selection.k,
        "others": [candidate.k for candidate in selection.candidates],
        "measures": {
            name: [_number(value) for value in selection.table[name]]
            for name in _MEASURES
            if name in selection.table
        },
        "labels": {name: " – ".join(filter(None, words)) for name, words in _MEASURES.items()},
        "sizes": [path.sizes(k).tolist() for k in ks],
        "columns": [names[j] for j in columns],
        "hidden": len(names) - len(columns),
        "centers": [],
        "scores": [],
        "points": None,
        "rows": None,
    }
    for k in ks:
        centers = path.centers(k)
        if restore is not None:
            centers = np.asarray(restore(centers), np.float64)
        data["centers"].append(_short(centers[:, columns]))
        data["scores"].append(_short(scores(path, k)[:, columns], 2))
    if X is not None:
        data["points"] = _points(selection, X)
    if path.kept_rows is None:
        data["rows"] = _rows(selection, ids)
    return data


def _rows(selection: Selection, ids: Sequence[Any]) -> dict[str, Any] | None:
    """Pack the ids and the clusters of all rows for every k; None where that takes too much room.

    Rows that have been together for all k look alike, so that zlib packs them well.
    """
    ks = range(1, selection.k_max + 1)
    labels = np.stack([selection.path.labels(k) for k in ks], axis=1)
    numbered = isinstance(ids, range)
    names = [] if numbered else [harmless(str(name)) for name in ids]
    packed = {
        "id": harmless(str(getattr(ids, "name", None) or "row")),
        "ids": _packed(json.dumps(names).encode()),
        "labels": _packed(labels.astype("<u2").tobytes()),
    }
    return packed if sum(map(len, packed.values())) <= _MOST_CHARACTERS else None


def _packed(content: bytes) -> str:
    return b64encode(zlib.compress(content, 9)).decode("ascii")


def _telling_columns(path: KMeansPath) -> list[int]:
    """Find the columns in which the clusters of the finest fit differ most, in their order."""
    return sorted(np.argsort(-spread(path), kind="stable")[:SHOWN_COLUMNS].tolist())


def _points(selection: Selection, X: Any) -> dict[str, Any]:
    """Place a sample of the rows on two principal components, with their clusters for every k."""
    path = selection.path
    n = len(X)
    rows = np.arange(n)
    if n > SHOWN_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(n, SHOWN_ROWS, replace=False))
    many = X if n <= 20_000 else X[np.sort(np.random.default_rng(1).choice(n, 20_000, False))]
    axes, shares = principal_axes(many)
    places = np.asarray((X[rows] - X.mean(axis=0, dtype=np.float64)) @ axes, np.float64)
    if places.shape[1] == 1:  # one column: spread the rows over the height, by their order
        places = np.column_stack([places, np.linspace(-1, 1, len(rows)) * np.ptp(places) / 4])
    size = float(np.abs(places).max()) or 1.0
    ambiguity = selection.ambiguity
    order = np.argsort(-ambiguity, kind="stable")[: max(1, n // 20)]
    between = np.isin(rows, order[ambiguity[order] > AMBIGUOUS])
    return {
        "rows": n,
        "places": np.round(1000 * places / size).astype(int).tolist(),
        "between": np.flatnonzero(between).tolist(),
        "clusters": [path.labels(k)[rows].tolist() for k in range(1, selection.k_max + 1)],
        "explained": [round(100 * float(share)) for share in shares],
    }


def _ambiguous(selection: Selection, ids: Sequence[Any]) -> list[dict[str, Any]]:
    """List the rows that sit most between clusters."""
    order = np.argsort(-selection.ambiguity, kind="stable")[:SHOWN_AMBIGUOUS]
    labels = selection.labels
    values = list(ids)
    return [
        {
            "id": str(values[row]),
            "cluster": int(labels[row]),
            "ambiguity": f"{selection.ambiguity[row]:.3g}",
        }
        for row in order
        if selection.ambiguity[row] > AMBIGUOUS
    ]


def _versions() -> list[tuple[str, str]]:
    names = ("edfkmeans", "numpy", "scipy", "scikit-learn", "numba")
    return [("Python", platform.python_version()), *((n, metadata.version(n)) for n in names)]


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if np.isfinite(value) else None


def _short(values: Floats, digits: int = 4) -> list[list[float]]:
    return [[float(f"{value:.{digits}g}") for value in row] for row in values]

"""Model: centres, and what has to be done to new rows before they are given to the nearest one."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd

from edfkmeans._atomic import atomic_write
from edfkmeans._choices import METRICS, Metric
from edfkmeans.rows.arguments import check_one_of, counted, some
from edfkmeans.rows.assignments import nearest
from edfkmeans.rows.checks import check_numeric, refuse_same_names
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.inputs import Input
from edfkmeans.rows.labels import Sizes
from edfkmeans.rows.scaling import Scaling
from edfkmeans.rows.units import Floats
from edfkmeans.selection import Selection

# What the file says of itself. The version grows when an older reader would get it wrong: those
# of version 1 know no metric.
_FORMAT, _VERSIONS = "edfkmeans model", {"euclidean": 1, "cosine": 2}


@dataclass(frozen=True, eq=False)
class Model:
    """A clustering that can be used on new rows: columns, scaling and centres.

    It is small, holds no rows, and is kept in a JSON file, which runs no code when it is read.

    Attributes
    ----------
    inputs : tuple of Input
        The columns that a table must have, and how they become numbers.
    fill : ndarray of shape (n_features,)
        What missing values are filled by; NaN where they are refused.
    scaling : Scaling
        How the numbers become those that the centres are in.
    centers : ndarray of shape (k, n_features)
    sizes : ndarray of shape (k,)
        Rows in each cluster when the model was made.
    metric : str
        "cosine" where rows are scaled to length one after that, else "euclidean".

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import Model, select_k
    >>> wine = load_wine(as_frame=True).data
    >>> scaler = StandardScaler().fit(wine)
    >>> found = select_k(scaler.transform(wine), random_state=0)
    >>> model = Model.of(found, wine.columns, offset=scaler.mean_, spread=scaler.scale_)
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "wine.json")
    ...     again = Model.load(Path(folder) / "wine.json")
    >>> bool((again.assign(wine)["cluster"] == found.labels).all())
    True
    """

    inputs: tuple[Input, ...]
    fill: Floats
    scaling: Scaling
    centers: Floats
    sizes: Sizes | Floats
    metric: Metric = "euclidean"

    @classmethod
    def of(
        cls,
        selection: Selection,
        columns: Sequence[str] | None = None,
        *,
        offset: Any = 0.0,
        spread: Any = 1.0,
        shift: Any = np.nan,
        fill: Any = np.nan,
        inputs: Sequence[Input] | None = None,
    ) -> "Model":
        """Take the clustering of a selection, and say how its rows were made.

        Parameters
        ----------
        selection : Selection
        columns : sequence of str, optional
            Names of the columns, by default those of the data frame that was clustered.
        offset, spread : float or ndarray of shape (n_features,)
            What was subtracted from the columns, and what they were divided by then: ``mean_`` and
            ``scale_`` of a StandardScaler.
        shift : float or ndarray of shape (n_features,)
            What was added before a logarithm was taken: ``shift_`` of a `LogTransformer`. NaN where
            none was.
        fill : float or ndarray of shape (n_features,)
            What missing values are filled by; NaN to refuse them.
        inputs : sequence of Input, optional
            In place of `columns`, where some are dates or text.
        """
        if not isinstance(selection, Selection):
            raise TypeError(
                f"selection is a {type(selection).__name__}. Give what select_k returned, or of a "
                "path select_k(X, path=path)."
            )
        d = selection.centers.shape[1]
        if inputs is None:
            inputs = [
                Input(str(name)) for name in (selection.columns if columns is None else columns)
            ]
        made = [name for each in inputs for name in each.names]
        if len(made) != d:
            raise ValueError(f"columns has {len(made)} entries, but the centres have {d} columns.")
        refuse_same_names([each.name for each in inputs], "The model")
        given = {"fill": fill, "shift": shift, "offset": offset, "spread": spread}
        for name, each in given.items():
            given[name] = np.asarray(each, np.float64)
            if given[name].shape not in ((), (1,), (d,)):
                raise ValueError(
                    f"{name} has shape {given[name].shape}, but the centres have {d} columns. Give "
                    "one number, or one for each of them."
                )
        fill, shift, offset, spread = (np.broadcast_to(each, d) for each in given.values())
        sizes = selection.path.sizes(selection.k)
        scaling, metric = Scaling(shift, offset, spread), selection.path.metric
        model = cls(tuple(inputs), fill, scaling, selection.centers, sizes, metric)
        wrong = model._what_is_wrong()
        if wrong:
            raise ValueError(f"{wrong}. A column that is constant has a spread of 1.")
        return model

    def _what_is_wrong(self) -> str:
        """Say which number cannot be right, if any."""
        offset, spread = self.scaling.offset, self.scaling.spread
        if not (np.isfinite(self.centers).all() and np.isfinite([offset, spread]).all()):
            return "a centre, an offset or a spread is missing or infinite"
        sizes = np.isfinite(self.sizes) & (self.sizes >= 0)
        if np.isinf([self.fill, self.scaling.shift]).any() or not sizes.all():
            return "a size, a logarithm or what gaps are filled by is no such number"
        if (spread < np.finfo(float).tiny).any():
            return "a spread is not above 0"
        return ""

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.centers)

    @property
    def columns(self) -> list[str]:
        """The columns of the centres."""
        return [name for each in self.inputs for name in each.names]

    def assign(self, X: Any) -> pd.DataFrame:
        """Give new rows to the clusters.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            In the units of the table that the model was made with, before it was scaled. A data
            frame must have the columns of the model; others are not looked at.

        Returns
        -------
        DataFrame
            ``cluster``, that of the nearest centre, and ``distance`` to it, in scaled units; the
            index is that of X.
        """
        index = getattr(X, "index", None)
        values = self._numbers(X)
        rows = in_metric(self.scaling.apply(values, self.columns), self.metric)
        labels = nearest(rows, self.centers)
        with np.errstate(over="ignore"):  # rows so far away that no float can say it
            distance = np.sqrt(((rows - self.centers[labels]) ** 2).sum(axis=1))
        found = {"cluster": labels, "distance": distance}
        return pd.DataFrame(found, index=index if isinstance(index, pd.Index) else None)

    def without_gaps(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Leave out rows with missing values that the model does not fill."""
        values = self._read(frame)
        gaps: Any = np.isnan(np.where(np.isnan(values), self.fill, values)).any(axis=1)
        return pd.DataFrame(frame.loc[~gaps])

    def _numbers(self, X: Any) -> Floats:
        if not isinstance(X, pd.DataFrame):
            if hasattr(X, "to_pandas"):  # polars
                return self._numbers(X.to_pandas())
            values = np.asarray(check_numeric(X), np.float64)
            if values.shape[1] != len(self.columns) or any(e.kind == "text" for e in self.inputs):
                raise ValueError(
                    f"X has {values.shape[1]} columns without names, and the model needs "
                    f"{some([each.name for each in self.inputs], 8)}. Give a data frame."
                )
            return values
        values = self._read(X)
        values = np.where(np.isnan(values), self.fill, values)
        bad: Any = ~np.isfinite(values)
        if bad.any():
            named = zip(self.columns, bad.any(axis=0).tolist(), strict=True)
            raise ValueError(
                f"Missing or infinite values in {counted(int(bad.any(axis=1).sum()), 'row')}, in "
                f"{some([name for name, there in named if there])}, and the model was made "
                "without. Fill them or leave those rows out."
            )
        return values

    def _read(self, frame: pd.DataFrame) -> Floats:
        """Return the columns of the model as numbers; NaN where they are missing."""
        names = [str(name) for name in frame.columns]
        wanted = [each.name for each in self.inputs]
        absent = [name for name in wanted if name not in names]
        if absent:
            # Another column of the model is not this one under another name.
            free = [name for name in names if name not in wanted]
            near = get_close_matches(absent[0], free, 3, cutoff=0.5) if len(absent) == 1 else []
            hint = f"Did you mean {some(near)}?" if near else f"It has {some(names, 8)}."
            noun = "columns" if len(absent) > 1 else "column"
            raise ValueError(f"X has no {noun} {some(absent)}, which the model needs. {hint}")
        twice = next((name for name in wanted if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"X has several columns {twice!r}; the model needs one. Rename them.")
        columns = [frame.iloc[:, names.index(each.name)] for each in self.inputs]
        parts = [each.numbers(column) for each, column in zip(self.inputs, columns, strict=True)]
        return np.concatenate(parts, axis=1)

    def save(self, file: str | Path) -> None:
        """Write the model as JSON, whole or not at all."""
        with atomic_write(file) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    def to_json(self) -> str:
        """Return the model as text, which `from_json` reads."""
        numbers = zip(
            self.columns,
            _plain(self.fill),
            _plain(self.scaling.shift),
            _plain(self.scaling.offset),
            _plain(self.scaling.spread),
            strict=True,
        )
        content = {
            "format": _FORMAT,
            "version": _VERSIONS[self.metric],
            "edfkmeans": metadata.version("edfkmeans"),
            "inputs": [asdict(each) for each in self.inputs],
            "columns": [
                dict(zip(("name", "fill", "log", "offset", "spread"), each, strict=True))
                for each in numbers
            ],
            "centers": self.centers.tolist(),
            "sizes": self.sizes.tolist(),
        } | ({} if self.metric == "euclidean" else {"metric": self.metric})
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    @classmethod
    def load(cls, file: str | Path) -> "Model":
        """Read a model that `save` or the command line wrote."""
        try:
            text = Path(file).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ValueError(f"There is no file {file}. Check the name and the folder.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{file} could not be read as a model: {error}.") from error
        return cls.from_json(text, str(file))

    @classmethod
    def from_json(cls, text: str, source: str = "The text") -> "Model":
        """Read what `to_json` returned; `source` is what errors call it."""
        how = "Name a file that `edfkmeans select --model` or `Model.save` wrote."
        try:
            content = json.loads(text.removeprefix("\ufeff"))  # editors on Windows write it
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{source} is not a model: {error}. {how}") from None
        if isinstance(content, dict) and {"schema", "edfkmeans"} <= content.keys():
            raise ValueError(
                f"{source} is not a model but what --json wrote. `edfkmeans select --model FILE` "
                "writes one."
            )
        if not isinstance(content, dict) or content.get("format") != _FORMAT:
            raise ValueError(f"{source} is not a model. {how}")
        if content.get("version") not in _VERSIONS.values():
            raise ValueError(
                f"{source} is a model of version {content.get('version')!r}, and this edfkmeans "
                f"reads versions up to {max(_VERSIONS.values())}. Make it again, or read it with "
                "the other edfkmeans."
            )
        try:
            return cls._of_content(content)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{source} is a model, but not whole: {error}. Make it again."
            ) from None

    @classmethod
    def _of_content(cls, content: dict[str, Any]) -> "Model":
        if not content["inputs"]:
            raise ValueError("it has no columns")
        inputs = tuple(
            Input(str(each["name"]), each["kind"], tuple(map(str, each["values"])))
            for each in content["inputs"]
        )
        if any(each.kind not in get_args(Input.__annotations__["kind"]) for each in inputs):
            raise ValueError("a column is of a kind that is not known")
        fill, shift, offset, spread = (
            np.array(
                [np.nan if each[name] is None else float(each[name]) for each in content["columns"]]
            )
            for name in ("fill", "log", "offset", "spread")
        )
        centers = np.array(content["centers"], np.float64)
        sizes = np.array(content["sizes"], np.float64)  # importances may make them no whole numbers
        sizes = sizes.astype(np.int64) if (sizes == np.floor(sizes)).all() else sizes
        metric = content.get("metric", "euclidean")
        check_one_of("metric", metric, METRICS)
        model = cls(inputs, fill, Scaling(shift, offset, spread), centers, sizes, metric)
        if centers.shape != (len(sizes), len(model.columns)) or len(fill) != len(model.columns):
            raise ValueError("centres and columns do not match")
        if [each["name"] for each in content["columns"]] != model.columns:
            raise ValueError("columns and inputs have different names")
        refuse_same_names([each.name for each in inputs], "it")
        wrong = model._what_is_wrong()
        if wrong:
            raise ValueError(wrong)
        return model


def _plain(values: Floats) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]

"""The page of a report: what it shows, and `write_report`, which writes it."""

import platform
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans._atomic import atomic_write, check_file
from edfkmeans._extras import needs
from edfkmeans.choosing.resampling import N_RESAMPLES
from edfkmeans.profiles import check_shown
from edfkmeans.report.content import MEASURES, content
from edfkmeans.selection import AMBIGUOUS, Selection
from edfkmeans.soundness import Soundness, assess_several, worth_a_look

# An option of the command, such as --log.
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
# Rows in the list of ambiguous ones.
SHOWN_AMBIGUOUS = 20


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
    soundness: Mapping[int, Soundness] | None = None,
    progress: bool = False,
    dates: Sequence[str] = (),
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
        What each row is called; by default as the index of a data frame says, if that is more than
        a count, else its number, counted from 1.
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
    soundness : mapping of int to Soundness, optional
        How sound the clusters are, for the k that are looked at closely; found out by default for
        `edfkmeans.soundness.worth_a_look`, which draws rows again and fits them.
    progress : bool
        Show a progress bar meanwhile.
    dates : sequence of str
        The columns of days since 1970-01-01, in the units to show, which are shown as dates.

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
    templates()  # to learn before the work that they are missing
    check_file(Path(file))
    values = None
    if not isinstance(selection.ambiguity, np.ndarray):
        raise ValueError(
            "The rows of this selection are elsewhere. Show the sample of them: "
            "`shown, rows = selection.sample()`, then `shown.to_html(file, rows, "
            "n_rows=selection.path.n_rows)`."
        )
    if X is not None:
        values, names = check_shown(selection, X, names)
        if np.isnan(selection.ambiguity).any():
            selection = selection.with_k(selection.k, X)
    d = selection.centers.shape[1]
    if names is None:
        names = selection.columns
    if len(names) != d:
        raise ValueError(f"names has {len(names)} entries, but X has {d} columns.")
    if ids is None:
        ids = _index_of(X)
    if ids is None:
        ids = range(1, selection.path.n_rows + 1)
    if len(ids) != selection.path.n_rows:
        raise ValueError(f"ids has {len(ids)} entries, but X has {selection.path.n_rows} rows.")
    if soundness is None:
        ks = worth_a_look(selection)
        soundness = {}
        if values is not None:
            soundness = assess_several(selection, values, ks, random_state=0, progress=progress)
    text = rendered(
        "page",
        title=title,
        selection=selection,
        n_rows=n_rows or selection.path.n_rows,
        n_resamples=N_RESAMPLES,
        sure=_sure(selection),
        shares=_shares(selection),
        measures={k: v for k, v in MEASURES.items() if k in selection.table},
        data=content(selection, values, names, ids, restore, soundness, dates),
        soundness=soundness,
        ambiguous=None if np.isnan(selection.ambiguity).any() else _ambiguous(selection, ids),
        ambiguous_from=AMBIGUOUS,
        unsound=soundness[selection.k].unsound if selection.k in soundness else (),
        id_name=str(getattr(ids, "name", None) or "row"),
        shown=_shown,
        notes=list(dict.fromkeys((*notes, *selection.path.notes))),
        command=command,
    )
    with atomic_write(file) as part:
        part.write_text(text, encoding="utf-8")


def _index_of(X: Any) -> Any:
    """Return the index of a data frame, if it names its rows."""
    index = getattr(X, "index", None)
    if not isinstance(index, pd.Index) or isinstance(index, pd.RangeIndex):
        return None
    return index


def templates() -> Any:
    """Import what fills templates, which is installed on request."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(needs("A report", "jinja2", "report")) from error
    return jinja2


def rendered(name: str, **details: Any) -> str:
    """Fill the template of a page; its style and scripts go into it."""
    jinja2 = templates()
    here = files("edfkmeans.report")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["options"] = _options_whole
    environment.filters["whole"] = _whole
    template = environment.from_string((here / f"{name}.html").read_text(encoding="utf-8"))
    scripts = ("figures.js", f"{name}.js")
    text: str = template.render(
        style=(here / "page.css").read_text(encoding="utf-8"),
        scripts=[(here / script).read_text(encoding="utf-8") for script in scripts],
        versions=_versions(),
        when=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        **details,
    )
    return text


def _options_whole(words: str) -> Any:
    """Mark options of the command in a sentence, so that no line ends within one."""
    markup = templates().utils.markupsafe
    return markup.Markup(_OPTION.sub(r"<code>\g<0></code>", str(markup.escape(words))))


def _whole(number: int) -> str:
    """Write a whole number as the script does: thousands are parted from 10,000 on."""
    return f"{number:,}" if number >= 10_000 else str(number)


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


def _shown(value: float) -> str:
    """Write a number of the table: four digits of small ones, large ones whole."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{round(value, 4):.4g}"


def _versions() -> list[tuple[str, str]]:
    names = ("edfkmeans", "numpy", "scipy", "scikit-learn", "numba")
    return [("Python", platform.python_version()), *((n, metadata.version(n)) for n in names)]

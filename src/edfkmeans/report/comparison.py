"""The page of a comparison: what every criterion says, and `write_comparison`, which writes it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edfkmeans._atomic import atomic_write
from edfkmeans.comparison import Comparison
from edfkmeans.report.page import rendered
from edfkmeans.rows.units import Floats

_LOOKS_AT = {
    "bic": "inertia, and a price for every effective degree of freedom",
    "aic": "the same as bic, with a lower price",
    "bic-naive": "inertia, and a price for every coordinate of a centre",
    "aic-naive": "the same as bic-naive, with a lower price",
    "silhouette": "distances to the own and to the next cluster",
    "calinski-harabasz": "variance between clusters over that within",
    "davies-bouldin": "how like neighbouring clusters are",
    "gap": "inertia against that of rows without clusters, in a box along the principal components",
    "gap-plain": "the same as gap, in a box along the columns",
    "elbow": "where the inertia stops falling fast",
    "jump": "jumps of the inertia to a negative power",
    "fk": "inertia against that expected from one cluster fewer",
    "prediction-strength": "whether one half of the rows foretells the other",
    "stability": "what bic says of halves of the rows",
    "combined": "rows without clusters, BIC and silhouette: a former default",
    "judge": "all such evidence, weighed by what was learned from simulated data: the default",
}
"""What the criteria that come with the package look at, in few words."""


def write_comparison(
    comparison: Comparison,
    file: str | Path,
    *,
    title: str = "How many clusters? Every criterion",
    remarks: Sequence[str] = (),
    notes: Sequence[str] = (),
    command: str | None = None,
) -> None:
    """Write what every criterion says as one HTML file that needs no network.

    Parameters
    ----------
    comparison : Comparison
    file : str or Path
        Written whole or not at all.
    title : str
    remarks : sequence of str
        What to be wary of in the data.
    notes : sequence of str
        What was done to the data, in words.
    command : str, optional
        How to get the same answer again.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import compare
    >>> found = compare(load_iris().data, ["bic", "silhouette"], k_max=8, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "criteria.html"
    ...     found.to_html(file)
    ...     found.summary in file.read_text(encoding="utf-8")
    True
    """
    table = comparison.table
    curves = [
        {
            "name": name,
            "k": curve.k,
            "looks": _LOOKS_AT.get(name, ""),
            "one": bool(table.loc[name, "can_say_one"]),
            "values": _numbers(curve.values),
            "error": None if curve.error is None else _numbers(curve.error),
            "better": {"min": "lower", "max": "higher"}[curve.direction],
        }
        for name, curve in comparison.curves.items()
    ]
    text = rendered(
        "comparison",
        title=title,
        comparison=comparison,
        n_rows=comparison.path.n_samples,
        remarks=remarks,
        notes=notes,
        command=command,
        data={"k_max": comparison.path.k_max, "curves": curves},
    )
    with atomic_write(file) as part:
        part.write_text(text, encoding="utf-8")


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{value:.7g}") if np.isfinite(value) else None for value in values]

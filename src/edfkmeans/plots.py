"""From results to matplotlib Axes: take `ax`, return it, never show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edfkmeans.comparison import Comparison
from edfkmeans.selection import Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _VERMILION, _GREY = "#0072B2", "#D55E00", "#666666"
_NAMED_CANDIDATES = 3


def plot_bic(selection: Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw the BIC against k, with the choice and the other local minima, the lowest named.

    Parameters
    ----------
    selection : Selection
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_bic
    >>> ax = plot_bic(select_k(load_iris().data, k_max=8, random_state=0))
    >>> ax.get_xlabel()
    'number of clusters k'
    """
    if ax is None:
        ax = _pyplot().subplots(figsize=(7, 4), layout="constrained")[1]
    curve = selection.table["bic"]
    ax.plot(curve.index, curve, color=_BLUE, marker="o", markersize=3.5, linewidth=1.5)
    for rank, candidate in enumerate(selection.candidates):
        ax.plot(
            candidate.k, candidate.bic, "s", color=_GREY, markersize=9, fillstyle="none", zorder=3
        )
        if rank >= _NAMED_CANDIDATES:
            continue
        ax.annotate(
            f"{candidate.k}", (candidate.k, candidate.bic), xytext=(0, -17), color=_GREY,
            textcoords="offset points", ha="center",
        )  # fmt: skip
    best = (selection.k, float(curve[selection.k]))
    ax.plot(*best, "o", color=_VERMILION, markersize=11, fillstyle="none", markeredgewidth=2)
    ax.annotate(
        f"k = {selection.k}", best, xytext=(0, -20), color=_VERMILION,
        textcoords="offset points", ha="center", fontweight="bold",
    )  # fmt: skip
    ax.margins(y=0.12)
    ax.set_xlabel("number of clusters k")
    ax.set_ylabel("BIC (lower is better)")
    ax.locator_params(axis="x", integer=True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def plot_comparison(comparison: Comparison, axes: "Sequence[Axes] | None" = None) -> Any:
    """Draw the curve of every criterion, with the k it chooses: small multiples.

    Parameters
    ----------
    comparison : Comparison
    axes : sequence of matplotlib Axes, optional
        Where to draw, one for each curve; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes
        One for each criterion that has an answer.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import compare
    >>> from edfkmeans.plots import plot_comparison
    >>> found = compare(load_iris().data, ["bic", "silhouette", "jump"], k_max=8, random_state=0)
    >>> [ax.get_title(loc="left").split(":")[0] for ax in plot_comparison(found)]
    ['bic', 'silhouette', 'jump']
    """
    curves = comparison.curves
    if axes is None:
        columns = min(4, max(1, len(curves)))
        rows = -(-len(curves) // columns)
        size = (2.6 * columns, 1.9 * rows)
        grid = (
            _pyplot()
            .subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)[1]
            .ravel()
        )
        for ax in grid[len(curves) :]:
            ax.set_visible(False)
        axes = grid[: len(curves)]
    elif len(axes) != len(curves):
        raise ValueError(f"axes has {len(axes)} entries, but there are {len(curves)} curves.")
    for ax, (name, curve) in zip(axes, curves.items(), strict=True):
        ks = np.arange(1, len(curve.values) + 1)
        if curve.error is not None:
            low, high = curve.values - curve.error, curve.values + curve.error
            ax.fill_between(ks, low, high, color=_BLUE, alpha=0.25, linewidth=0)
        ax.plot(ks, curve.values, color=_BLUE, linewidth=1.3)
        ax.axvline(curve.k, color=_VERMILION, linewidth=1, linestyle=":")
        ax.plot(curve.k, curve.values[curve.k - 1], "o", color=_VERMILION, markersize=5)
        better = {"min": "lower", "max": "higher"}[curve.direction]
        ax.set_title(f"{name}: {curve.k}", loc="left", fontsize=9)
        ax.set_ylabel(f"{better} is better", fontsize=7, color=_GREY)
        ax.tick_params(labelsize=7)
        ax.locator_params(axis="x", integer=True)
        ax.locator_params(axis="y", nbins=4)
        ax.set_xlabel("k", fontsize=7)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    return np.asarray(axes, dtype=object)


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Drawing needs matplotlib. Install it with: pip install 'edfkmeans[plot]'"
        ) from error
    return pyplot

"""Selection -> matplotlib Axes: take `ax`, return it, never show."""

from typing import TYPE_CHECKING

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
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(
                "Drawing needs matplotlib. Install it with: pip install 'edfkmeans[plot]'"
            ) from error
        ax = pyplot.subplots(figsize=(7, 4), layout="constrained")[1]
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

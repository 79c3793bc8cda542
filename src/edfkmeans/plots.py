"""From results to matplotlib Axes.

Every function draws on `ax`, by default on a new figure, returns it, and never shows it. `k` is the
fit to look at, by default the chosen one. `X` is the data of the selection.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from edfkmeans._extras import needs
from edfkmeans.comparison import Comparison
from edfkmeans.criteria.rules import local_minima
from edfkmeans.criteria.silhouettes import MANY_ROWS, SAMPLE, silhouettes
from edfkmeans.fits.flow import flow
from edfkmeans.fits.profiles import principal_axes, scores
from edfkmeans.rows.arguments import check_whole
from edfkmeans.rows.checks import check_numeric
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import size_text
from edfkmeans.selection import AMBIGUOUS, Selection

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which colour-blind readers can tell apart.
_BLUE, _VERMILION, _GREY = "#0072B2", "#D55E00", "#666666"
_COLOURS = (_BLUE, _VERMILION, "#009E73", "#CC79A7", "#B07D00", "#56B4E9", "#7F6BB5", "#444444")
_ORANGE = "#D9791E"
_MARKS = "os^Dv<>P"
# Candidates whose k is written at the curve: more would run into each other.
_NAMED_CANDIDATES = 3
# Rows in a scatter plot: of more a sample is drawn, as they would only hide each other.
_SHOWN_ROWS = 5000


def plot_bic(selection: Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw the BIC against k, with the choice and the other local minima, the lowest named.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_bic
    >>> ax = plot_bic(select_k(load_iris().data, k_max=8, random_state=0))
    >>> ax.get_xlabel()
    'number of clusters k'
    """
    ax = _axes(ax)
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
    _mark_choice(ax, selection, "bic", (-15, -20))
    ax.margins(y=0.12)
    return _named(ax, "number of clusters k", "BIC (lower is better)")


def plot_choice(selection: Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw the expected agreement against k, the k that are as good, and the valleys of the BIC.

    Bars are the expected agreement, whiskers within them the probability of being within 0.1 of the
    best; the choice is dark, those as good as it half dark. The line is the BIC, on an axis of its
    own at the right; its valleys are marked. Only for selections by method "judge".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_choice
    >>> ax = plot_choice(select_k(load_iris().data, k_max=8, random_state=0))
    >>> ax.get_ylabel()
    'expected agreement'
    """
    if selection.confidence is None:
        raise ValueError(
            f"This selection was made by method={selection.method!r}, which gives no expected "
            "agreement. Draw it with plot_bic, or choose with method='judge'."
        )
    ax = _axes(ax)
    ks = selection.table.index
    good = set(selection.as_good)
    strength = [1.0 if k == selection.k else 0.6 if k in good else 0.25 for k in ks]
    bars = ax.bar(ks, selection.confidence["agreement"], color=_BLUE, width=0.8)
    for bar, alpha in zip(bars, strength, strict=True):
        bar.set_alpha(alpha)
    ax.plot(ks, selection.confidence["near"], "_", color="black", markersize=6)
    ax.set_ylim(0, 1.12)
    ax.set_title(selection.headline, loc="left", fontsize=10)
    curve = selection.table["bic"]
    right = ax.twinx()
    right.plot(ks, curve, color=_VERMILION, linewidth=1.2)
    valleys = [k for k in local_minima(curve.to_numpy()) if 1 < k < selection.k_max]
    right.plot(valleys, curve.loc[valleys], "v", color=_VERMILION, markersize=6)
    right.set_ylabel("BIC (valleys marked)", color=_VERMILION)
    right.margins(y=0.12)
    return _named(ax, "number of clusters k", "expected agreement")


def plot_dof(selection: Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw the degrees of freedom against k: as estimated, smoothed, and k d.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_dof
    >>> ax = plot_dof(select_k(load_iris().data, k_max=8, random_state=0))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['estimated', 'smoothed', 'k d']
    """
    ax = _axes(ax)
    table = selection.table
    naive = table.index.to_numpy() * selection.path.n_features
    ax.plot(table.index, table["dof_raw"], "o", color=_BLUE, markersize=4, label="estimated")
    ax.plot(table.index, table["dof"], color=_BLUE, linewidth=1.5, label="smoothed")
    ax.plot(table.index, naive, color=_GREY, linestyle=":", linewidth=1.5, label="k d")
    _mark_choice(ax, selection, "dof")
    ax.legend(frameon=False)
    return _named(ax, "number of clusters k", "degrees of freedom")


def plot_inertia(selection: Selection, ax: "Axes | None" = None) -> "Axes":
    """Draw the inertia against k.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_inertia
    >>> plot_inertia(select_k(load_iris().data, k_max=8, random_state=0)).get_ylabel()
    'inertia'
    """
    ax = _axes(ax)
    curve = selection.table["inertia"]
    ax.plot(curve.index, curve, color=_BLUE, marker="o", markersize=3.5, linewidth=1.5)
    _mark_choice(ax, selection, "inertia")
    return _named(ax, "number of clusters k", "inertia")


def plot_silhouettes(
    selection: Selection, X: Any, k: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the silhouette of every row, sorted within its cluster.

    Wide bars to the right are clear clusters; bars to the left are rows nearer to another one.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_silhouettes
    >>> X = load_iris().data
    >>> plot_silhouettes(select_k(X, k_max=8, random_state=0), X, k=3).get_xlabel()
    'silhouette'
    """
    k = _fit_number(selection, k)
    if k < 2:
        raise ValueError(
            "k=1 has no silhouettes: there is no other cluster. Give a k of 2 or more."
        )
    path = selection.path
    labels = path.as_counted(path.labels(k))
    size = None if len(labels) <= MANY_ROWS else SAMPLE
    values = path.as_counted(in_metric(check_numeric(X), path.metric))
    found = silhouettes(values, labels, sample_size=size, random_state=0)
    ax = _axes(ax)
    low = 0
    for c in range(k):
        values = found.per_point[labels == c]
        values = np.sort(values[np.isfinite(values)])
        rows = np.arange(low, low + len(values))
        ax.fill_betweenx(rows, 0, values, color=_COLOURS[c % len(_COLOURS)], step="mid")
        ax.text(-0.02, rows.mean() if len(rows) else low, str(c), ha="right", va="center")
        low += len(values) + max(1, len(found.per_point) // 100)
    ax.axvline(found.mean, color="black", linestyle="--", linewidth=1)
    ax.set_yticks([])
    ax.set_title(f"k = {k}, mean {found.mean:.2f}", loc="left", fontsize=10)
    return _named(ax, "silhouette", "rows by cluster")


def plot_scatter(
    selection: Selection, X: Any, k: int | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the rows on the first two principal components, by cluster; ambiguous ones are hollow.

    Of more than 5000 rows a random sample is drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_scatter
    >>> X = load_iris().data
    >>> plot_scatter(select_k(X, k_max=8, random_state=0), X).get_xlabel()
    'first principal component (92 %)'
    """
    k = _fit_number(selection, k)
    values = in_metric(check_numeric(X), selection.path.metric)
    labels = selection.path.labels(k)
    if len(values) != len(labels):
        raise ValueError(
            f"X has {len(values)} rows, but the selection was made with {len(labels)}. Give the "
            "same X."
        )
    axes, shares = principal_axes(values)
    rows = np.arange(len(values))
    if len(rows) > _SHOWN_ROWS:
        rows = np.sort(np.random.default_rng(0).choice(rows, _SHOWN_ROWS, replace=False))
    places = (values[rows] - values.mean(axis=0)) @ axes
    if places.shape[1] == 1:
        places = np.column_stack([places, np.zeros(len(places))])
    ax = _axes(ax)
    hollow = (
        selection.ambiguity[rows] > AMBIGUOUS if k == selection.k else np.zeros(len(rows), bool)
    )
    for c in range(k):
        own, colour = labels[rows] == c, _COLOURS[c % len(_COLOURS)]
        ax.plot(
            *places[own & ~hollow].T, _MARKS[c % len(_MARKS)], color=colour, markersize=4,
            alpha=0.8, markeredgewidth=0, label=str(c),
        )  # fmt: skip
        ax.plot(
            *places[own & hollow].T, _MARKS[c % len(_MARKS)], color=colour, markersize=4,
            fillstyle="none", markeredgewidth=0.7,
        )  # fmt: skip
    if k <= 12:
        ax.legend(title="cluster", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    titles = [
        f"{which} principal component ({100 * share:.0f} %)"
        for which, share in zip(("first", "second"), shares, strict=False)
    ]
    return _named(ax, *titles, *[""] * (2 - len(titles)))


def plot_profiles(
    selection: Selection,
    names: "Sequence[str] | None" = None,
    k: int | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the centroids as a heat map: how far each column's mean is from that of all rows.

    In units of the spread of the centroids of the finest fit; blue is above the mean of all rows,
    orange below. `names` are those of the columns, by default those of the data frame that was
    clustered.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_profiles
    >>> ax = plot_profiles(select_k(load_iris(as_frame=True).data, 8, random_state=0))
    >>> ax.get_xticklabels()[0].get_text()
    'sepal length (cm)'
    """
    k = _fit_number(selection, k)
    path = selection.path
    sizes, d = path.sizes(k), path.centers(1).shape[1]
    names = list(selection.columns if names is None else names)
    if len(names) != d:
        raise ValueError(f"names has {len(names)} entries, but X has {d} columns.")
    heat = scores(path, k)
    ax = _axes(ax)
    most = max(1.0, float(np.abs(heat).max()))
    image = ax.imshow(heat, cmap=_below_and_above(), vmin=-most, vmax=most, aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="above or below the mean", shrink=0.8)
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(k), [f"{c} ({size_text(sizes[c], '')} rows)" for c in range(k)])
    return _named(ax, "", "cluster")


def plot_flow(selection: Selection, k: int | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw how the clusters of k come from those of k - 1, and what becomes of them in k + 1.

    Bars are clusters, as high as they have rows; bands are the rows that two clusters share. Of
    rows that are not in memory, those of the sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import select_k
    >>> from edfkmeans.plots import plot_flow
    >>> ax = plot_flow(select_k(load_iris().data, k_max=8, random_state=0), k=2)
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['k = 1', 'k = 2', 'k = 3']
    """
    k = _fit_number(selection, k)
    ks = [each for each in (k - 1, k, k + 1) if 1 <= each <= selection.k_max]
    flows = {each: flow(selection.path, each).counts for each in ks[:-1]}
    sizes = {each: selection.path.sample.sizes(each) for each in ks}
    n, ax = int(sizes[k].sum()), _axes(ax)
    tops = {k: _stacked(sizes[k], np.arange(k), n)}
    # Clusters lie where most of their rows come from or go to, so that few bands cross.
    for other, shared in ((k - 1, flows.get(k - 1)), (k + 1, flows.get(k))):
        if other in sizes and shared is not None:
            counts = shared if other < k else shared.T
            order = np.argsort(counts @ (tops[k] - sizes[k] / 2) / sizes[other], kind="stable")
            tops[other] = _stacked(sizes[other], order[::-1], n)
    steps = np.linspace(0, 1, 50)
    bend = steps**2 * (3 - 2 * steps)
    for left, counts in flows.items():
        start, end = tops[left].copy(), tops[left + 1].copy()
        cells = np.argwhere(counts > 0)
        for c, e in sorted(
            cells.tolist(), key=lambda p: (-tops[left][p[0]], -tops[left + 1][p[1]])
        ):
            high = start[c] + (end[e] - start[c]) * bend
            ax.fill_between(
                ks.index(left) + 0.04 + 0.92 * steps, high - counts[c, e], high, linewidth=0,
                color=_COLOURS[c % len(_COLOURS)], alpha=0.35,
            )  # fmt: skip
            start[c] -= counts[c, e]
            end[e] -= counts[c, e]
    for place, own in enumerate(ks):
        colours = [_COLOURS[c % len(_COLOURS)] for c in range(own)]
        bottoms = tops[own] - sizes[own]
        ax.bar(np.full(own, place), sizes[own], 0.08, bottoms, color=colours)
        for c in range(own):
            ax.text(place + 0.06, bottoms[c] + sizes[own][c] / 2, str(c), va="center", fontsize=9)
    ax.set_xticks(range(len(ks)), [f"k = {each}" for each in ks])
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    return _named(ax, "", "")


def _stacked(sizes: Any, order: Any, n: int) -> Any:
    """Place clusters above each other, the first of the order on top: the upper end of each."""
    gap = n / 40
    tops = np.empty(len(sizes))
    tops[order] = n - np.concatenate([[0], np.cumsum(sizes[order] + gap)[:-1]])
    return tops + gap * (len(sizes) - 1) / 2


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


def _below_and_above() -> Any:
    """Make the colours of profiles: orange below the mean, blue above, as in the report."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("below and above", [_ORANGE, "white", _BLUE])


def _axes(ax: "Axes | None") -> "Axes":
    return _pyplot().subplots(figsize=(7, 4), layout="constrained")[1] if ax is None else ax


def _named(ax: "Axes", x: str, y: str) -> "Axes":
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _mark_choice(
    ax: "Axes", selection: Selection, column: str, offset: tuple[int, int] = (10, 8)
) -> None:
    best = float(selection.table[column][selection.k])
    ax.plot(
        selection.k, best, "o", color=_VERMILION, markersize=11, fillstyle="none",
        markeredgewidth=2,
    )  # fmt: skip
    ax.annotate(
        f"k = {selection.k}", (selection.k, best), xytext=offset, color=_VERMILION,
        textcoords="offset points", fontweight="bold",
    )  # fmt: skip
    ax.locator_params(axis="x", integer=True)


def _fit_number(selection: Selection, k: int | None) -> int:
    """Return the k to look at, having made sure that there is such a fit."""
    k = selection.k if k is None else check_whole("k", k, 1)
    if k > selection.k_max:
        raise ValueError(f"k={k} is more than k_max={selection.k_max}. Give a smaller k.")
    return k


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(needs("Drawing", "matplotlib", "plot")) from error
    return pyplot

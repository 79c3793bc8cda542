"""The paper's figures from the rows of the study, and one of our own."""

import numpy as np
import pandas as pd
import paper_tables as tables
from matplotlib import pyplot

from edfkmeans.simulate import SCHEMES, simulate

# Okabe and Ito's colours, which the colour-blind can tell apart; each with a mark of its own.
BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7",
)  # fmt: skip
MARKS = "osD^v<>ph*"


def figure(rows=1, columns=1, height=2.6, **options):
    """Make a figure of a page's width with a grid of axes."""
    made, axes = pyplot.subplots(
        rows, columns, figsize=(7.2, height * rows), layout="constrained", squeeze=False, **options
    )
    for ax in axes.ravel():
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8)
    return made, axes


def pilots(rows):
    """Figure 1: degrees of freedom for k = 5, 10, 15 against k'."""
    names = list(rows["data"].unique())
    made, axes = figure(1, len(names), height=3)
    for ax, name in zip(axes[0], names, strict=True):
        cell = rows[rows["data"] == name]
        ks = [int(c.removeprefix("dof_")) for c in cell if c.startswith("dof_")]
        for k, colour, mark in zip(ks, (BLUE, ORANGE, GREEN), MARKS, strict=False):
            ax.plot(cell["pilot"], cell[f"dof_{k}"], color=colour, marker=mark, ms=3.5, lw=1)
            own = cell[cell["pilot"] == k]
            ax.plot(own["pilot"], own[f"dof_{k}"], mark, ms=9, mfc="none", color=colour)
            last = cell.iloc[-1]
            ax.annotate(
                f" k = {k}",
                (last["pilot"], last[f"dof_{k}"]),
                fontsize=8,
                color=colour,
                va="center",
            )
        ax.set(title=name, xlabel="k' (clusters of the pilot)", xlim=(0, 35))
        ax.set_ylim(bottom=0)
    axes[0, 0].set_ylabel("degrees of freedom")
    return made


def direct(rows):
    """Figure 2: degrees of freedom by direct sampling, by the estimate, and k d."""
    clusters, ds = sorted(rows["clusters"].unique()), sorted(rows["d"].unique())
    made, axes = figure(len(ds), len(clusters), height=2.2, sharex=True)
    ks = [int(c.removeprefix("direct_")) for c in rows if c.startswith("direct_")]
    for i, d in enumerate(ds):
        for j, k in enumerate(clusters):
            cell, ax = rows[(rows["clusters"] == k) & (rows["d"] == d)], axes[i, j]
            estimates = cell[[f"estimate_{each}" for each in ks]].to_numpy()
            truth = cell[[f"direct_{each}" for each in ks]].mean()
            ax.plot(ks, estimates.T, color=ORANGE, lw=0.5, alpha=0.7)
            ax.plot(ks, truth, color=BLACK, lw=1.8)
            ax.plot(ks, np.array(ks) * d, color=BLUE, ls=":", lw=1.6)
            ax.set_title(f"{k} clusters in {d} dimensions", fontsize=9)
            ax.set_ylim(bottom=0)
    for ax in axes[-1]:
        ax.set_xlabel("k", fontsize=9)
    for ax in axes[:, 0]:
        ax.set_ylabel("degrees of freedom", fontsize=9)
    handles = [
        pyplot.Line2D([], [], color=BLACK, lw=1.8, label="direct sampling"),
        pyplot.Line2D([], [], color=ORANGE, lw=1, label="the paper's estimate, each data set"),
        pyplot.Line2D([], [], color=BLUE, ls=":", lw=1.6, label="k d"),
    ]
    made.legend(handles=handles, loc="outside upper center", ncols=3, fontsize=9, frameon=False)
    return made


def schemes(grid):
    """Figures 3 and 4: the first two principal components of a data set of each scheme."""
    made, axes = figure(2, 3, height=2.7)
    colours = [BLUE, ORANGE, GREEN, RED, PURPLE, SKY, "#444444", "#8C6D1F", "#9999FF", "#E60049"]
    for ax, scheme in zip(axes.ravel(), SCHEMES, strict=True):
        X, labels = simulate(scheme, grid["k"], grid["d"], grid["n"], random_state=grid["seed"])
        X = X - X.mean(axis=0)
        scores = X @ np.linalg.svd(X, full_matrices=False)[2][:2].T
        for c in range(grid["k"]):
            rows = labels == c
            ax.plot(
                *scores[rows].T, MARKS[c % 10], color=colours[c % 10], ms=3, mew=0.4, mfc="none"
            )
        ax.set_title(scheme, fontsize=9)
        ax.set(xticks=[], yticks=[])
    for ax in axes[1]:
        ax.set_xlabel("first principal component", fontsize=8)
    for ax in axes[:, 0]:
        ax.set_ylabel("second principal component", fontsize=8)
    return made


def regrets(rows, titles, shown):
    """Box plots of normalised regret, with means; the published ones beside ours."""
    published = pd.read_csv(tables.PUBLISHED / "table_3.csv").set_index("data_set")
    theirs = published.loc[[titles[name] for name in rows["data"].unique()]]
    made, axes = figure(height=3.6)
    ax = axes[0, 0]
    ticks = []
    for place, name in enumerate(shown):
        fits, method, source = (tables.SHOWN | tables.MORE)[name]
        ours = tables.regret_of(rows, fits, method).groupby(rows["data"]).mean()
        _box(ax, place + (0.18 if source else 0), ours, BLUE, "o")
        if source:
            _box(ax, place - 0.18, 1 - theirs[f"{source}_ari"] / theirs["Ideal_ari"], ORANGE, "D")
        ticks.append(name.replace(", ", ",\n"))
    ax.set_xticks(range(len(shown)), ticks, fontsize=8)
    ax.set_ylabel("normalised regret", fontsize=9)
    handles = [pyplot.Line2D([], [], color=BLUE, marker="o", lw=4, label="ours (mean marked)")]
    if any((tables.SHOWN | tables.MORE)[name][2] for name in shown):
        handles.insert(0, pyplot.Line2D([], [], color=ORANGE, marker="D", lw=4, label="published"))
    made.legend(handles=handles, loc="outside upper center", ncols=2, fontsize=9, frameon=False)
    return made


def _box(ax, place, values, colour, mark):
    ax.boxplot(
        [values],
        positions=[place],
        widths=0.3,
        patch_artist=True,
        boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
        medianprops={"color": "black", "lw": 1.4},
        whiskerprops={"color": colour},
        capprops={"color": colour},
        flierprops={"marker": ".", "markeredgecolor": colour, "markersize": 4},
    )
    ax.plot(place, values.mean(), mark, color=colour, mec="black", ms=6)

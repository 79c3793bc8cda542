"""The paper's tables from the rows of the study, with the published numbers beside them."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

PUBLISHED = Path(__file__).parent / "published"
SCHEMES = {
    "assumptions met": "assumptions_met",
    "scale varies": "scale_varies",
    "shape varies": "shape_varies",
    "long tails": "t3",
    "uniform": "uniform",
    "non-convex": "nonconvex",
}
# What is shown: the paper's six methods on the paper's fits, gap without k = 1, and what is ours.
SHOWN = {
    "fK": ("paper", "fK", "fK"),
    "Gap": ("paper", "Gap", "Gap"),
    "Gap, k ≥ 2": ("paper", "Gap_from_2", "Gap"),
    "Silhouette": ("paper", "Silhouette", "Silhouette"),
    "Jump": ("paper", "Jump", "Jump"),
    "BIC, k d": ("paper", "BIC", "BIC"),
    "BIC, effective": ("paper", "BIC_edf", "BIC_edf"),
    "BIC, effective, our fits": ("best", "BIC_edf", None),
    "our default, our fits": ("best", "Default", None),
}
# The whole comparison on our fits, and jump as it seems to have been computed.
MORE = {
    "Jump of SS, not SS/(n d)": ("paper", "Jump_underflow", "Jump"),
    "fK, our fits": ("best", "fK", None),
    "Gap, our fits": ("best", "Gap", None),
    "Gap, k ≥ 2, our fits": ("best", "Gap_from_2", None),
    "Silhouette, our fits": ("best", "Silhouette", None),
    "Jump, our fits": ("best", "Jump", None),
    "BIC, k d, our fits": ("best", "BIC", None),
    "our default, the paper's fits": ("paper", "Default", None),
}
LEVEL = 0.01


def simulations(rows):
    """Tables 1 and 2, a line for each cell and method.

    Medians and centiles of k and of the adjusted Rand index (times 100), the published ones, and
    whether the method is among the best: that of the highest median, and those not different from
    it by a paired Wilcoxon test at 0.01.
    """
    published = pd.read_csv(PUBLISHED / "tables_1_and_2.csv").set_index(["scheme", "k", "d"])
    lines = []
    for (scheme, k, d), cell in rows.groupby(["scheme", "k", "d"], sort=False):
        theirs = published.loc[(SCHEMES[scheme], k, d)]
        ari = {
            name: 100 * cell[f"{fits}_{method}_ari"].to_numpy()
            for name, (fits, method, _) in SHOWN.items()
        }
        best = among_the_best(ari)
        for name, (fits, method, source) in SHOWN.items():
            ks = cell[f"{fits}_{method}_k"]
            line = {"scheme": scheme, "k": k, "d": d, "method": name, "data sets": len(cell)}
            for what, values in (("k", ks), ("ari", ari[name])):
                low, middle, high = np.percentile(values, [10, 50, 90])
                line |= {f"{what}_p10": low, f"{what}_median": middle, f"{what}_p90": high}
                line[f"{what}_published"] = theirs[f"{source}_{what}"] if source else np.nan
                line[f"{what}_difference"] = middle - line[f"{what}_published"]
            line["best"] = name in best
            line["best_published"] = bool(theirs[f"{source}_best"]) if source else None
            lines.append(line)
    return pd.DataFrame(lines)


def among_the_best(values):
    """Name the method of the highest median, and those not different from it."""
    first = max(values, key=lambda name: (np.median(values[name]), values[name].mean()))
    return {
        name for name, each in values.items() if name == first or not _differ(each, values[first])
    }


def _differ(one, other):
    if np.array_equal(one, other):
        return False
    return wilcoxon(one, other).pvalue < LEVEL


def simulations_wide(table, schemes):
    """Make the table that one reads: ours (published) for k and ARI; the best in bold."""
    lines = []
    for (scheme, k, d), cell in table.groupby(["scheme", "k", "d"], sort=False):
        if scheme in schemes:
            line = {"scheme": scheme, "k, d": f"{k}, {d}"}
            for each in cell.to_dict("records"):
                line[each["method"]] = _both(each)
            lines.append(line)
    return pd.DataFrame(lines)


def _both(each):
    k, ari = f"{each['k_median']:g}", f"{each['ari_median']:.0f}"
    ari = f"**{ari}**" if each["best"] else ari
    if np.isnan(each["k_published"]):
        return f"{k} · {ari}"
    return (
        f"{k} ({each['k_published']:g}) · {ari} ({each['ari_published']:g}, "
        f"{each['ari_difference']:+.0f})"
    )


def agreement(table):
    """How near our medians are to the published ones, for each method."""
    lines = []
    for method, cells in table.dropna(subset="k_published").groupby("method", sort=False):
        met = cells[cells["scheme"] == "assumptions met"]
        near = cells["k_difference"].abs() <= 1
        lines.append(
            {
                "method": method,
                "k within 1, assumptions met": f"{near[met.index].sum()} of {len(met)}",
                "k within 1, all": f"{near.sum()} of {len(cells)}",
                "mean difference of ARI": f"{cells['ari_difference'].mean():+.1f}",
                "mean absolute difference": f"{cells['ari_difference'].abs().mean():.1f}",
                "same verdict on the best": f"{(cells['best'] == cells['best_published']).sum()} "
                f"of {len(cells)}",
            }
        )
    return pd.DataFrame(lines)


def standings(rows):
    """Mean adjusted Rand index of every method over all simulated data sets, by scheme."""
    lines = []
    for name, (fits, method, _) in (SHOWN | MORE).items():
        ari = 100 * rows[f"{fits}_{method}_ari"]
        by_scheme = ari.groupby(rows["scheme"], sort=False).mean()
        lines.append({"method": name, "all": ari.mean(), **by_scheme})
    for fits, words in (("paper", "the paper's fits"), ("best", "our fits")):
        for method, name in (("True", "the true k"), ("Ideal", "Ideal")):
            ari = 100 * rows[f"{fits}_{method}_ari"]
            by_scheme = ari.groupby(rows["scheme"], sort=False).mean()
            lines.append({"method": f"{name}, {words}", "all": ari.mean(), **by_scheme})
    return pd.DataFrame(lines).round(1)


def true_k(rows):
    """Compare ARI at the true k with the paper's best method, to see if the data are as hard."""
    published = pd.read_csv(PUBLISHED / "tables_1_and_2.csv").set_index(["scheme", "k", "d"])
    best = published[[c for c in published if c.endswith("_ari")]].max(axis=1)
    lines = []
    for (scheme, k, d), cell in rows.groupby(["scheme", "k", "d"], sort=False):
        ours, theirs = 100 * cell["paper_True_ari"].median(), best[(SCHEMES[scheme], k, d)]
        line = {"scheme": scheme, "k, d": f"{k}, {d}"}
        line["cell"] = f"{ours:.0f} ({theirs:.0f}, {ours - theirs:+.0f})"
        lines.append(line)
    wide = pd.DataFrame(lines).pivot_table(
        index="scheme", columns="k, d", values="cell", aggfunc="first", sort=False
    )
    return wide.reset_index()


def real(rows, titles):
    """Table 3, a line for each data set and method; means over the seeds of the fits."""
    published = pd.read_csv(PUBLISHED / "table_3.csv").set_index("data_set")
    lines = []
    for name, cell in rows.groupby("data", sort=False):
        theirs = published.loc[titles[name]]
        for method, (fits, key, source) in (SHOWN | MORE | IDEALS).items():
            ks, ari = cell[f"{fits}_{key}_k"], cell[f"{fits}_{key}_ari"]
            line = {"data": name, "k_true": theirs["k_true"], "method": method}
            line |= {"seeds": len(cell), "k": ks.mode().iloc[0], "k_least": ks.min()}
            line |= {"k_most": ks.max(), "ari": ari.mean(), "ari_spread": ari.std()}
            line["regret"] = (1 - ari / cell[f"{fits}_Ideal_ari"]).mean()
            for what in ("k", "ari"):
                line[f"{what}_published"] = theirs[f"{source}_{what}"] if source else np.nan
                line[f"{what}_difference"] = line[what] - line[f"{what}_published"]
            lines.append(line)
    return pd.DataFrame(lines)


IDEALS = {"Ideal": ("paper", "Ideal", "Ideal"), "Ideal, our fits": ("best", "Ideal", None)}


def real_wide(table):
    """Make the table that one reads: ours (published) for k and ARI."""
    lines = []
    for name, cell in table.groupby("data", sort=False):
        line = {"data set": f"{name} ({cell['k_true'].iloc[0]})"}
        for each in cell.to_dict("records"):
            if each["method"] not in SHOWN and each["method"] != "Ideal":
                continue
            spread = f"{each['k_least']}–{each['k_most']}"
            k = f"{each['k']}" if each["k_least"] == each["k_most"] else f"{each['k']} [{spread}]"
            if np.isnan(each["k_published"]):
                line[each["method"]] = f"{k} · {each['ari']:.2f}"
            else:
                line[each["method"]] = (
                    f"{k} ({each['k_published']:g}) · {each['ari']:.2f} "
                    f"({each['ari_published']:.2f}, {each['ari_difference']:+.2f})"
                )
        lines.append(line)
    return pd.DataFrame(lines)


def regrets(rows, titles):
    """Mean normalised regret of every method, its spread over seeds, and the published one."""
    published = pd.read_csv(PUBLISHED / "table_3.csv").set_index("data_set")
    theirs = published.loc[[titles[name] for name in rows["data"].unique()]]
    lines = []
    for method, (fits, key, source) in (SHOWN | MORE).items():
        regret = regret_of(rows, fits, key)
        line = {"method": method, "mean regret": f"{regret.mean():.3f}"}
        line["spread over seeds"] = f"{regret.groupby(rows['seed']).mean().std():.3f}"
        if source:
            there = (1 - theirs[f"{source}_ari"] / theirs["Ideal_ari"]).mean()
            line |= {"published": f"{there:.3f}", "difference": f"{regret.mean() - there:+.3f}"}
            same = rows.groupby("data", sort=False)[f"{fits}_{key}_k"].agg(_mode)
            near = (same.to_numpy() == theirs[f"{source}_k"].to_numpy()).sum()
            line["same k as published"] = f"{near} of {len(theirs)}"
        lines.append(line)
    return pd.DataFrame(lines).fillna("")


def _mode(values):
    return values.mode().iloc[0]


def regret_of(rows, fits, method):
    """(Ideal - ARI) / Ideal, for each row."""
    return 1 - rows[f"{fits}_{method}_ari"] / rows[f"{fits}_Ideal_ari"]

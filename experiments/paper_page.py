"""Tables, figures and a page to read, from the rows of the study."""

import html
import json
from pathlib import Path

import matplotlib
import pages
import pandas as pd
import paper_tables as tables
from whole import whole

from edfkmeans.datasets import SOURCES

DOCS = Path(__file__).parent.parent / "docs"
TITLES = {name: source.title for name, source in SOURCES.items()}
GAUSSIAN = ("assumptions met", "scale varies", "shape varies")
OTHERS = ("long tails", "uniform", "non-convex")
PAPER = ("fK", "Gap", "Gap, k ≥ 2", "Silhouette", "Jump", "BIC, k d", "BIC, effective")
OURS = (*(f"{name}, our fits" for name in PAPER), "our default, our fits")

IN_CELLS = (
    "In each cell: k · ARI, medians, ours first, then in brackets the published number and, for "
    "the ARI, the difference. Bold: the method of the highest median ARI, and those not different "
    "from it by a paired Wilcoxon test at 0.01."
)
# Name, heading, caption of every table and figure, in the order of the page.
CAPTIONS = {
    "agreement": (
        "Tables 1 and 2 in short",
        "How near the medians over the data sets of a cell are to the published ones.",
    ),
    "regrets": (
        "Table 3 in short",
        "Mean normalised regret, (Ideal - ARI) / Ideal, over the data sets and the seeds of the "
        "fits, and its standard deviation over the seeds. 'Same k': the most frequent k over the "
        "seeds is the published one.",
    ),
    "standings": (
        "Every method on every simulated data set",
        "Mean adjusted Rand index, times 100.",
    ),
    "table_1": ("Table 1: Gaussian mixtures", IN_CELLS),
    "table_2": ("Table 2: other clusters", IN_CELLS),
    "table_3": (
        "Table 3: public data sets",
        "In each cell: k [least–most over the seeds] (published k) · mean ARI (published ARI, "
        "difference). In brackets after the name: the number of true classes.",
    ),
    "true_k": (
        "Are the simulated data as hard as the paper's?",
        "Median ARI of the paper's fits at the true k; in brackets the published ARI of the best "
        "method of the cell, and the difference.",
    ),
    "figure_1": (
        "Figure 1: degrees of freedom against k'",
        "The estimate dips where the pilot has as many clusters as the fit that is judged (ringed) "
        "and is steady for larger k'. That is why one pilot of k_max + 1 clusters serves every k.",
    ),
    "figure_2": (
        "Figure 2: the estimate against direct sampling",
        "The estimate follows the measured degrees of freedom up to the true number of clusters "
        "(too high there with twenty of them in 5 or 10 dimensions); beyond it, it is too low in "
        "20 dimensions. k d misses most of them everywhere.",
    ),
    "figures_3_and_4": (
        "Figures 3 and 4: the six schemes",
        "Ten clusters in ten dimensions, a colour and a mark for each cluster, on the first two "
        "principal components.",
    ),
    "figure_5": (
        "Figure 5: normalised regret, published and ours",
        "Each box is over the data sets; the mark is the mean. On the paper's fits the boxes stand "
        "side by side for all methods but the gap, which the published k fit only if 1 is not "
        "among its answers.",
    ),
    "figure_6": (
        "Figure 6: the same on our fits, with our default",
        "Lower is better. Better fits do not help the paper's rule; the default makes up for it.",
    ),
}


def write(profile, grid, rows, out):
    """Write everything to a folder and return the page; the full study goes into the docs too."""
    made = make(grid, rows)
    for kind in ("tables", "figures"):
        (out / kind).mkdir(parents=True, exist_ok=True)
    for name, (data, shown) in made["tables"].items():
        file = out / "tables" / name
        _write(file.with_suffix(".csv"), data.to_csv(index=False, float_format="%.4g"))
        _write(file.with_suffix(".md"), pages.markdown(shown) + "\n")
        _write(file.with_suffix(".html"), _document(name, pages.html(shown)))
    for name, drawn in made["figures"].items():
        with whole(out / "figures" / f"{name}.png") as part:
            drawn.savefig(part, dpi=160)
        if profile == "full":
            with whole(DOCS / "pictures" / f"reproduction_{name}.png") as part:
                drawn.savefig(part, dpi=110)
        matplotlib.pyplot.close(drawn)
    if profile == "full":
        page = DOCS / "reproduction.md"
        shown = {name: pages.markdown(shown) for name, (_, shown) in made["tables"].items()}
        _write(page, pages.filled(page.read_text(), shown))
    index = out / "index.html"
    _write(index, _page(profile, made, json.loads((rows / "runs.json").read_text())))
    return index


def _write(file, text):
    with whole(file) as part:
        part.write_text(text)


def make(grid, rows):
    """Make every table, as data and as shown, and every figure."""
    made = make_tables(rows)
    matplotlib.use("Agg")
    import paper_figures as figures

    real = pd.read_csv(rows / "real.csv")
    drawn = {
        "figure_1": figures.pilots(pd.read_csv(rows / "pilots.csv")),
        "figure_2": figures.direct(pd.read_csv(rows / "direct.csv")),
        "figures_3_and_4": figures.schemes(grid["schemes"]),
        "figure_5": figures.regrets(real, TITLES, PAPER),
        "figure_6": figures.regrets(real, TITLES, OURS),
    }
    return {"tables": made, "figures": drawn}


def make_tables(rows):
    """Make every table, as data and as shown."""
    simulated, real = (pd.read_csv(rows / f"{name}.csv") for name in ("simulations", "real"))
    cells, sets = tables.simulations(simulated), tables.real(real, TITLES)
    made = {name: (cells[cells["scheme"].isin(schemes)], tables.simulations_wide(cells, schemes))
            for name, schemes in (("table_1", GAUSSIAN), ("table_2", OTHERS))}  # fmt: skip
    made["table_3"] = (sets, tables.real_wide(sets))
    for name, table in (
        ("agreement", tables.agreement(cells)),
        ("regrets", tables.regrets(real, TITLES)),
        ("standings", tables.standings(simulated)),
        ("true_k", tables.true_k(simulated)),
    ):
        made[name] = (table, table)
    return made


def _page(profile, made, runs):
    parts = [
        "<h1>Degrees of freedom and model selection for k-means, reproduced</h1>",
        f"<p>Profile <b>{profile}</b>: <code>make reproduce PROFILE={profile}</code>. What agrees "
        "with the paper, what does not, and why, is told in <code>docs/reproduction.md</code>.</p>",
    ]
    for name, (heading, caption) in CAPTIONS.items():
        parts.append(f"<h2>{html.escape(heading)}</h2><p>{html.escape(caption)}</p>")
        if name in made["figures"]:
            words = html.escape(f"{heading}. {caption}", quote=True)
            parts.append(f'<img src="figures/{name}.png" alt="{words}">')
        else:
            table = pages.html(made["tables"][name][1])
            parts.append(f'<div class="wide" tabindex="0">{table}</div>')
            kinds = ", ".join(
                f'<a href="tables/{name}.{kind}">{words}</a>'
                for kind, words in (("csv", "CSV"), ("md", "Markdown"), ("html", "HTML"))
            )
            parts.append(f"<p>This table as {kinds}.</p>")
    made_by = pages.html(pd.DataFrame(runs))
    parts.append(f'<h2>Made by</h2><div class="wide" tabindex="0">{made_by}</div>')
    return _document("The paper, reproduced", "\n".join(parts))


def _document(title, body):
    return f"""<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(title)}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto;
        padding: 0 1rem }}
table {{ border-collapse: collapse; font-size: 0.8rem; font-variant-numeric: tabular-nums }}
th, td {{ padding: 0.2rem 0.6rem; text-align: left; border-bottom: 1px solid #ddd;
         white-space: nowrap }}
tr:nth-child(even) {{ background: #f6f6f6 }}
.wide {{ overflow-x: auto }}
img {{ max-width: 100%; height: auto }}
</style>
<main>
{body}
</main>
</html>
"""

"""The choice of k: our default beside the paper's method, silhouette and gap, on the same fits.

Run with: python experiments/choice.py

Writes the tables of docs/choice.md from the rows of `python experiments/reproduce.py` (the paper's
28 sets and 54 simulated cells) and of `python experiments/no_structure.py`.
"""

from pathlib import Path

import no_structure
import pages
import pandas as pd
import sets

HERE = Path(__file__).parent
ROWS = HERE / "results" / "reproduction"
PAGE = HERE.parent / "docs" / "choice.md"
METHODS = {
    "default": "Default",
    "paper": "BIC_edf",
    "silhouette": "Silhouette",
    "gap": "Gap",
    "ideal": "Ideal",
}


def real_table():
    """Mean normalised regret on the 28 sets, by half, with the spread over seeds."""
    found = pd.read_csv(ROWS / "real.csv")
    design = found["data"].isin(sets.DESIGN)
    lines = ["| method | all 28 | spread over seeds | design half | held-out half |"]
    lines.append("|---|---|---|---|---|")
    for method in list(METHODS)[:-1]:
        regret = 1 - found[f"best_{METHODS[method]}_ari"] / found["best_Ideal_ari"]
        by_seed = regret.groupby(found["seed"]).mean()
        lines.append(
            f"| {method} | {regret.mean():.3f} | {by_seed.std():.3f} | "
            f"{regret[design].mean():.3f} | {regret[~design].mean():.3f} |"
        )
    return "\n".join(lines)


def simulated_table():
    """Mean adjusted Rand index on the 54 cells, by scheme, and how often 1 was the answer."""
    found = pd.read_csv(ROWS / "simulations.csv")
    names = list(found["scheme"].unique())
    lines = ["| method | mean | median | " + " | ".join(names) + " |"]
    lines.append("|---" * (3 + len(names)) + "|")
    for method, column in METHODS.items():
        ari = 100 * found[f"best_{column}_ari"]
        cells = [f"{ari[found['scheme'] == name].mean():.1f}" for name in names]
        lines.append(f"| {method} | {ari.mean():.1f} | {ari.median():.1f} | {' | '.join(cells)} |")
    clear = found["best_Silhouette_ari"] >= 0.70
    missed = int((found["best_Default_k"] == 1)[clear].sum())
    lines.append("")
    lines.append(
        f"Of {int(clear.sum())} data sets in which the silhouette finds the clusters (ARI of at "
        f"least 70), the default answered 1 in {missed}; of the {int((~clear).sum())} others in "
        f"{int((found['best_Default_k'] == 1)[~clear].sum())}."
    )
    return "\n".join(lines)


def tables():
    """Make every table of the page, by the name of its mark."""
    return {
        "real": real_table(),
        "simulated": simulated_table(),
        "no_structure": no_structure.table(),
    }


if __name__ == "__main__":
    PAGE.write_text(pages.filled(PAGE.read_text(), tables()))

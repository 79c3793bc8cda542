"""How often each criterion says 1 when there is one cluster.

Run with: python experiments/one_cluster.py

Draws a Gaussian cloud (500 rows, 2 and 10 columns, standard deviation 1), 50 times each, asks every
criterion, and writes the counts to results/one_cluster.csv and into docs/criteria.md.
"""

from pathlib import Path

import numpy as np
import pages
import pandas as pd
import provenance
from tqdm import tqdm

from edfkmeans import compare

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "criteria.md"
RESULTS = HERE / "results" / "one_cluster.csv"
COMMAND = "python experiments/one_cluster.py"
N, COLUMNS, DRAWS = 500, (2, 10), 50


def study() -> pd.DataFrame:
    """Ask every criterion about every draw: a row for each answer."""
    answers = []
    for d in COLUMNS:
        for draw in tqdm(range(DRAWS), desc=f"{d} columns"):
            X = np.random.default_rng([d, draw]).normal(size=(N, d))
            table = compare(X, random_state=draw).table
            answers.append(table[["k", "can_say_one"]].assign(d=d, draw=draw).reset_index())
    return pd.concat(answers, ignore_index=True)


def page(answers: pd.DataFrame) -> str:
    """Write the counts as a Markdown table."""
    lines = [
        "| criterion | can say 1 | said 1, d = 2 | median k | said 1, d = 10 | median k |",
        "|---|---|---|---|---|---|",
    ]
    for name, rows in answers.groupby("criterion", sort=False):
        cells = [name, "yes" if rows["can_say_one"].all() else "no"]
        for d in COLUMNS:
            k = rows.loc[rows["d"] == d, "k"]
            cells += [f"{(k == 1).sum()} of {k.notna().sum()}", f"{k.median():g}"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    RESULTS.parent.mkdir(exist_ok=True)
    answers = study()
    told = provenance.line("experiments/results/one_cluster.csv")
    RESULTS.write_text(f"# {COMMAND}\n{told}\n" + answers.to_csv(index=False))
    PAGE.write_text(pages.filled(PAGE.read_text(), {"one_cluster": page(answers)}))

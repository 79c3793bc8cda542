"""How often the default says 1 on data that are one cluster, of many kinds.

Run with: python experiments/no_structure.py          (resumable; some ten minutes)
"""

from pathlib import Path

import numpy as np
import pandas as pd
import provenance
from tqdm import tqdm

from edfkmeans import select_k

RESULTS = Path(__file__).parent / "results" / "no_structure.csv"
COMMAND = "python experiments/no_structure.py"
DRAWS = 40
KINDS = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "correlated Gaussian": lambda rng, n, d: rng.normal(size=(n, d)) @ rng.normal(size=(d, d)),
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "t with 3 df": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
}
SIZES = [(n, d) for n in (100, 1000) for d in (2, 10, 50)]


def run() -> None:
    """Do what is not done yet."""
    rows = pd.read_csv(RESULTS, comment="#").to_dict("records") if RESULTS.exists() else []
    done = {(row["kind"], row["n"], row["d"]) for row in rows}
    todo = [(k, n, d) for n, d in SIZES for k in KINDS if (k, n, d) not in done]
    for kind, n, d in tqdm(todo):
        ks = []
        for draw in range(DRAWS):
            X = KINDS[kind](np.random.default_rng([n, d, draw]), n, d)
            ks.append(select_k(X, random_state=draw, n_init=1).k)
        ones = int(np.sum(np.array(ks) == 1))
        rows.append({"kind": kind, "n": n, "d": d, "draws": DRAWS, "said_one": ones})
        done = len(rows) == len(SIZES) * len(KINDS)
        told = provenance.line("experiments/results/no_structure.csv", done)
        RESULTS.write_text(f"# {COMMAND}\n{told}\n" + pd.DataFrame(rows).to_csv(index=False))


def table() -> str:
    """Write the shares as a Markdown table."""
    found = pd.read_csv(RESULTS, comment="#")
    share = found.assign(share=100 * found["said_one"] / found["draws"])
    wide = share.pivot_table(index="kind", columns=["n", "d"], values="share", sort=False)
    lines = ["| one cluster, said 1 in % | " + " | ".join(f"{n} x {d}" for n, d in SIZES) + " |"]
    lines.append("|---" * (1 + len(SIZES)) + "|")
    for kind in KINDS:
        cells = " | ".join(f"{wide.loc[kind, size]:.0f}" for size in SIZES)
        lines.append(f"| {kind} | {cells} |")
    return "\n".join(lines)


if __name__ == "__main__":
    run()

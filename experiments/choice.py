"""The choice of k: our default beside the paper's method, silhouette and gap, on the same fits.

Run with: python experiments/choice.py real|simulated          (resumable; a few minutes each)
          python experiments/choice.py report

"real": the paper's 28 sets (folder named by EDFKMEANS_DATA), five path seeds each. "simulated": the
54 cells of the paper's tables, ten data sets each with fresh seeds, and five with the seeds that
the default was designed on. "report" writes the tables into docs/choice.md.
"""

import sys
from pathlib import Path

import no_structure
import numpy as np
import pages
import pandas as pd
import sets
from sklearn.metrics import adjusted_rand_score
from tqdm import tqdm

from edfkmeans import compare, fit_path, select_k

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "choice.md"
K_MAX = 30
METHODS = ("default", "paper", "silhouette", "gap", "ideal")


def tasks(what):
    """List the data sets: key, seed of the path, and a function that gets the data."""
    if what == "real":
        for name in sets.names():
            for seed in range(5):
                yield name, seed, lambda name=name: sets.load(name)
    else:
        for scheme, k, d in sets.CELLS:
            for seed in (*sets.DESIGN_SEEDS, *sets.HELD_OUT_SEEDS):
                yield f"{scheme} {k} {d}", seed, lambda c=(scheme, k, d, seed): sets.draw(*c)


def answers(X, labels, seed):
    """Ask every method about the same fits; k and the adjusted Rand index of each."""
    path = fit_path(X, K_MAX, random_state=seed)
    others = compare(X, ["silhouette", "gap"], path=path, random_state=seed).table["k"]
    ari = np.array(
        [
            np.mean([adjusted_rand_score(truth, path.labels(k)) for truth in labels])
            for k in range(1, K_MAX + 1)
        ]
    )
    chosen = {
        "default": select_k(X, path=path, random_state=seed).k,
        "paper": select_k(X, path=path, method="paper").k,
        "silhouette": int(others["silhouette"]),
        "gap": int(others["gap"]),
        "ideal": int(ari.argmax()) + 1,
    }
    return {f"{name}_k": k for name, k in chosen.items()} | {
        f"{name}_ari": ari[k - 1] for name, k in chosen.items()
    }


def run(what):
    """Do what is not done yet."""
    file = RESULTS / f"choice_{what}.csv"
    rows = pd.read_csv(file, comment="#").to_dict("records") if file.exists() else []
    done = {(row["data"], row["seed"]) for row in rows}
    todo = [task for task in tasks(what) if task[:2] not in done]
    for number, (data, seed, get) in enumerate(tqdm(todo), start=1):
        X, labels = get()
        rows.append({"data": data, "seed": seed, **answers(X, labels, seed)})
        if number % 10 == 0 or number == len(todo):
            text = pd.DataFrame(rows).to_csv(index=False, float_format="%.5f")
            part = file.with_suffix(".part")
            part.write_text(f"# python experiments/choice.py {what}\n{text}")
            part.replace(file)


def real_table():
    """Mean normalised regret on the 28 sets, by half, with the spread over seeds."""
    found = pd.read_csv(RESULTS / "choice_real.csv", comment="#")
    design = found["data"].isin(sets.DESIGN)
    lines = ["| method | all 28 | spread over seeds | design half | held-out half |"]
    lines.append("|---|---|---|---|---|")
    for method in METHODS[:-1]:
        regret = 1 - found[f"{method}_ari"] / found["ideal_ari"]
        by_seed = regret.groupby(found["seed"]).mean()
        lines.append(
            f"| {method} | {regret.mean():.3f} | {by_seed.std():.3f} | "
            f"{regret[design].mean():.3f} | {regret[~design].mean():.3f} |"
        )
    return "\n".join(lines)


def simulated_table():
    """Mean adjusted Rand index on the 54 cells, by scheme, and how often 1 was the answer."""
    found = pd.read_csv(RESULTS / "choice_simulated.csv", comment="#")
    fresh = found["seed"].isin(sets.HELD_OUT_SEEDS)
    scheme = found["data"].str.rsplit(" ", n=2).str[0]
    names = list(scheme.unique())
    lines = ["| method | fresh seeds, mean | median | design seeds | " + " | ".join(names) + " |"]
    lines.append("|---" * (4 + len(names)) + "|")
    for method in METHODS:
        ari = 100 * found[f"{method}_ari"]
        cells = [f"{ari[fresh & (scheme == name)].mean():.1f}" for name in names]
        lines.append(
            f"| {method} | {ari[fresh].mean():.1f} | {ari[fresh].median():.1f} | "
            f"{ari[~fresh].mean():.1f} | " + " | ".join(cells) + " |"
        )
    clear = found["silhouette_ari"] >= 0.70
    missed = int((found["default_k"] == 1)[clear].sum())
    lines.append("")
    lines.append(
        f"Of {int(clear.sum())} data sets in which the silhouette finds the clusters (ARI of at "
        f"least 70), the default answered 1 in {missed}; of the {int((~clear).sum())} others in "
        f"{int((found['default_k'] == 1)[~clear].sum())}."
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
    if sys.argv[1] == "report":
        PAGE.write_text(pages.filled(PAGE.read_text(), tables()))
    else:
        run(sys.argv[1])

"""Put the tables of the results into the README, between their marks.

Run with: python benchmarks/tables.py          (after python benchmarks/peers.py and the others)
"""

from pathlib import Path

import pandas as pd
from common import RESULTS, filled

README = Path(__file__).parent.parent / "README.md"


def peers() -> str:
    """Time and inertia against the others."""
    table = pd.read_csv(RESULTS / "peers.csv", comment="#")
    lines = ["| rows x columns | method | seconds | times ours | inertia above the best found |"]
    lines.append("|---|---|---|---|---|")
    for row in table.itertuples():
        lines.append(
            f"| {row.n:,} x {row.d} | {row.method} | {row.seconds:.2f} | {row.times_ours:.1f} "
            f"| {row.mean_excess_percent:.2f} % |"
        )
    return "\n".join(lines)


def best_known() -> str:
    """Sum up the 28 sets in one sentence."""
    table = pd.read_csv(RESULTS / "best_known.csv", comment="#").set_index("data_set")
    row = table.loc["all"]
    better = pd.read_csv(RESULTS / "new_bests.csv", comment="#")
    cases = 31 * (len(table) - 1)
    # What is above a former best is above the new one by as much more as that is lower.
    more = 100 * (better.before / better.inertia - 1).sum() / cases
    return (
        f"On the paper's 28 data sets the fits for k = 1 .. 31 lie "
        f"{row.mean_excess_percent:.2f} % above the best inertia known before on average and "
        f"{row.worst_excess_percent:.1f} % at worst (mean of three seeds), and "
        f"{row.mean_excess_percent + more:.2f} % above the best known now: in {len(better)} of "
        f"{cases} cases one of these fits is the lowest. `select_k` takes "
        f"{row.seconds_path_and_dof:.0f} s for all of them together."
    )


def growth() -> str:
    """Time and memory by the number of rows."""
    table = pd.read_csv(RESULTS / "growth.csv", comment="#")
    lines = ["| rows, 16 columns | path, s | degrees of freedom, s | peak memory / data |"]
    lines.append("|---|---|---|---|")
    for row in table.itertuples():
        lines.append(
            f"| {row.n:,} | {row.path_seconds:.1f} | {row.dof_seconds:.1f} "
            f"| {row.peak_times_data:.1f} |"
        )
    return "\n".join(lines)


def criteria() -> str:
    """Time of silhouette and gap against the others."""
    table = pd.read_csv(RESULTS / "criteria.csv", comment="#")
    lines = [
        "| what | method | seconds | times ours | memory beyond the data |",
        "|---|---|---|---|---|",
    ]
    for row in table.itertuples():
        memory = "" if pd.isna(row.extra_mb) else f"{row.extra_mb:.0f} MB"
        lines.append(
            f"| {row.what} | {row.method} | {row.seconds:.2f} | {row.times_ours:.1f} | {memory} |"
        )
    return "\n".join(lines)


def silhouettes() -> str:
    """Silhouettes of many rows beside scikit-learn's, in one sentence."""
    table = pd.read_csv(RESULTS / "silhouettes.csv", comment="#").set_index("method")
    ours, theirs = table.loc["edfkmeans"], table.loc["scikit-learn"]
    return (
        f"100,000 x 10 rows in 10 clusters take {ours.core_seconds:.1f} s of processor time, "
        "shared out to all cores; scikit-learn's `silhouette_score`, to the same digits, takes "
        f"{theirs.times_ours_cores:.1f} times that, on one (`python benchmarks/silhouettes.py`)."
    )


def cosine() -> str:
    """Embeddings beside scikit-learn's single k, in one sentence."""
    table = pd.read_csv(RESULTS / "cosine.csv", comment="#").set_index("method")
    ours = table.loc["edfkmeans"]
    return (
        f"For 20,000 embeddings of 384 columns the whole path, k = 1 .. 31, takes "
        f"{ours.times_theirs:.1f} times what scikit-learn takes for k = 12 alone with ten starts, "
        f"and k = {ours.k:.0f} is found of 12 topics (`python benchmarks/cosine.py`)."
    )


def machine() -> str:
    """Name the machine, as the results do."""
    first = (RESULTS / "peers.csv").read_text().splitlines()[0]
    return f"Machine: {first.lstrip('# ')}."


PARTS = (peers, best_known, growth, criteria, silhouettes, cosine, machine)


def tables() -> dict[str, str]:
    """Make every part anew, by its mark."""
    return {part.__name__: part() for part in PARTS}


if __name__ == "__main__":
    README.write_text(filled(README.read_text(), tables()))

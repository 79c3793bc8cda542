"""What the default is worth on data it has not learned from, beside every other criterion.

Run with: python experiments/measured.py [VALIDATION]          (resumable; about 25 minutes)

    --part sets|called|simulated|steady    one of the four studies

- sets: the paper's 28 sets and the validation sets: every criterion's k and ARI
  on the same fits, and what the judge expects of every k;
- called: the same sets, as users ask about them: `select_k(X)`, with the fits that it makes;
- simulated: fresh draws of the paper's six schemes, which the judge has not learned from;
- steady: the answer for seeds 0 - 4 and k_max 10, 15, 20, 30, and with fits of other seeds.

VALIDATION is a folder with INDEX.csv and NAME.csv.gz with columns f0, f1, ... and label; by default
it is shared/validation beside the checkout. Columns of the 28 sets are standardised, those of the
others used as they are. Normalised regret of a k: 1 - ARI(k) / max ARI over the fits of the same
path, for sets with a max ARI of at least 0.2.
"""

import argparse
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import provenance
import sets
from sklearn import datasets as sklearn_sets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from edfkmeans import compare, fit_path, select_k
from edfkmeans.criteria import registered

HERE = Path(__file__).parent
PICTURE = HERE.parent / "docs" / "pictures" / "reliability.png"
RESULTS = HERE / "results"
VALIDATION = HERE.parents[1] / "shared" / "validation"
# Seeds of the paths that nothing was looked at with while the judge was made.
PATH_SEEDS = (1111, 1212, 1313)
STEADY_SEEDS, STEADY_K_MAX = range(5), (10, 15, 20, 30)
STEADY_ROWS = 1000
# Fresh draws of each of the 54 cells of the simulation schemes.
DRAWS = 2
# Criteria that fit again are asked for one seed only.
SLOW = ("prediction-strength", "stability")
LEAST_BEST = 0.2


def validation_names(folder):
    """Name the validation sets."""
    return list(pd.read_csv(folder / "INDEX.csv")["name"])


def load(pool, name, folder):
    """Read a set: its columns and its label sets."""
    if pool == "28 sets":
        return sets.load(name)
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    labels = [frame[column].to_numpy() for column in frame if column.startswith("label")]
    columns = [column for column in frame if column.startswith("f")]
    return frame[columns].to_numpy(float), labels


def agreements(path, labels):
    """Return the adjusted Rand index of every k, the mean over the label sets."""
    return np.array(
        [
            np.mean([adjusted_rand_score(truth, path.labels(k)) for truth in labels])
            for k in range(1, path.k_max + 1)
        ]
    )


def one_set(task, folder):
    """Ask every criterion about one set: rows of choices, rows of what the judge expects."""
    pool, name, seed = task
    X, labels = load(pool, name, folder)
    path = fit_path(X, random_state=seed, n_jobs=1)
    ari = agreements(path, labels)
    asked = [
        criterion for criterion in registered() if criterion not in SLOW or seed == PATH_SEEDS[0]
    ]
    found = compare(X, asked, path=path, random_state=seed, n_jobs=1).table["k"]
    told = {"pool": pool, "name": name, "seed": seed, "best": ari.max()}
    choices = [
        told | {"criterion": criterion, "k": k, "ari": ari[k - 1] if k is not pd.NA else np.nan}
        for criterion, k in found.items()
    ]
    expected = select_k(X, path=path, random_state=seed, n_jobs=1).confidence
    curves = [
        told | {"k": k, "expected": row["agreement"], "near": row["near"], "ari": ari[k - 1]}
        for k, row in expected.iterrows()
    ]
    return choices, curves


def one_answer(task, folder):
    """Ask about one set as users do, with the fits that the default makes for every seed."""
    pool, name = task
    X, labels = load(pool, name, folder)
    found = select_k(X, n_jobs=1)
    ari = agreements(found.path, labels)
    row = {"pool": pool, "name": name, "best": ari.max(), "k": found.k, "ari": ari[found.k - 1]}
    return [row], []


def one_draw(task, folder):
    """Ask the quick criteria about one simulated set."""
    scheme, k, d, draw = task
    X, (truth,) = sets.draw(scheme, k, d, 5 * sets.FRESH + draw)
    path = fit_path(X, random_state=draw, n_jobs=1)
    ari = agreements(path, [truth])
    asked = [criterion for criterion in registered() if criterion not in SLOW]
    found = compare(X, asked, path=path, random_state=draw, n_jobs=1).table["k"]
    told = {"scheme": scheme, "true_k": k, "d": d, "draw": draw, "best": ari.max()}
    return [
        told | {"criterion": criterion, "k": k, "ari": ari[k - 1] if k is not pd.NA else np.nan}
        for criterion, k in found.items()
    ], []


def steady_set(task, folder):
    """Choose for every seed and k_max."""
    name, seed = task
    X = steady_data(name, folder)
    rows = []
    for k_max in STEADY_K_MAX:
        if len(np.unique(X, axis=0)) < k_max + 2:
            continue
        found = select_k(X, k_max, random_state=seed, n_jobs=1)
        as_good = " ".join(map(str, found.as_good))
        rows.append({"name": name, "seed": seed, "k_max": k_max, "k": found.k, "as_good": as_good})
    # No k_max: fits by this seed instead of those that are the same for all.
    found = select_k(X, path=fit_path(X, random_state=seed, n_jobs=1), n_jobs=1)
    as_good = " ".join(map(str, found.as_good))
    rows.append({"name": name, "seed": seed, "k_max": "", "k": found.k, "as_good": as_good})
    return rows, []


def steady_data(name, folder):
    """Read scikit-learn's sets, standardised but for digits, and validation sets."""
    if name.startswith("sklearn "):
        X = getattr(sklearn_sets, f"load_{name.removeprefix('sklearn ')}")().data
        return X if "digits" in name else StandardScaler().fit_transform(X)
    return load("validation", name, folder)[0]


def steady_names(folder):
    """Name the sets of the study of steadiness."""
    index = pd.read_csv(folder / "INDEX.csv")
    small = index.loc[index["n"] <= STEADY_ROWS, "name"]
    return [f"sklearn {name}" for name in ("iris", "wine", "breast_cancer", "digits")] + list(small)


def tasks_of(part, folder):
    """Return what a study has to do, as tuples that tell its tasks apart."""
    pools = [("28 sets", name) for name in sets.names()]
    pools += [("validation", name) for name in validation_names(folder)]
    if part == "sets":
        return [(*pool, seed) for seed in PATH_SEEDS for pool in pools]
    if part == "called":
        return pools
    if part == "simulated":
        return [(*cell, draw) for draw in range(DRAWS) for cell in sets.CELLS]
    return [(name, seed) for name in steady_names(folder) for seed in STEADY_SEEDS]


STUDIES = {
    "sets": (one_set, ("pool", "name", "seed")),
    "called": (one_answer, ("pool", "name")),
    "simulated": (one_draw, ("scheme", "true_k", "d", "draw")),
    "steady": (steady_set, ("name", "seed")),
}


def file_of(part):
    """Return the file of a study's rows."""
    return RESULTS / f"measured_{part}.csv"


def run(part, folder, jobs):
    """Do what is not done yet of a study."""
    work, names = STUDIES[part]
    name = f"experiments/results/measured_{part}.csv"
    rows = read(part).to_dict("records") if file_of(part).exists() else []
    curves = read("curves").to_dict("records") if part == "sets" and rows else []
    done = {tuple(row[key] for key in names) for row in rows}
    todo = [task for task in tasks_of(part, folder) if task not in done]
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    each = parallel(joblib.delayed(work)(task, folder) for task in todo)
    for number, (more, more_curves) in enumerate(tqdm(each, total=len(todo), desc=part), 1):
        rows += more
        curves += more_curves
        if number % 20 == 0 or number == len(todo):
            write(name, file_of(part), rows, number == len(todo))
            if part == "sets":
                write(name, file_of("curves"), curves, number == len(todo))


def write(name, file, rows, done):
    """Write rows, the command, and where they come from."""
    text = pd.DataFrame(rows).to_csv(index=False, float_format="%.5g")
    file.write_text(f"# python experiments/measured.py\n{provenance.line(name, done)}\n{text}")


def read(part):
    """Read the rows of a study."""
    return pd.read_csv(file_of(part), comment="#")


# Tables -------------------------------------------------------------------------------------------


def sets_table():
    """Mean normalised regret of every criterion on the 28 sets and on the validation sets."""
    found = read("sets")
    found = found[found["best"] >= LEAST_BEST]
    found["regret"] = 1 - found["ari"].clip(lower=0) / found["best"]
    wide = found.pivot_table(index="criterion", columns="pool", values="regret", sort=False)
    one = found[found["k"] == 1].groupby(["criterion", "pool"]).size().unstack(fill_value=0)
    runs = found.groupby(["criterion", "pool"])["ari"].count().unstack()
    lines = ["| criterion | 28 sets | validation | said 1 (28 sets) | said 1 (validation) |"]
    lines.append("|---" * 5 + "|")
    for name in wide.sort_values("validation").index:
        cells = [f"{wide.loc[name, pool]:.3f}" for pool in ("28 sets", "validation")]
        for pool in ("28 sets", "validation"):
            ones = one[pool].get(name, 0) if pool in one else 0
            cells.append(f"{ones} of {runs.loc[name, pool]}")
        lines.append(f"| {_called(name)} | {' | '.join(cells)} |")
    seeds = found[found["criterion"] == "judge"].groupby(["pool", "seed"])["regret"].mean()
    spread = "; ".join(
        f"{pool}: {', '.join(f'{value:.3f}' for value in seeds[pool])}"
        for pool in ("28 sets", "validation")
    )
    lines += ["", f"The default for each path seed: {spread}. {called_sentence()}"]
    return "\n".join(lines)


def called_sentence():
    """Tell the regret of the default with the fits that it makes itself."""
    found = read("called")
    found = found[found["best"] >= LEAST_BEST]
    regret = (1 - found["ari"].clip(lower=0) / found["best"]).groupby(found["pool"]).mean()
    told = ", ".join(f"{pool} {regret[pool]:.3f}" for pool in ("28 sets", "validation"))
    return f"With the fits that `select_k(X)` makes itself, the same for every seed: {told}."


def _called(name):
    return "judge (the default)" if name == "judge" else name


def simulated_table():
    """Mean adjusted Rand index on fresh draws of the six schemes."""
    found = read("simulated")
    schemes = list(dict.fromkeys(found["scheme"]))
    best = found[found["criterion"] == "judge"].assign(criterion="ideal", ari=lambda t: t["best"])
    wide = 100 * pd.concat([found, best]).pivot_table(
        index="criterion", columns="scheme", values="ari", sort=False
    )
    lines = [
        "| criterion | mean | " + " | ".join(schemes) + " |",
        "|---" * (2 + len(schemes)) + "|",
    ]
    for name in wide.mean(axis=1).sort_values(ascending=False).index:
        cells = [f"{value:.1f}" for value in (wide.loc[name].mean(), *wide.loc[name, schemes])]
        lines.append(f"| {_called(name)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def steady_table():
    """How often the answer is the same, over seeds and k_max."""
    found = read("steady")
    others = found[found["k_max"].isna()]
    found = found.dropna(subset="k_max")
    rows = []
    for name, part in found.groupby("name", sort=False):
        usual = (
            int(part.loc[part["k_max"] == max(STEADY_K_MAX), "k"].mode()[0])
            if (part["k_max"] == max(STEADY_K_MAX)).any()
            else int(part["k"].mode()[0])
        )
        counted = part[part["k_max"] >= usual]
        rows.append(
            {
                "name": name,
                "k": usual,
                "runs": len(counted),
                "same": int((counted["k"] == usual).sum()),
                "all": " ".join(f"{k}" for k in sorted(counted["k"].unique())),
            }
        )
    table = pd.DataFrame(rows)
    share = table["same"].sum() / table["runs"].sum()
    moved = table[table["same"] < table["runs"]].sort_values("same")
    text = (
        f"The same k in {100 * share:.1f} % of {table['runs'].sum()} runs on {len(table)} sets; "
        f"{(table['same'] == table['runs']).sum()} sets never move."
    )
    if len(moved):
        text += (
            " Those that do: "
            + "; ".join(
                f"{row['name']} {row['all']} ({row['same']} of {row['runs']} say {row['k']})"
                for _, row in moved.iterrows()
            )
            + "."
        )
    usual = table.set_index("name")["k"]
    same = others["k"].to_numpy() == usual[others["name"]].to_numpy()
    return (
        f"{text} With fits of other seeds (`path=fit_path(X, random_state=seed)`) the same k in "
        f"{100 * same.mean():.1f} % of {len(same)} runs."
    )


def reliability(values, expected, real):
    """Return bins of equal width of what was expected, with what came of it."""
    bins = np.minimum((values[expected] * 10).astype(int), 9)
    return values.groupby(bins).agg(
        expected=(expected, "mean"), real=(real, "mean"), count=(real, "size")
    )


def of_every_k():
    """Return what was said of every k of sets with clusters, and what came of it."""
    found = read("curves")
    found = found[found["best"] >= LEAST_BEST]
    found = found.assign(part=(found["ari"] / found["best"]).clip(0, 1))
    return found.assign(within=(found["part"] >= 0.9).astype(float))


def of_the_chosen():
    """Return the same of the chosen k alone."""
    answers = read("sets").query("criterion == 'judge'")[["pool", "name", "seed", "k"]]
    return of_every_k().merge(answers)


def reliability_rows():
    """Return reliability for every k, and for the chosen one, of both numbers."""
    found, chosen = of_every_k(), of_the_chosen()
    return {
        "expected agreement, every k": reliability(found, "expected", "part"),
        "expected agreement, the chosen k": reliability(chosen, "expected", "part"),
        "within 0.1, every k": reliability(found, "near", "within"),
        "within 0.1, the chosen k": reliability(chosen, "near", "within"),
    }


def error_of(bins):
    """Return the mean absolute error over the bins, weighted by their number."""
    return np.average((bins["expected"] - bins["real"]).abs(), weights=bins["count"])


def error_by_chance(draws=200):
    """Return the error that "within 0.1, the chosen k" would have if it were true.

    A set is within 0.1 or not with all its seeds alike, by a number drawn for it.
    """
    chosen = of_the_chosen()
    group = chosen.groupby(["pool", "name"]).ngroup()
    errors = []
    for luck in np.random.default_rng(0).random((draws, group.max() + 1)):
        chosen["within"] = (luck[group] < chosen["near"]).astype(float)
        errors.append(error_of(reliability(chosen, "near", "within")))
    return np.mean(errors)


def reliability_table():
    """Tell the errors, and what chance would make of the last one."""
    lines = ["| | mean absolute error in ten bins | cases |", "|---|---|---|"]
    rows = reliability_rows()
    for name, bins in rows.items():
        lines.append(f"| {name} | {error_of(bins):.3f} | {bins['count'].sum()} |")
    cases = bins["count"].sum()
    lines.append(
        f"| the same, if it were true: by chance alone | {error_by_chance():.3f} | {cases} |"
    )
    return "\n".join(lines)


def draw_reliability():
    """Draw what was expected against what came of it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(8.4, 4), layout="constrained")
    for ax, number in zip(both, ("expected agreement", "within 0.1"), strict=True):
        ax.plot([0, 1], [0, 1], color="#666666", linewidth=1, linestyle="--")
        for which, colour, mark in (("every k", "#0072B2", "o"), ("the chosen k", "#D55E00", "s")):
            bins = reliability_rows()[f"{number}, {which}"]
            ax.plot(bins["expected"], bins["real"], color=colour, marker=mark, label=which)
        words = {
            "expected agreement": ("expected agreement", "agreement that came of it"),
            "within 0.1": ("probability of being within 0.1", "part that was within 0.1"),
        }[number]
        ax.set(xlabel=words[0], ylabel=words[1], xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(frameon=False)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


def tables():
    """Make every table of the page that comes from these studies."""
    return {
        "measured_sets": sets_table(),
        "measured_simulated": simulated_table(),
        "measured_steady": steady_table(),
        "reliability": reliability_table(),
    }


TOLD = {
    "sets": sets_table,
    "called": called_sentence,
    "simulated": simulated_table,
    "steady": steady_table,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=VALIDATION)
    parser.add_argument("--part", choices=list(STUDIES))
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    for part in [asked.part] if asked.part else STUDIES:
        run(part, asked.folder, asked.jobs)
        print(TOLD[part]())

"""Train the judge: draw worlds, gather their evidence, grow trees, write them into the package.

Run with: python experiments/judge.py                  (resumable; about two hours on two cores)
          python experiments/judge.py --check --sets 2000 --model build/judge/check.npz
                                                       (how it does on worlds left out)
          python experiments/judge.py --sets 16000 --jobs 2 --folder build/judge

The same seed gives the same bytes, with the same versions of numpy, numba, scikit-learn and
lightgbm. Evidence is kept in the folder, some sets a file; a run that was stopped goes on with what
is not there yet. No real data set is touched.

Three forests are grown, on sets whose clusters can be found (agreement), or on all (one):

- agreement: ARI(k) / max ARI for k > 1, squared error, every set weighing the same, and beside it
  what is lost on average by a k drawn in proportion to exp(agreement / TEMPERATURE): the trees are
  to tell the best k of a set, and not only sets in which much is found from those with little;
- near: whether that is at least 0.9, logistic loss;
- one: whether there is one cluster only, from numbers of the whole set, logistic loss.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from edfkmeans.choosing.judge import chosen

HERE = Path(__file__).parent
MODEL = HERE.parent / "src" / "edfkmeans" / "choosing" / "judge.npz"
NUMBERS = HERE.parent / "tests" / "reference" / "judge.json"
FOLDER = HERE.parent / "build" / "judge"
RESULTS = HERE / "results" / "judge.csv"
SEED, SETS = 4, 16000
# Sets in one file: what is lost at most when a run is stopped.
PART = 25
# Agreement: below it no k tells anything of the clusters; above it they can be told from one.
UNSEEN, SEEN = 0.1, 0.2
# A best agreement below this counts as this: a part of next to nothing would be noise.
LEAST_BEST = 0.2
# What a set of one cluster weighs among those with more, for "one or more": people rarely cluster
# a single cloud.
WEIGHT_OF_ONE = 0.5
# Worlds that are drawn to look at only: what the package is measured by.
NEVER_LEARNED = ("scheme",)
COMMON = {
    "verbose": -1,
    "use_missing": False,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 2,
}
BY_K = COMMON | {
    "num_leaves": 31,
    "learning_rate": 0.06,
    "feature_fraction_bynode": 0.07,
    "min_data_in_leaf": 200,
    "min_sum_hessian_in_leaf": 1e-3,
}
# Agreement: what the loss of a drawn k weighs beside the squared error, and how sharply k is drawn.
# Chosen with groups of worlds left out: docs/choice.md.
WEIGHT_OF_LOSS, TEMPERATURE = 0.1, 0.05
# Settings, rounds, and how many are grown with other random columns, whose mean is taken.
FORESTS = {
    "agreement": (BY_K | {"min_sum_hessian_in_leaf": 1.0}, 150, 3),
    "near": (BY_K | {"objective": "binary"}, 120, 3),
    "one": (
        COMMON
        | {
            "objective": "binary",
            "num_leaves": 31,
            "learning_rate": 0.05,
            "feature_fraction_bynode": 0.15,
            "min_data_in_leaf": 20,
            "extra_trees": True,
        },
        800,
        1,
    ),
}


# Evidence -----------------------------------------------------------------------------------------


def gather(number):
    """Draw a world, and gather its evidence and the agreement of every k with its clusters."""
    import worlds
    from sklearn.metrics import adjusted_rand_score

    from edfkmeans.choosing.evidence import evidence

    X, labels, kind = worlds.draw(SEED, number)
    distinct = len(np.unique(X, axis=0))
    # Some users ask for more clusters than few rows are usually asked for.
    longer = distinct < 150 and number % 4 == 0
    k_max = min(30, distinct - 4) if longer else None
    found, path = evidence(X, k_max, random_state=number, n_jobs=1)
    inside = labels >= 0
    ari = np.zeros(path.k_max)
    if len(set(labels[inside])) == 1:
        ari[0] = 1.0
    else:
        for k in range(2, path.k_max + 1):
            ari[k - 1] = adjusted_rand_score(labels[inside], path.labels(k)[inside])
    return kind, ari, found


def write_part(first, folder):
    """Gather the evidence of some sets and write it to a file of its own."""
    many = [gather(number) for number in range(first, first + PART)]
    file = folder / f"{first:06d}.npz"
    np.savez_compressed(
        file.with_suffix(".tmp.npz"),
        kind=np.array([kind for kind, _, _ in many]),
        length=np.array([len(ari) for _, ari, _ in many]),
        ari=np.concatenate([ari for _, ari, _ in many]),
        curves=np.concatenate(
            [np.stack(list(found.curves.values()), axis=1) for _, _, found in many]
        ).astype(np.float32),
        whole=np.array([list(found.whole.values()) for _, _, found in many], np.float32),
        names=np.array(list(many[0][2].curves)),
        whole_names=np.array(list(many[0][2].whole)),
    )
    os.replace(file.with_suffix(".tmp.npz"), file)


def gather_all(sets, jobs, folder):
    """Gather what is not there yet."""
    import joblib

    folder.mkdir(parents=True, exist_ok=True)
    todo = [first for first in range(0, sets, PART) if not (folder / f"{first:06d}.npz").exists()]
    run = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
    parts = run(joblib.delayed(write_part)(first, folder) for first in todo)
    for _ in tqdm(parts, total=len(todo), desc="gathering", unit=f" x {PART} sets"):
        pass


class Gathered:
    """The evidence of all sets, a row for each k, and what is to be learned from it."""

    def __init__(self, sets, folder):
        files = [np.load(folder / f"{first:06d}.npz") for first in range(0, sets, PART)]
        self.names = list(map(str, files[0]["names"]))
        self.whole_names = list(map(str, files[0]["whole_names"]))
        self.kind, self.length, self.ari, self.curves, self.whole = (
            np.concatenate([file[name] for file in files])
            for name in ("kind", "length", "ari", "curves", "whole")
        )
        self.set = np.repeat(np.arange(len(self.length)), self.length)
        self.start = np.concatenate([[0], np.cumsum(self.length)])
        self.k = np.arange(len(self.set)) - self.start[self.set] + 1
        self.best = np.maximum.reduceat(self.ari, self.start[:-1])
        self.one = self.ari[self.start[:-1]] == 1
        self.world = np.array([kind.split()[0] for kind in self.kind])
        self.part = np.clip(self.ari / np.maximum(self.best[self.set], LEAST_BEST), 0, 1)

    def task(self, forest, sets):
        """Return rows, targets, weights and sets that a forest learns from, of some of the sets."""
        if forest == "one":
            # Small groups are clusters even where k-means cuts the large one first.
            small = self.world == "small"
            lost = self.one | ((self.best < UNSEEN) & ~small)
            use = (lost | (self.best >= SEEN) | small) & sets
            weight = np.where(self.one, WEIGHT_OF_ONE, 1.0)
            return self.whole[use], lost[use].astype(float), weight[use], np.flatnonzero(use)
        use = (self.k > 1) & (~self.one & (self.best >= UNSEEN) & sets)[self.set]
        target = self.part if forest == "agreement" else self.part >= 0.9
        weight = 1 / (self.length[self.set] - 1)
        return self.curves[use], target[use].astype(float), weight[use], self.set[use]


# Trees --------------------------------------------------------------------------------------------


class Loss:
    """What the agreement forest makes small: squared error, and what a k drawn by it loses."""

    def __init__(self, sets, target, weight):
        self.set = np.unique(sets, return_inverse=True)[1]
        self.first = np.flatnonzero(np.diff(self.set, prepend=-1))
        self.target, self.weight = target, weight
        self.weight_of_set = WEIGHT_OF_LOSS * weight * np.bincount(self.set)[self.set]

    def total(self, values):
        """Add up over the k of every set."""
        return np.add.reduceat(values, self.first)[self.set]

    def __call__(self, score, _):
        """Return first and second derivatives, the second ones made positive."""
        best = np.maximum.reduceat(score, self.first)[self.set]
        chance = np.exp((score - best) / TEMPERATURE)
        chance /= self.total(chance)
        lost = 1 - self.target
        slope = chance * (lost - self.total(chance * lost)) / TEMPERATURE
        bend = chance * (1 - chance) / TEMPERATURE
        return (
            self.weight * (score - self.target) + self.weight_of_set * slope,
            self.weight + self.weight_of_set * bend,
        )


def grow(data, forest, left_out=None):
    """Grow a forest: several boosters that differ in their random columns, one for a check.

    Returns them, and what is to be added to their mean.
    """
    import lightgbm

    settings, rounds, grown = FORESTS[forest]
    sets = ~np.isin(data.world, NEVER_LEARNED)
    if left_out is not None:
        sets &= ~left_out
    rows, target, weight, owners = data.task(forest, sets)
    start, init = 0.0, None
    if forest == "agreement":
        # LightGBM does not begin with the mean where the loss is ours.
        start = float(np.average(target, weights=weight))
        init = np.full(len(target), start)
        settings = settings | {"objective": Loss(owners, target, weight)}
    table = lightgbm.Dataset(
        rows, target, weight=weight, init_score=init, params={"verbose": -1}, free_raw_data=False
    )
    boosters = [
        lightgbm.train(settings | {"seed": SEED + number}, table, rounds)
        for number in range(grown if left_out is None else 1)
    ]
    return boosters, start


def arrays(boosters, start, names):
    """Turn boosters into the arrays of `edfkmeans.choosing.forest.Forest`."""
    nodes, roots = [], []

    def add(node):
        """Add a node and all below it; returns its place, value and number of rows."""
        place = len(nodes)
        nodes.append(None)
        if "leaf_index" in node or "leaf_value" in node:
            value, count = node["leaf_value"], node.get("leaf_count", 1)
            nodes[place] = (0, 0.0, place, place, value / len(boosters))
            return place, value, count
        assert node["decision_type"] == "<="
        left, left_value, left_count = add(node["left_child"])
        right, right_value, right_count = add(node["right_child"])
        count = left_count + right_count
        value = (left_value * left_count + right_value * right_count) / count
        nodes[place] = (
            node["split_feature"],
            node["threshold"],
            left,
            right,
            value / len(boosters),
        )
        return place, value, count

    for booster in boosters:
        for tree in booster.dump_model()["tree_info"]:
            roots.append(add(tree["tree_structure"])[0])
    if start:
        # A tree of one leaf.
        roots.append(len(nodes))
        nodes.append((0, 0.0, len(nodes), len(nodes), start))
    feature, threshold, left, right, value = zip(*nodes, strict=True)
    return {
        "roots": np.array(roots, np.int32),
        "feature": np.array(feature, np.int16),
        "threshold": np.array(threshold, np.float32),
        "left": np.array(left, np.int32),
        "right": np.array(right, np.int32),
        "value": np.array(value, np.float32),
        "names": np.array(names),
    }


def train(data, model):
    """Grow all forests and write them to a file of plain arrays."""
    stored = {}
    for forest in FORESTS:
        names = data.whole_names if forest == "one" else data.names
        for name, values in arrays(*grow(data, forest), names).items():
            stored[f"{forest}_{name}"] = values
    part = model.with_suffix(".tmp.npz")
    np.savez_compressed(part, **stored)
    os.replace(part, model)


def record(file):
    """Write what the model says of some data sets, for the tests."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    from edfkmeans import select_k

    said = {}
    for name in ("iris", "wine", "breast_cancer"):
        X = StandardScaler().fit_transform(getattr(datasets, f"load_{name}")().data)
        found = select_k(X, random_state=0)
        said[name] = {"k": found.k} | found.confidence.round(4).to_dict("list")
    file.write_text(json.dumps(said, indent=1) + "\n")


# How it does on worlds left out -------------------------------------------------------------------


def left_out(data, groups):
    """Judge every set by forests that have not seen any of its group."""
    chance = np.zeros(len(data.length))
    agreement = np.zeros(len(data.set))
    for group in tqdm(np.unique(groups), desc="left out"):
        out = groups == group
        rows = out[data.set]
        chance[out] = predicted(*grow(data, "one", out), data.whole[out])
        agreement[rows] = predicted(*grow(data, "agreement", out), data.curves[rows])
    expected = (1 - chance[data.set]) * np.clip(agreement, 0, 1)
    expected[data.start[:-1]] = chance
    return expected


def predicted(boosters, start, rows):
    """Return the mean of the boosters, from where they started."""
    return start + np.mean([booster.predict(rows) for booster in boosters], axis=0)


def outcome(data, expected):
    """Return a row for every set: the k chosen and what came of it."""
    rows = []
    for number, (first, last) in enumerate(zip(data.start, data.start[1:], strict=False)):
        mine, ari = expected[first:last], data.ari[first:last]
        k, several = chosen(mine), chosen(np.append(0.0, mine[1:]))
        rows.append(
            {
                "kind": data.kind[number],
                "best": data.best[number],
                "one": data.one[number],
                "k": k,
                "expected": mine[k - 1],
                "agreement": data.part[first + k - 1],
                "regret": 1 - max(ari[k - 1], 0) / max(data.best[number], 1e-9),
                "regret_of_several": 1 - max(ari[several - 1], 0) / max(data.best[number], 1e-9),
            }
        )
    return pd.DataFrame(rows)


# What the worlds are, in words.
WORLDS = {
    "mixture": "mixtures of eleven forms, 2-25 clusters, 2-60 columns, some idle",
    "shapes": "shapes in the plane: apart, on a grid, touching, nested, in a row",
    "factors": "tables with hidden causes: columns skewed, rounded, counted, 0/1, mostly zero",
    "network": "many columns that are pictures of few hidden causes, through a random network",
    "curves": "rows that are curves, shifted, stretched and disturbed",
    "pictures": "rows that are small pictures, which move a little",
    "parts": "rows that are parts of a whole, in percent",
    "words": "rows that are texts: how often each word occurs",
    "size": "tables in which nearly everything grows with size",
    "many": "many classes of few rows each in many columns",
    "two": "two or three groups at every distance",
    "long": "classes along a long cloud, or across it, that overlap",
    "small": "one large cloud and small groups far away",
    "grid": "blobs on a grid",
    "few": "groups that show in a few of many columns",
    "far": "clear groups and a few rows far from all",
    "one": "one cluster in many disguises",
    "scheme": "the paper's six schemes (never learned from)",
}


def table():
    """Write what it learned from, and how it does on what it has not seen, as a Markdown table."""
    found = pd.read_csv(RESULTS, comment="#")
    found["world"] = found["kind"].str.split().str[0]
    lines = ["| world | sets | regret, folds left out | regret, the world left out | said 1 in % |"]
    lines.append("|---|---|---|---|---|")
    for world, words in WORLDS.items():
        part = found[found["world"] == world]
        if part.empty:
            continue
        fold, whole = (part[part["left_out"] == way] for way in ("fold", "world"))
        cells = [f"{fold['sets'].sum()}"]
        for rows in (fold, whole):
            known = rows.dropna(subset="regret")
            regret = np.average(known["regret"], weights=known["seen"]) if len(known) else np.nan
            cells.append(f"{regret:.3f}" if regret == regret else "")
        cells.append(f"{100 * np.average(fold['said_one'], weights=fold['sets']):.0f}")
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join(lines)


def check(data, command):
    """Write how the judge does on every kind, with its fold and with its whole world left out."""
    import provenance

    folds = np.arange(len(data.length)) % 5
    tables = []
    for way, groups in (("fold", folds), ("world", data.world)):
        found = outcome(data, left_out(data, groups)).assign(left_out=way)
        tables.append(found)
    found = pd.concat(tables)
    rows = []
    for (way, kind), part in found.groupby(["left_out", "kind"], sort=False):
        seen = part[~part["one"] & (part["best"] >= LEAST_BEST)]
        rows.append(
            {
                "left_out": way,
                "kind": kind,
                "sets": len(part),
                "seen": len(seen),
                "said_one": round(float((part["k"] == 1).mean()), 4),
                "regret": round(float(seen["regret"].mean()), 4) if len(seen) else "",
                "regret_of_several": round(float(seen["regret_of_several"].mean()), 4)
                if len(seen)
                else "",
            }
        )
    told = provenance.line("experiments/results/judge.csv")
    text = pd.DataFrame(rows).to_csv(index=False)
    RESULTS.write_text(f"# {command}\n{told}\n{text}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=SETS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    gather_all(asked.sets, asked.jobs, asked.folder)
    gathered = Gathered(asked.sets, asked.folder)
    train(gathered, asked.model)
    if asked.model == MODEL:
        record(NUMBERS)
    print(f"Wrote {asked.model}, {asked.model.stat().st_size / 1e6:.2f} MB")
    if asked.check:
        check(gathered, f"python experiments/judge.py --check --sets {asked.sets}")

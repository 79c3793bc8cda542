"""How many clusters? Other packages and this one, on the paper's 28 sets and on validation sets.

Run with: python benchmarks/choosers.py [FOLDER]          (resumable)

    --only iris wine    some sets only
    --check             only say which choosers can be used
    --table             only print the table, and put it into docs/peers.md

FOLDER holds the validation sets: INDEX.csv, and NAME.csv.gz with the columns f0, f1, ... and label.
By default it is shared/validation beside the checkout. Its columns are used as they are; those of
the 28 sets are standardised, as everywhere here. Of a set with more than 2000 rows everybody gets
the same 2000, the first of a random permutation.

The others live in an environment of their own, which is used if it is there, whatever Python runs
this script. It is made by:

    python3 -m venv build/choosers-env
    build/choosers-env/bin/python -m pip install 'wheel<0.45' 'setuptools<80' 'scipy>=1.17'
    build/choosers-env/bin/python -m pip install --editable . compsil==0.1.4 yellowbrick==1.5
    build/choosers-env/bin/python -m pip install --no-deps clustpy==0.0.3
    build/choosers-env/bin/python -m pip install --no-build-isolation gap-stat==2.0.3

ClustPy goes without its dependencies: its estimators of k do not import torch. What they do import
is there (scipy 1.17 for GMeans, matplotlib by yellowbrick); its C code is compiled.

Every run is a process with one thread. Seconds are those of the processor, so that a busy machine
does not change them much; imports and the loading of compiled code come before. After 15 of them a
process is killed: no answer. Defaults everywhere, seed 0. Where a range of k must be or can be
given it is that of edfkmeans, up to 30; compsil and yellowbrick have one of their own too, 2 .. 10.
kneed and yellowbrick are given scikit-learn's k-means, three starts.

edfkmeans: the path for k = 1 .. 31 and `select_k` on it; seconds are for both. It is not killed, as
regret needs the path, but more than 15 s are no answer here too. Where a package has k only, its
labels are those of scikit-learn's k-means with ten starts, outside the clock.

Normalised regret of a k: 1 - ARI(k) / max ARI, of the fits of our path, between 0 and 1; over the
sets with a max ARI of at least 0.2. A k above 31 counts as 31. Regret is of k alone. The adjusted
Rand index (ARI) of a package's own labels is told besides. Where a set has several label sets, ARI
is the mean.

A row is run again when the version of the package has changed, or the sources of edfkmeans. To run
others again, delete their rows.
"""

import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from functools import cache, partial
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
from common import RESULTS, filled, machine, mixture, provenance
from whole import whole

ROOT = Path(__file__).parents[1]
FILE = RESULTS / "choosers.csv"
NAME = "benchmarks/results/choosers.csv"
PAGE = ROOT / "docs" / "peers.md"
SCRIPT = "benchmarks/choosers.py"
ENVIRONMENT = ROOT / "build" / "choosers-env" / "bin" / "python"
BESIDE = ROOT.parent / "shared" / "validation"
K_MAX = 30
LIMIT_S = 15
# Longer by the clock than this is no answer either: a process that waits uses no processor.
PATIENCE_S = 1800
MOST_ROWS = 2000
LEAST_ARI = 0.2
OURS = "edfkmeans"
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
KNOWN = ("data", "group", "n", "d", "chooser")
COLUMNS = (*KNOWN, "version", "k", "seconds", "ari", "path_ari", "note")


# What runs in a process of its own: import a package, return a function from X to k and labels.


def ours():
    """Return our default, which also gives the labels of the whole path."""
    from edfkmeans import fit_path, select_k

    def choose(X, k_max=K_MAX):
        path = fit_path(X, k_max, random_state=0)
        found = select_k(X, path=path, random_state=0)
        return found.k, np.array([path.labels(k) for k in range(1, k_max + 2)])

    choose(mixture(500, 4), 5)  # loads compiled kernels
    return choose


def of_clustpy(name):
    """Return an estimator of ClustPy."""
    from clustpy import centroid

    def choose(X):
        found = getattr(centroid, name)(random_state=0).fit(X)
        return found.n_clusters_, found.labels_

    return choose


def of_compsil(last):
    """Return the composite silhouette."""
    from compsil import CompSil

    def choose(X):
        asked = CompSil(X, k_values=range(2, last + 1), random_state=0, n_jobs=1)
        asked.evaluate()
        return asked.get_optimal_k(), None

    return choose


def of_gap_stat():
    """Return the gap statistic; its references are three unless one asks for more."""
    from gap_statistic import OptimalK

    def choose(X):
        np.random.seed(0)  # noqa: NPY002 - its k-means has no seed of its own
        return OptimalK(n_jobs=1, random_state=0)(X, cluster_array=np.arange(1, K_MAX + 1)), None

    return choose


def of_kneed():
    """Return the knee of the inertia."""
    from kneed import KneeLocator
    from sklearn.cluster import KMeans

    def choose(X):
        ks = range(1, K_MAX + 1)
        inertia = [KMeans(k, n_init=3, random_state=0).fit(X).inertia_ for k in ks]
        return KneeLocator(ks, inertia, curve="convex", direction="decreasing").knee, None

    return choose


def of_yellowbrick(last):
    """Return the elbow of the distortion; scikit-learn 1.9 needs force_model."""
    from sklearn.cluster import KMeans
    from yellowbrick.cluster import KElbowVisualizer

    def choose(X):
        model = KMeans(n_init=3, random_state=0)
        asked = KElbowVisualizer(model, k=(2, last + 1), timings=False, force_model=True)
        return asked.fit(X).elbow_value_, None

    return choose


# For every chooser: the package that it is of, and what prepares it.
CHOOSERS = {
    OURS: ("edfkmeans", ours),
    "ClustPy XMeans": ("clustpy", partial(of_clustpy, "XMeans")),
    "ClustPy GMeans": ("clustpy", partial(of_clustpy, "GMeans")),
    "ClustPy PGMeans": ("clustpy", partial(of_clustpy, "PGMeans")),
    "ClustPy DipMeans": ("clustpy", partial(of_clustpy, "DipMeans")),
    "ClustPy ProjectedDipMeans": ("clustpy", partial(of_clustpy, "ProjectedDipMeans")),
    "compsil, k to 10": ("compsil", partial(of_compsil, 10)),
    "compsil, k to 30": ("compsil", partial(of_compsil, K_MAX)),
    "gap-stat": ("gap-stat", of_gap_stat),
    "kneed": ("kneed", of_kneed),
    "yellowbrick, k to 10": ("yellowbrick", partial(of_yellowbrick, 10)),
    "yellowbrick, k to 30": ("yellowbrick", partial(of_yellowbrick, K_MAX)),
}


def one(chooser, place):
    """Ask a chooser about the rows of a folder; leave the labels there, return k and seconds."""
    X = np.load(place / "X.npy")
    choose = CHOOSERS[chooser][1]()
    limit(None if chooser == OURS else LIMIT_S)
    start = time.process_time()
    k, labels = choose(X)
    seconds = time.process_time() - start
    limit(None)
    if labels is not None:
        np.save(place / "labels.npy", labels)
    return {"k": None if k is None else int(k), "seconds": seconds}


def limit(seconds):
    """Let the system kill this process after some more seconds of processor time."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    until = most if seconds is None else math.ceil(time.process_time() + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (until, most))


def check():
    """Try every chooser: its version, or why it cannot be used."""
    found = {}
    for chooser, (package, prepare) in CHOOSERS.items():
        try:
            prepare()
            found[chooser] = {"version": version(package), "note": ""}
        except Exception as error:  # whatever keeps a package from being imported
            found[chooser] = {"version": "", "note": said(error)}
    return found


def version(package):
    """Return the version of a package; of ours also a digest of its sources."""
    told = metadata.version(package)
    if package == OURS:
        told += f" {provenance.digest('src/edfkmeans/selection.py')}"
    return told


def said(error):
    """Return an error in one line, without what would be a comment in the file."""
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}".replace("#", "")[:150]


# What starts those processes and keeps the results.


def call(*arguments):
    """Run this script in the environment of the others; return what it printed, or the reason."""
    python = ENVIRONMENT if ENVIRONMENT.exists() else sys.executable
    command = [str(python), __file__, *map(str, arguments)]
    own = {**os.environ, **ONE_THREAD, "MPLBACKEND": "Agg"}
    try:
        done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return {"note": f"more than {PATIENCE_S} s by the clock"}
    if done.returncode == -signal.SIGXCPU:
        return {"note": f"more than {LIMIT_S} s", "seconds": LIMIT_S}
    if done.returncode:
        last = (done.stderr.splitlines() or [""])[-1]
        return {"note": f"ended with {done.returncode}: {last}".replace("#", "")[:150]}
    return json.loads(done.stdout.splitlines()[-1])


def usable():
    """Find out which choosers can be used, and name the others."""
    found = call("--usable")
    if "note" in found:
        sys.exit(found["note"])
    for chooser, state in found.items():
        print(f"{chooser}: {state['version'] or 'CANNOT BE USED, ' + state['note']}", flush=True)
    return found


def names(folder):
    """Name every set, with its group."""
    import sets

    found = dict.fromkeys(sets.names(), "paper")
    index = folder / "INDEX.csv"
    if not index.exists():
        print(f"{index} is not there: only the paper's sets.")
        return found
    return found | dict.fromkeys(pd.read_csv(index)["name"], "validation")


def load(name, group, folder):
    """Read a set: no more than 2000 rows, and the label sets."""
    if group == "paper":
        import sets

        X, truths = sets.load(name)
    else:
        frame = pd.read_csv(folder / f"{name}.csv.gz")
        X = frame.filter(regex=r"^f\d+$").to_numpy(np.float64)
        truths = [frame[column].to_numpy() for column in frame.filter(regex="^label")]
    kept = slice(None)
    if len(X) > MOST_ROWS:
        kept = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return np.ascontiguousarray(X[kept]), [truth[kept] for truth in truths]


def measure(chooser, X, truths, state):
    """Ask one chooser about one set: the columns of its row that are not known before."""
    from sklearn.cluster import KMeans

    if state["note"]:
        return {"note": f"cannot be used, {state['note']}"}
    with tempfile.TemporaryDirectory() as place:
        np.save(Path(place) / "X.npy", X)
        found = call("--one", chooser, place)
        file = Path(place) / "labels.npy"
        labels = np.load(file) if file.exists() else None
    row = {"version": state["version"], "note": found.get("note", "")}
    if "seconds" in found:
        row["seconds"] = f"{found['seconds']:.4g}"
    k = found.get("k")
    if chooser == OURS and labels is not None:
        row["path_ari"] = " ".join(f"{ari(truths, each):.5f}" for each in labels)
        labels = labels[k - 1]
        if found["seconds"] > LIMIT_S:
            return row | {"note": f"more than {LIMIT_S} s"}
    if k is None:
        return row | {"note": row["note"] or "says none"}
    if labels is None:
        labels = KMeans(k, n_init=10, random_state=0).fit_predict(X)
    return row | {"k": str(k), "ari": f"{ari(truths, labels):.5f}"}


def ari(truths, labels):
    """Return the adjusted Rand index, the mean over the label sets."""
    from sklearn.metrics import adjusted_rand_score

    return float(np.mean([adjusted_rand_score(truth, labels) for truth in truths]))


def study(folder, only):
    """Run what is not done yet."""
    groups = names(folder)
    unknown = set(only) - set(groups)
    if unknown:
        sys.exit(f"no such sets: {', '.join(sorted(unknown))}")
    states = usable()
    rows = read()
    wanted = [(name, chooser) for name in groups for chooser in CHOOSERS]
    for name in only or groups:
        todo = [chooser for chooser in CHOOSERS if not is_done(rows, name, chooser, states)]
        if not todo:
            continue
        X, truths = load(name, groups[name], folder)
        for chooser in todo:
            known = dict(zip(KNOWN, (name, groups[name], *X.shape, chooser)))
            row = known | measure(chooser, X, truths, states[chooser])
            rows[name, chooser] = {column: row.get(column, "") for column in COLUMNS}
            shown = ("data", "chooser", "k", "seconds", "ari", "note")
            print(*(row.get(column, "") for column in shown), sep="  ", flush=True)
            save(rows, wanted)


def is_done(rows, name, chooser, states):
    """Say whether there is a row, made with the version that is installed."""
    row = rows.get((name, chooser))
    return row is not None and states[chooser]["version"] in ("", row["version"])


def read():
    """Read the rows that are there, as they were written."""
    if not FILE.exists():
        return {}
    frame = pd.read_csv(FILE, comment="#", dtype=str, keep_default_na=False)
    return {(row["data"], row["chooser"]): row for row in frame.to_dict("records")}


def save(rows, wanted):
    """Write all rows, in the order of the sets, and where they come from."""
    order = [key for key in wanted if key in rows]
    order += [key for key in rows if key not in wanted]
    text = pd.DataFrame([rows[key] for key in order], columns=COLUMNS).to_csv(index=False)
    done = all(key in rows and rows[key]["version"] for key in wanted)
    FILE.parent.mkdir(exist_ok=True)
    with whole(FILE) as part:
        part.write_text(head(done) + text)


@cache
def head(done):
    """Return the machine, the command, and the line that provenance.py looks for."""
    _, _, parts = provenance.RESULTS.get(NAME, (SCRIPT, (), ()))
    word = "sources" if done else "unfinished"
    told = f"commit {provenance.commit()}, {word} {provenance.digest(SCRIPT, parts)}"
    return f"# {machine()}\n# python {SCRIPT}\n# {told}\n"


# The table.


def regrets(found):
    """Return the rows that count for regret, with it: those with an answer, on fitting sets."""
    paths = found[found["path_ari"].notna()].set_index("data")["path_ari"]
    curves = {name: np.array(text.split(), float) for name, text in paths.items()}
    usual = [name for name, curve in curves.items() if curve.max() >= LEAST_ARI]
    rows = found[found["k"].notna() & found["data"].isin(usual)].copy()
    rows["regret"] = [regret(curves[name], int(k)) for name, k in zip(rows["data"], rows["k"])]
    return rows


def regret(curve, k):
    """Return the normalised regret of a k; entry k - 1 of the curve is the ARI of k."""
    return float(np.clip(1 - curve[min(k, len(curve)) - 1] / curve.max(), 0, 1))


def table():
    """Write a line for each chooser as a Markdown table."""
    found = pd.read_csv(FILE, comment="#")
    judged = regrets(found)
    lines = [
        "| chooser | regret, 28 sets | regret, validation | ARI of its labels, 28 sets "
        "| ARI of its labels, validation | sets answered | median seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for chooser in CHOOSERS:
        rows = found[found["chooser"] == chooser]
        if rows.empty:
            continue
        cells = [chooser]
        cells += [_regret_cell(judged, chooser, group) for group in ("paper", "validation")]
        cells += [_mean_cell(rows, group) for group in ("paper", "validation")]
        cells += [f"{rows['k'].notna().sum()} of {len(rows)}", _seconds_cell(rows)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def tables():
    """Return what belongs on the page, by its mark."""
    return {"choosers": table()}


def _regret_cell(judged, chooser, group):
    """Return the mean regret; where sets are missing, ours on the same sets besides."""
    part = judged[judged["group"] == group]
    theirs = part[part["chooser"] == chooser]
    own = part[part["chooser"] == OURS]
    if theirs.empty:
        return "none"
    text = f"{theirs['regret'].mean():.3f}"
    if chooser != OURS and len(theirs) < len(own):
        same = own[own["data"].isin(theirs["data"])]
        text += f" (on {len(theirs)} of {len(own)}; ours there {same['regret'].mean():.3f})"
    return text


def _mean_cell(rows, group):
    """Return the mean ARI of the labels, over the sets that were answered."""
    values = rows.loc[rows["group"] == group, "ari"].dropna()
    return f"{values.mean():.3f}" if len(values) else "none"


def _seconds_cell(rows):
    """Return the median; a run that was killed counts with the limit."""
    seconds = rows["seconds"].dropna()
    if seconds.empty:
        return "none"
    middle = seconds.median()
    return f"over {LIMIT_S}" if middle >= LIMIT_S else f"{middle:.2g}"


def main():
    """Run the study, or a part of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=BESIDE)
    parser.add_argument("--only", nargs="+", default=[], metavar="SET")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    if asked.check:
        usable()
    elif not asked.table:
        study(asked.folder, asked.only)
    if asked.table or not asked.check:
        print(table())
        PAGE.write_text(filled(PAGE.read_text(), tables()))


def child(arguments):
    """Do what `call` asks for, and print it as a line of JSON."""
    warnings.simplefilter("ignore")
    if arguments[0] == "--usable":
        return check()
    try:
        return one(arguments[1], Path(arguments[2]))
    except Exception as error:  # a crash of a package is a result
        return {"note": said(error)}


if __name__ == "__main__":
    if sys.argv[1:2] in (["--one"], ["--usable"]):
        print(json.dumps(child(sys.argv[1:])))
    else:
        main()

"""Whether one cluster is said where there is one, and clusters are found where there are some.

Run with: python experiments/one_or_more.py [--draws 40] [--only one|more] [--out FILE] [--jobs 2]

Every kind of data gets at least so many draws, dealt out evenly over its sizes; sizes of more than
10000 rows get a tenth of theirs. Resumable, and more draws can be added later. The rows are handed
over as they are drawn; only counts and answers from 1 to 5 are asked about a second time,
standardised.
"""

import argparse
import math
import sys
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pages
import pandas as pd
import provenance
from joblib import Parallel, delayed
from scipy import special
from scipy.spatial.distance import pdist
from tqdm import tqdm

from edfkmeans import select_k

NAME = "experiments/results/one_or_more.csv"
RESULTS = Path(__file__).parents[1] / NAME
COMMAND = "python experiments/one_or_more.py"
DRAWS = 40
MANY_ROWS = 10_000
SAVE_EVERY = 15  # seconds
SIZES = [(n, d) for n in (100, 500, 1000) for d in (2, 10, 20, 50) if n > 100 or d <= 20]
# Correlations are for many columns. So are zeros, 0 and 1: two such columns have groups, at 0.
WIDE = [(n, d) for n, d in SIZES if d >= 10]
ITEMS = [(n, d) for n, d in SIZES if d in (10, 20)]
FEW_ROWS = [(50, 200), (100, 500)]


class Case(NamedTuple):
    """A kind of data: how it is drawn, of which sizes, and how many clusters it has."""

    draw: Callable
    sizes: list
    expected: int = 1
    group: str = "one"


# One cluster.


def gaussian(rng, n, d, r=0.0):
    """Draw a Gaussian cloud whose columns all have the correlation r."""
    return math.sqrt(r) * rng.normal(size=(n, 1)) + math.sqrt(1 - r) * rng.normal(size=(n, d))


def mixed_gaussian(rng, n, d):
    """Draw a Gaussian cloud whose columns are random mixtures."""
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def lognormal(rng, n, d, r=0.0):
    """Exponentiate a Gaussian cloud."""
    return np.exp(gaussian(rng, n, d, r))


def shared_gamma(rng, n, d):
    """Add a gamma of every row to the gammas of its columns, which have shapes from 1 to 2."""
    return rng.gamma(2, size=(n, 1)) + rng.gamma(rng.uniform(1, 2, size=d), size=(n, d))


def elliptical_t(rng, n, d, df):
    """Divide every row of a Gaussian cloud by one chi, so that columns are far out together."""
    return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)


def counts(rng, n, d, shared=None):
    """Count by columns with rates from 1 to 5, times a rate that a row's columns share."""
    rates = rng.uniform(1, 5, size=d)
    if shared == "gamma":
        rates = rates * rng.gamma(2, 1 / 2, size=(n, 1))
    if shared == "log-normal":
        rates = rates * rng.lognormal(0, 0.7, size=(n, 1))
    return rng.poisson(rates, size=(n, d)).astype(float)


def factored(rng, n, d, factors):
    """Draw Gaussian columns with loadings from 0.5 to 0.8 on the factors, which take turns."""
    loadings = rng.uniform(0.5, 0.8, size=d)
    scores = rng.normal(size=(n, factors))[:, np.arange(d) % factors]
    return loadings * scores + np.sqrt(1 - loadings**2) * rng.normal(size=(n, d))


def likert(rng, n, d, factors):
    """Answer items from 1 to 5, of which some are easier to agree to than others."""
    ease = rng.uniform(-0.5, 0.5, size=d)
    return 1.0 + np.digitize(factored(rng, n, d, factors) + ease, [-1.5, -0.5, 0.5, 1.5])


def binary(rng, n, d, factors=0):
    """Draw columns of 0 and 1, with shares of 1 from 0.1 to 0.9."""
    share = rng.uniform(0.1, 0.9, size=d)
    latent = factored(rng, n, d, factors) if factors else rng.normal(size=(n, d))
    return (latent < special.ndtri(share)).astype(float)


def rounded(rng, n, d, step):
    """Round a Gaussian cloud to multiples of a step."""
    return step * np.round(rng.normal(size=(n, d)) / step)


def repeated(rng, n, d):
    """Repeat every row of a Gaussian cloud three times; the last one as often as n allows."""
    return np.repeat(rng.normal(size=(math.ceil(n / 3), d)), 3, axis=0)[:n]


def mostly_zeros(rng, n, d):
    """Draw columns with 70 to 90 % zeros; the others are exponential."""
    zero = rng.uniform(size=(n, d)) < rng.uniform(0.7, 0.9, size=d)
    return np.where(zero, 0.0, rng.exponential(size=(n, d)))


def far_row(rng, n, d, far):
    """Draw a Gaussian cloud, one row of which is far away."""
    return with_far_row(rng, rng.normal(size=(n - 1, d)), far)


def with_far_row(rng, X, far):
    """Add a row that is far from the mean, in any direction."""
    direction = rng.normal(size=X.shape[1])
    return np.vstack([X, X.mean(axis=0) + far * direction / np.linalg.norm(direction)])


def standardised(rng, n, d, draw):
    """Draw, and give all columns the mean 0 and the standard deviation 1."""
    X = draw(rng, n, d)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def one_cases():
    """Return the kinds of data that are one cluster, by name."""
    cases = {
        "Gaussian": Case(gaussian, SIZES),
        "Gaussian, columns mixed at random": Case(mixed_gaussian, SIZES),
        "Gaussian, correlation 0.5": Case(partial(gaussian, r=0.5), WIDE),
        "Gaussian, correlation 0.7": Case(partial(gaussian, r=0.7), WIDE),
        "Gaussian, n < d": Case(gaussian, FEW_ROWS),
        "Gaussian, correlation 0.5, n < d": Case(partial(gaussian, r=0.5), FEW_ROWS),
        "uniform": Case(lambda rng, n, d: rng.uniform(size=(n, d)), SIZES),
        "exponential": Case(lambda rng, n, d: rng.exponential(size=(n, d)), SIZES),
        "log-normal": Case(lognormal, SIZES),
        "log-normal, correlation 0.5": Case(partial(lognormal, r=0.5), SIZES),
        "gamma, shared factor": Case(shared_gamma, SIZES),
        "t with 2 df": Case(lambda rng, n, d: rng.standard_t(2, size=(n, d)), SIZES),
        "t with 3 df": Case(lambda rng, n, d: rng.standard_t(3, size=(n, d)), SIZES),
        "t with 2 df, elliptical": Case(partial(elliptical_t, df=2), SIZES),
        "t with 3 df, elliptical": Case(partial(elliptical_t, df=3), SIZES),
        "0/1": Case(binary, WIDE),
        "0/1, one factor": Case(partial(binary, factors=1), WIDE),
        "normal, rounded to 1 sd": Case(partial(rounded, step=1.0), SIZES),
        "normal, rounded to 0.5 sd": Case(partial(rounded, step=0.5), SIZES),
        "rows repeated three times": Case(repeated, SIZES),
        "mostly zeros": Case(mostly_zeros, WIDE),
        "one row 20 sd away": Case(partial(far_row, far=20), SIZES),
        "one row 100 sd away": Case(partial(far_row, far=100), SIZES),
    }
    discrete = {
        "counts": Case(counts, SIZES),
        "counts, shared gamma rate": Case(partial(counts, shared="gamma"), SIZES),
        "counts, shared log-normal rate": Case(partial(counts, shared="log-normal"), SIZES),
        "Likert, one factor": Case(partial(likert, factors=1), ITEMS),
        "Likert, two factors": Case(partial(likert, factors=2), ITEMS),
    }
    for name, case in discrete.items():
        cases[name] = case
        cases[f"{name}, standardised"] = Case(partial(standardised, draw=case.draw), case.sizes)
    return cases


# More clusters: Gaussian, with a standard deviation of 1 in every column.


def blobs(rng, sizes, centres):
    """Draw Gaussian clusters of some sizes, in random order."""
    centres = np.repeat(centres, sizes, axis=0)
    return rng.permutation(centres + rng.normal(size=centres.shape))


def equidistant(rng, k, d, distance):
    """Place k centres, each so far from each other, turned at random; d is at least k - 1."""
    corners = np.eye(k) * distance / math.sqrt(2)
    left, stretch, _ = np.linalg.svd(corners - corners.mean(axis=0))
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return (left * stretch)[:, : k - 1] @ turn[: k - 1]


def apart(rng, n, d, sizes, distance):
    """Draw groups that are all equally far apart."""
    return blobs(rng, sizes, equidistant(rng, len(sizes), d, distance))


def uneven(rng, n, d):
    """Draw a group of 80 % and four of 5 %, no two centres closer than 8."""
    while True:
        centres = rng.uniform(0, 20, size=(5, d))
        if pdist(centres).min() >= 8:
            return blobs(rng, np.multiply([16, 1, 1, 1, 1], n // 20), centres)


def hidden(rng, n, d):
    """Draw three groups that are 5 apart in 3 of the columns."""
    centres = np.zeros((3, d))
    centres[:, :3] = equidistant(rng, 3, 3, 5)
    return blobs(rng, [n // 3] * 3, centres)


def grid(rng, n, d, side):
    """Draw blobs of 50 rows on a square grid, 8 apart."""
    centres = 8.0 * np.stack(np.meshgrid(range(side), range(side)), axis=-1).reshape(-1, 2)
    return blobs(rng, [50] * side**2, centres)


def three_and_far_row(rng, n, d):
    """Draw three groups 10 apart, and a row 100 away."""
    return with_far_row(rng, apart(rng, n - 1, d, [n // 3] * 3, 10), 100)


def more_cases():
    """Return the kinds of data with more clusters, by name."""
    cases = {}

    def add(name, draw, rows, columns, expected):
        cases[name] = Case(draw, [(rows, d) for d in columns], expected, "more")

    def add_apart(name, sizes, distance, columns=(2, 5, 10)):
        draw = partial(apart, sizes=sizes, distance=distance)
        add(name, draw, sum(sizes), columns, len(sizes))

    pairs = [(490, 10), (475, 25), (450, 50), (990, 10), (4990, 10), (49750, 250)]
    for distance in (6, 10, 40):
        for large, small in pairs:
            add_apart(f"{large} + {small}, {distance} sd apart", (large, small), distance)
    for k, word in ((2, "two"), (3, "three")):
        for rows in (50, 100, 500):
            add_apart(f"{word} of {rows}, 4 sd apart", (rows,) * k, 4)
    for rows in (500, 2000):
        add(f"80/5/5/5/5 % of {rows}, 8 sd apart", uneven, rows, (2, 5), 5)
    add("three of 100, 5 sd apart in 3 of 20 columns", hidden, 300, (20,), 3)
    for side in (4, 5):
        name = f"grid of {side} x {side}, 8 sd apart"
        add(name, partial(grid, side=side), 50 * side**2, (2,), side**2)
    add("three of 100, 10 sd apart, one row 100 sd away", three_and_far_row, 301, (5, 10, 20), 3)
    add_apart("two of 250, 3 sd apart (for information)", (250, 250), 3, (2,))
    return cases


CASES = one_cases() | more_cases()
ORDER = {name: place for place, name in enumerate(CASES)}


def tasks(draws, groups):
    """List the draws of some groups: the kind, rows, columns, and the number of the draw."""
    found = []
    for kind, case in CASES.items():
        if case.group in groups:
            share = draws / len(case.sizes)
            for n, d in case.sizes:
                times = math.ceil(share / 10 if n > MANY_ROWS else share)
                found += [(kind, n, d, draw) for draw in range(times)]
    return found


def ask(kind, n, d, draw):
    """Choose k for one draw. An error is an answer too, a wrong one."""
    case = CASES[kind]
    X = case.draw(np.random.default_rng([zlib.crc32(kind.encode()), n, d, draw]), n, d)
    assert X.shape == (n, d)
    k, error = None, None
    try:
        k = select_k(X, random_state=draw, n_jobs=1).k
    except Exception as problem:
        error = f"{type(problem).__name__}: {problem}"
    return {
        "group": case.group,
        "kind": kind,
        "n": n,
        "d": d,
        "expected": case.expected,
        "draw": draw,
        "k": k,
        "error": error,
    }


def key(row):
    """Return what tells a draw from all others."""
    return row["kind"], row["n"], row["d"], row["draw"]


def run(draws=DRAWS, only=None, out=RESULTS, jobs=2, command=COMMAND) -> None:
    """Do what is not done yet."""
    # Asked now: sources that change while this runs play no part in it.
    lines = {done: provenance.line(NAME, done) for done in (False, True)}
    rows = []
    if out.exists():
        if not lines[True].endswith(f" {provenance.told(out)[1]}"):
            sys.exit(f"{out} has rows of other sources: move it away, or name another --out.")
        rows = pd.read_csv(out, comment="#").to_dict("records")

    def save():
        rows.sort(key=lambda row: (ORDER[row["kind"]], *key(row)[1:]))
        done = not set(tasks(draws, ("one", "more"))) - {key(row) for row in rows}
        frame = pd.DataFrame(rows).astype({"k": "Int64"})
        fresh = out.with_name(f"{out.name}.part")
        fresh.write_text(f"# {command}\n{lines[done]}\n" + frame.to_csv(index=False))
        fresh.replace(out)

    done = {key(row) for row in rows}
    todo = [task for task in tasks(draws, (only,) if only else ("one", "more")) if task not in done]
    answers = Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(
        delayed(ask)(*task) for task in todo
    )
    saved = time.monotonic()
    for answer in tqdm(answers, total=len(todo)):
        rows.append(answer)
        if time.monotonic() - saved > SAVE_EVERY:
            save()
            saved = time.monotonic()
    save()


def table(group, out=RESULTS) -> str:
    """Write what was said of every kind, over all its sizes, as a Markdown table."""
    lines = []
    for kind, rows in of_group(group, out).groupby("kind", sort=False):
        line = {
            {"one": "one cluster", "more": "more clusters"}[group]: kind,
            "clusters": rows["expected"].iloc[0],
            "draws": len(rows),
            "said 1 in %": f"{100 * rows['one'].mean():.0f}",
            "exact in %": f"{100 * rows['exact'].mean():.0f}",
            "median k": f"{rows['k'].median():g}",
            "errors": rows["k"].isna().sum(),
        }
        lines.append(line)
    frame = pd.DataFrame(lines)
    dull = [] if frame["errors"].any() else ["errors"]
    if group == "one":  # both shares are the same
        dull += ["clusters", "exact in %"]
    return pages.markdown(frame.drop(columns=dull))


def size_table(group, out=RESULTS) -> str:
    """Write the share of right answers and the median k of every kind and size."""
    found = of_group(group, out)
    if group == "one":
        found["size"] = found["n"].astype(str) + " x " + found["d"].astype(str)
        first = "one cluster, said 1 in % (median k)"
    else:  # the name of the kind tells the rows
        found["size"] = "d = " + found["d"].astype(str)
        first = "more clusters, exact in % / said 1 in % (median k)"
    sizes = found.sort_values(["n", "d"] if group == "one" else ["d"])["size"].unique()
    lines = []
    for kind, rows in found.groupby("kind", sort=False):
        cells = {size: cell(part, group) for size, part in rows.groupby("size")}
        lines.append({first: kind} | {size: cells.get(size, "") for size in sizes})
    return pages.markdown(pd.DataFrame(lines))


def cell(rows, group):
    """Write the shares and the median k of one kind and size."""
    exact, one = (f"{100 * rows[share].mean():.0f}" for share in ("exact", "one"))
    return f"{exact if group == 'one' else f'{exact} / {one}'} ({rows['k'].median():g})"


def of_group(group, out):
    """Read the rows of a group; what is not there yet is left out."""
    found = pd.read_csv(out, comment="#")
    found = found[found["group"] == group].copy()
    return found.assign(one=found["k"] == 1, exact=found["k"] == found["expected"])


def main() -> None:
    """Read the options, run, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=DRAWS, help="of every kind, over all sizes")
    parser.add_argument("--only", choices=("one", "more"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    run(**vars(options), command=" ".join([COMMAND, *sys.argv[1:]]))
    for group in (options.only,) if options.only else ("one", "more"):
        print(f"\n{table(group, options.out)}\n\n{size_table(group, options.out)}")


if __name__ == "__main__":
    main()

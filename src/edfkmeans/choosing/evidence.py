"""Evidence: what speaks for and against every k, as one row of numbers each.

All numbers are free of the scale of X and come from curves over k. Curves are entered by where they
stand: less their best value, above their neighbours, and how far k is from where they are best.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from edfkmeans._streams import seed_of
from edfkmeans.choosing.looks import LARGE, Look, Looks
from edfkmeans.criteria import rules
from edfkmeans.criteria.contrast import KINDS, Contrast, Contrasts, log_parts
from edfkmeans.criteria.criterion import Given, Need, Work
from edfkmeans.criteria.information import Dofs, bic
from edfkmeans.dof.columns import effective_columns
from edfkmeans.dof.smoothing import interior_minima, smooth
from edfkmeans.engines import open_rows
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.path import KMeansPath
from edfkmeans.fits.search import fit_rows, usual_k_max
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats

_MADE_OF: tuple[Need[Any], ...] = (Dofs(), Contrast(), Look())
# What stands for a number that there is none of.
ABSENT = -9.0
# Numbers beyond this are all alike.
_MOST = 1e4
# Digits: a tree must not turn on an error of rounding.
_DIGITS = 6

Curves = dict[str, Floats]


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the judge sees of a path.

    Attributes
    ----------
    curves : mapping of str to ndarray of shape (k_max,)
        What k is judged by; entry k - 1 belongs to k. Names are "group.what".
    whole : mapping of str to float
        What "one or more" is judged by: numbers of the whole set.
    table : mapping of str to ndarray of shape (k_max,)
        The curves that people know, to be shown.
    """

    curves: Mapping[str, Floats]
    whole: Mapping[str, float]
    table: Mapping[str, Floats]


def evidence(
    X: Any, k_max: int | None = None, *, random_state: Any = None, n_jobs: int | None = None
) -> tuple[Evidence, KMeansPath]:
    """Gather what the judge sees of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    k_max, random_state, n_jobs
        See `fit_path`.

    Returns
    -------
    Evidence
    KMeansPath
        The fits that it was seen in.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans.choosing.evidence import evidence
    >>> found, path = evidence(load_iris().data, 8, random_state=0)
    >>> found.curves["silhouette.mean"][1:4].round(2)
    array([0.68, 0.55, 0.5 ])
    """
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs)
    rows = open_rows(X, seed, n_jobs, False)
    path = fit_rows(rows, k_max, seed, n_jobs=n_jobs)
    given = Given()
    with Threads(n_jobs) as pool:
        for need in NEEDS:
            given.provide(need, rows, path, Work(seed, pool))
    return evidence_of(rows, path, given), path


@dataclass(frozen=True)
class Usual(Need[Evidence | None]):
    """The evidence of the k that X is usually asked for, where a path is longer than that.

    To ask for more k must not change what is said of these.
    """

    adds_up = True

    def make(self, rows: Rows, path: KMeansPath, given: Given, work: Work) -> Evidence | None:
        usual = usual_k_max(rows)
        if path.k_max <= usual:
            return None
        near, seen = path.up_to(usual), Given()
        for need in _MADE_OF:
            seen.provide(need, rows, near, Work(work.seed, work.pool))
        return _evidence(rows, near, seen)


NEEDS: tuple[Need[Any], ...] = (*_MADE_OF, Usual())


def evidence_of(rows: Rows, path: KMeansPath, given: Given) -> Evidence:
    """Gather the evidence for every k from 1 to k_max."""
    all_k, usual = _evidence(rows, path, given), given[Usual()]
    if usual is None:
        return all_k

    def joined(first: Mapping[str, Floats], whole: Mapping[str, Floats]) -> Curves:
        return {name: np.append(first[name], whole[name][len(first[name]) :]) for name in whole}

    return Evidence(
        joined(usual.curves, all_k.curves), usual.whole, joined(usual.table, all_k.table)
    )


def _evidence(rows: Rows, path: KMeansPath, given: Given) -> Evidence:
    looks, contrasts = given[Look()], given[Contrast()]
    columns = effective_columns(rows, path)
    table = _table(path, looks, contrasts, given, columns)
    parts = log_parts(path.inertia)
    groups = {
        "silhouette": _silhouette(looks, contrasts, table),
        "bic": _bic(path, table, columns) | _mixtures(looks),
        "gap": _gap(parts, contrasts),
        "inertia": _inertia(parts, path),
        "saddle": _saddle(looks, contrasts),
        "stability": _stability(looks),
        "sizes": _sizes(path),
    }
    context = _context(path, looks, columns)
    found = {
        f"{group}.{name}": values
        for group, members in groups.items()
        for name, values in members.items()
    }
    # All at once: a call for each of some hundred curves takes longer than what it does.
    curves = dict(zip(found, _plain(np.array(list(found.values()))), strict=True))
    ks = np.arange(1, path.k_max + 1)
    curves["context.log_k"] = np.log(ks)
    curves["context.log_rows_per_cluster"] = np.log(path.n_samples / ks)
    known = dict(zip(context, _plain(np.array(list(context.values()))).tolist(), strict=True))
    for name, value in known.items():
        curves[f"context.{name}"] = np.full(path.k_max, value)
    whole = _whole(curves, table, path, contrasts, looks)
    told = dict(zip(whole, _plain(np.array(list(whole.values()))).tolist(), strict=True))
    told |= {f"context.{name}": value for name, value in known.items()}
    return Evidence(curves, told, table)


def _plain(values: Floats) -> Floats:
    """Replace what is no number, and bound the rest."""
    return np.clip(np.where(np.isnan(values), ABSENT, values), -_MOST, _MOST).round(_DIGITS)


def _table(
    path: KMeansPath, looks: Looks, contrasts: Contrasts, given: Given, columns: float
) -> Curves:
    exact, paper = given[Dofs()]["exact"], given[Dofs()]["paper"]
    inertia = np.maximum(path.inertia[:-1], 1e-13 * path.inertia[0])
    reference = contrasts.silhouettes["box"]
    return {
        "dof_raw": exact,
        "dof": smooth(exact),
        "bic": bic(inertia, smooth(exact), path.n_samples, columns),
        "bic_raw": bic(inertia, exact, path.n_samples, columns),
        "bic_paper": bic(inertia, smooth(paper), path.n_samples, path.n_features),
        "silhouette": looks.silhouette,
        "silhouette_reference": reference,
        "silhouette_above": rules.above(looks.silhouette, reference),
        "saddle": looks.saddle,
    }


def _placed(name: str, values: Floats, best: str) -> Curves:
    """Enter a curve: itself, less its best, above its neighbours, and k over its best k."""
    sign = 1.0 if best == "max" else -1.0
    up = (sign * values).round(_DIGITS)
    known = np.isfinite(up)
    if not known.any():
        nothing = np.full(len(values), np.nan)
        return {name + end: nothing for end in ("", "_less_best", "_depth", "_away")}
    k_best = int(np.nanargmax(up)) + 1
    return {
        name: values,
        f"{name}_less_best": up - np.nanmax(up),
        f"{name}_depth": _depth(up),
        f"{name}_away": np.log(np.arange(1, len(up) + 1) / k_best),
    }


def _depth(up: Floats) -> Floats:
    """Return how far every value stands above the higher of its neighbours."""
    walled = np.concatenate([[np.nan], up, [np.nan]])
    return np.asarray(up - np.fmax(walled[:-2], walled[2:]))


def _silhouette(looks: Looks, contrasts: Contrasts, table: Curves) -> Curves:
    margins = rules.above(looks.silhouette, contrasts.silhouettes["margins"])
    return {
        **_placed("mean", looks.silhouette, "max"),
        **_placed("above", table["silhouette_above"], "max"),
        **_placed("above_margins", margins, "max"),
        "least": looks.least_silhouette,
        "negative": looks.negative,
        **_placed("davies_bouldin", looks.davies_bouldin, "min"),
        "davies_bouldin_ratio": looks.davies_bouldin / np.fmin.reduce(looks.davies_bouldin),
    }


def _bic(path: KMeansPath, table: Curves, columns: float) -> Curves:
    ks = np.arange(1, path.k_max + 1)
    residuals = {"bic": columns, "bic_raw": columns, "bic_paper": float(path.n_features)}
    found: Curves = {}
    for name, width in residuals.items():
        values = table[name] / (path.n_samples * width)
        less = values - values[0]
        placed = _placed(name, less, "min")
        found |= placed
        found[f"{name}_part"] = less / max(-float(less.min()), 1e-9)
        valleys = interior_minima(values)
        valley = np.zeros(path.k_max)
        valley[valleys] = 1.0
        found[f"{name}_valley"] = valley
        found[f"{name}_first"] = np.log(ks / rules.paper(values))
    free = path.n_samples * path.n_features
    found["excess"] = (table["dof_raw"] - ks * path.n_features) / free
    found["excess_dip"] = -_depth(-np.log(np.maximum(table["dof_raw"], 1e-9)))
    return found


def _mixtures(looks: Looks) -> Curves:
    return {
        **_placed("balls", looks.balls - looks.balls[0], "min"),
        **_placed("boxes", looks.boxes - looks.boxes[0], "min"),
    }


def _gap(parts: Floats, contrasts: Contrasts) -> Curves:
    found: Curves = {}
    for kind in KINDS:
        gap = contrasts.logs[kind].mean(axis=0) - parts[:-1]
        found |= _placed(kind, gap, "max")
        found[f"{kind}_step"] = np.diff(gap, prepend=np.nan)
        found[f"{kind}_next"] = np.diff(gap, append=np.nan)
    return found


def _inertia(parts: Floats, path: KMeansPath) -> Curves:
    # From k to k + 1, for every k; clusterings of one's own may even become worse.
    steps = np.maximum(-np.diff(parts), 0.0)
    before = np.concatenate([[np.nan], steps[:-1]])
    k = np.arange(1, path.k_max + 1)
    chord = parts[0] + (parts[-1] - parts[0]) * np.log(k) / np.log(path.k_max + 1)
    left = np.exp(parts[:-1])
    with np.errstate(divide="ignore", invalid="ignore"):  # one cluster, or nothing left
        ratio = (1 - left) / (k - 1) / (left / np.maximum(path.n_samples - k, 1))
        ratio[0] = np.nan
    highest = np.fmax.reduce(ratio)
    return {
        "log_part": parts[:-1],
        "bend": before - steps,
        "log_ratio_of_steps": np.log((before + 1e-6) / (steps + 1e-6)),
        "below_chord": (chord - parts[:-1]) / max(-float(parts[-1]), 1e-9),
        "step_by_columns": before * path.n_features * k / 2,
        **_placed("calinski", np.log(np.maximum(ratio / highest, 1e-9)), "max"),
    }


def _saddle(looks: Looks, contrasts: Contrasts) -> Curves:
    below = {kind: contrasts.saddles[kind] - looks.saddle for kind in contrasts.saddles}
    return {
        **_placed("mean", looks.saddle, "min"),
        "next": np.diff(looks.saddle, append=np.nan),
        **_placed("held", looks.held_saddle, "min"),
        "highest": looks.highest_saddle,
        "lowest": looks.lowest_saddle,
        "lowest_size": np.log(looks.lowest_size),
        **_placed("apart", looks.apart[1, 0], "min"),
        "apart_size": np.log(looks.apart[1, 1]),
        "cut": looks.cut,
        "cut_next": np.diff(looks.cut, append=np.nan),
        "highest_next": np.diff(looks.highest_saddle, append=np.nan),
        **_placed("below_box", below["box"], "max"),
        **_placed("below_margins", below["margins"], "max"),
    }


def _stability(looks: Looks) -> Curves:
    return {
        **_placed("halves", looks.halves, "max"),
        "nested": looks.nested[:-1],
        "nested_next": looks.nested[1:],
    }


def _sizes(path: KMeansPath) -> Curves:
    every = [np.sort(path.sizes(k)) for k in range(1, path.k_max + 1)]
    n = path.n_samples
    return {
        "least": np.array([np.log(sizes[0]) for sizes in every]),
        "least_by_share": np.array([sizes[0] * len(sizes) / n for sizes in every]),
        "largest": np.array([sizes[-1] / n for sizes in every]),
        "evenness": np.array([_evenness(sizes / n) for sizes in every]),
        "tiny": np.array([(sizes < 5).mean() for sizes in every]),
    }


def _evenness(shares: Floats) -> float:
    return float(-(shares * np.log(shares)).sum() / np.log(len(shares))) if len(shares) > 1 else 1.0


def _context(path: KMeansPath, looks: Looks, columns: float) -> dict[str, float]:
    return {
        "log_rows": float(np.log(path.n_samples)),
        "log_columns": float(np.log(path.n_features)),
        "log_effective_columns": float(np.log(columns)),
        "log_rows_per_column": float(np.log(path.n_samples / path.n_features)),
        "log_k_max": float(np.log(path.k_max)),
        **looks.shape,
    }


# What is taken of a curve for the whole set: its value at k = 2, and its best one from k = 2.
_TAKEN: dict[str, str] = {
    "silhouette.mean": "max",
    "silhouette.above": "max",
    "silhouette.above_margins": "max",
    "silhouette.least": "max",
    "silhouette.davies_bouldin": "min",
    "bic.bic": "min",
    "bic.bic_raw": "min",
    "bic.bic_paper": "min",
    "bic.balls": "min",
    "bic.boxes": "min",
    "gap.box": "max",
    "gap.normal": "max",
    "gap.margins": "max",
    "gap.box_step": "max",
    "gap.normal_step": "max",
    "gap.margins_step": "max",
    "inertia.bend": "max",
    "inertia.log_ratio_of_steps": "max",
    "inertia.below_chord": "max",
    "inertia.log_part": "min",
    "saddle.mean": "min",
    "saddle.held": "min",
    "saddle.highest": "min",
    "saddle.lowest": "min",
    "saddle.cut": "min",
    "saddle.below_box": "max",
    "saddle.below_margins": "max",
    "stability.halves": "max",
    "stability.nested": "max",
}


def _whole(
    curves: Mapping[str, Floats],
    table: Curves,
    path: KMeansPath,
    contrasts: Contrasts,
    looks: Looks,
) -> dict[str, float]:
    whole: dict[str, float] = {}
    if path.k_max == 1:
        return {}
    for name, best in _TAKEN.items():
        values = curves[name][1:]
        known = values[values != ABSENT]
        pick = {"max": np.max, "min": np.min}[best]
        whole[f"{name}_at_2"] = float(values[0])
        whole[f"{name}_best"] = float(pick(known)) if known.size else np.nan
        at = {"max": np.argmax, "min": np.argmin}[best](values)
        whole[f"{name}_best_k"] = float(np.log(at + 2))
    clear = int(np.argmax(curves["silhouette.above"][1:])) + 1
    for name in _TAKEN:
        whole[f"{name}_at_clear"] = float(curves[name][clear])
    for kind in KINDS:
        logs = contrasts.logs[kind][:, 1:]
        gap = logs.mean(axis=0) - log_parts(path.inertia)[1:-1]
        error = np.maximum(logs.std(axis=0), 1e-3)
        whole[f"gap.{kind}_in_errors"] = float(np.nanmax(np.append(gap / error, -_MOST)))
    for kind, below in contrasts.early.items():
        for k, value in enumerate(below, 2):
            whole[f"gap.{kind}_early_{k}"] = float(value)
    for name, value in looks.islands.items():
        whole[f"saddle.island_{name}"] = value
    for name, value in looks.line.items():
        whole[f"saddle.line_{name}"] = value
    for least, (lowest, sizes) in zip(LARGE, looks.apart, strict=True):
        k = int(np.nanargmin(lowest))
        whole[f"saddle.apart_{least}"] = float(lowest[k])
        whole[f"saddle.apart_{least}_size"] = float(np.log(sizes[k]))
        whole[f"saddle.apart_{least}_k"] = float(np.log(k + 1))
        whole[f"saddle.apart_{least}_often"] = float((lowest[1:] < 0.3).mean())
        whole[f"saddle.apart_{least}_silhouette"] = float(looks.silhouette[k])
    return whole

"""Comparison: what every criterion says about one set of fits, and `compare`, which asks them."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from edfkmeans import _html
from edfkmeans._choices import Brought, Fits, Metric
from edfkmeans._progress import progress_bar
from edfkmeans._streams import STEADY, seed_of
from edfkmeans.choosing import judge as _judge  # noqa: F401 - to have it registered
from edfkmeans.criteria import Criterion, Curve, Given, Need, NotApplicable, Work
from edfkmeans.criteria.criterion import ask, registered
from edfkmeans.engines.threads import Threads, effective_jobs
from edfkmeans.fits.clusterer import asked_clusterer, refuse_estimator
from edfkmeans.fits.path import KMeansPath, check_path, open_for
from edfkmeans.fits.search import check_k_max, fit_rows, usual_k_max
from edfkmeans.rows.directions import check_metric
from edfkmeans.rows.rows import Rows

# Part of the criteria that is called most of them.
_MOST = 2 / 3
# Part of those that can answer 1 from which it is worth a word that they do.
_SEVERAL = 1 / 3


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What every criterion says about the same fits.

    Attributes
    ----------
    table : DataFrame
        A row for each criterion: the ``k`` it chooses (missing where it has no answer), its
        ``value`` there, the ``rule`` by which k was read off, ``can_say_one`` (whether it can
        answer 1 at all), ``seconds`` (beyond the fits; criteria that share work are each charged
        for all of it), ``remark``, and ``ari`` against the labels given, if there were any.
    curves : dict of str to Curve
        The values for every k, by the criterion's name.
    path : KMeansPath
        The fits.
    """

    table: pd.DataFrame
    curves: dict[str, Curve]
    path: KMeansPath

    def plot(self, axes: Any = None) -> Any:
        """Draw a small curve for each criterion; see `edfkmeans.plots.plot_comparison`."""
        from edfkmeans.plots import plot_comparison

        return plot_comparison(self, axes=axes)

    def to_html(self, file: Any, **details: Any) -> None:
        """Write a report, one HTML file; see `edfkmeans.report.write_comparison`."""
        from edfkmeans.report import write_comparison

        write_comparison(self, file, **details)

    @property
    def summary(self) -> str:
        """How many criteria say what: "9 of 14 criteria say 3; 2 say 4; 5 and 30 are said once"."""
        counts = self._counts
        if counts.empty:
            return "No criterion has an answer."
        said = [(k, int(count)) for k, count in counts.items() if count > 1]
        once = [str(k) for k, count in counts.sort_index().items() if count == 1]
        total = int(counts.sum())
        if total == 1:
            return f"1 criterion says {once[0]}."
        parts = []
        for nth, (k, count) in enumerate(said):
            parts.append(f"{count} of {total} criteria say {k}" if nth == 0 else f"{count} say {k}")
        if once:
            alone = f"{_enumerated(once)} {'is' if len(once) == 1 else 'are'} said once"
            parts.append(alone if said else f"{total} criteria: {alone}")
        return "; ".join(parts) + "."

    @property
    def meaning(self) -> tuple[str, ...]:
        """What it means that the criteria agree, or that they do not, in sentences."""
        answers = self.table["k"].dropna().astype(int)
        if answers.empty:
            return ("The remarks say why none of them has an answer.",)
        counts, last = self._counts, self.path.k_max
        top = int(str(counts.index[0]))
        # Those that run to the end have found none, and are no voices against the others.
        found = int(counts.sum()) - (int(counts.get(last, 0)) if top != last else 0)
        share = float(counts.iloc[0]) / found
        sentences = []
        if len(answers) == 1:
            sentences.append("One criterion alone has an answer: others may say another k.")
        elif len(counts) == 1:
            sentences.append(f"All agree on {top}: there is little to discuss.")
        elif share >= _MOST:
            sentences.append(f"Most agree on {top}: there is more behind it than one criterion.")
        else:
            sentences.append(
                "They do not agree: groups of different size or shape, groups within groups, or no "
                "clear groups at all. Look at the rows for several k before you settle on one."
            )
        if "judge" in answers:
            sentences.append(
                f"The judge, whose answer select_k and edfkmeans select give, has weighed the "
                f"others' evidence: it says {answers['judge']}."
            )
        able = answers[self.table.loc[answers.index, "can_say_one"].astype(bool)]
        ones = int((able == 1).sum())
        if ones and ones >= _SEVERAL * len(able):
            unable = len(answers) - len(able)
            sentences.append(
                f"Of the {len(able)} that can answer 1, {ones} {'does' if ones == 1 else 'do'}: "
                "there may be one cluster only."
                + f" The {unable} that cannot always say 2 or more." * (unable > 1)
                + " The one that cannot always says 2 or more." * (unable == 1)
            )
        endless = answers.index[answers == last].tolist()
        if endless and top != last:
            does = "answers" if len(endless) == 1 else "answer"
            sentences.append(
                f"{_enumerated(endless)} {does} {last}, the largest k there was: that is no end "
                "found, and no answer."
            )
        if len(answers) > 1:
            sentences.append("Do not take a vote: many of the criteria look at the same thing.")
        return tuple(sentences)

    @property
    def _counts(self) -> pd.Series:
        """How many criteria choose each k, most first; of equal ones the smaller k first."""
        counts = self.table["k"].dropna().astype(int).value_counts().sort_index()
        return counts.sort_values(ascending=False, kind="stable")

    def __repr__(self) -> str:
        shown = self._shown()
        shown.index = shown.index.str.ljust(shown.index.str.len().max())
        text = shown.reset_index().to_string(index=False, na_rep="-")
        return "\n".join([self._title, text, *self._remarks, self.summary])

    def _repr_html_(self) -> str:
        """Show a line for each criterion in a notebook."""
        shown = self._shown().reset_index().astype(object)
        lines = shown.where(shown.notna(), "-").astype(str).to_numpy()
        parts = [_html.paragraph(self._title, strong=True), _html.paragraph(self.summary)]
        parts.append(_html.table([str(name).replace("_", " ") for name in shown], lines))
        return f"<div>{''.join(parts)}{_html.listed(self._remarks)}</div>"

    @property
    def _title(self) -> str:
        path = self.path
        return f"Comparison: k of 1..{path.k_max} (n={path.n_samples}, d={path.n_features})"

    @property
    def _remarks(self) -> list[str]:
        return [f"{name}: {remark}." for name, remark in self.table["remark"].items() if remark]

    def _shown(self) -> pd.DataFrame:
        """Return the table with its numbers as text."""
        shown = self.table.drop(columns="remark")
        shown["can_say_one"] = shown["can_say_one"].map({True: "yes", False: "no"})
        shown["seconds"] = shown["seconds"].map("{:.2f}".format)
        shown["value"] = shown["value"].map("{:.5g}".format)
        if "ari" in shown:
            shown["ari"] = shown["ari"].map("{:.3f}".format)
        return shown


def compare(
    X: Any,
    criteria: str | Iterable[str | Criterion] = "all",
    *,
    k_max: int | None = None,
    path: KMeansPath | None = None,
    labels: Any = None,
    fits: Fits = "best",
    n_init: int | None = None,
    clusterer: Any = None,
    metric: Metric = "euclidean",
    random_state: Any = None,
    n_jobs: int | None = None,
    engine: Brought | None = None,
    progress: bool = False,
    sample_weight: Any = None,
) -> Comparison:
    """Ask every criterion how many clusters there are, on the same fits.

    Parameters
    ----------
    X : array-like, or rows elsewhere, of shape (n_samples, n_features)
        See `fit_path`. Of rows that are not in memory, criteria that need more than inertia and
        degrees of freedom see a sample of 131072 and say so in ``remark``.
    criteria : "all" or list of str and Criterion
        Names, as in the index of the result's table, or criteria with parameters of one's own,
        such as ``Gap(n_references=200)`` from `edfkmeans.criteria.gap`.
    k_max : int, optional
        The largest number of clusters to consider, at least 2; see `fit_path`.
    path : KMeansPath, optional
        Fits of X made before. `k_max`, `fits` and `n_init` then play no part, the metric is the
        path's, and `clusterer` must be left out.
    labels : array-like of shape (n_samples,), optional
        A known grouping; every criterion's choice is compared with it by the adjusted Rand index
        (of rows elsewhere, on the sample).
    fits, n_init, clusterer, metric, n_jobs, engine, progress
        See `fit_path`.
    random_state : int, RandomState, Generator or None
        What is drawn. Where the judge is asked, the fits are the same for every seed, see
        `select_k`.
    sample_weight : array-like of shape (n_samples,), optional
        See `fit_path`. With a path, its own weights by default.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import compare
    >>> wine = load_wine()
    >>> X = StandardScaler().fit_transform(wine.data)
    >>> found = compare(X, ["bic", "silhouette", "gap"], labels=wine.target, random_state=0)
    >>> found.table[["k", "can_say_one", "ari"]].round(2)
                k  can_say_one  ari
    criterion
    bic         3      True  0.9
    silhouette  3     False  0.9
    gap         3      True  0.9
    """
    asked = _asked(criteria)
    metric = check_metric(metric, path)
    fitted = asked_clusterer(clusterer, X, fits, n_init, metric, path)
    seed, n_jobs = seed_of(random_state), effective_jobs(n_jobs)
    seen = open_for(path, X, seed, n_jobs, progress, metric, engine, sample_weight, fitted)
    truth = None if labels is None else seen.labels_of_sample(labels)
    if path is None:
        k_max = check_k_max(seen, k_max, least=2)
        beyond = any(criterion.looks_beyond for criterion in asked)
        longest = max(k_max, usual_k_max(seen)) if beyond else k_max
        fits_seed = STEADY if beyond else seed
        whole = fit_rows(
            seen, longest, fits_seed, fits=fits, n_init=n_init, clusterer=fitted, metric=metric,
            n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        path = whole.up_to(k_max)
    elif check_path(path, seen, k_max) != path.k_max or path.k_max < 2:
        raise ValueError(
            f"k_max={k_max!r}, but path has k_max={path.k_max}, and criteria compare the fits of a "
            "whole path of at least 2. Fit a path with the k_max you want."
        )
    else:
        whole = path
    curves, rows = {}, []
    for criterion, curve, seconds in _judged(asked, seen, path, whole, seed, n_jobs, progress):
        row = {
            "criterion": criterion.name,
            "k": pd.NA,
            "value": np.nan,
            "rule": "",
            "can_say_one": criterion.can_say_one,
            "seconds": seconds,
        }
        if isinstance(curve, Curve):
            curves[criterion.name] = curve
            row |= {"k": curve.k, "value": curve.values[curve.k - 1], "rule": curve.rule}
        if truth is not None:
            row["ari"] = _ari(truth, path.sample, curve)
        row["remark"] = _remark(curve, path.k_max, criterion, seen)
        rows.append(row)
    frame = pd.DataFrame(rows).set_index("criterion").astype({"k": "Int64"})
    return Comparison(table=frame, curves=curves, path=path)


def _asked(criteria: str | Iterable[str | Criterion]) -> list[Criterion]:
    """Turn names into criteria."""
    known = registered()
    refuse_estimator("criteria", criteria)
    if isinstance(criteria, str):
        criteria = list(known.values()) if criteria == "all" else [criteria]
    elif isinstance(criteria, Criterion) or not isinstance(criteria, Iterable):
        raise TypeError(f"criteria={criteria!r} must be 'all', or a list of names and criteria.")
    asked: list[Criterion] = []
    for criterion in criteria:
        refuse_estimator("criteria", criterion)
        if isinstance(criterion, str):
            if criterion not in known:
                raise ValueError(f"There is no criterion {criterion!r}; there are {list(known)}.")
            criterion = known[criterion]
        elif not isinstance(criterion, Criterion):
            raise TypeError(
                f"criteria holds {criterion!r}, which is neither a name nor a Criterion; names are "
                f"{list(known)}."
            )
        if criterion.name in (other.name for other in asked):
            raise ValueError(
                f"criteria holds {criterion.name!r} twice. Give one of them another name: "
                f"{type(criterion).__name__}(name=...)."
            )
        asked.append(criterion)
    if not asked:
        raise ValueError(f"criteria is empty. Give 'all' or some of {list(known)}.")
    return asked


def _judged(
    asked: list[Criterion],
    rows: Rows,
    path: KMeansPath,
    whole: KMeansPath,
    seed: int,
    n_jobs: int,
    progress: bool,
) -> list[tuple[Criterion, Curve | NotApplicable, float]]:
    """Make what the criteria need, each need once, and ask them.

    Those that look beyond k_max see the whole path, if that is longer.
    """
    needs = _all_needs(asked)
    judged: list[tuple[Criterion, Curve | NotApplicable, float]] = []
    with (
        progress_bar(progress, "comparing", sum(need.steps() for need in needs)) as bar,
        Threads(n_jobs) as pool,
    ):
        work = Work(seed, pool, lambda: (bar.update(), None)[1])
        near = Given()
        far = near if whole.k_max == path.k_max else Given()
        for criterion in asked:
            bar.set_postfix_str(criterion.name)
            given, seen = (far, whole) if criterion.looks_beyond else (near, path)
            for need in criterion.needs():
                given.provide(need, rows, seen, work)
            start = time.perf_counter()
            try:
                curve: Curve | NotApplicable = _checked(
                    criterion.bounded(path.k_max), rows, seen, given, path.k_max
                )
            except NotApplicable as reason:
                curve = reason
            seconds = time.perf_counter() - start
            seconds += sum(given.seconds(need) for need in criterion.needs())
            judged.append((criterion, curve, seconds))
    return judged


def _checked(criterion: Criterion, rows: Rows, path: KMeansPath, given: Given, k_max: int) -> Curve:
    """Ask a criterion; one of the user's own may answer anything."""
    curve = ask(criterion, rows, path, given)
    if not isinstance(curve, Curve) or len(curve.values) != k_max:
        raise TypeError(
            f"{criterion.name}.curve returned {curve!r}, but must return a Curve with "
            f"k_max={k_max} values."
        )
    return curve


def _enumerated(words: list[str]) -> str:
    """Put words together: "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _all_needs(askers: Iterable[Criterion | Need[Any]]) -> set[Need[Any]]:
    direct = {need for asker in askers for need in asker.needs()}
    return direct | _all_needs(direct) if direct else direct


def _remark(curve: Curve | NotApplicable, k_max: int, criterion: Criterion, rows: Rows) -> str:
    if not isinstance(curve, Curve):
        return str(curve)
    seen = "" if criterion.adds_up or rows.looked_at == "X" else rows.looked_at
    reached = f"k_max = {k_max} was reached" if curve.k == k_max else ""
    return "; ".join(
        filter(None, [curve.remark, seen and f"from {seen.removesuffix(',')}", reached])
    )


def _ari(truth: Any, path: KMeansPath, curve: Curve | NotApplicable) -> float:
    from sklearn.metrics import adjusted_rand_score

    if not isinstance(curve, Curve):
        return np.nan
    return float(adjusted_rand_score(truth, path.labels(curve.k)))

"""Wording: the answer in words, in a terminal, a report or a notebook."""

from typing import cast

import numpy as np

from edfkmeans import _html
from edfkmeans._choices import FITS
from edfkmeans.choosing.resampling import N_RESAMPLES
from edfkmeans.rows.labels import size_text
from edfkmeans.selection import AMBIGUOUS, Selection

# Remarks where the answer is 1: silhouettes this far above the reference, and a BIC this much lower
# for every row, speak loudly against it.
_LOUD_SILHOUETTE, _LOUD_BIC = 0.4, 0.5
_NO_CLUSTERS = "No clusters stand out."
# What probabilities are called, from the highest down.
_LIKELY = (
    (0.9, "very likely"),
    (0.66, "likely"),
    (0.33, "about as likely as not"),
    (0.1, "unlikely"),
    (0.0, "very unlikely"),
)
# Columns of the table that a notebook shows.
_SHOWN = ("inertia", "dof", "bic", "silhouette", "agreement", "near")
# Rows that a row stands for, on average, from which on weights are perhaps not meant as counts.
_MANY_TIMES = 10
# Numbers and runs of numbers that a headline lists, at most; of more it tells the ends.
_LISTED = 5
# Rows that a remark names by their numbers, at most.
_NAMED_ROWS = 5


def headline(found: Selection) -> str:
    """Say the answer and how sure it is.

    Such as "3 clusters; 3 or 4 about as good; expected agreement 0.95".
    """
    parts = [f"{found.k} cluster" + "s" * (found.k != 1)]
    if found.k != found.chosen:
        parts[0] += f", as asked for (the answer was {found.chosen})"
    if len(found.as_good) > 1:
        parts.append(f"{_few_or_many(found.as_good)} about as good")
    if found.confidence is not None:
        agreement = float(found.confidence["agreement"][found.k])
        parts.append(f"expected agreement {agreement:.2f}")
    if found.resamples is not None:
        share = float(found.resamples.get(found.k, 0.0))
        parts.append(f"chosen in {100 * share:.0f} % of {N_RESAMPLES} resamples")
    return "; ".join(parts)


def summary(found: Selection) -> str:
    """Say the answer, how sure it is, why, and the runner-up, in one sentence or two."""
    said = headline(found)
    if found.confidence is not None and found.reasons.get(found.k):
        said += f" ({found.reasons[found.k]})"
    if found.candidates:
        runner_up = found.candidates[0]
        what = "The answer was" if runner_up.k == found.chosen else "Runner-up"
        said += f". {what} k = {runner_up.k}: {runner_up.reason}"
    return said + "."


def sureness(found: Selection) -> str | None:
    """Say how likely it is that k comes within 0.1 of the best; None if not known."""
    if found.confidence is None:
        return None
    near = round(float(found.confidence["near"][found.k]), 2)  # as it is shown
    return next(words for least, words in _LIKELY if near >= least)


def advice(found: Selection) -> tuple[str, str, str]:
    """Say what to do next, in three sentences: about the k, the clusters, and the rows."""
    first = _on_the_k(found)
    if set(remarks(found)) - {_NO_CLUSTERS}:
        first = f"Read the remarks first: what they name can change the answer. {first}"
    if found.k == 1:
        return (
            first,
            "Take the rows as one group unless you know better: clusters that are cut into it "
            "are slices, not groups.",
            "If you expect groups, try the columns in which they should differ, alone.",
        )
    return (
        first,
        "Look at the means of the clusters and give each a name: one that cannot be named is "
        "hardly worth keeping.",
        f"Before you act on single rows, set aside those of an ambiguity above {AMBIGUOUS}, which "
        "sit between clusters.",
    )


def _on_the_k(found: Selection) -> str:
    """Say whether to go on with this k."""
    others = [k for k in found.as_good if k != found.k]
    if others:
        return _look_at(found, others)
    if found.confidence is None:
        return (
            f"Method {found.method!r} does not tell how sure it is: see whether the clusters mean "
            "something to you, and what other k make of them."
        )
    if sureness(found) in ("very likely", "likely"):
        return "No other number of clusters is rated as high: go on with this one."
    return (
        "No other number of clusters is rated as high, but this one is not sure: see whether its "
        "clusters mean something to you."
    )


def _look_at(found: Selection, others: list[int]) -> str:
    rated = "about as high" if found.k in found.as_good else "higher"
    why = "the answer" if found.confidence is None else f"rated {rated}"
    return f"Look at k = {_listed(tuple(others))} too, {why}."


def remarks(found: Selection) -> tuple[str, ...]:
    """Say what to be wary of in this answer; empty when nothing stands out."""
    said = [
        *_on_the_choice(found),
        *_on_the_clusterer(found),
        *_on_failures(found),
        *_on_single_rows(found),
        *_on_weights(found),
    ]
    if found.resamples is not None:
        often = cast("int", found.resamples.idxmax())
        share = float(found.resamples[often])
        if share > float(found.resamples.get(found.k, 0.0)):
            said.append(
                f"On parts of the rows k = {often} is chosen more often "
                f"({100 * share:.0f} %): do not lean on k = {found.k}."
            )
    return (*said, *found.column_remarks)


def _on_the_choice(found: Selection) -> list[str]:
    """Say what speaks against the k that was chosen; nothing where it was asked for."""
    if found.k != found.chosen:
        return []
    said = []
    best = cast("int", found.table["bic"].idxmin())
    if found.confidence is not None:
        said += _against_one(found) if found.k == 1 < found.k_max else []
    elif found.structure is not None:
        if found.k == 1 < found.k_max:
            said.append(
                "No clusters stand out: of samples without any a share of "
                f"{found.structure.share:.2f} look as clustered as these data, or more."
            )
    elif found.k != 1 and best == 1:
        said.append(
            "k = 1 has the lowest BIC of all: there may be no clusters "
            "(rule='r-package' would answer 1)."
        )
    elif found.k not in (best, found.k_max):
        said.append(f"k = {best} has a lower BIC; the rule takes the first local minimum.")
    if found.k == found.k_max > 1:
        larger = found.path.n_samples >= 2 * found.k_max + 4
        said.append(
            f"k_max = {found.k_max} was reached"
            + (
                f": try a larger k_max (in the terminal --k-max {2 * found.k_max})."
                if larger
                else ", which is about all that so few rows allow."
            )
        )
    return said


def _on_the_clusterer(found: Selection) -> list[str]:
    """Say of clusterings that are not those of k-means that the judge has seen none."""
    fits = found.path.fits
    if found.confidence is None or fits in FITS or fits.endswith("KMeans"):
        return []
    whose = "these" if fits == "given" else f"those of {fits}"
    return [
        "What is told of how sure this is was learned from k-means clusterings; it has not been "
        f"tried on {whose}."
    ]


def _on_failures(found: Selection) -> list[str]:
    """Say which k have no clustering, because the clusterer failed."""
    failed = [k for k in found.path.failed if k <= found.k_max]
    if not failed:
        return []
    listed, first = ", ".join(map(str, failed)), failed[0]
    return [
        f"{found.path.fits} failed for k = {listed}, left out of the choice"
        + f", for k = {first}" * (len(failed) > 1)
        + f": {found.path.failed[first]}."
    ]


def _on_single_rows(found: Selection) -> list[str]:
    """Say of clusters of one row that they are."""
    alone = np.flatnonzero(found.path.sizes(found.k) == 1).tolist()
    if not alone or found.path.n_samples < 4 * found.k:
        return []
    which, them = f"Cluster {alone[0]} is a single row", "it"
    if len(alone) > 1:
        which, them = f"{len(alone)} of the {found.k} clusters are single rows", "them"
    if found.path.kept_rows is None:
        rows = np.flatnonzero(np.isin(found.path.labels(found.k), alone)).tolist()
        named = ", ".join(map(found.row_name, rows[:_NAMED_ROWS]))
        which += f": {named}{', ...' * (len(rows) > _NAMED_ROWS)}"
    return [f"{which}, far from all others. Look at {them}, and choose again without {them}."]


def _on_weights(found: Selection) -> list[str]:
    """Say of whole weights that they count as rows, where that makes very many of few."""
    path, n = found.path, found.path.n_samples
    put_together = path.spread is not None and path.spread.weights is None
    if put_together or n < _MANY_TIMES * path.n_rows:
        return []
    return [
        f"The weights are whole numbers, so {path.n_rows:,} rows count as {n:,}. If they "
        "are importances and not counts, divide them by their mean."
    ]


def _against_one(found: Selection) -> list[str]:
    """Say what speaks loudly against one cluster, where that is the answer."""
    said = [_NO_CLUSTERS]
    silhouette = found.table["silhouette_above"]
    clear = cast("int", silhouette.idxmax())
    best = cast("int", found.table["bic"].idxmin())
    against = []
    if silhouette[clear] > _LOUD_SILHOUETTE:
        against.append(f"the silhouette of k = {clear} stands out by {silhouette[clear]:.2f}")
    if best != 1:
        lower = found.table["bic"][1] - found.table["bic"][best]
        if lower > _LOUD_BIC * found.path.n_samples:
            against.append(f"k = {best} has a BIC lower by {lower:.0f} than k = 1")
    if against:
        if silhouette[clear] <= _LOUD_SILHOUETTE and clear != best:
            against.append(f"the silhouette is best at k = {clear}")
        said.append(f"But {' and '.join(against)}: look at k = {clear} before you rely on 1.")
    return said


def text(found: Selection) -> str:
    """Show the answer in a terminal: how sure it is, why, the other k, remarks."""
    how = f"method={found.method!r}" + (f", rule={found.rule!r}" if found.rule else "")
    asked = "" if found.k == found.chosen else ", as asked for"
    lines = [
        f"Selection: k = {found.k} of 1..{found.k_max}{asked} "
        f"(n={found.path.n_samples}, d={found.path.n_features}, {how})"
    ]
    if found.confidence is not None or found.resamples is not None:
        lines.append(headline(found))
    if found.confidence is not None and found.reasons.get(found.k):
        lines.append(f"k = {found.k}: {found.reasons[found.k]}")
    if found.resamples is not None:
        shares = ", ".join(
            f"k = {k}: {100 * share:.0f} %"
            for k, share in found.resamples.sort_values(ascending=False).head(4).items()
        )
        lines.append(f"chosen in {N_RESAMPLES} resamples: {shares}")
    for candidate in found.candidates[:3]:
        lines.append(f"k = {candidate.k}: {candidate.reason}")
    more = len(found.candidates) - 3
    if more > 0:
        lines.append(f"and {more} other candidate" + "s" * (more > 1))
    if not found.candidates:
        lines.append("no other candidate")
    return "\n  ".join([*lines, *remarks(found)])


def notebook(found: Selection) -> str:
    """Show the answer in a notebook: how sure it is, sizes, remarks, the other k and why."""
    counts = found.path.sizes(found.k)
    sizes = ", ".join(map(size_text, counts))
    what = "Rows" if counts.sum() == found.path.n_rows else "Weight"
    parts = [_html.paragraph(f"{headline(found)}.", strong=True)]
    parts.append(_html.paragraph(f"{what} in each cluster: {sizes}."))
    parts.append(_html.listed(remarks(found)))
    why = [(str(found.k), found.reasons.get(found.k) or "chosen")]
    why += [(str(each.k), each.reason) for each in found.candidates[:4]]
    parts.append(_html.table(("k", "what speaks for and against it"), why))
    shown = [name for name in _SHOWN if name in found.table]
    numbers = [
        (str(k), *(f"{value:.4g}" if value == value else "" for value in row))
        for k, row in zip(found.table.index, found.table[shown].to_numpy(), strict=True)
    ]
    titles = ("k", *(name.replace("_", " ") for name in shown))
    parts.append(_html.folded("The numbers for every k", _html.table(titles, numbers)))
    return f"<div>{''.join(parts)}</div>"


def _few_or_many(numbers: tuple[int, ...]) -> str:
    """Put several numbers into few words: "3 or 4", "many from 2 to 26"."""
    few = len(_runs(numbers)) <= _LISTED
    return _listed(numbers) if few else f"many from {numbers[0]} to {numbers[-1]}"


def _listed(numbers: tuple[int, ...]) -> str:
    """Put several numbers into words: "3 or 4", "2, 5 or 9", "10 to 14"."""
    words = _runs(numbers)
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def _runs(numbers: tuple[int, ...]) -> list[str]:
    """Put three or more numbers in a row into "10 to 14"; the others stand alone."""
    runs = np.split(np.array(numbers), np.flatnonzero(np.diff(numbers) > 1) + 1)
    words: list[str] = []
    for run in runs:
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else [str(number) for number in run]
    return words

"""Clusterings by an estimator of the user's own, cloned and fitted for every k."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from edfkmeans._choices import Metric
from edfkmeans._streams import Purpose, stream
from edfkmeans.engines import in_memory
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.descent import fit_from_centers
from edfkmeans.fits.fit import Fit, fit_of_labels
from edfkmeans.rows.arguments import some
from edfkmeans.rows.checks import check_numeric
from edfkmeans.rows.directions import in_metric
from edfkmeans.rows.labels import Labels, encode_labels
from edfkmeans.rows.units import Values

# What estimators call the number of clusters.
_WORDS = ("n_clusters", "n_components")
# What they may take rows by, in place of "precomputed".
_OF_ROWS = {"metric": "euclidean", "affinity": "nearest_neighbors"}
# Characters of an estimator's error that are told.
_LONGEST = 200

Failures = dict[int, str]
"""Why there is no clustering, by its k."""
_Found = tuple[Labels | None, str]


@dataclass(frozen=True)
class Clusterer:
    """An estimator that can be asked for any number of clusters, and the rows as it gets them."""

    estimator: Any
    word: str
    """The parameter that is the number of clusters."""
    raw: Values

    @classmethod
    def of(
        cls, estimator: Any, X: Any, fits: str, n_init: int | None, metric: Metric
    ) -> "Clusterer | None":
        """Make sure that an estimator can be asked for k clusters; None for none."""
        if estimator is None:
            return None
        word = _word(estimator)
        if fits != "best" or n_init is not None:
            raise ValueError(
                f"fits={fits!r} and n_init={n_init!r} say how k-means is fitted, but "
                f"clusterer={estimator!r} is fitted instead. Leave them out; what the estimator "
                "should do is said by its own parameters."
            )
        if not in_memory(X):
            raise TypeError(
                f"clusterer={estimator!r} needs the rows in memory, and X is elsewhere. Give a "
                "sample of the rows that fits."
            )
        return cls(estimator, word, in_metric(check_numeric(X), metric))

    @property
    def name(self) -> str:
        """What the estimator is called."""
        return type(_last(self.estimator)[0]).__name__

    def fits(
        self,
        values: Values,
        k_last: int,
        seed: int,
        n_jobs: int,
        report: Callable[[int, float], None],
    ) -> tuple[list[Fit], Failures]:
        """Fit k = 1 .. k_last, several at a time; where that fails, a stand-in takes its place."""
        libraries = ThreadpoolController()

        def limited(api: str) -> Any:
            return libraries.limit(limits=1, user_api=api) if n_jobs > 1 else nullcontext()

        def one(k: int) -> _Found:
            pool.check()
            # Threads share out the cores: those that a library would start are too many.
            with limited("openmp"):
                return self._labels(k, seed)

        def told(k: int, found: _Found) -> None:
            report(k, np.nan if found[0] is None else fit_of_labels(values, found[0], k).inertia)

        # The first k comes alone. Estimators load what they need when they are first fitted, and
        # look for libraries then: in several threads at once, these may wait for each other for
        # ever. After it, large k first: the longest tasks must not be the last ones.
        found: dict[int, _Found] = {}
        with limited("blas"), Threads(n_jobs) as pool:
            for ks in (range(2, min(k_last, 2) + 1), range(k_last, 2, -1)):
                found |= zip(ks, pool.map(one, ks, told), strict=True)
        failed = {k: found[k][1] for k in sorted(found) if found[k][0] is None}
        self._tell(failed, k_last)
        fits = [fit_of_labels(values, np.zeros(len(values), np.int32), 1)]
        for k in range(2, k_last + 1):
            labels = found[k][0]
            if labels is None:
                labels = _split(values, fits[-1])
            fits.append(fit_of_labels(values, labels, k))
        return fits, failed

    def _labels(self, k: int, seed: int) -> _Found:
        """Return the labels of a clustering with k clusters, or None and what went wrong."""
        from sklearn.base import clone  # who has an estimator has it loaded

        try:
            model = clone(self.estimator).set_params(**{self.word: k})
            unseeded = [
                name
                for name, value in model.get_params().items()
                if name.rpartition("__")[2] == "random_state" and value is None
            ]
            drawn = stream(seed, Purpose.CLUSTERER, k).integers(2**31 - 1)
            model.set_params(**dict.fromkeys(unseeded, int(drawn)))
            given = _labels_of(model, self.raw.copy())  # some write into their rows
            labels = encode_labels(given, len(self.raw), "what it returns as labels")
            noise = sum(isinstance(each, Real) and each < 0 for each in np.asarray(given).tolist())
            count = int(labels.max()) + 1
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # whatever it is, a panic too: the other k may do
            return None, _told(error)
        if noise:
            return None, f"{noise} rows were left out as noise"
        return (labels, "") if count == k else (None, f"it made {count} clusters")

    def _tell(self, failed: Failures, k_last: int) -> None:
        """Warn of the k without a clustering; that none has one is an error."""
        if not failed:
            return
        if len(failed) == k_last - 1:
            raise ValueError(
                f"clusterer={self.estimator!r} failed for every k from 2 to {k_last}. For k = 2: "
                f"{failed[2]}."
            )
        first = min(failed)
        several = f"k = {', '.join(map(str, failed))}"
        warnings.warn(
            f"{self.name} failed for {several}, left out of the choice. For k = {first}: "
            f"{failed[first]}.",
            stacklevel=5,  # who called fit_path, select_k or compare
        )


def asked_clusterer(
    estimator: Any, X: Any, fits: str, n_init: int | None, metric: Metric, path: Any
) -> Clusterer | None:
    """Return the clusterer that is to be fitted, if any, having made sure that there is no path."""
    if estimator is not None and path is not None:
        raise ValueError(
            f"path holds fits already, and clusterer={estimator!r} would make others. Leave one of "
            "them out."
        )
    return Clusterer.of(estimator, X, fits, n_init, metric)


def refuse_estimator(name: str, value: Any) -> None:
    """Point someone who gives an estimator where something else goes to where it belongs."""
    if hasattr(value, "fit") and hasattr(value, "get_params"):
        kind = value.__name__ if isinstance(value, type) else repr(value)
        raise TypeError(
            f"{name}={kind} is an estimator. Give it to fit_path, select_k or compare by name: "
            f"clusterer={kind}{'()' if isinstance(value, type) else ''}, and it is fitted for "
            "every k."
        )


def _last(estimator: Any) -> tuple[Any, str]:
    """Return the estimator that clusters, the last one of a pipeline, and what its names begin by.

    Steps before it prepare the rows, and may have a parameter n_components too.
    """
    prefix = ""
    while hasattr(estimator, "steps"):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return estimator, prefix


def _word(estimator: Any) -> str:
    """Return the name of the parameter that is the number of clusters."""
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        what = f"the class {estimator.__name__}" if isinstance(estimator, type) else repr(estimator)
        raise TypeError(
            f"clusterer is {what}, but must be an estimator as scikit-learn has them, such as "
            "sklearn.mixture.GaussianMixture()."
        )
    last, prefix = _last(estimator)
    parameters = last.get_params(deep=False) if hasattr(last, "get_params") else {}
    words = [word for word in _WORDS if word in parameters]
    if not words or not any(hasattr(last, name) for name in ("fit_predict", "predict")):
        has = f"{words[0]} alone" if words else some(sorted(parameters)) or "neither"
        raise TypeError(
            f"clusterer={estimator!r} cannot be asked for k clusters: that takes a parameter "
            f"{' or '.join(_WORDS)}, and fit_predict or predict. It has {has}. "
            "Labels that you have already are judged by score(X, labels)."
        )
    for name in ("metric", "affinity"):
        if str(parameters.get(name)).startswith("precomputed"):
            raise ValueError(
                f"clusterer={estimator!r} has {name}={parameters[name]!r} and takes distances or "
                f"the like, but is given the rows of X. Give it another {name}, e.g. "
                f"{name}={_OF_ROWS[name]!r}."
            )
    return prefix + words[0]


def _told(error: BaseException) -> str:
    """Say what went wrong, in one line that a sentence can end with."""
    words = str(error).strip().partition("\n")[0].rstrip(".")
    words = f"{words[:_LONGEST]} [...]" if len(words) > _LONGEST else words
    return ": ".join(filter(None, [type(error).__name__, words]))


def _labels_of(model: Any, X: Values) -> Any:
    """Fit an estimator and return the cluster of every row."""
    if hasattr(model, "fit_predict"):
        return model.fit_predict(X)
    return model.fit(X).predict(X)


def _split(values: Values, fit: Fit) -> Labels:
    """Make one cluster more of a clustering: cut the one with most inertia in two."""
    labels = np.array(fit.labels, np.int32)
    away = ((values - fit.centers[labels]) ** 2).sum(axis=1)
    inside = labels == np.bincount(labels, weights=away).argmax()
    rows = values[inside]
    first = rows[away[inside].argmax()]
    second = rows[((rows - first) ** 2).sum(axis=1).argmax()]
    two = fit_from_centers(rows, np.array([second, first], np.float64), Threads(1))
    labels[np.flatnonzero(inside)[two.labels == 1]] = fit.k
    return labels

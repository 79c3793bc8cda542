"""Criterion: a way to choose k; Curve: what it says; Need: what it must be given first."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from edfkmeans._progress import progress_bar
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.fit import Fit
from edfkmeans.fits.path import KMeansPath, fit_of_copies
from edfkmeans.rows.arguments import check_one_of, check_whole
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.rows import Rows
from edfkmeans.rows.units import Floats
from edfkmeans.structure import Structure

Direction = Literal["min", "max"]
Made = TypeVar("Made")


class NotApplicable(ValueError):  # noqa: N818 - an answer, not a failure: this criterion has none
    """Raised by a criterion that has no answer for these data; the message says why."""


def log_inertia(path: KMeansPath) -> Floats:
    """Return the logarithm of the inertia for every k, if every k leaves some."""
    if path.inertia[:-1].min() <= 0:
        raise NotApplicable("some k fits every row without residual: lower k_max")
    logs: Floats = np.log(path.inertia[:-1])
    return logs


@dataclass(frozen=True, eq=False)
class Curve:
    """What a criterion says about every k.

    Attributes
    ----------
    k : int
        The k it chooses.
    values : ndarray of shape (k_max,)
        Entry k - 1 belongs to k; NaN where the criterion is not defined.
    direction : {"min", "max"}
        Which values are good.
    rule : str
        How k was read off the values, in words.
    error : ndarray of shape (k_max,) or None
        Standard errors of the values, where there are any.
    remark : str
        What a reader should know, such as that only a sample was looked at.
    candidates : tuple of int
        Other k worth a look, best first.
    columns : mapping of str to ndarray of shape (k_max,)
        What k was judged by, in the order in which to show it.
    reasons : mapping of int to str
        For every k, but perhaps the chosen one: what speaks for and against it, in words.
    structure : Structure or None
        The test for more than one cluster, where k hangs on it.
    confidence : DataFrame or None
        For every k how sure it is, where that is known.
    """

    k: int
    values: Floats
    direction: Direction
    rule: str
    error: Floats | None = None
    remark: str = ""
    candidates: tuple[int, ...] = ()
    columns: Mapping[str, Floats] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    structure: Structure | None = None
    confidence: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        check_one_of("direction", self.direction, ("min", "max"))
        check_whole("k of a curve", self.k, 1)
        if np.ndim(self.values) != 1 or self.k > len(self.values):
            raise ValueError(
                f"k={self.k} of a curve with values of shape {np.shape(self.values)}: values must "
                "hold one number for each k from 1 to k_max."
            )

    def without(self, failed: Collection[int]) -> "Curve":
        """Return the curve without some k, which have no values and are not chosen.

        Where the chosen k is one of them, the next best is: the first candidate, else the best
        value. What was said of the others was said beside a k that is gone, and goes too.
        """
        gone = np.array([k - 1 for k in failed if k <= len(self.values)], np.intp)
        values, columns = _emptied(self.values, gone), self.columns
        candidates = [k for k in self.candidates if k not in failed]
        k, reasons = self.k, self.reasons
        if k in failed:
            best = {"min": np.nanargmin, "max": np.nanargmax}[self.direction]
            if np.isnan(values).all():
                raise NotApplicable("there is no clustering for any k that it has a value for")
            k = candidates.pop(0) if candidates else int(best(values)) + 1
            reasons = dict.fromkeys(range(1, len(values) + 1), "")
        confidence = self.confidence
        if confidence is not None:
            confidence = confidence.copy()
            confidence.iloc[gone] = np.nan
        return replace(
            self,
            k=k,
            values=values,
            candidates=tuple(candidates),
            columns={name: _emptied(column, gone) for name, column in columns.items()},
            reasons=reasons,
            confidence=confidence,
        )


def _emptied(values: Floats, places: npt.NDArray[np.intp]) -> Floats:
    """Return values with NaN in some places."""
    values = values.astype(np.float64)
    values[places] = np.nan
    return values


def reasons_by_value(name: str, values: Floats, k: int) -> dict[int, str]:
    """Say of every other k how its value stands to that of the chosen one."""
    reasons = {}
    for other in range(1, len(values) + 1):
        if other != k:
            above = distance(values, other, k)
            reasons[other] = f"{'lower' if above < 0 else 'higher'} {name} ({above:+.1f})"
    return reasons


def distance(values: Floats, other: int, k: int) -> float:
    """Return the value of one k less that of another."""
    theirs, ours = float(values[other - 1]), float(values[k - 1])
    return theirs - ours if theirs != ours else 0.0  # both may be minus infinity


@dataclass(frozen=True)
class Work:
    """What the making of needs takes: a seed, threads, and a function to call after every step."""

    seed: int
    pool: Threads
    report: Callable[[], None] = lambda: None


class Need(ABC, Generic[Made]):
    """Something costly that criteria are given, made once however many declare it.

    Subclasses are frozen dataclasses: equal parameters are the same need.
    """

    adds_up: ClassVar[bool] = False
    """Whether it is made of sums over all rows. If not, it is given the rows' sample."""
    needs_residuals: ClassVar[bool] = False
    """Whether the pilot must leave something unexplained."""

    def needs(self) -> "tuple[Need[Any], ...]":
        """Return what this need must be given itself."""
        return ()

    def steps(self) -> int:
        """Count the calls of ``work.report`` that `make` will do."""
        return 1

    @abstractmethod
    def make(self, rows: Rows, path: KMeansPath, given: "Given", work: Work) -> Made:
        """Make it from the rows, their fits and what was made before."""


class Early(Need[Made]):
    """A need that looks at no fits: it can be made while they are still looked for."""

    @abstractmethod
    def before(self, rows: Rows, k_max: int, work: Work) -> Made:
        """Make it from the rows, for k = 1 .. k_max."""

    def make(self, rows: Rows, path: KMeansPath, given: "Given", work: Work) -> Made:
        return self.before(rows, path.k_max, work)


class Given:
    """The needs that have been made, to be looked up by the need itself."""

    def __init__(self) -> None:
        self._made: dict[Need[Any], Any] = {}
        self._seconds: dict[Need[Any], float] = {}

    def __getitem__(self, need: Need[Made]) -> Made:
        made = self._made[need]
        if isinstance(made, NotApplicable):
            raise made
        return cast("Made", made)

    def provide(self, need: Need[Any], rows: Rows, path: KMeansPath, work: Work) -> None:
        """Make a need, and first what it needs itself, unless that has been done.

        A need that does not apply to these data is kept as its `NotApplicable`, which is raised
        when a criterion looks the need up.
        """
        if need in self._made:
            return
        for first in need.needs():
            self.provide(first, rows, path, work)
        start = time.perf_counter()
        if not need.adds_up:
            rows, path = rows.sample, path.sample
        try:
            self._made[need] = need.make(rows, path, self, work)
        except NotApplicable as reason:
            self._made[need] = reason
        self._seconds[need] = time.perf_counter() - start

    def ahead(self, needs: Iterable[Need[Any]], rows: Rows, k_max: int, work: Work) -> None:
        """Make what looks at no fits, before there are any."""
        for need in needs:
            self.ahead(need.needs(), rows, k_max, work)
            if isinstance(need, Early):
                start = time.perf_counter()
                self._made[need] = need.before(rows.sample, k_max, work)
                self._seconds[need] = time.perf_counter() - start

    def seconds(self, need: Need[Any]) -> float:
        """Return the time it took to make a need and what it needs itself."""
        return self._seconds[need] + sum(self.seconds(first) for first in need.needs())


@dataclass(frozen=True)
class Labelling:
    """One clustering to be judged, and the fit that serves as its pilot."""

    rows: Rows
    fit: Fit
    pilot: Fit
    work: Work

    @property
    def labels(self) -> Labels:
        """Cluster of every row of ``rows.sample``."""
        fit = self.fit if self.rows.spread is None else fit_of_copies(self.rows, self.fit)
        return fit.labels.astype(np.int32)


@dataclass(frozen=True)
class Criterion(ABC):
    """A way to choose k. Subclasses are frozen dataclasses of their parameters.

    The data come as `edfkmeans.rows.rows.Rows`: ``rows.sample.values`` are rows in memory, centred
    and divided by one number.
    """

    name: str
    can_say_one: ClassVar[bool] = False
    """Whether it can answer k = 1."""
    better: ClassVar[Direction] = "max"
    """Which values are good."""
    judges_one: ClassVar[bool] = False
    """Whether it can judge a single clustering, by `one`."""
    adds_up: ClassVar[bool] = False
    """Whether inertia, sizes and needs are all it looks at. If not, it gets the rows' sample."""

    looks_beyond: ClassVar[bool] = False
    """Whether it asks for a path as long as usual, whatever k_max is, and with the same fits for
    every seed. k_max bounds its answer only."""

    def needs(self) -> tuple[Need[Any], ...]:
        """Return what must be made before `curve` is called."""
        return ()

    def bounded(self, k_max: int) -> "Criterion":
        """Return the same criterion with answers of at most k_max, where it looks beyond."""
        return self

    @abstractmethod
    def curve(self, rows: Rows, path: KMeansPath, given: Given) -> Curve:
        """Judge every k from 1 to ``path.k_max``."""

    def one(self, labelling: Labelling) -> float | None:
        """Judge a single clustering; None where it has no value for this one."""
        raise NotImplementedError(f"{self.name} judges a path, not one clustering")


def judge(
    criterion: Criterion,
    rows: Rows,
    path: KMeansPath,
    work: Work,
    progress: bool = False,
    given: Given | None = None,
) -> Curve:
    """Ask one criterion, making what it needs and what it has not been given."""
    given = Given() if given is None else given
    needs = criterion.needs()
    quick = rows.quick is not None
    with progress_bar(progress, "judging", len(needs)) as bar:

        def provide(some: Sequence[Need[Any]]) -> None:
            for need in some:
                given.provide(need, rows, path, work)
                bar.update()

        # A device adds up over all rows while the processor looks at the sample.
        apart = [need for need in needs if need.adds_up and quick]
        added_up = work.pool.beside(lambda: provide(apart)) if apart else None
        provide([need for need in needs if need not in apart])
        if added_up is not None:
            added_up()
    return ask(criterion, rows, path, given)


def ask(criterion: Criterion, rows: Rows, path: KMeansPath, given: Given) -> Curve:
    """Ask one criterion that has been given what it needs."""
    if not criterion.adds_up:
        rows, path = rows.sample, path.sample
    curve = criterion.curve(rows, path, given)
    return curve.without(path.failed) if path.failed and isinstance(curve, Curve) else curve


_registered: dict[str, Criterion] = {}


def register(criterion: Criterion) -> None:
    """Add a criterion to those that `compare` asks.

    Parameters
    ----------
    criterion : Criterion
        Its name must not be taken by another one.

    Examples
    --------
    Hartigan's (1975) rule: go on adding clusters while that saves enough.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from edfkmeans import compare
    >>> from edfkmeans.criteria import Criterion, Curve, register
    >>> @dataclass(frozen=True)
    ... class Hartigan(Criterion):
    ...     name: str = "hartigan"
    ...     least: float = 10.0
    ...     can_say_one = True
    ...     better = "min"
    ...     def curve(self, rows, path, given):
    ...         k = np.arange(1, path.k_max + 1)
    ...         values = (path.inertia[:-1] / path.inertia[1:] - 1) * (path.n_samples - k - 1)
    ...         enough = np.append(np.flatnonzero(values <= self.least), path.k_max - 1)
    ...         rule = f"the first value of at most {self.least}"
    ...         return Curve(int(enough[0]) + 1, values, self.better, rule)
    >>> register(Hartigan())
    >>> found = compare(load_iris().data, ["bic", "hartigan"], k_max=20, random_state=0)
    >>> list(found.curves)
    ['bic', 'hartigan']
    """
    if not isinstance(criterion, Criterion):
        raise TypeError(
            f"criterion is a {_kind(criterion)}, but must be an instance of a subclass of "
            "edfkmeans.criteria.Criterion."
        )
    if not isinstance(criterion.name, str) or criterion.name in ("", "all"):
        raise ValueError(f"name={criterion.name!r} must be a word other than 'all'.")
    taken = _registered.get(criterion.name, criterion)
    if type(taken).__qualname__ != type(criterion).__qualname__:
        raise ValueError(
            f"The name {criterion.name!r} is taken by {taken!r}. Give the criterion another name."
        )
    _registered[criterion.name] = criterion


def registered() -> dict[str, Criterion]:
    """Every criterion by its name, in the order in which they are shown."""
    return dict(_registered)


def _kind(thing: Any) -> str:
    return f"class ({thing.__name__})" if isinstance(thing, type) else type(thing).__name__

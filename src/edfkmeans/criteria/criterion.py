"""Criterion: a way to choose k; Curve: what it says; Need: what it must be given first."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np
import numpy.typing as npt

from edfkmeans.backends.threads import Threads
from edfkmeans.fit import Fit
from edfkmeans.path import KMeansPath
from edfkmeans.table import Table, check_one_of, check_whole

Floats = npt.NDArray[np.float64]
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
    """

    k: int
    values: Floats
    direction: Direction
    rule: str
    error: Floats | None = None
    remark: str = ""
    candidates: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        check_one_of("direction", self.direction, ("min", "max"))
        check_whole("k of a curve", self.k, 1)
        if np.ndim(self.values) != 1 or self.k > len(self.values):
            raise ValueError(
                f"k={self.k} of a curve with values of shape {np.shape(self.values)}: values must "
                "hold one number for each k from 1 to k_max."
            )


@dataclass(frozen=True)
class Work:
    """Who makes the needs: a seed for what is random, a pool of threads, and who is told."""

    seed: int
    pool: Threads
    report: Callable[[], None] = lambda: None


class Need(ABC, Generic[Made]):
    """Something costly that criteria are given, made once however many declare it.

    Subclasses are frozen dataclasses: equal parameters are the same need.
    """

    adds_up: ClassVar[bool] = False
    """Whether it is made of sums over all rows. If not, it is given a sample of rows in chunks."""

    def needs(self) -> "tuple[Need[Any], ...]":
        """Return what this need must be given itself."""
        return ()

    def steps(self) -> int:
        """Count the calls of ``work.report`` that `make` will do."""
        return 1

    @abstractmethod
    def make(self, table: Table, path: KMeansPath, given: "Given", work: Work) -> Made:
        """Make it."""


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

    def provide(self, need: Need[Any], table: Table, path: KMeansPath, work: Work) -> None:
        """Make a need, and first what it needs itself, unless that has been done.

        If there is no making it, whoever looks it up is told why.
        """
        if need in self._made:
            return
        for first in need.needs():
            self.provide(first, table, path, work)
        start = time.perf_counter()
        if not need.adds_up:
            table, path = table.sample, path.sample
        try:
            self._made[need] = need.make(table, path, self, work)
        except NotApplicable as reason:
            self._made[need] = reason
        self._seconds[need] = time.perf_counter() - start

    def seconds(self, need: Need[Any]) -> float:
        """Return the time it took to make a need and what it needs itself."""
        return self._seconds[need] + sum(self.seconds(first) for first in need.needs())


@dataclass(frozen=True)
class Labelling:
    """One clustering to be judged, and the fit that serves as its pilot."""

    table: Table
    fit: Fit
    pilot: Fit
    work: Work


@dataclass(frozen=True)
class Criterion(ABC):
    """A way to choose k. Subclasses are frozen dataclasses of their parameters.

    The data come as a `Table`: ``table.values`` are the rows, centred and divided by one number.
    """

    name: str
    can_say_one: ClassVar[bool] = False
    """Whether it can answer k = 1."""
    better: ClassVar[Direction] = "max"
    """Which values are good."""
    judges_one: ClassVar[bool] = False
    """Whether it can judge a single clustering, by `one`."""
    adds_up: ClassVar[bool] = False
    """Whether inertia, sizes and needs are all it looks at. If not, it is given a sample of rows in
    chunks, and their labels."""

    def needs(self) -> tuple[Need[Any], ...]:
        """Return what must be made before `curve` is called."""
        return ()

    @abstractmethod
    def curve(self, table: Table, path: KMeansPath, given: Given) -> Curve:
        """Judge every k from 1 to ``path.k_max``."""

    def one(self, labelling: Labelling) -> float | None:
        """Judge a single clustering; None where it has no value for this one."""
        raise NotImplementedError(f"{self.name} judges a path, not one clustering")


def judge(criterion: Criterion, table: Table, path: KMeansPath, work: Work) -> Curve:
    """Ask one criterion, making what it needs."""
    given = Given()
    for need in criterion.needs():
        given.provide(need, table, path, work)
    return ask(criterion, table, path, given)


def ask(criterion: Criterion, table: Table, path: KMeansPath, given: Given) -> Curve:
    """Ask one criterion that has been given what it needs."""
    if criterion.adds_up:
        return criterion.curve(table, path, given)
    return criterion.curve(table.sample, path.sample, given)


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
    ...     def curve(self, table, path, given):
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

"""Needs: what criteria must be given first, made once for all of them."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Generic, TypeVar, cast

from edfkmeans.engines.threads import Threads
from edfkmeans.fits.path import KMeansPath
from edfkmeans.rows.rows import Rows

Made = TypeVar("Made")


class NotApplicable(ValueError):  # noqa: N818 - an answer, not a failure: this criterion has none
    """Raised by a criterion that has no answer for these data; the message says why."""


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


class EarlyNeed(Need[Made]):
    """A need that is made from rows in memory alone: it does not have to wait for their fits."""

    @abstractmethod
    def from_rows(self, rows: Rows, k_max: int, work: Work) -> Made:
        """Make it from the rows, for k = 1 .. k_max."""

    def make(self, rows: Rows, path: KMeansPath, given: "Given", work: Work) -> Made:
        return self.from_rows(rows, path.k_max, work)


class Given:
    """The needs that have been made, to be looked up by the need itself."""

    def __init__(self) -> None:
        self._made: dict[Need[Any], Any] = {}
        self._begun: dict[Need[Any], Callable[[], None]] = {}
        self._seconds: dict[Need[Any], float] = {}

    def __getitem__(self, need: Need[Made]) -> Made:
        made = self._made[need]
        if isinstance(made, NotApplicable):
            raise made
        return cast("Made", made)

    def begin(self, needs: "Iterable[Need[Any]]", rows: Rows, k_max: int, work: Work) -> None:
        """Begin with what rows alone are looked at for, while others go on with their fits."""
        for need in needs:
            self.begin(need.needs(), rows, k_max, work)
            if isinstance(need, EarlyNeed) and need not in self._begun:
                make = partial(need.from_rows, rows.sample, k_max, work)
                self._begun[need] = work.pool.beside(partial(self._keep, need, make))

    def provide(self, need: Need[Any], rows: Rows, path: KMeansPath, work: Work) -> None:
        """Make a need, and first what it needs itself, unless that has been done.

        A need that does not apply to these data is kept as its `NotApplicable`, which is raised
        when a criterion looks the need up.
        """
        for first in need.needs():
            self.provide(first, rows, path, work)
        if need in self._begun:
            self._begun.pop(need)()
        if need in self._made:
            return
        if not need.adds_up:
            rows, path = rows.sample, path.sample
        self._keep(need, partial(need.make, rows, path, self, work))

    def _keep(self, need: Need[Made], make: Callable[[], Made]) -> None:
        start = time.perf_counter()
        try:
            self._made[need] = make()
        except NotApplicable as reason:
            self._made[need] = reason
        self._seconds[need] = time.perf_counter() - start

    def seconds(self, need: Need[Any]) -> float:
        """Return the time it took to make a need and what it needs itself."""
        return self._seconds[need] + sum(self.seconds(first) for first in need.needs())

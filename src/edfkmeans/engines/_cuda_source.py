"""Where the rows are that a GPU works on: on it, or in the machine's memory, sent part by part."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans.engines._cuda_device import cupy, free_bytes

# Numbers of X that are worked on at a time, and the part of the free memory that rows may take.
_AT_ONCE = 2**27
_SHARE = 0.6


class Source:
    """Rows on a GPU, or in memory: `like` says what results are to be like.

    What is in memory is sent once if it fits and `stays`, and kept until `close`; else with every
    pass, through two pinned buffers: while the GPU works on one part, the next is copied.
    """

    def __init__(self, X: Any, like: Any, stays: bool = True) -> None:
        self.X = X
        self.like = like
        self.stays = stays
        self.shape: tuple[int, int] = X.shape
        self.dtype = np.dtype(X.dtype)
        self._there: Any = None
        # The number of the GPU: where the rows are, or the one that is used by this thread.
        self.device = int((cupy().cuda.Device() if self.on_host else X.device).id)

    @property
    def on_host(self) -> bool:
        """Whether the rows given are in memory."""
        return isinstance(self.X, np.ndarray) and self.like is None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_there": None}

    def chunks(self) -> Iterator[tuple[int, Any]]:
        """Go through the rows in parts of a size that does not depend on the GPU."""
        n, width = self.shape
        step = max(8192, _AT_ONCE // width // 8192 * 8192)
        X = self._resident()
        if X is None:
            yield from self._streamed(step)
            return
        for start in range(0, n, step):
            yield start, X[start : start + step]

    def _resident(self) -> Any:
        if not self.on_host:
            return self.X
        if self._there is None and self.stays and self.X.nbytes < _SHARE * free_bytes():
            room = cupy().empty(self.shape, self.dtype)
            for start, part in self._streamed(max(1, 2**26 // self.X.strides[0])):
                room[start : start + len(part)] = part
            self._there = room
        return self._there

    def close(self) -> None:
        """Give the memory of the GPU back."""
        self._there = None

    def _streamed(self, step: int) -> Iterator[tuple[int, Any]]:
        xp = cupy()
        n, width = self.shape
        step = min(step, n)
        pinned = [empty_pinned((step, width), self.dtype) for _ in range(2)]
        rooms = [xp.empty((step, width), self.dtype) for _ in range(2)]
        sent: list[Callable[[], None]] = [lambda: None] * 2
        for number, start in enumerate(range(0, n, step)):
            which = number % 2
            count = min(step, n - start)
            sent[which]()  # the buffer may still be on its way
            pinned[which][:count] = self.X[start : start + count]
            part = rooms[which][:count]
            sent[which] = send(pinned[which][:count], part)
            yield start, part

    def take(self, numbers: npt.NDArray[np.int64]) -> Any:
        """Bring some rows into memory."""
        if self.on_host:
            return self.X[numbers]
        return cupy().asnumpy(self.X[cupy().asarray(numbers)])

    def back(self, column: Any) -> Any:
        """Return a column that was made on the GPU as what the rows are like."""
        if self.on_host:
            return cupy().asnumpy(column)
        from edfkmeans.engines._cuda_device import like

        return like(column, self.like)


def empty_pinned(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return room in memory that the GPU can read by itself."""
    import cupyx

    return cupyx.empty_pinned(shape, dtype)


def send(pinned: Any, room: Any) -> Callable[[], None]:
    """Send numbers to the GPU while it goes on; returns what waits until they are there."""
    room.set(pinned)
    event = cupy().cuda.Event()
    event.record()
    done: Callable[[], None] = event.synchronize
    return done

"""Run functions on the rows of a stream, chunk by chunk, by the threads of one machine.

The stream is read again in every pass. Its batches are cut and joined to chunks of one size, so
that no number depends on the batches. No more chunks are held than keep the threads busy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from edfkmeans._progress import progress_bar
from edfkmeans.engines._arrow_streams import Stream
from edfkmeans.engines.threads import Stopped, Threads
from edfkmeans.kernels.lloyd import BLOCK
from edfkmeans.rows.blocks import ChunkError, chunk_error
from edfkmeans.rows.labels import Labels
from edfkmeans.rows.units import Values

Work = Callable[[Values, int], Any]
"""Called with the rows of a chunk and the number of the first one."""
# A chunk takes about so many bytes, but holds no fewer and no more rows than this.
_BYTES, _FEWEST, _MOST = 2**23, 256, 8 * BLOCK


@dataclass(frozen=True)
class _Piece:
    """Rows of one batch: the batch's number and file, and the first row's number."""

    number: int
    source: str
    start: int
    rows: Any

    def cut(self, size: int) -> "tuple[_Piece, _Piece]":
        left, right = self.rows.slice(0, size), self.rows.slice(size)
        return (
            _Piece(self.number, self.source, self.start, left),
            _Piece(self.number, self.source, self.start + size, right),
        )


class Chunks:
    """The rows of a stream in chunks of one size.

    Attributes
    ----------
    stream : Stream
    columns : list of str
        Names of the columns.
    beside : tuple of labels
        Columns that stand beside those of X.
    """

    def __init__(
        self, stream: Stream, n_jobs: int, progress: bool = False, beside: tuple[Labels, ...] = ()
    ) -> None:
        self.stream = stream
        self.n_jobs = n_jobs
        self.progress = progress
        self.beside = beside
        self.columns = stream.columns
        self.size = self._size()

    def _size(self) -> int:
        row = len(self.columns) * int(self.stream.dtype.itemsize)
        return max(_FEWEST, min(_MOST, _BYTES // row))

    @cached_property
    def n_rows(self) -> int:
        """Number of rows; where the stream does not know it, they are counted."""
        try:
            return self.stream.n_rows
        except TypeError:
            raise
        except Exception as error:
            raise chunk_error(0, error, None, self.stream.spoilt("")) from error

    def run(self, work: Work, title: str) -> Iterator[Any]:
        """Give every chunk to a function; results come in the order of the rows."""
        total = -(-self.n_rows // self.size)

        def one(pieces: list[_Piece]) -> Any:
            try:
                return work(self._values(pieces), pieces[0].start)
            except Stopped:
                raise
            except Exception as error:
                raise self._failed(pieces, work, error) from error

        with (
            progress_bar(self.progress, title, total, "chunk") as bar,
            Threads(self.n_jobs) as pool,
        ):
            for result in pool.stream(one, self._pieces()):
                bar.update()
                yield result

    def pick(self, numbers: npt.NDArray[np.int64], work: Work, title: str) -> Any:
        """Return what a function makes of single rows, given by their numbers."""
        wanted, back = np.unique(numbers, return_inverse=True)

        def some(raw: Values, start: int) -> Any:
            first, last = np.searchsorted(wanted, [start, start + len(raw)])
            return work(raw[wanted[first:last] - start], start)

        return np.concatenate(list(self.run(some, title)))[back]

    def _values(self, pieces: list[_Piece]) -> Values:
        values = self.stream.matrix([piece.rows for piece in pieces])
        if not self.beside:
            return values
        rows = slice(pieces[0].start, pieces[0].start + len(values))
        labels = [each[rows].astype(values.dtype) for each in self.beside]
        return np.column_stack([values, *labels])

    def _pieces(self) -> Iterator[list[_Piece]]:
        """Read the stream, and cut it into chunks."""
        held: list[_Piece] = []
        room = self.size
        for piece in self._read():
            while piece.rows.num_rows >= room:
                part, piece = piece.cut(room)
                yield [*held, part]
                held, room = [], self.size
            if piece.rows.num_rows:
                held.append(piece)
                room -= piece.rows.num_rows
        if held:
            yield held

    def _read(self) -> Iterator[_Piece]:
        """Read the stream; it must hold as many rows as it did before."""
        batches = self.stream.batches()
        number, start, source = -1, 0, ""
        while True:
            try:
                batch, source = next(batches)
            except StopIteration:
                break
            except (TypeError, ChunkError):
                raise
            except Exception as error:
                raise chunk_error(number + 1, error, None, self.stream.spoilt(source)) from error
            number += 1
            yield _Piece(number, source, start, batch)
            start += batch.num_rows
            if start > self.n_rows:
                break
        if start != self.n_rows:
            raise ValueError(
                f"X did not give the same rows when it was read again: {start:,} or more instead "
                f"of {self.n_rows:,}. It must give the same ones in the same order every time; a "
                "function has to open its source anew."
            )

    def _failed(self, pieces: list[_Piece], work: Work, error: Exception) -> ChunkError:
        """Say which batch it was: ask them one by one."""
        guilty = pieces[0]
        for piece in pieces if len(pieces) > 1 else []:
            try:
                work(self._values([piece]), piece.start)
            except Exception as own:
                guilty, error = piece, own
                break
        rows = range(guilty.start, guilty.start + guilty.rows.num_rows)
        return chunk_error(guilty.number, error, rows, guilty.source)

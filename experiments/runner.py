"""A grid of cells, each computed to one row of a CSV file: in parallel, and resumable.

A row is written whole, as soon as it is there, so that an interrupt or a kill loses only the cells
in work. Every cell seeds its own random numbers: the rows do not depend on the order of the cells
or on the number of workers, and are sorted when all are there.
"""

import csv
import io
import os
import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from tqdm import tqdm
from whole import whole


def run(cells, compute, file, jobs=None, title="cells"):
    """Compute what is not in the file yet.

    Parameters
    ----------
    cells : list of dict
        The keys of each row; the same names in all.
    compute : function
        From the keys, as keyword arguments, to the other columns of the row.
    file : Path
    jobs : int, optional
        Number of threads, by default the number of cores.
    """
    file = Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    keys = list(cells[0])
    done = {tuple(row[key] for key in keys) for row in rows_of(file)}
    todo = [cell for cell in cells if tuple(str(cell[key]) for key in keys) not in done]
    pool = ThreadPoolExecutor(jobs or os.cpu_count())
    started = time.perf_counter()
    with tqdm(total=len(cells), initial=len(cells) - len(todo), desc=title, unit="cell") as bar:
        working = {}
        waiting = iter(todo)
        try:
            while True:
                for cell in waiting:
                    working[pool.submit(compute, **cell)] = cell
                    if len(working) >= 2 * pool._max_workers:
                        break
                if not working:
                    break
                for future in wait(working, return_when=FIRST_COMPLETED)[0]:
                    row = working.pop(future) | future.result()
                    _append(file, row)
                    bar.update()
        except BaseException:
            # Threads cannot be stopped: leave without them. What is done is on disk.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    pool.shutdown()
    if todo:
        _sort(file, cells)
    return time.perf_counter() - started


def rows_of(file):
    """Read the whole rows of a file; a row that a kill cut off is dropped from it."""
    if not Path(file).exists():
        return []
    text = Path(file).read_text()
    if not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        _replace(file, text)
    return list(csv.DictReader(io.StringIO(text)))


def _append(file, row):
    new = not file.exists() or file.stat().st_size == 0
    with open(file, "a", newline="") as stream:
        text = io.StringIO()
        writer = csv.DictWriter(text, row, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow({name: _written(value) for name, value in row.items()})
        stream.write(text.getvalue())
        stream.flush()
        os.fsync(stream.fileno())


def _written(value):
    return f"{value:.6g}" if isinstance(value, float) else value


def _sort(file, cells):
    """Put the rows in the order of the cells; rows of other cells come last."""
    rows = rows_of(file)
    keys = list(cells[0])
    order = {tuple(str(cell[key]) for key in keys): place for place, cell in enumerate(cells)}
    last = len(order)
    rows.sort(key=lambda row: (order.get(tuple(row[key] for key in keys), last), *row.values()))
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    _replace(file, text.getvalue())


def _replace(file, text):
    with whole(file) as part:
        part.write_text(text)

"""How long one waits for the first answer: importing, compiling, and with kernels compiled before.

Run with: python benchmarks/start.py          (a minute on two cores)

`seconds` are those of the clock, from `python` to its end. `own_cpu_seconds` are those that
processors worked for this process, `cpu_seconds` with those of the second one that compiles: where
a machine has other work, they say more. Of runs that can be repeated, the quickest of three counts.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from common import save

FROM_SKLEARN = "from sklearn.datasets import load_wine; X = load_wine().data;"
FROM_FILE = "import numpy as np; X = np.load('wine.npy');"
ANSWER = "from edfkmeans import select_k; print(select_k(X, random_state=0).k)"
TELL = "import atexit, time; atexit.register(lambda: print(time.process_time()));"
HELP = "import sys; sys.argv[1:] = ['--help']; from edfkmeans.cli import main; main()"


def cpu():
    """Processor seconds of the children that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


def run(what, code, folder, repeats=3):
    """Seconds from `python` to its end, with numba's cache in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")}
    runs = []
    for _ in range(repeats):
        begun, before = time.perf_counter(), cpu()
        done = subprocess.run(
            [sys.executable, "-c", TELL + code], cwd=folder, env=environment, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
        own = float(done.stdout.split()[-1])
        runs.append((time.perf_counter() - begun, own, cpu() - before))
    seconds, own, spent = np.min(runs, axis=0)
    said = "compiling" in done.stderr
    return {
        "what": what, "seconds": seconds, "own_cpu_seconds": own, "cpu_seconds": spent,
        "said_why": said,
    }  # fmt: skip


def main():
    """Measure each kind of start; the first answers once, as they are not the first twice."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        run("", FROM_SKLEARN + "import numba, pandas", folder, 1)  # files of the system
        from sklearn.datasets import load_wine

        np.save(folder / "wine.npy", load_wine().data)
        single = "X = X.astype('float32');"
        rows = [
            run("python -c pass", "pass", folder),
            run("import edfkmeans", "import edfkmeans", folder),
            run("edfkmeans --help", HELP, folder),
            run("load_wine of scikit-learn, without us", FROM_SKLEARN, folder),
            run("first answer, wine from a file, nothing compiled", FROM_FILE + ANSWER, folder, 1),
            run("first answer for float32 after that", FROM_FILE + single + ANSWER, folder, 1),
            run("later process, wine from a file", FROM_FILE + ANSWER, folder),
            run("later process, wine from scikit-learn", FROM_SKLEARN + ANSWER, folder),
        ]
    with tempfile.TemporaryDirectory() as place:
        what = "first answer, wine from scikit-learn, nothing compiled"
        rows.insert(5, run(what, FROM_SKLEARN + ANSWER, Path(place), 1))
    save("start", rows, "python benchmarks/start.py")


if __name__ == "__main__":
    main()

"""How long one waits for the first answer: importing, compiling, and with kernels compiled before.

Run with: python benchmarks/start.py
"""

import os
import subprocess
import sys
import tempfile

from common import save, timed

ANSWER = (
    "from sklearn.datasets import load_iris; from edfkmeans import select_k;"
    "print(select_k(load_iris().data, random_state=0).k)"
)


def run(code, cache):
    """Seconds from `python` to its end, with numba's cache in a folder."""
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-c", code]
    return timed(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))[
        0
    ]


def main():
    """Measure each kind of start."""
    with tempfile.TemporaryDirectory() as cache:
        run("import sklearn.datasets, numba, pandas", cache)  # files in the system's cache
        rows = [
            {"what": "python -c pass", "seconds": run("pass", cache)},
            {"what": "import edfkmeans", "seconds": run("import edfkmeans", cache)},
            {"what": "first select_k on iris, nothing compiled", "seconds": run(ANSWER, cache)},
            {"what": "select_k on iris, later process", "seconds": run(ANSWER, cache)},
            {"what": "edfkmeans --help", "seconds": run(
                "import sys; sys.argv[1:] = ['--help']; from edfkmeans.cli import main; main()",
                cache,
            )},
        ]  # fmt: skip
    save("start", rows, "python benchmarks/start.py")


if __name__ == "__main__":
    main()

"""What the benchmarks share: data, one run in a process of its own, the machine, tables."""

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1] / "experiments"))
import provenance
from pages import filled as filled

RESULTS = Path(__file__).parent / "results"


def mixture(n: int, d: int, seed: int = 0, dtype: Any = np.float64) -> np.ndarray:
    """Twelve Gaussian clusters that overlap somewhat."""
    rng = np.random.default_rng(seed)
    centers = 1.5 * rng.normal(size=(12, d))
    X = np.empty((n, d), dtype)
    for first in range(0, n, 10_000):
        part = X[first : first + 10_000]
        part[:] = centers[rng.integers(0, 12, len(part))] + rng.normal(size=part.shape)
    return X


def peak_mb() -> float:
    """Largest memory this process has used so far."""
    status = Path("/proc/self/status")  # ru_maxrss would count the process that started this one
    if status.exists():
        high = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(high.split()[1]) / 1024
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(script: str, *arguments: object, limit_s: float = 1200) -> dict[str, Any]:
    """Run a script's measurement in a fresh process, which prints one line of JSON."""
    command = [sys.executable, script, "--one", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds and result of one call."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def machine() -> str:
    """Processor, cores, versions."""
    import numba
    import sklearn

    import edfkmeans

    names = [line for line in _cpuinfo() if line.startswith("model name")]
    cpu = names[0].split(":", 1)[1].strip() if names else platform.processor()
    return (
        f"{cpu}, {os.cpu_count()} cores; {platform.system()}, Python {platform.python_version()}, "
        f"edfkmeans {edfkmeans.__version__}, numpy {np.__version__}, numba {numba.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )


def _cpuinfo() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


def save(name: str, rows: list[dict[str, Any]], command: str) -> None:
    """Write a table as CSV, headed by the machine and the command that made it."""
    import pandas as pd

    RESULTS.mkdir(exist_ok=True)
    text = pd.DataFrame(rows).to_csv(index=False, float_format="%.6g")
    file = f"benchmarks/results/{name}.csv"
    told = f"{provenance.line(file)}\n" if file in provenance.RESULTS else ""
    (RESULTS / f"{name}.csv").write_text(f"# {machine()}\n# {command}\n{told}{text}")
    print(text)

"""Bytes made to reach new lines of code: into the readers of files, and as arrays into the kernels.

Run with: pip install atheris (Linux), then python robustness/fuzz.py SECONDS. What it has learnt is
in build/fuzz/corpus and is gone on with next time; remove the folder to start afresh. The kernels
are compiled with every index checked; the first time that takes some minutes more.

An error that is not meant is a finding: counted, told at the end, and kept in build/fuzz/findings.
A crash or a run of more than 30 seconds ends the whole, with the bytes in the same folder.
"""

import hashlib
import os
import pkgutil
import re
import subprocess
import sys
import traceback
import warnings
from importlib import import_module
from pathlib import Path

FOLDER = Path("build/fuzz")
CORPUS, FINDINGS = FOLDER / "corpus", FOLDER / "findings"
CHECKED = {
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_OPT": "1",
    "NUMBA_CACHE_DIR": str(FOLDER / "numba"),
    "HOW": "fuzz",
}
MOST_BYTES = 4096
VALUES = [0.0, 1.0, -1.0, 2.0, 0.1, 0.3, 1e-300, 5e-324, 1e-17, 1e8, 1e150, -1e300, float("nan")]


def seeds():
    """Return a small table in every format, for a start."""
    import gzip
    import io

    import numpy as np
    import pandas as pd

    frame = pd.DataFrame({"a": [1.5, 2.0, None, 4.0], "b": [3, 1, 2, 2], "c": ["x", "y", "x", ""]})
    found = [frame.to_csv(sep=each, index=False).encode() for each in ",;\t| "]
    found += [
        gzip.compress(found[0]),
        found[0].decode().encode("utf-16"),
        b'"a","b"\r\n1,5;2,5\r\n',
    ]
    for write in (frame.to_parquet, frame.to_feather):
        stream = io.BytesIO()
        write(stream)
        found.append(stream.getvalue())
    for write in (np.save, np.savez, np.savez_compressed):
        stream = io.BytesIO()
        write(stream, frame[["a", "b"]].to_numpy())
        found.append(stream.getvalue())
    rng = np.random.default_rng(0)
    return [b"\0\3" + each for each in found] + [b"\1" + rng.bytes(400) for _ in range(20)]


def read(content):
    """Read a file of some bytes, as the command line does."""
    import numpy as np

    from edfkmeans._choices import MISSING, SCALES
    from edfkmeans.cli.preparing import prepare
    from edfkmeans.cli.reading import BadFileError, read_file

    ways = content[0] if content else 0  # how to encode, fill and scale; the file follows
    file = FOLDER / "table"
    file.write_bytes(content[1:])
    try:
        frame, notes = read_file(file)
        ready = prepare(
            frame,
            "table",
            notes=notes,
            encode=bool(ways & 1),
            missing=(None, *MISSING)[ways >> 1 & 3],
            scale=SCALES[(ways >> 3) % 3],
        )
    except BadFileError as error:
        return str(error)
    assert ready.X.shape == (len(ready.ids), len(ready.names)), "wrong shape"
    assert np.isfinite(ready.X).all(), "NaN or infinity"
    return None


def cluster(content):
    """Take bytes as a matrix, labels and options for one of the public functions."""
    import atheris
    import numpy as np

    import edfkmeans
    from edfkmeans.criteria import registered
    from edfkmeans.criteria.separation import silhouettes

    take = atheris.FuzzedDataProvider(content)
    what, method = take.ConsumeIntInRange(0, 6), take.ConsumeIntInRange(0, 3)
    k_max, dtype = take.ConsumeIntInRange(1, 5), (float, np.float32)[take.ConsumeBool()]
    n, d, any_bits = take.ConsumeIntInRange(1, 24), take.ConsumeIntInRange(1, 4), take.ConsumeBool()
    labels, pilot = (take.ConsumeIntListInRange(n, 0, most) for most in (3, 7))
    if any_bits:
        values = np.frombuffer(take.ConsumeBytes(8 * n * d).ljust(8 * n * d, b"\0"), float)
    else:
        values = np.array(
            [VALUES[i] for i in take.ConsumeIntListInRange(n * d, 0, len(VALUES) - 1)]
        )
    with np.errstate(all="ignore"):
        X = values.reshape(n, d).astype(dtype)
    common = {"random_state": 0, "n_jobs": 1}
    try:
        if what == 0:
            found = edfkmeans.degrees_of_freedom(
                X, labels, pilot, method=("paper", "exact")[method % 2]
            )
            assert np.isfinite(found.total), "degrees of freedom are not finite"
        elif what == 1:
            found = silhouettes(X, labels).per_point
            assert (np.abs(found) <= 1 + 1e-9).all(), "no silhouettes"
        elif what == 2:
            found = edfkmeans.score(X, labels, **common)
            assert not np.isinf(found["value"]).any(), "an infinite score"
        elif what == 3:
            path = edfkmeans.KMeansPath.from_labels(X, {2: labels, 3: pilot})
            assert np.isfinite(path.inertia).all(), "inertia is not finite"
        elif what == 4:
            names = list(registered())
            found = edfkmeans.compare(X, [names[sum(labels) % len(names)]], k_max=k_max, **common)
            assert found.table.k.dropna().between(1, k_max).all(), "k out of range"
        else:
            rule = ("paper", "naive", "combined", "judge")[method]
            found = edfkmeans.select_k(X, k_max, method=rule, **common)
            assert 1 <= found.k <= k_max, "k out of range"
            assert np.isfinite(found.table.inertia).all(), "inertia is not finite"
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def one(content):
    """Take one input; write down what is not meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", category=RuntimeWarning, module="edfkmeans")
        try:
            told = (cluster if content[:1] == b"\1" else read)(content[1:])
            assert told is None or len(told) > 20, f"an error without a word: {told}"
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            title = f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"
            name = hashlib.sha256(re.sub(r"\d+", "", title).encode()).hexdigest()[:16]
            (FINDINGS / f"{name}.txt").write_text(f"{title}\n\n{traceback.format_exc()}")
            (FINDINGS / f"{name}.bytes").write_bytes(content)


def fuzz(seconds):
    """Run in a process of its own: a crash, or its end, ends that."""
    import atheris

    import edfkmeans.kernels

    for module in pkgutil.iter_modules(edfkmeans.kernels.__path__):  # numba cannot compile hooks
        import_module(f"edfkmeans.kernels.{module.name}")
    with atheris.instrument_imports(include=["edfkmeans"]):
        for name in ("cli.preparing", "selection", "comparison", "scoring"):
            import_module(f"edfkmeans.{name}")
    for content in seeds():
        (CORPUS / hashlib.sha256(content).hexdigest()[:16]).write_bytes(content)
        one(content)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MOST_BYTES}",
        f"-artifact_prefix={FINDINGS}/",
        "-timeout=30",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(CORPUS)], one)
    atheris.Fuzz()


def main(seconds):
    """Run, and tell what was found."""
    for folder in (CORPUS, FINDINGS):
        folder.mkdir(parents=True, exist_ok=True)
    for file in FINDINGS.iterdir():
        file.unlink()
    done = subprocess.run(
        [sys.executable, __file__, str(seconds)],
        env=os.environ | CHECKED,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    stats = dict(re.findall(r"stat::(\w+):\s+(\d+)", done.stderr))
    covered = re.findall(r"cov: (\d+)", done.stderr)
    print(f"{stats.get('number_of_executed_units', '?')} inputs, ", end="")
    print(f"{stats.get('average_exec_per_sec', '?')} a second, ", end="")
    print(f"{covered[-1] if covered else '?'} places reached")
    titles = [file.read_text().splitlines()[0] for file in sorted(FINDINGS.glob("*.txt"))]
    for title in titles:
        print("finding:", title)
    crashes = [file for file in FINDINGS.iterdir() if file.suffix not in (".txt", ".bytes")]
    for file in crashes:
        print("crash, hang or memory:", file)
    if done.returncode:
        print(done.stderr[-2000:])
    print(f"{len(titles)} findings, {len(crashes)} crashes or hangs")
    return 1 if titles or crashes or done.returncode else 0


if __name__ == "__main__":
    length = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    sys.exit(fuzz(length) if os.environ.get("HOW") == "fuzz" else main(length))

"""What an installed edfkmeans must do, with and without its extras.

Run with: python smoke.py VERSION EXTRA    (in an environment of its own; release/dist.py does it)

Standard library and edfkmeans only, so that it shows what is missing.
"""

import importlib.metadata
import importlib.util
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

# What each extra must bring. Those in ELSEWHERE are no part of [all]: they need more than Python,
# and release/dist.py tries them where that is there.
NEEDED = {
    "plot": {"matplotlib"},
    "report": {"jinja2"},
    "cli": {"typer", "rich"},
    "arrow": {"pyarrow", "fsspec"},
    "dask": {"dask", "distributed"},
    "excel": {"openpyxl"},
    "spark": {"pyspark", "pyarrow"},
}
ELSEWHERE = {"spark"}
COMMAND = Path(sysconfig.get_path("scripts")) / "edfkmeans"


def main(version, extra):
    """Check this installation."""
    import edfkmeans

    place = Path(edfkmeans.__file__).parent
    assert place.parent == Path(sysconfig.get_path("purelib")), f"imported from {place}"
    assert edfkmeans.__version__ == importlib.metadata.version("edfkmeans") == version
    assert (place / "py.typed").exists()
    parts = NEEDED.keys() - ELSEWHERE if extra == "all" else NEEDED.keys() & {extra}
    wanted = set().union(*(NEEDED[part] for part in parts))
    missing = {name for name in wanted if not is_there(name)}
    assert not missing, f"[{extra}] does not bring {missing}"
    if extra == "none":
        more = set(filter(is_there, set().union(*NEEDED.values())))
        assert not more, f"{more} came without an extra"
    found = check_library()
    checks = {
        "matplotlib": check_plot, "jinja2": check_report, "typer": check_command,
        "pyarrow": check_arrow, "dask": check_dask, "openpyxl": check_excel,
        "pyspark": check_spark,
    }  # fmt: skip
    told = []
    for package, check in checks.items():
        there = is_there(package)
        check(there, found)
        told.append(f"{package} {'works' if there else 'is not there'}")
    python = ".".join(map(str, sys.version_info[:2]))
    print(f"edfkmeans {version}[{extra}] on Python {python}: k = {found[1].k}; {', '.join(told)}")


def is_there(package):
    """Whether a package is installed."""
    return importlib.util.find_spec(package) is not None


def check_library():
    """Use each of the main calls."""
    from sklearn.datasets import load_wine

    from edfkmeans import EDFKMeans, compare, degrees_of_freedom, fit_path, score, select_k

    X = load_wine().data
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    found = select_k(X, random_state=0)
    assert found.k == 3, found.k
    assert found.as_good, "the judge's model did not come along"
    path = fit_path(X, 5, random_state=0)
    assert degrees_of_freedom(X, path.labels(3), path.labels(5)).total > 3 * X.shape[1]
    assert EDFKMeans(k_max=6, random_state=0).fit(X).n_clusters_ == 3
    assert compare(X, ["bic"], k_max=6, random_state=0).table.loc["bic", "k"] >= 1
    assert len(score(X, path.labels(3))) > 0
    return X, found


def check_plot(there, found):
    """Draw, or say what to install."""
    if there:
        import matplotlib

        matplotlib.use("Agg")
        assert found[1].plot() is not None
    else:
        asks_for("plot", lambda: found[1].plot())


def check_report(there, found):
    """Write a report, or say what to install. Its pictures need no matplotlib."""
    X, result = found
    if there:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "report.html"
            result.to_html(file, X)
            assert file.stat().st_size > 10_000
    else:
        asks_for("report", lambda: result.to_html("report.html", X))


def check_command(there, found):
    """Run the command, or let it say what to install."""
    for start in ([str(COMMAND)], [sys.executable, "-m", "edfkmeans"]):
        done = subprocess.run([*start, "demo", "--quiet"], capture_output=True, text=True)
        if there:
            assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
        else:
            assert done.returncode
            assert "[cli]" in done.stderr, done.stderr
            assert "Traceback" not in done.stderr, done.stderr


def check_arrow(there, found):
    """Take an Arrow table. Who has one has pyarrow."""
    if there:
        import pyarrow

        X, _ = found
        table = pyarrow.table({f"c{i}": column for i, column in enumerate(X.T)})
        same_fits(table, X)


def check_dask(there, found):
    """Take rows in chunks; the command says what to install for it."""
    X, _ = found
    if there:
        import dask.array

        same_fits(dask.array.from_array(X, chunks=(60, -1)), X)
    else:
        command_asks_for("dask")


def check_spark(there, found):
    """Take a table in Spark; the command says what to install for it."""
    X, _ = found
    if there:
        import pandas

        from edfkmeans.engines.spark_files import connected

        with connected("local[2]") as spark:
            same_fits(spark.createDataFrame(pandas.DataFrame(X).add_prefix("c")), X)
            java = spark.sparkContext._gateway.proc
        java.stdin.close()  # by which it ends, before the packages that it loads from are deleted
        java.wait(60)
    else:
        command_asks_for("spark")


def check_excel(there, found):
    """Read a workbook by the command, or let it say what to install."""
    if not is_there("typer"):
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "book.xlsx"
        if there:
            import pandas

            pandas.DataFrame(found[0]).add_prefix("c").to_excel(file, index=False)
            done = selected(file)
            assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
        else:
            with zipfile.ZipFile(file, "w") as book:
                book.writestr("xl/workbook.xml", "")
            done = selected(file)
            assert done.returncode
            assert "[excel]" in done.stderr, done.stderr


def command_asks_for(engine):
    """Check that the command, where it is, says which extra an engine needs."""
    if not is_there("typer"):
        return
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        table.write_text("a,b\n" + "1,2\n3,4\n" * 9, encoding="utf-8")
        done = selected(table, "--engine", engine)
    assert done.returncode
    assert f"[{engine}]" in done.stderr, done.stderr


def selected(*words):
    """Let the command answer for a file."""
    command = [str(COMMAND), "select", *map(str, words), "--quiet"]
    return subprocess.run(command, capture_output=True, text=True)


def same_fits(rows, X):
    """Check that rows from elsewhere are clustered as those in memory."""
    from edfkmeans import fit_path

    inertia = fit_path(rows, 3, random_state=0).inertia
    assert abs(inertia[2] / fit_path(X, 3, random_state=0).inertia[2] - 1) < 1e-3


def asks_for(extra, function):
    """Check that a call says which extra it needs."""
    told = "nothing: it works without"
    try:
        function()
    except ImportError as error:
        told = str(error)
    assert f"[{extra}]" in told, told


if __name__ == "__main__":
    main(*sys.argv[1:])

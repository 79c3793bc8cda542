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
from pathlib import Path

NEEDED = {"plot": {"matplotlib"}, "report": {"jinja2"}, "cli": {"typer"}, "dask": {"dask"}}


def main(version, extra):
    """Check this installation."""
    import edfkmeans

    place = Path(edfkmeans.__file__).parent
    assert place.parent == Path(sysconfig.get_path("purelib")), f"imported from {place}"
    assert edfkmeans.__version__ == importlib.metadata.version("edfkmeans") == version
    assert (place / "py.typed").exists()
    if extra in NEEDED:
        missing = {name for name in NEEDED[extra] if not importlib.util.find_spec(name)}
        assert not missing, f"[{extra}] does not bring {missing}"
    if extra == "none":
        more = {
            name for names in NEEDED.values() for name in names if importlib.util.find_spec(name)
        }
        assert not more, f"{more} came without an extra"
    found = check_library()
    checks = {
        "matplotlib": check_plot, "jinja2": check_report, "typer": check_command, "dask": check_dask
    }  # fmt: skip
    told = []
    for package, check in checks.items():
        there = importlib.util.find_spec(package) is not None
        check(there, found)
        told.append(f"{package} {'works' if there else 'is not there'}")
    python = ".".join(map(str, sys.version_info[:2]))
    print(f"edfkmeans {version}[{extra}] on Python {python}: k = {found[1].k}; {', '.join(told)}")


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
    command = Path(sysconfig.get_path("scripts")) / "edfkmeans"
    for start in ([str(command)], [sys.executable, "-m", "edfkmeans"]):
        done = subprocess.run([*start, "demo", "--quiet"], capture_output=True, text=True)
        if there:
            assert (done.returncode, done.stdout.strip()) == (0, "3"), done.stderr
        else:
            assert done.returncode
            assert "[cli]" in done.stderr, done.stderr
            assert "Traceback" not in done.stderr, done.stderr


def check_dask(there, found):
    """Take rows in chunks."""
    if there:
        import dask.array

        from edfkmeans import fit_path

        X, _ = found
        inertia = fit_path(dask.array.from_array(X, chunks=(60, -1)), 3, random_state=0).inertia
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

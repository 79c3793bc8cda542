"""Where results come from: their commit and a digest of their sources, and which are stale.

Run with: python experiments/provenance.py          (lists what is stale; exits with 1 if any is)
          python experiments/provenance.py run      (runs their commands; goes on after a stop)

A digest does not see comments, docstrings and blanks: they change no number.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "edfkmeans"
# What numbers hang on, from the lowest room up.
FITS = ("_streams.py", "rows", "engines", "fits", "kernels")
COUNTS = (*FITS, "dof")
LEARNED = (*COUNTS, "criteria", "choosing/evidence.py", "choosing/looks.py")
ANSWERS = (*COUNTS, "criteria", "choosing", "structure.py", "selection.py", "comparison.py")
SETS = os.environ.get("EDFKMEANS_DATA", "../shared/benchmark")
BEST = "../shared/reference/best_known_inertia.csv"
# For every file: the script that makes it, its arguments, and what of the package it uses.
RESULTS = {
    "benchmarks/results/best_known.csv": ("benchmarks/best_known.py", (SETS, BEST), ANSWERS),
    "benchmarks/results/criteria.csv": ("benchmarks/criteria.py", (), ANSWERS),
    "benchmarks/results/dof.csv": ("benchmarks/dof.py", (), ANSWERS),
    "benchmarks/results/gpu.csv": ("benchmarks/gpu.py", (), ANSWERS),
    "benchmarks/results/growth.csv": ("benchmarks/growth.py", (), ANSWERS),
    "benchmarks/results/large.csv": ("benchmarks/large.py", ("build/large",), ANSWERS),
    "benchmarks/results/memory.csv": ("benchmarks/memory.py", (), (*ANSWERS, "cli")),
    "benchmarks/results/peers.csv": ("benchmarks/peers.py", (), FITS),
    "benchmarks/results/small.csv": ("benchmarks/small.py", (), (".",)),
    "benchmarks/results/small_parts.csv": ("benchmarks/small.py", (), (".",)),
    "benchmarks/results/wide.csv": ("benchmarks/wide.py", (), ANSWERS),
    "benchmarks/results/start.csv": ("benchmarks/start.py", (), (".",)),
    "experiments/results/dof_accuracy.csv": ("experiments/dof_accuracy.py", (), ANSWERS),
    "experiments/results/judge.csv": ("experiments/judge.py", ("--check",), LEARNED),
    "experiments/results/measured_sets.csv": (
        "experiments/measured.py",
        ("--part", "sets"),
        ANSWERS,
    ),
    "experiments/results/measured_simulated.csv": (
        "experiments/measured.py",
        ("--part", "simulated"),
        ANSWERS,
    ),
    "experiments/results/measured_steady.csv": (
        "experiments/measured.py",
        ("--part", "steady"),
        ANSWERS,
    ),
    "experiments/results/one_or_more.csv": ("experiments/one_or_more.py", (), ANSWERS),
    "experiments/results/no_structure.csv": ("experiments/no_structure.py", (), ANSWERS),
    "experiments/results/one_cluster.csv": ("experiments/one_cluster.py", (), ANSWERS),
    "experiments/results/reproduction/runs.json": ("experiments/reproduce.py", (), ANSWERS),
}
STUDIES = ("simulations", "real", "pilots", "direct")
MARK = re.compile(r"^# commit \S+, (sources|unfinished) ([0-9a-f]{12})$", re.MULTILINE)


def digest(script, parts):
    """Return a digest of a script, what it imports from beside it, and parts of the package."""
    files, models = beside(ROOT / script), []
    for part in parts:
        place = PACKAGE / part
        files += sorted(place.rglob("*.py")) if place.is_dir() else [place]
        models += sorted(place.rglob("*.npz")) if place.is_dir() else []
    text = "\n".join(bare(file.read_text(encoding="utf-8")) for file in files)
    found = hashlib.sha256(text.encode())
    for model in models:
        found.update(model.read_bytes())
    return found.hexdigest()[:12]


def beside(script):
    """Return a script and the files of its own folder that it imports, and that those import."""
    files = [script]
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            for name in names:
                place = script.parent.joinpath(*name.split("."))
                for found in (place.with_suffix(".py"), place / "__init__.py"):
                    if found.exists() and found not in files and found.name != "provenance.py":
                        files.append(found)
    return files


def bare(source):
    """Return Python as its statements alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(node):
    value = getattr(node, "value", None) if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def line(name, done=True):
    """Return the line in which a result says where it comes from: commit and digest."""
    script, _, parts = RESULTS[name]
    return f"# commit {commit()}, {'sources' if done else 'unfinished'} {digest(script, parts)}"


def commit():
    """Return the commit that is checked out, and whether there are changes."""

    def git(*words):
        done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True)
        return done.stdout.strip()

    changes = "+changes" * bool(git("status", "--porcelain", "-uno"))
    return (git("rev-parse", "HEAD") or "unknown") + changes


def stale():
    """Name the results that are not there, say nothing of their sources, or had other ones."""
    return [
        name
        for name, (script, _, parts) in RESULTS.items()
        if told(ROOT / name) != ("sources", digest(script, parts))
    ]


def told(file):
    """Return what a result says: whether it is finished, and the digest of its sources."""
    if not file.exists():
        return ("", "")
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":  # the last run of every study
        runs = {run["study"]: run.get("sources", "") for run in json.loads(text)}
        same = {runs.get(study, "") for study in STUDIES}
        return ("sources", same.pop()) if len(same) == 1 else ("", "")
    return (MARK.findall(text) or [("", "")])[-1]


def run(names):
    """Run the commands behind some results; rows of other sources are put aside first."""
    for name in names:
        script, arguments, parts = RESULTS[name]
        file = ROOT / name
        old = file if file.suffix == ".csv" else file.parent
        aside = old.with_name(f"{old.name}.stale")
        rows = script.startswith("experiments/") and file.exists()
        if rows and told(file) != ("unfinished", digest(script, parts)):
            shutil.rmtree(aside, ignore_errors=True)
            old.rename(aside)
        print(f"python {script}", *arguments, flush=True)
        subprocess.run([sys.executable, script, *arguments], cwd=ROOT, check=True)
        if aside.is_dir():
            shutil.rmtree(aside)
        aside.unlink(missing_ok=True)


if __name__ == "__main__":
    names = stale()
    if sys.argv[1:] == ["run"]:
        run(names)
    else:
        print("\n".join(names) or "nothing is stale")
        sys.exit(bool(names))

"""Where results come from: their commit and a digest of their sources, and which are stale.

Run with: python experiments/provenance.py          (lists what is stale; exits with 1 if any is)
          python experiments/provenance.py run      (runs their commands; goes on after a stop)
          python experiments/provenance.py carry    (takes over marks of another kind of digest)

The sources of a result are its script and every module that this one imports, at the top or inside
a function, and that those import, as read from their text. Parts that a run enters only when it
asks for them are left out unless it does. A digest does not see comments, docstrings and blanks:
they change no number. Nor does it see the words of errors: a run that came to its end met none.
"""

import ast
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "src/edfkmeans/"
# What a run enters only when it asks for it, by the beginnings of file names: engines other than
# memory, what only shows, stores or words numbers, what is said to be odd about columns, clusterers
# other than k-means, what compiles ahead of time, and all there is.
PARTS = {
    **{
        name: (f"{PACKAGE}engines/{name}", f"{PACKAGE}engines/_{name}", f"benchmarks/large_{name}")
        for name in ("arrow", "dask", "spark", "cuda")
    },
    "shown": (
        *(f"{PACKAGE}{name}" for name in ("report/", "plots.", "_html.", "_progress.", "_atomic.")),
        *(f"{PACKAGE}{name}" for name in ("_extras.", "_spreadsheets.", "_wording.")),
        *("benchmarks/large_tables.", "benchmarks/tables.", "experiments/pages."),
        *("experiments/provenance.", "experiments/whole.", "experiments/leave."),
    ),
    "remarks": (f"{PACKAGE}rows/findings.",),
    "clusterer": (f"{PACKAGE}fits/clusterer.",),
    "ahead": (f"{PACKAGE}kernels/ahead.",),
    "everything": (PACKAGE,),
}
SETS = os.environ.get("EDFKMEANS_DATA", "../shared/benchmark")
BEST = "../shared/reference/best_known_inertia.csv"
LARGE = "build/large"
# For every file: the script that makes it, its arguments, and which of those parts it asks for.
RESULTS = {
    "benchmarks/results/best_known.csv": ("benchmarks/best_known.py", (SETS, BEST), ()),
    "benchmarks/results/choosers.csv": ("benchmarks/choosers.py", (), ()),
    "benchmarks/results/cosine.csv": ("benchmarks/cosine.py", (), ()),
    "benchmarks/results/criteria.csv": ("benchmarks/criteria.py", (), ()),
    "benchmarks/results/dof.csv": ("benchmarks/dof.py", (), ()),
    "benchmarks/results/gpu.csv": ("benchmarks/gpu.py", (), ("cuda",)),
    "benchmarks/results/growth.csv": ("benchmarks/growth.py", (), ()),
    "benchmarks/results/large.csv": ("benchmarks/large.py", (LARGE, "grow"), ("dask",)),
    "benchmarks/results/large_engines_1000000.csv": (
        "benchmarks/large.py",
        (LARGE, "engines=1000000"),
        ("arrow", "dask", "spark"),
    ),
    "benchmarks/results/large_engines_10000000.csv": (
        "benchmarks/large.py",
        (LARGE, "engines"),
        ("arrow", "dask", "spark"),
    ),
    "benchmarks/results/large_loss.csv": ("benchmarks/large.py", (LARGE, "loss"), ("dask",)),
    "benchmarks/results/large_mllib.csv": ("benchmarks/large.py", (LARGE, "mllib"), ("spark",)),
    "benchmarks/results/large_peers.csv": ("benchmarks/large.py", (LARGE, "peers"), ("dask",)),
    "benchmarks/results/large_spark.csv": ("benchmarks/large.py", (LARGE, "spark"), ("spark",)),
    "benchmarks/results/many.csv": ("benchmarks/many.py", (), ()),
    "benchmarks/results/memory.csv": ("benchmarks/memory.py", (), ()),
    "benchmarks/results/peers.csv": ("benchmarks/peers.py", (), ()),
    "benchmarks/results/repeats.csv": ("benchmarks/repeats.py", (), ()),
    "benchmarks/results/silhouettes.csv": ("benchmarks/silhouettes.py", (), ()),
    "benchmarks/results/small.csv": ("benchmarks/small.py", (), ("everything",)),
    "benchmarks/results/small_parts.csv": ("benchmarks/small.py", (), ("everything",)),
    "benchmarks/results/wide.csv": ("benchmarks/wide.py", (), ()),
    "benchmarks/results/threads.csv": ("benchmarks/threads.py", (), ()),
    "benchmarks/results/start.csv": ("benchmarks/start.py", (), ("everything",)),
    "experiments/results/dof_accuracy.csv": ("experiments/dof_accuracy.py", (), ()),
    "experiments/results/judge.csv": (
        "experiments/judge.py",
        ("--check", "--sets", "2000", "--model", "build/judge/check.npz"),
        (),
    ),
    "experiments/results/measured_sets.csv": ("experiments/measured.py", ("--part", "sets"), ()),
    "experiments/results/measured_called.csv": (
        "experiments/measured.py",
        ("--part", "called"),
        (),
    ),
    "experiments/results/measured_simulated.csv": (
        "experiments/measured.py",
        ("--part", "simulated"),
        (),
    ),
    "experiments/results/measured_steady.csv": (
        "experiments/measured.py",
        ("--part", "steady"),
        (),
    ),
    "experiments/results/one_or_more.csv": ("experiments/one_or_more.py", (), ()),
    "experiments/results/no_structure.csv": ("experiments/no_structure.py", (), ()),
    "experiments/results/one_cluster.csv": ("experiments/one_cluster.py", (), ()),
    "experiments/results/reproduction/runs.json": ("experiments/reproduce.py", (), ()),
}
STUDIES = ("simulations", "real", "pilots", "direct")
MARK = re.compile(r"^# commit \S+, (sources|unfinished) ([0-9a-f]{12})$", re.MULTILINE)


def digest(script, asked=(), root=None):
    """Return a digest of what a script reaches, with the parts that it asks for."""
    root = root or ROOT
    found = hashlib.sha256()
    for file in reached(root, script, asked):
        known = file.suffix == ".py"
        found.update(
            bare(file.read_text(encoding="utf-8")).encode() if known else file.read_bytes()
        )
    return found.hexdigest()[:12]


def reached(root, script, asked=()):
    """Return the files that a script reaches, sorted: modules, and data that they name."""
    others = [start for name, starts in PARTS.items() if name not in asked for start in starts]
    others = [] if "everything" in asked else [start for start in others if start != PACKAGE]
    files = [root / script]
    for name in asked:
        for start in PARTS[name]:
            folder = root / start if start.endswith("/") else (root / start).parent
            files += [each for each in folder.rglob("*.py") if _name(root, each).startswith(start)]
    for file in files:
        if file.suffix == ".py":
            for found in leads_to(root, file, (root / script).parent):
                left_out = _name(root, found).startswith(tuple(others))
                if found not in files and not left_out:
                    files.append(found)
    return sorted(files)


def _name(root, file):
    return file.relative_to(root).as_posix()


def leads_to(root, file, beside):
    """Yield the files that a module imports or names, with the packages that they lie in."""
    package = root / PACKAGE
    modules, _, texts, loads_all = mentioned(file.read_text(encoding="utf-8"))
    for module, name in modules:
        if module == "edfkmeans" and name:  # a public name: from where it lives
            _, homes, _, _ = mentioned((package / "__init__.py").read_text(encoding="utf-8"))
            module = next((where for where, each in homes if each == name), module)
        parts = module.split(".")
        for length in range(1, len(parts) + 1):
            yield from _files(root, beside, parts[:length])
        yield from _files(root, beside, [*parts, name]) if name else ()
    for text in texts:
        yield from package.rglob(text)
    if loads_all:
        yield from file.parent.glob("*.py")


def _files(root, beside, parts):
    for folder in (beside, root / "experiments", root / "src"):
        place = folder.joinpath(*parts)
        for found in (place.with_suffix(".py"), place / "__init__.py"):
            if found.exists():
                yield found
                return


@cache
def mentioned(source):
    """Return what a module imports, what for types only, data it names, if it loads its folder.

    Imports are pairs of a module and the name that is taken from it.
    """
    modules, for_types, texts, types = [], [], [], set()
    nodes = list(ast.walk(ast.parse(source)))
    for node in nodes:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
            types.update(each for part in node.body for each in ast.walk(part))
    for node in nodes:
        into = for_types if node in types else modules
        if isinstance(node, ast.Import):
            into += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            into += [(node.module, alias.name) for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts += [node.value] * bool(re.fullmatch(r"\w+\.(npz|cu)", node.value))
    loads_all = any(getattr(node, "id", "") == "iter_modules" for node in nodes)
    return modules, for_types, texts, loads_all


@cache
def bare(source):
    """Return Python as its statements alone."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [each for each in body if not _is_text(each)] or [ast.Pass()]
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            node.exc = node.exc.func
        # Newer versions of Python know of more and leave out more: write as 3.11 does.
        if getattr(node, "type_params", None) == []:
            del node.type_params
    empty = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    return ast.dump(tree, **empty)


def _is_text(node):
    value = getattr(node, "value", None) if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def line(name, done=True):
    """Return the line in which a result says where it comes from: commit and digest."""
    script, _, asked = RESULTS[name]
    return f"# commit {commit()}, {'sources' if done else 'unfinished'} {digest(script, asked)}"


def commit():
    """Return the commit that is checked out, and whether there are changes."""
    changes = "+changes" * bool(git("status", "--porcelain", "-uno"))
    return (git("rev-parse", "HEAD").decode().strip() or "unknown") + changes


def git(*words):
    """Return what git prints in this project."""
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, check=False).stdout


def stale():
    """Name the results that are not there, say nothing of their sources, or had other ones."""
    return [
        name
        for name, (script, _, asked) in RESULTS.items()
        if told(ROOT / name) != ("sources", digest(script, asked))
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
        script, arguments, asked = RESULTS[name]
        file = ROOT / name
        old = file if file.suffix == ".csv" else file.parent
        aside = old.with_name(f"{old.name}.stale")
        rows = script.startswith("experiments/") and file.exists()
        if rows and told(file) != ("unfinished", digest(script, asked)):
            shutil.rmtree(aside, ignore_errors=True)
            old.rename(aside)
        print(f"python {script}", *arguments, flush=True)
        subprocess.run([sys.executable, script, *arguments], cwd=ROOT, check=True)
        if aside.is_dir():
            shutil.rmtree(aside)
        aside.unlink(missing_ok=True)


def carry(names):
    """Give results marks of today's kind where nothing that they reach has changed since.

    A mark counts if the tree of its commit, or of one of the next twenty (it may have been made
    before what it was made with was committed), has the digest that it tells of, by the rules of
    that tree. If what the script reaches there is what it reaches today, its digest is written.
    """
    carried = []
    for name in names:
        _, old = told(ROOT / name)
        script, _, asked = RESULTS[name]
        with tempfile.TemporaryDirectory() as folder:
            tree = _tree_of(name, old, Path(folder)) if old else None
            now = digest(script, asked)
            if tree and (tree / script).exists() and digest(script, asked, tree) == now:
                text = (ROOT / name).read_text(encoding="utf-8")
                (ROOT / name).write_text(text.replace(old, now), encoding="utf-8")
                carried.append(name)
    return carried


def _tree_of(name, old, folder):
    """Return a folder with the sources that a mark tells of, if any commit has them."""
    text = (ROOT / name).read_text(encoding="utf-8")
    first = re.findall(rf"commit\W+([0-9a-f]{{40}})(?:(?!commit)[\s\S])*{old}", text)[-1]
    following = git("rev-list", "--reverse", "--topo-order", f"{first}..HEAD").decode().split()
    ask = f"import provenance as p; s, _, a = p.RESULTS[{name!r}]; print(p.digest(s, a))"
    for commit in (first, *following[:20]):
        tree = folder / commit
        archive = git("archive", commit)
        if archive:
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(tree, filter="data")
            command = [sys.executable, "-c", ask]
            place = tree / "experiments"
            said = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            if said.stdout.strip() == old:
                return tree
            shutil.rmtree(tree)
    return None


if __name__ == "__main__":
    names = stale()
    if sys.argv[1:] == ["run"]:
        run(names)
    elif sys.argv[1:] == ["carry"]:
        print("\n".join(carry(names)) or "nothing was carried over")
    else:
        print("\n".join(names) or "nothing is stale")
        sys.exit(bool(names))

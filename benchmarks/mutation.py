"""Mutants: small errors are put into the code, one at a time; the tests should notice each.

Run with: make mutation    (or python benchmarks/mutation.py [PART ...] in its environment)

Works on copies in build/mutation, one for each part, and goes on where it was stopped; delete the
folder for a fresh start. The part "kernels" has its kernels as plain Python, with the decorator
taken off: a compiled function cannot be exchanged while the tests run. The part "counts" has them
compiled. Writes results/mutation.csv, a line for each file, and results/survivors.txt, the change
that each survivor makes. Why they survive is said in docs/mutants.md.
"""

import ast
import csv
import difflib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPIES = ROOT / "build" / "mutation"
RESULTS = Path(__file__).parent / "results"
COPIED = ("src", "tests", "experiments", "pyproject.toml", "README.md")
# What is mutated, the tests that may notice, and those left out for their time.
PARTS = {
    "counts": (
        ["dof", "terms", "choice", "smoothing"],
        ["choice", "smoothing", "dof", "numbers", "dask", "selection"],
        ["cluster", "worker", "memory_limit", "process", "digits", "brute", "columns", "cheap"],
    ),
    "kernels": (
        ["kernels/*"],
        ["kernels", "dof", "numbers"],
        ["bootstrap", "many_rows", "threads", "five_thousand", "digits_k", "brute"],
    ),
}
# What mutmut notes of a mutant: the exit code of pytest, or of a run that was stopped.
SURVIVED, STOPPED = 0, (-24, 24, 36, 152, 255)


def prepare(part):
    """Copy what is needed; returns the folder."""
    folder = COPIES / part
    folder.mkdir(parents=True, exist_ok=True)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy2(ROOT / name, folder / name)
    if part == "kernels":
        for file in (folder / "src" / "edfkmeans" / "kernels").glob("*.py"):
            file.write_text(file.read_text().replace("@kernel\n", ""))
    modules, tests, slow = PARTS[part]
    chosen = " and ".join(f"not {name}" for name in slow)
    # Plain Python warns where a compiled kernel divides by zero on purpose.
    options = ["-W", "ignore::RuntimeWarning", "-p", "no:cacheprovider", "-k", chosen]
    settings = {
        "source_paths": ["src/"],
        "only_mutate": [f"src/edfkmeans/{module}.py" for module in modules],
        "do_not_mutate": ["src/edfkmeans/kernels/compile.py"],
        "pytest_add_cli_args_test_selection": [f"tests/test_{test}.py" for test in tests],
        "pytest_add_cli_args": options,
        "process_isolation": "forkserver",  # dask's threads do not come along in a fork
    }
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n[tool.mutmut]\n")
        file.writelines(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    return folder


def outcomes():
    """Yield of every mutant its file, its name, the exit code, and where its text is."""
    for meta in sorted(COPIES.glob("*/mutants/src/**/*.meta")):
        mutated = meta.with_suffix("")
        name = str(mutated).split("edfkmeans/", 1)[1].split("edfkmeans/")[-1]
        for mutant, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            if code is not None:
                yield name, mutant, code, mutated


def change(mutant, mutated):
    """Return the lines that a mutant changes."""
    text = mutated.read_text()
    name = mutant.rsplit(".", 1)[1]
    names = (name.rsplit("__mutmut_", 1)[0] + "__mutmut_orig", name)
    found = {
        node.name: ast.get_source_segment(text, node).splitlines()[1:]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name in names
    }
    lines = difflib.unified_diff(found[names[0]], found[names[1]], lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def report():
    """Write what became of the mutants."""
    counts, survivors = Counter(), []
    for name, mutant, code, mutated in outcomes():
        kind = "survived" if code == SURVIVED else "stopped" if code in STOPPED else "noticed"
        counts[name, kind] += 1
        if code == SURVIVED:
            lines = change(mutant, mutated)
            survivors += [mutant, *(f"    {line[0]} {line[1:].strip()}" for line in lines)]
    (RESULTS / "survivors.txt").write_text("\n".join(survivors) + "\n")
    kinds = ("noticed", "stopped", "survived")
    names = sorted({name for name, _ in counts})
    rows = [[name, *(counts[name, kind] for kind in kinds)] for name in names]
    rows.append(["all", *(sum(row[i] for row in rows) for i in (1, 2, 3))])
    with (RESULTS / "mutation.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", *kinds, "part_noticed"])
        writer.writerows([*row, f"{1 - row[3] / sum(row[1:]):.3f}"] for row in rows)
    print((RESULTS / "mutation.csv").read_text())


def main(parts):
    """Run mutmut in the copies, and report on all of them."""
    environment = os.environ | {"HYPOTHESIS_PROFILE": "mutation", "PYTHONPATH": "src"}
    for part in parts:
        command = [sys.executable, "-m", "mutmut", "run"]
        subprocess.run(command, cwd=prepare(part), env=environment, check=True)
    report()


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))

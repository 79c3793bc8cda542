"""Mutants: small errors are put into the code, one at a time; the tests should notice each.

Run with: make mutation    (or python robustness/mutation.py [PART ...] in its environment)

Works on copies in build/mutation, one for each part, and goes on where it was stopped; what
survived an earlier run is asked again. Delete the folder for a fresh start. The part "kernels" has
its kernels as plain Python, with the decorator taken off: a compiled function cannot be exchanged
while the tests run. The part "counts" has them compiled. Writes results/mutation.csv, a line for
each file, results/survivors.txt, the change that each survivor makes, and the tables of
docs/robustness.md, with the reasons in survivors.toml.
"""

import ast
import csv
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "experiments"))
from pages import filled  # noqa: E402
from provenance import commit  # noqa: E402

RESULTS = Path(__file__).parent / "results"
COPIES = ROOT / "build" / "mutation"
REASONS = Path(__file__).parent / "survivors.toml"
PAGE = ROOT / "docs" / "robustness.md"
COPIED = ("src", "tests", "experiments", "pyproject.toml", "README.md")
# What is mutated, the tests that may notice, and those left out for their time.
PARTS = {
    "counts": (
        ["dof/*", "criteria/rules"],
        ["criteria/rules", "dof/smoothing", "dof/degrees_of_freedom", "engines", "selection"],
        [
            "a_cluster",
            "the_cluster",
            "worker",
            "memory_limit",
            "another_process",
            "digits_k",
            "(in_memory and not iris)",
            "brute",
            "cheap",
            "resample",
            "every_criterion",
            "any_labels",
            "rounded",
            "files",
            "beyond_the_sample",
        ],
    ),
    "kernels": (
        ["kernels/*"],
        ["kernels/kernels", "dof/degrees_of_freedom", "dof/numbers", "criteria/saddles"],
        [
            "bootstrap",
            "noise",
            "many_rows",
            "threads",
            "five_thousand",
            "million",
            "digits_k",
            "brute",
        ],
    ),
}
KINDS = ("noticed", "stopped", "survived")
# What mutmut notes of a mutant: the exit code of pytest, or one for no test and for a timeout.
SURVIVED, STOPPED = (0, 5, 33), (-24, 24, 36, 152, 255)


def _file(test):
    """Return the file of a test that is named by its folder and its subject."""
    folder, _, name = f"tests/{test}".rpartition("/")
    return f"{folder}/test_{name}.py"


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
        "pytest_add_cli_args_test_selection": [_file(test) for test in tests],
        "pytest_add_cli_args": options,
        # dask's threads do not come along in a fork; a server has none, but costs time.
        "process_isolation": "fork" if part == "kernels" else "forkserver",
    }
    with (folder / "pyproject.toml").open("a") as file:
        file.write("\n[tool.mutmut]\n")
        file.writelines(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    return folder


def outcomes(part="*"):
    """Yield of every mutant its file, its name, the exit code, and where its text is."""
    for meta in sorted(COPIES.glob(f"{part}/mutants/src/**/*.meta")):
        mutated = meta.with_suffix("")
        name = str(mutated).split("edfkmeans/", 1)[1].split("edfkmeans/")[-1]
        for mutant, code in json.loads(meta.read_text())["exit_code_by_key"].items():
            if code is not None:
                yield name, mutant, code, mutated


@cache
def functions(mutated):
    """Return the lines of every function of a file, but the first, by name."""
    text = mutated.read_text()
    return {
        node.name: text.splitlines()[node.lineno : node.end_lineno]
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef)
    }


def change(mutant, mutated):
    """Return the lines that a mutant changes."""
    name = mutant.rsplit(".", 1)[1]
    original = name.rsplit("__mutmut_", 1)[0] + "__mutmut_orig"
    found = functions(mutated)
    lines = difflib.unified_diff(found[original], found[name], lineterm="", n=0)
    return [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def report():
    """Write what became of the mutants, and into the page."""
    counts, survivors = Counter(), []
    for name, mutant, code, mutated in outcomes():
        kind = "survived" if code in SURVIVED else "stopped" if code in STOPPED else "noticed"
        counts[name, kind] += 1
        if code in SURVIVED:
            lines = [f"{line[0]} {line[1:].strip()}" for line in change(mutant, mutated)]
            survivors.append("\n".join([mutant, *lines]))
    with (RESULTS / "mutation.csv").open("w", newline="") as file:
        file.write(f"# commit {commit()}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["file", *KINDS])
        names = sorted({name for name, _ in counts})
        writer.writerows([name, *(counts[name, kind] for kind in KINDS)] for name in names)
    (RESULTS / "survivors.txt").write_text("\n\n".join(survivors) + "\n")
    PAGE.write_text(filled(PAGE.read_text(), tables()))


def tables():
    """Make the tables of the page from the results."""
    with (RESULTS / "mutation.csv").open() as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        rows = [[row["file"], *(int(row[kind]) for kind in KINDS)] for row in lines]
    rows.append(["all", *(sum(row[i] for row in rows) for i in (1, 2, 3))])
    files = ["| file | noticed | never ended | survived | noticed or stopped |", "|---" * 5 + "|"]
    for row in rows:
        part = 1 - row[-1] / sum(row[1:])
        files.append("| " + " | ".join(map(str, row)) + f" | {100 * part:.1f} % |")
    found = Counter(why(one) for one in (RESULTS / "survivors.txt").read_text().split("\n\n"))
    reasons = ["| why they survive | how many |", "|---|---|"]
    reasons += [f"| {reason} | {number} |" for reason, number in found.most_common()]
    return {"mutants": "\n".join(files), "survivors": "\n".join(reasons)}


def why(survivor):
    """Return the reason for a survivor: the first in survivors.toml one of whose patterns fits."""
    for reason in tomllib.loads(REASONS.read_text())["reason"]:
        if any(re.search(pattern, survivor) for pattern in reason["patterns"]):
            return reason["why"]
    return "not looked into"


def main(parts):
    """Run mutmut in the copies, and report on all of them."""
    environment = os.environ | {"HYPOTHESIS_PROFILE": "mutation", "PYTHONPATH": "src"}
    command = [sys.executable, "-m", "mutmut", "run"]
    for part in parts:
        before = [mutant for _, mutant, code, _ in outcomes(part) if code in SURVIVED]
        folder = prepare(part)
        subprocess.run(command, cwd=folder, env=environment, check=True)
        now = {mutant for _, mutant, code, _ in outcomes(part) if code in SURVIVED}
        again = [mutant for mutant in before if mutant in now]
        if again:  # the tests may have changed since
            subprocess.run([*command, *again], cwd=folder, env=environment, check=True)
    report()


if __name__ == "__main__":
    main(sys.argv[1:] or list(PARTS))

"""What a release stands on: versions, locks, workflows, the recipe, the commands without make."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import edfkmeans
from edfkmeans.criteria import registered

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))
import tasks  # noqa: E402


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


PROJECT = tomllib.loads(text("pyproject.toml"))
META = PROJECT["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_stands_in_one_place():
    first = re.search(r"^## (\S+), (unreleased|\d{4}-\d\d-\d\d)$", text("CHANGELOG.md"), re.M)
    assert first[1] == edfkmeans.__version__
    assert "version" in META["dynamic"]
    assert "version" not in yaml.safe_load(text("CITATION.cff"))
    assert edfkmeans.__version__ not in text("pyproject.toml")


def test_python_versions_are_the_same_everywhere():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(META["classifiers"]))
    first, last = (".".join(map(str, version)) for version in (tasks.FIRST, tasks.LAST))
    assert (named[0], named[-1]) == (first, last)
    assert META["requires-python"] == f">={first}"
    assert f"| Python | {first} to {last} |" in text("docs/release.md")
    tried = {str(each) for file in WORKFLOWS for each in values(loaded(file), "python")}
    assert {first, last} <= {v for v in tried if v.startswith("3.")}


def test_types_are_checked_for_the_python_that_runs():
    # numpy's types for Python 3.12 and later, read as those for 3.11, are full of errors.
    assert "python_version" not in PROJECT["tool"]["mypy"]


def test_no_address_is_made_up():
    assert "urls" not in META  # the owner's to fill in: docs/release.md
    for name in ("pyproject.toml", "CITATION.cff", "release/recipe.yaml", "mkdocs.yml"):
        assert not re.search(r"example\.(com|org)|OWNER|TODO|your-", text(name)), name


# Locks --------------------------------------------------------------------------------------------


def locked(purpose):
    """The versions of a lock, with the markers they are for."""
    found = {}
    for line in re.findall(r"^[a-z0-9].*$", text(f"locks/{purpose}.txt"), re.M):
        wanted = Requirement(line.rstrip(" \\"))
        (pin,) = wanted.specifier
        assert pin.operator == "==", line
        found.setdefault(name_of(wanted), []).append((Version(pin.version), wanted.marker))
    return found


def name_of(requirement):
    return re.sub(r"[-_.]+", "-", requirement.name).lower()


def wanted_by(extra):
    """What an extra needs, those it names in turn included."""
    for line in META["optional-dependencies"][extra]:
        requirement = Requirement(line)
        if requirement.name == "edfkmeans":
            for other in requirement.extras:
                yield from wanted_by(other)
        else:
            yield requirement


@pytest.mark.parametrize("purpose", tasks.EXTRAS)
def test_a_lock_fits_the_project(purpose):
    found = locked(purpose)
    build = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
    core = [Requirement(line) for line in META["dependencies"]]
    for requirement in (*core, *build, *wanted_by(tasks.EXTRAS[purpose])):
        versions = found.get(name_of(requirement))
        assert versions, f"{requirement} is not in locks/{purpose}.txt. Run `make lock`."
        assert all(requirement.specifier.contains(version) for version, _ in versions), requirement


@pytest.mark.parametrize("purpose", [*tasks.EXTRAS, *tasks.TOOLS])
def test_every_version_has_its_hashes(purpose):
    parts = re.split(r"^(?=[a-z0-9])", text(f"locks/{purpose}.txt"), flags=re.M)[1:]
    assert len(parts) > 20
    assert all("--hash=sha256:" in part for part in parts)


def test_what_is_installed_together_agrees():
    test = locked("test")
    for purpose in ("run", "docs"):
        both = {n: v for n, v in locked(purpose).items() if n in test}
        assert len(both) > 20
        assert {n: {x for x, _ in v} for n, v in both.items()} == {
            n: {x for x, _ in test[n]} for n in both
        }


def test_the_list_of_what_builds_is_that_of_the_project():
    listed = text("locks/build.in").split()
    assert listed == [*PROJECT["build-system"]["requires"], "editables"]


def test_the_oldest_versions_are_the_lower_bounds():
    oldest = dict(re.findall(r"^([a-z0-9-]+)==([\d.]+?)(?:\.\*)?$", text("tests/oldest.txt"), re.M))
    for requirement in map(Requirement, META["dependencies"]):
        (bound,) = requirement.specifier
        assert Version(oldest[requirement.name]) == Version(bound.version)


# Workflows ----------------------------------------------------------------------------------------


def loaded(file):
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def values(node, key):
    """Every value of a key, at any depth."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                yield from value if isinstance(value, list) else [value]
            yield from values(value, key)
    elif isinstance(node, list):
        for each in node:
            yield from values(each, key)


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_call_what_can_be_called_here(file):
    targets = set(re.findall(r"^([a-z][a-z -]*):(?!=)", text("Makefile"), re.M))
    targets = {name for line in targets for name in line.split()}
    commands = {command.__name__ for command in tasks.COMMANDS}
    runs = list(values(loaded(file)["jobs"], "run"))
    assert runs
    for run in runs:
        program, _, rest = run.partition(" ")
        if program == "make":
            assert rest.split()[0] in targets, run
        elif run.startswith("python tasks.py "):
            assert rest.split()[1] in commands, run
        elif run.startswith("sudo sh "):
            assert (ROOT / rest.split()[1]).exists(), run
        else:
            assert run == "rm dist/recipe.yaml", run


def test_every_system_is_tried():
    systems = {
        str(v) for file in WORKFLOWS for key in ("os", "runs-on") for v in values(loaded(file), key)
    }
    assert {"ubuntu-latest", "macos-latest", "windows-latest"} <= systems
    nightly = [str(run) for run in values(loaded(ROOT / ".github/workflows/nightly.yml"), "run")]
    assert {"make test", "make test-matrix", "make mutation", "make bench"} <= set(nightly)
    assert "make test LOCK=no" in values(loaded(ROOT / ".github/workflows/weekly.yml"), "run")


def test_the_check_of_a_commit_is_make_test():
    assert text(".ci/run").splitlines()[-1] == "make test"


def test_the_recipe_has_the_bounds_of_the_project():
    recipe = yaml.safe_load(text("release/recipe.yaml"))
    run = dict(line.split(" ", 1) for line in recipe["requirements"]["run"])
    host = dict(line.split(" ", 1) for line in recipe["requirements"]["host"] if " " in line)
    assert recipe["context"]["python_min"] == META["requires-python"].lstrip(">=")
    assert recipe["about"]["summary"] == META["description"]
    assert recipe["about"]["license"] == META["license"]
    bounds = {}
    for requirement in (*map(Requirement, META["dependencies"]), *wanted_by("all")):
        name = {"matplotlib": "matplotlib-base"}.get(requirement.name, requirement.name)
        bounds[name] = str(requirement.specifier)
    assert {name: run[name] for name in run if name != "python"} == bounds
    for requirement in map(Requirement, PROJECT["build-system"]["requires"]):
        assert host[requirement.name] == str(requirement.specifier)


# The commands without make ------------------------------------------------------------------------


def call(*words):
    command = [sys.executable, str(ROOT / "tasks.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


def test_the_twin_of_make_run(tmp_path):
    done = call("--here", "run", "--report", tmp_path / "r.html", "--k-max", 8)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("3 clusters")
    assert (tmp_path / "r.html").stat().st_size > 10_000
    table = tmp_path / "two groups.csv"
    table.write_text(
        "a,b\n" + "".join(f"{9 * (i % 2) + i / 40},{i}\n" for i in range(20)), encoding="utf-8"
    )
    again = call("--here", "run", table, "--drop", "b", "--report", tmp_path / "t.html", "--quiet")
    assert (again.returncode, again.stdout) == (0, "2\n"), again.stderr


@pytest.mark.skipif(
    Version(version("numpy")) < Version("2"), reason="types are checked with newer packages"
)
def test_the_twin_of_make_test():
    done = call("--here", "test", "tests/test_atomic.py", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed", done.stdout, re.M), done.stdout
    failed = call("--here", "test", "tests/no_such_file.py", "-p", "no:cacheprovider")
    assert failed.returncode == 4  # as pytest says it


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")
@pytest.mark.parametrize(
    "target, command",
    {
        "run": "tasks.py run",
        "run DATA=a.csv OPTIONS=--quiet": 'tasks.py run "a.csv" --quiet',
        "test": "tasks.py test",
        "test LOCK=no": "tasks.py --no-lock test",
        "dist RELEASE=yes": "tasks.py dist --release",
        "lock": "tasks.py lock",
        "lock KEEP=yes": "tasks.py lock --keep",
    }.items(),
)
def test_make_calls_the_twin(target, command):
    # As from a shell, although make itself may run these tests, with variables of its own.
    given = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHON"}
    given |= {"LOCK", "DATA", "OPTIONS", "RELEASE", "KEEP"}
    plain = {name: value for name, value in os.environ.items() if name not in given}
    words = ["make", "-n", *target.split()]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=plain)
    assert done.stdout.split() == ["python3", *command.split()], done.stderr


def test_an_old_python_is_told(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 1))
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 or later, this is 3\.9"):
        tasks.main(["run"])


def test_a_python_without_a_lock_is_told(monkeypatch, tmp_path, capsys):
    called = []
    monkeypatch.setattr(tasks, "call", lambda *words, **_: called.append(list(map(str, words))))
    place = tasks.Environment(tmp_path)
    place.install("test")
    locked = [words for words in called if "--require-hashes" in words]
    assert [words[-1] for words in locked] == [str(tasks.LOCKS / "test.txt")]
    # pip must not resolve: it would ask for versions that the lock does not have.
    assert "--no-deps" in locked[0]
    called.clear()
    place.install("test")
    assert not called  # it is there
    monkeypatch.setattr(sys, "version_info", (3, 15, 0))
    place.install("test")
    assert "which is for Python 3.11 to 3.14 (this is 3.15)" in capsys.readouterr().out
    assert not any("--require-hashes" in words for words in called)
    assert called[-1][-1].endswith("[dev]")


# The first issues ---------------------------------------------------------------------------------


def open_issues():
    """For every line of the list: whether it is still open."""
    sys.path.append(str(ROOT / "tests"))
    from test_platforms import without_encoding

    names = set(registered())
    studies = [*(ROOT / "experiments").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]
    return {
        "Criterion: Hartigan's number": not any("hartigan" in name for name in names),
        "Criterion: Krzanowski and Lai's index": not any("krzanowski" in name for name in names),
        "Windows and macOS": "Nobody has yet seen them run"
        in " ".join(text("docs/release.md").split()),
        "R in one process": "That has not been run here" in text("docs/from_r.md"),
        "Encodings in the studies": any(
            list(without_encoding(file.read_text(encoding="utf-8"))) for file in studies
        ),
        "A gallery page on series": "series" not in text("docs/gallery/index.md").lower(),
    }


def test_the_first_issues_are_open():
    listed = re.findall(r"^- \*\*(.+?)\.\*\*", text("docs/first_issues.md"), re.M)
    found = open_issues()
    assert listed == list(found)
    assert all(found.values()), f"closed, to be taken off the list: {found}"

"""The project's commands on every system: what make calls, and what to call where there is no make.

    python tasks.py run                   answer for a data set that comes with scikit-learn
    python tasks.py run my.csv --drop id  answer for a table; options as of `edfkmeans select`
    python tasks.py test                  ruff, mypy, import-linter, then every test
    python tasks.py test tests/fits -x    the same with other arguments for pytest
    python tasks.py setup | lint | docs | matrix | lock | audit | metadata | dist | clean

Each sets up what it needs in .venv or build, with the versions of the files in locks/, whose hashes
pip checks. `--no-lock` takes the newest versions instead, `--here` the Python that runs this, with
what is installed there. Needs Python 3.11 or later and nothing else.
"""

import argparse
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parent
LOCKS = ROOT / "locks"
# What is installed for a purpose: the package with an extra, or the tools that a file names.
EXTRAS = {"run": "all", "test": "dev", "docs": "docs"}
TOOLS = {"release": LOCKS / "release.in"}
# Python versions that the locks are made for. Others get what is newest, and are told so.
FIRST, LAST = (3, 11), (3, 14)
# numpy 1.26 and numba 0.60, the oldest that are supported, end here.
LAST_WITH_OLDEST = (3, 12)
# These test the pages and the report, which take the newest tools.
NOT_IN_MATRIX = ("tests/test_docs.py", "tests/test_site.py", "tests/test_typing.py", "tests/report")


class Environment:
    """A folder with a Python of its own, or the Python that runs this."""

    def __init__(self, folder, lock=True):
        self.folder, self.lock = folder, lock

    def tool(self, name):
        """Return the path of an installed command."""
        if self.folder is None:
            scripts = Path(sysconfig.get_path("scripts"))
        else:
            scripts = self.folder / ("Scripts" if os.name == "nt" else "bin")
        return scripts / (f"{name}.exe" if os.name == "nt" else name)

    @property
    def python(self):
        """The Python of this environment."""
        return Path(sys.executable) if self.folder is None else self.tool("python")

    def install(self, purpose):
        """Install what a purpose needs, unless it is there already."""
        if self.folder is None:
            return
        lock = LOCKS / f"{purpose}.txt"
        locked = self.lock and lock.exists() and FIRST <= sys.version_info[:2] <= LAST
        files = [TOOLS.get(purpose, ROOT / "pyproject.toml"), *([lock] if locked else [])]
        wanted = " ".join(hashlib.sha256(file.read_bytes()).hexdigest() for file in files)
        stamp = self.folder / f"{purpose}.installed"
        if stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
            return
        if not self.python.exists():
            call(sys.executable, "-m", "venv", self.folder)
        if locked:
            # The lock is complete. Left to resolve, pip takes the newest version of what is asked
            # for with an extra (coverage[toml]), and a release of that breaks the lock.
            self.pip("--no-deps", "--require-hashes", "-r", lock)
        else:
            print(
                f"Not from {lock.relative_to(ROOT)}, {self._why()}: the newest versions.",
                flush=True,
            )
            self.pip("--upgrade", *self._wanted(purpose))
        if locked and purpose in EXTRAS:
            # hatchling is in the lock: nothing is fetched to build the package either.
            self.pip("--no-deps", "--no-build-isolation", "--editable", ROOT)
        stamp.write_text(wanted, encoding="utf-8")

    def _wanted(self, purpose):
        if purpose in TOOLS:
            return ("-r", TOOLS[purpose], "-r", LOCKS / "build.in")
        return ("--editable", f"{ROOT}[{EXTRAS[purpose]}]")

    def _why(self):
        if not self.lock:
            return "as was asked for"
        here, first, last = (".".join(map(str, v[:2])) for v in (sys.version_info, FIRST, LAST))
        return f"which is for Python {first} to {last} (this is {here})"

    def pip(self, *arguments):
        """Let pip install something."""
        options = ("--quiet", "--disable-pip-version-check")
        call(self.python, "-m", "pip", "install", *options, *arguments)


def call(*command, **variables):
    """Run a command in the project's folder; end with its exit code if that is not 0."""
    command = list(map(str, command))
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is not there. Without --here it would be installed.")
    if done.returncode:
        sys.exit(done.returncode if done.returncode > 0 else 128 - done.returncode)


def run(here, arguments):
    """Answer "how many clusters?" and write report.html."""
    here.install("run")
    table = bool(arguments) and not arguments[0].startswith("-")
    command = ("select", arguments[0]) if table else ("demo",)
    options = ("--report", "report.html", "--force", *arguments[table:])
    call(here.tool("edfkmeans"), *command, *options)


def setup(here, arguments):
    """Install what the tests need."""
    here.install("test")


def lint(here, arguments):
    """Check style, types and layers."""
    here.install("test")
    call(here.tool("ruff"), "check", ".")
    call(here.tool("ruff"), "format", "--check", ".")
    call(here.tool("mypy"))
    call(here.tool("lint-imports"))


def test(here, arguments):
    """Lint, then run the tests; without arguments all of them, with coverage."""
    lint(here, arguments)
    everything = ("-n", "2", "--cov", "--cov-report=term:skip-covered")
    call(here.tool("pytest"), *(arguments or everything))


def docs(here, arguments):
    """Build the site into build/site."""
    here.install("docs")
    call(here.tool("mkdocs"), "build", "--strict", "--quiet", NO_MKDOCS_2_WARNING="1")
    print("Open build/site/index.html")


def matrix(here, arguments):
    """Run the tests with the oldest versions that are supported, and with the newest."""
    version = ".".join(map(str, sys.version_info[:2]))
    for versions in arguments or ("oldest", "newest"):
        if versions == "oldest" and sys.version_info[:2] > LAST_WITH_OLDEST:
            last = ".".join(map(str, LAST_WITH_OLDEST))
            print(f"== Python {version}, oldest: left out, numpy 1.26 and numba 0.60 end at {last}")
            continue
        print(f"== Python {version}, {versions} versions", flush=True)
        place = Environment(ROOT / "build" / "matrix" / f"{version}-{versions}")
        if not place.python.exists():
            call(sys.executable, "-m", "venv", place.folder)
        bound = ("--upgrade",) if versions == "newest" else ("-c", "tests/oldest.txt")
        place.pip(*bound, "--editable", f"{ROOT}[dev]")
        options = ("-n", "2", "-p", "no:cacheprovider", *(f"--ignore={f}" for f in NOT_IN_MATRIX))
        call(place.tool("pytest"), *options, NUMBA_CACHE_DIR=str(place.folder / "numba"))


def lock(here, arguments):
    """Write the files in locks/ anew, with the newest versions and the hashes of their files.

    With --keep, versions stay what they are: for what pyproject.toml or release.in newly names.
    """
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    build = [*project["build-system"]["requires"], "editables"]
    (LOCKS / "build.in").write_text("\n".join(build) + "\n", encoding="utf-8")
    place = release_environment(here)
    first = ".".join(map(str, FIRST))
    options = ("--universal", "--python-version", first, "--generate-hashes", "--no-annotate")
    about = ("--custom-compile-command", "python tasks.py lock", "--quiet")
    versions = () if "--keep" in arguments else ("--upgrade",)
    for purpose in ("test", "run", "docs", "release"):
        if purpose in TOOLS:
            wanted = (f"locks/{purpose}.in",)
        else:
            wanted = ("pyproject.toml", "--extra", EXTRAS[purpose])
        # What is installed into one folder together must agree.
        same = ("-c", "locks/test.txt") if purpose in ("run", "docs") else ()
        out = ("locks/build.in", "--output-file", f"locks/{purpose}.txt")
        call(place.tool("uv"), "pip", "compile", *wanted, *out, *same, *options, *about, *versions)


def audit(here, arguments):
    """Ask for known vulnerabilities of everything in locks/."""
    call(release_environment(here).python, "release/audit.py")


def metadata(here, arguments):
    """Check the workflows and the citation with the tools that read them."""
    call(release_environment(here).python, "release/metadata.py")


def dist(here, arguments):
    """Build the wheel and the source archive, and check them as a stranger would meet them."""
    call(release_environment(here).python, "release/dist.py", *arguments)


def release_environment(here):
    """Return the environment of the tools for releases: theirs do not agree with those of tests."""
    place = Environment(here.folder and ROOT / "build" / "release-env", here.lock)
    place.install("release")
    return place


def clean(here, arguments):
    """Delete what was made."""
    for name in (".venv", "build", "dist"):
        shutil.rmtree(ROOT / name, ignore_errors=True)


COMMANDS = (run, test, setup, lint, docs, matrix, lock, audit, metadata, dist, clean)


def main(words):
    """Run one command."""
    if sys.version_info < FIRST:
        version = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"edfkmeans needs Python 3.11 or later, this is {version}. Take another: PYTHON=")
    known = {command.__name__: command for command in COMMANDS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--no-lock", action="store_true", help="the newest versions")
    parser.add_argument("--here", action="store_true", help="install nothing, use this Python")
    parser.add_argument("command", choices=known)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args(words)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # Ctrl-C goes to the command too; this waits until that has cleaned up.
        signal.signal(signal.SIGINT, lambda *_: None)
    here = Environment(None if asked.here else ROOT / ".venv", lock=not asked.no_lock)
    known[asked.command](here, asked.arguments)


if __name__ == "__main__":
    main(sys.argv[1:])

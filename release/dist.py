"""Build the wheel and the source archive, and check them as a stranger would meet them.

Run with: python tasks.py dist              (or make dist; two minutes of computing)
          python tasks.py dist --release    (and insist on a date, a tag and a clean tree)

The wheel must hold the files of src/edfkmeans that git knows and nothing else. It is installed
without extras and with each one, in clean environments away from the checkout, where
release/smoke.py is run and release/user.py is checked by mypy and pyright.
"""

import argparse
import hashlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "release"
DIST = ROOT / "dist"
# Extras for those who work on the package; the others are for its users.
FOR_DEVELOPERS = {"dev", "bench", "docs"}
# Extras that need what not every machine has, and what that is. Where it is not there, and always
# for a GPU, it is only looked whether their packages can be had.
NEEDS_MORE = {"spark": "Java", "gpu": "a GPU"}


def main(release):
    """Build and check."""
    version = re.search(
        r'^__version__ = "(.+)"$', text(ROOT / "src" / "edfkmeans" / "__init__.py"), re.M
    )[1]
    left = left_to_do(version)
    if release and left:
        sys.exit("Not a release: " + "; ".join(left) + ".")
    wheel, archive = build(version)
    check_contents(wheel, archive, version)
    tool("twine", "check", "--strict", wheel, archive)
    tool("check-wheel-contents", wheel)
    with tempfile.TemporaryDirectory(prefix="edfkmeans-dist-") as place:
        # Kernels are compiled once: every environment has the same path and the same files.
        os.environ["NUMBA_CACHE_DIR"] = str(Path(place) / "numba")
        extras = extras_of(wheel)
        left_out = {*NEEDS_MORE} - ({"spark"} if has_java() else set())
        for extra in ("", *(extra for extra in extras if extra not in left_out)):
            check_installed(wheel, extra, version, Path(place))
        for extra in sorted(left_out.intersection(extras)):
            check_resolved(wheel, extra, Path(place))
    check_recipe(write_recipe(archive, version), version)
    for file in sorted(DIST.iterdir()):
        print(f"{file.relative_to(ROOT)}  {file.stat().st_size / 1024:,.0f} kB")
    if left:
        print("Before this is a release: " + "; ".join(left) + ".")


def left_to_do(version):
    """Say what is missing for a release."""
    left = []
    if not re.search(
        rf"^## {re.escape(version)}, \d{{4}}-\d\d-\d\d$", text(ROOT / "CHANGELOG.md"), re.M
    ):
        left.append(f"CHANGELOG.md has no date for {version}")
    if git("status", "--porcelain"):
        left.append("there are changes that are not committed")
    if f"v{version}" not in git("tag", "--points-at", "HEAD").split():
        left.append(f"the tag v{version} is not at this commit")
    return left


def build(version):
    """Build both, the wheel from the archive; the commit's time is that of all files."""
    shutil.rmtree(DIST, ignore_errors=True)
    os.environ["SOURCE_DATE_EPOCH"] = git("log", "-1", "--format=%ct")
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT, quiet=True)
    return DIST / f"edfkmeans-{version}-py3-none-any.whl", DIST / f"edfkmeans-{version}.tar.gz"


def check_contents(wheel, archive, version):
    """Compare what is in them with what git knows."""
    known = git("ls-files").splitlines()
    package = {name.removeprefix("src/") for name in known if name.startswith("src/edfkmeans/")}
    about = f"edfkmeans-{version}.dist-info"
    package |= {f"{about}/{n}" for n in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")}
    package.add(f"{about}/licenses/LICENSE")
    same(wheel, set(zipfile.ZipFile(wheel).namelist()), package)
    with tarfile.open(archive) as file:
        found = {name.partition("/")[2] for name in file.getnames()}
    same(archive, found - {"PKG-INFO"}, set(known))


def same(file, found, wanted):
    """End with what is missing and what is too much, if anything is."""
    if found != wanted:
        missing, more = (
            ", ".join(sorted(s)) or "nothing" for s in (wanted - found, found - wanted)
        )
        sys.exit(f"{file.name} lacks {missing} and should not have {more}.")
    print(f"{file.name}: the {len(found)} files that it must have, and no others")


def extras_of(wheel):
    """Return the extras that are for users; end where one is neither tried nor declared."""
    with zipfile.ZipFile(wheel) as file:
        name = next(n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
        given = HeaderParser().parsestr(file.read(name).decode("utf-8"))
    extras = set(given.get_all("Provides-Extra", [])) - FOR_DEVELOPERS
    unknown = extras - {"all"} - tried() - NEEDS_MORE.keys()
    if unknown:
        sys.exit(
            f"No one has said how {', '.join(sorted(unknown))} is checked: NEEDED and a check in "
            "release/smoke.py, or NEEDS_MORE in release/dist.py."
        )
    return sorted(extras)


def tried():
    """Return the extras that release/smoke.py has checks for."""
    return set(runpy.run_path(str(HERE / "smoke.py"))["NEEDED"])


def has_java():
    """Whether Spark can be started: on Windows it needs more than Java."""
    home = os.environ.get("JAVA_HOME", "")
    return os.name != "nt" and bool(shutil.which("java") or Path(home, "bin", "java").exists())


def check_installed(wheel, extra, version, place):
    """Install the wheel with an extra where nothing else is, and use it from there."""
    python = clean_environment(place)
    into = ("uv", "pip", "install", "--quiet", "--python", python)
    tool(*into, f"{wheel}[{extra}]" if extra else wheel)
    for script in ("smoke.py", "user.py"):
        shutil.copy(HERE / script, place)
    call(python, "smoke.py", version, extra or "none", cwd=place)
    if not extra:  # a user who has annotated a program of their own
        tool(*into, "pandas-stubs")
        tool("mypy", "--strict", "--python-executable", python, "user.py", cwd=place)
        tool("pyright", "--pythonpath", python, "user.py", cwd=place)


def check_resolved(wheel, extra, place):
    """Check that versions can be found for what an extra needs, and install nothing."""
    python = clean_environment(place)
    tool("uv", "pip", "install", "--quiet", "--dry-run", "--python", python, f"{wheel}[{extra}]")
    print(f"[{extra}]: its packages can be had. NOT TRIED: it needs {NEEDS_MORE[extra]}")


def clean_environment(place):
    """Make an environment with nothing in it; returns its Python."""
    tool("uv", "venv", "--quiet", "--clear", "--python", sys.executable, place / "env")
    scripts = place / "env" / ("Scripts" if os.name == "nt" else "bin")
    return scripts / ("python.exe" if os.name == "nt" else "python")


def write_recipe(archive, version):
    """Fill the recipe for conda-forge in: the version and the archive's hash."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    recipe = text(HERE / "recipe.yaml").replace("VERSION", version).replace("SHA256", digest)
    (DIST / "recipe.yaml").write_text(recipe, encoding="utf-8")
    return recipe


def check_recipe(recipe, version):
    """Let rattler-build, conda-forge's builder, read the recipe. Building needs its channel."""
    from rattler_build import Stage0Recipe

    (made,) = [variant.recipe.to_dict() for variant in Stage0Recipe.from_yaml(recipe).render()]
    if made["package"] != {"name": "edfkmeans", "version": version}:
        sys.exit(f"The recipe is for {made['package']}.")
    print(f"recipe.yaml: read by rattler-build, {len(made['requirements']['run'])} packages to run")


def tool(name, *arguments, cwd=ROOT):
    """Run a command of this environment."""
    call(Path(sys.executable).with_name(name), *arguments, cwd=cwd)


def call(*command, cwd=ROOT, quiet=False):
    """Run a command; end if it fails. What this checkout is must not leak into it."""
    told = subprocess.PIPE if quiet else None
    bare = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    words = list(map(str, command))
    done = subprocess.run(
        words, cwd=cwd, env=bare, stdout=told, stderr=told, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{(done.stdout or '') + (done.stderr or '')}Failed: {' '.join(words)}")


def git(*arguments):
    """Return what git says."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def text(file):
    """Read a file."""
    return file.read_text(encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--release", action="store_true")
    main(parser.parse_args().release)

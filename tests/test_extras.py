"""Extras: each is tried before a release, or declared as not tried; the lock has all of them."""

import runpy
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from test_release import locked, name_of

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DIST = runpy.run_path(str(ROOT / "release" / "dist.py"))
SMOKE = runpy.run_path(str(ROOT / "release" / "smoke.py"))


def test_every_extra_is_tried_or_declared_as_not_tried():
    extras = PROJECT["optional-dependencies"]
    tried, more = DIST["tried"](), DIST["NEEDS_MORE"].keys()
    assert extras.keys() - DIST["FOR_DEVELOPERS"] - {"all"} == tried | more
    (line,) = extras["all"]
    assert Requirement(line).extras == tried - more  # what needs Java or a GPU is not for everyone
    assert SMOKE["ELSEWHERE"] == tried & more


def test_an_extra_that_no_one_spoke_of_ends_the_check(tmp_path):
    wheel = tmp_path / "x.whl"

    def of(*extras):
        told = "".join(f"Provides-Extra: {extra}\n" for extra in extras)
        with zipfile.ZipFile(wheel, "w") as file:
            file.writestr("x.dist-info/METADATA", told)
        return DIST["extras_of"](wheel)

    assert of("spark", "dev", "cli") == ["cli", "spark"]
    with pytest.raises(SystemExit, match=r"how quantum is checked: .*NEEDS_MORE"):
        of("cli", "quantum")


def installed(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def test_the_lock_lacks_nothing_that_its_packages_need():
    """It is installed without resolving, so that what is missing would not be noticed."""
    lock = locked("test")
    here = [n for n, pins in lock.items() if any(m is None or m.evaluate() for _, m in pins)]
    if any(installed(n) not in {str(version) for version, _ in lock[n]} for n in here):
        pytest.skip("other versions are installed than those of the lock")
    asked, seen = [("edfkmeans", frozenset({"dev"}))], set()
    while asked:
        name, extras = each = asked.pop()
        if each in seen:
            continue
        seen.add(each)
        assert name == "edfkmeans" or name in lock, f"{name} is needed and not in locks/test.txt"
        for line in metadata.requires(name) or ():
            wanted = Requirement(line)
            marks = [{"extra": extra} for extra in (*extras, "")]
            if wanted.marker is None or any(map(wanted.marker.evaluate, marks)):
                asked.append((name_of(wanted), frozenset(wanted.extras)))
    assert len({name for name, _ in seen}) > 80

"""Every random purpose has numbers of its own, declared in one place."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import edfkmeans
from edfkmeans import _streams
from edfkmeans._streams import Purpose, seed_of, stream

SOURCES = Path(edfkmeans.__file__).parent


def test_no_two_purposes_share_numbers():
    keys = [(), *itertools.product(range(14)), *itertools.product(range(14), repeat=2)]
    seen = {}
    for purpose in Purpose:
        for key in keys:
            numbers = stream(7, purpose, *key).bit_generator.random_raw(2).tobytes()
            assert seen.setdefault(numbers, purpose) is purpose, (purpose, key)
    assert len(seen) == len(Purpose) * len(keys)


def test_no_purpose_is_declared_twice():
    assert len({int(purpose) for purpose in Purpose}) == len(Purpose.__members__)


def test_streams_are_made_in_one_place():
    """What is drawn for a picture, or by a simulation, plays no part in an answer."""
    allowed = {"_streams.py", "simulate.py", "plots.py", "content.py"}
    random = re.compile(r"default_rng|SeedSequence|RandomState\(|np\.random\.(?!Generator)")
    found = {
        file.name
        for file in SOURCES.rglob("*.py")
        if any(
            random.search(line) and ">>>" not in line
            for line in file.read_text(encoding="utf-8").splitlines()
        )
    }
    assert found <= allowed
    assert "_streams.py" in found


def test_every_purpose_is_drawn_for():
    text = {
        file: file.read_text(encoding="utf-8")
        for file in SOURCES.rglob("*.py")
        if file != Path(_streams.__file__)
    }
    for purpose in Purpose:
        users = [file.name for file, code in text.items() if f"Purpose.{purpose.name}" in code]
        assert users, f"{purpose.name} is drawn by no one"


@pytest.mark.parametrize("state", [3, np.random.RandomState(3), np.random.default_rng(3), None])
def test_a_seed_is_a_number(state):
    assert 0 <= seed_of(state) < 2**31


@pytest.mark.parametrize("state", [-1, "a", 2**32, 0.5])
def test_bad_states_are_refused(state):
    with pytest.raises(ValueError, match="must be a whole number"):
        seed_of(state)

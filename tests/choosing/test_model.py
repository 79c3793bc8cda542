"""The model that comes with the package."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from edfkmeans import select_k

NUMBERS = json.loads(
    (Path(__file__).parents[1] / "reference" / "judge.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_committed_model_gives_the_committed_numbers(name):
    X = StandardScaler().fit_transform(getattr(datasets, f"load_{name}")().data)
    found = select_k(X, random_state=0)
    assert found.k == NUMBERS[name]["k"]
    # A number at the very edge of a split may fall to the other side on another machine.
    for column in ("agreement", "near"):
        np.testing.assert_allclose(found.confidence[column], NUMBERS[name][column], atol=0.03)

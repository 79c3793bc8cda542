import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from edfkmeans import fit_path
from edfkmeans.simulate import SCHEMES, simulate


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_draws_clusters_that_k_means_finds(scheme):
    X, labels = simulate(scheme, 5, 5, random_state=0)
    assert X.shape == (1000, 5)
    assert set(labels) == set(range(5))
    again = simulate(scheme, 5, 5, random_state=0)
    assert X.tobytes() == again[0].tobytes()
    assert X.tobytes() != simulate(scheme, 5, 5, random_state=1)[0].tobytes()
    assert adjusted_rand_score(labels, fit_path(X, 5, random_state=0).labels(5)) > 0.7


def residuals(scheme, k=3, d=4, n=6000):
    X, labels = simulate(scheme, k, d, n, random_state=1)
    return [X[labels == c] - X[labels == c].mean(axis=0) for c in range(k)]


def test_the_residuals_are_those_of_the_scheme():
    for scheme in ("assumptions met", "uniform"):
        for part in residuals(scheme):
            np.testing.assert_allclose(np.cov(part.T), np.eye(4) / 36, atol=0.004)
    sizes = [part.var() for part in residuals("scale varies")]
    assert max(sizes) > 1.5 * min(sizes)
    spreads = [np.linalg.eigvalsh(np.cov(part.T)) for part in residuals("shape varies")]
    assert all(spread[-1] > 2 * spread[0] for spread in spreads)
    tails = np.concatenate(residuals("long tails"))
    assert abs(tails).max() > 10 * np.median(abs(tails))


def test_generators_go_on():
    rng = np.random.default_rng(0)
    first, second = (simulate("uniform", 2, 2, 50, random_state=rng)[0] for _ in range(2))
    assert (first != second).any()


@pytest.mark.parametrize(
    "options, message",
    [
        (("round", 5, 5), "scheme='round' must be one of"),
        (("uniform", 1, 5), "k=1 must be a whole number, 2 or more"),
        (("uniform", 5, 0), "d=0 must be"),
        (("uniform", 5, 5, 3), "n=3 must be a whole number, 5 or more"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        simulate(*options)

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import naive
from conftest import blobs, reference, reference_data
from edfkmeans import DegreesOfFreedom, KMeansPath, degrees_of_freedom, fit_path
from edfkmeans.dof import bootstrap as dof_module
from edfkmeans.dof.columns import effective_columns
from edfkmeans.dof.terms import pilot_sigma
from edfkmeans.engines.memory import read_rows
from edfkmeans.engines.threads import Threads
from edfkmeans.fits.fit import fit_of_labels
from edfkmeans.kernels.lloyd import BLOCK

CASES = reference("degrees_of_freedom")


@pytest.mark.parametrize("name", CASES)
def test_equals_the_reference(name):
    case = CASES[name]
    dof = degrees_of_freedom(reference_data(case), case["labels"], case["pilot_labels"])
    assert dof.excess == pytest.approx(case["excess"], rel=1e-9)
    assert dof.total == pytest.approx(case["dof"], rel=1e-9)
    assert dof.naive == case["k"] * case["d"]


def check_against_loops(X, labels, pilot_labels, rel=1e-9, least=1e-12):
    """Compare every row's term with the oracle's."""
    expected = np.array(naive.excess_terms(X, labels, pilot_labels))
    terms = degrees_of_freedom(X, labels, pilot_labels).per_point
    np.testing.assert_allclose(terms, expected, rtol=rel, atol=rel * np.abs(expected).max() + least)


@pytest.mark.parametrize("name", ["iris_k3", "blobs_d1_k3", "singletons_k6", "rounded_duplicates"])
def test_rows_equal_the_loops(name):
    case = CASES[name]
    check_against_loops(reference_data(case), case["labels"], case["pilot_labels"])


def labelling(draw, n, k):
    """Labels 0 .. k-1, each of them used."""
    rest = draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))
    return draw(st.permutations([*range(k), *rest]))


@st.composite
def clusterings(draw):
    """Small data with any labels at all: sizes from 1, points nearer to other clusters."""
    n = draw(st.integers(4, 14))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) * draw(st.sampled_from([1e-8, 1.0, 1e6]))
    X += draw(st.sampled_from([0.0, 1e3])) * np.abs(X).max()
    k = draw(st.integers(1, n - 1))
    pilot = draw(st.integers(1, n - 1))
    return X, labelling(draw, n, k), labelling(draw, n, pilot)


@given(clusterings())
def test_any_labels_equal_the_loops(case):
    X, labels, pilot_labels = case
    # An offset of 1e3 costs the loops, which do not centre, three digits.
    check_against_loops(X, labels, pilot_labels, rel=1e-8, least=1e-9)


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(5, 12))
def test_rounded_data_with_duplicates_equal_the_loops(seed, k, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(n, 2)).astype(float)
    labels = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    pilot = np.concatenate([np.arange(2), rng.integers(0, 2, n - 2)])
    assume(naive.inertia(X, pilot) > 0)
    assume(np.ptp(X, axis=0).min() > 0)
    assume(not roots_hang_on_rounding(X, labels))
    check_against_loops(X, labels, pilot)


def roots_hang_on_rounding(X, labels):
    """A double root, or a choice of roots, that exact arithmetic and floats may see differently."""
    mu, size = np.array(naive.centroids(X, labels)), np.array(naive.sizes(labels))
    for x, c in zip(X, labels, strict=True):
        r = 1 - 1 / size[c]
        for other in set(range(len(mu))) - {c}:
            g = ((x - mu[other]) ** 2).sum() - ((x - mu[c]) ** 2).sum()
            h = (x - mu[other]) - r * (x - mu[c])
            double = np.abs(h * h - (1 - r * r) * g) < 1e-4
            if (
                abs(g) < 1e-9
                or (size[c] > 1 and double.any())
                or (g < 0 and np.abs(h).min() < 1e-9)
            ):
                return True
    return False


def test_a_row_on_the_boundary_counts_as_just_inside():
    X = np.array([[0.0], [1.0], [2.0], [-1.0], [-2.0]])
    X = np.concatenate([X, [[0.0]]])
    labels = [0, 0, 0, 1, 1, 1]  # centroids 1 and -1, both rows at 0 tie exactly
    check_against_loops(X, labels, [0, 1, 1, 2, 2, 0])
    nudged = X + np.array([[1e-9], [0], [0], [0], [0], [-1e-9]])
    tied = degrees_of_freedom(X, labels, [0, 1, 1, 2, 2, 0]).excess
    inside = degrees_of_freedom(nudged, labels, [0, 1, 1, 2, 2, 0]).excess
    assert tied == pytest.approx(inside, rel=1e-6)


@pytest.mark.parametrize("separation", [1.0, 6.0, 30.0])
def test_skipped_pairs_do_not_matter(separation):
    """The kernel skips pairs whose terms are negligible; the loops skip nothing."""
    X, labels = blobs(4, n=12, d=2, gap=separation)
    pilot = labels * 2 + (X[:, 0] > X[:, 0].mean())
    pilot = np.unique(pilot, return_inverse=True)[1]
    expected = sum(naive.excess_terms(X, labels, pilot))
    excess = degrees_of_freedom(X, labels, pilot).excess
    assert excess == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_large_clusters_keep_their_digits():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=1500), rng.normal(5.0, 1.0, size=500)])[:, None]
    labels = (X[:, 0] > 2.5).astype(int)
    check_against_loops(X, labels, labels + 2 * (np.abs(X[:, 0] - 1) < 1), rel=1e-10)


def test_an_offset_costs_no_digits(wine):
    labels = CASES["wine_k3"]["labels"]
    pilot = CASES["wine_k3"]["pilot_labels"]
    rounded = np.round(wine * 2**20) / 2**20  # exact after the offset, so only the method can err
    plain = degrees_of_freedom(rounded, labels, pilot)
    offset = rounded + np.array([1e6] + [0.0] * 12)
    np.testing.assert_allclose(
        degrees_of_freedom(offset, labels, pilot).per_point, plain.per_point, rtol=1e-9, atol=1e-13
    )


def test_one_cluster_costs_its_mean():
    X, _ = blobs(2)
    dof = degrees_of_freedom(X, np.zeros(80), np.arange(80) // 2)
    assert (dof.total, dof.excess) == (3.0, 0.0)


def test_rows_between_clusters_add_most():
    X, labels = blobs(2, d=1, gap=9.0)
    X = np.concatenate([X, [[13.2]]])  # near the middle of the centroids, at 9 and 18
    labels = np.append(labels, 0)
    dof = degrees_of_freedom(X, labels, [*labels[:-1], 2])
    assert dof.per_point.argmax() == 80
    assert dof.per_point.sum() == dof.excess


def test_threads_do_not_change_the_numbers():
    X, labels = blobs(3, n=4000, gap=4.0)
    one = degrees_of_freedom(X, labels, labels * 2 + (X[:, 0] > 0), n_jobs=1)
    two = degrees_of_freedom(X, labels, labels * 2 + (X[:, 0] > 0), n_jobs=2)
    np.testing.assert_array_equal(one.per_point, two.per_point)


def test_labels_may_be_anything():
    X, labels = blobs(2)
    names = np.array(["b", "a"])[labels]
    pilot = np.arange(80) // 4
    assert (
        degrees_of_freedom(X, names, pilot * 10).total == degrees_of_freedom(X, labels, pilot).total
    )


@pytest.mark.parametrize(
    "labels, pilot, message",
    [
        (np.zeros(7), np.zeros(80), r"labels has shape \(7,\), but X has 80 rows"),
        (np.zeros(80), np.zeros((80, 2)), r"pilot_labels has shape \(80, 2\)"),
        (np.zeros(80), np.full(80, np.nan), "pilot_labels contains NaN"),
        (np.zeros(80), np.arange(80), "without any residual.*lower k_max"),
    ],
)
def test_bad_labels(labels, pilot, message):
    with pytest.raises(ValueError, match=message):
        degrees_of_freedom(blobs(2)[0], labels, pilot)


def test_bad_method():
    X, labels = blobs(2)
    with pytest.raises(ValueError, match="method='bogus' must be one of"):
        degrees_of_freedom(X, labels, labels, method="bogus")


@given(
    st.integers(0, 10**6), st.integers(6, 10), st.integers(1, 2), st.integers(2, 4), st.booleans()
)
# The same examples every time: the steps of the brute force may pass over a short visit.
@settings(max_examples=15, derandomize=True)
def test_exact_path_equals_brute_force(seed, n, d, k, fitted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 2.0 * rng.integers(0, 2, size=(n, 1))
    if fitted:
        path = fit_path(X, 4, random_state=0)
        labels, pilot = path.labels(k), path.labels(5)
    else:  # labels that are no optimum
        labels = np.r_[np.arange(k), rng.integers(0, k, n - k)]
        pilot = np.r_[np.arange(3), rng.integers(0, 3, n - 3)]
    exact = degrees_of_freedom(X, labels, pilot, method="exact")
    brute = naive.exact_excess(X.tolist(), labels.tolist(), pilot.tolist())
    np.testing.assert_allclose(exact.per_point, brute, atol=1e-8)
    assert exact.excess == pytest.approx(sum(brute), abs=1e-8)


def test_exact_path_on_many_rows_does_not_depend_on_threads_or_scale():
    X, _ = blobs(4, n=3000, gap=3.0)
    path = fit_path(X, 5, n_init=1, random_state=0)
    one, two, scaled = (
        degrees_of_freedom(Y, path.labels(4), path.labels(6), method="exact", n_jobs=n_jobs)
        for Y, n_jobs in ((X, 1), (X, 2), (1e-9 * X, 2))
    )
    assert one.per_point.tobytes() == two.per_point.tobytes()
    assert scaled.total == pytest.approx(one.total, rel=1e-9)
    assert one.excess > 0
    lone = degrees_of_freedom(X[:5], range(5), [0, 0, 1, 1, 2], method="exact")
    assert lone.excess == 0


def test_bootstrap_measures_what_it_says():
    """One cluster spends d, two far apart 2 d, a third one what drawing from the truth says."""
    X, truth = blobs(2, n=60, d=2)
    path = fit_path(X, 12, random_state=0)
    pilot = path.labels(13)
    one = degrees_of_freedom(X, path.labels(1), pilot, method="bootstrap", random_state=0)
    assert one.total == pytest.approx(2, abs=4 * one.error)
    two = degrees_of_freedom(X, truth, pilot, method="bootstrap", random_state=0)
    assert two.total == pytest.approx(4, abs=4 * two.error)
    assert two.per_point.sum() == pytest.approx(two.excess)
    assert "error=" in repr(two)
    three = degrees_of_freedom(
        X, path.labels(3), pilot, method="bootstrap", precision=0.05, random_state=0
    )
    assert three.error <= 0.05 * three.total
    # The same with the means and the variance that the data were really drawn with.
    means = np.array([X[truth == c].mean(axis=0) for c in range(2)])[truth]
    rng = np.random.default_rng(0)
    products = []
    for seed in range(40):
        noise = rng.normal(size=X.shape)
        again = fit_path(means + noise, 2, random_state=seed, n_init=1)
        products.append(((again.centers(3)[again.labels(3)] - means) * noise).sum())
    error = np.hypot(three.error, np.std(products) / np.sqrt(40))
    assert three.total == pytest.approx(np.mean(products), abs=4 * error)
    assert three.total > degrees_of_freedom(X, path.labels(3), pilot, method="exact").total
    again = degrees_of_freedom(
        X, path.labels(3), pilot, method="bootstrap", precision=0.05, random_state=0, n_jobs=1
    )
    assert again.total == three.total


def test_options_that_a_method_does_not_have(wine):
    labels = np.arange(178) % 3
    with pytest.raises(ValueError, match="are for method='bootstrap', not 'paper'"):
        degrees_of_freedom(wine, labels, labels, precision=0.1)
    for precision in (2, 1.5, 1, 0, -0.1):
        with pytest.raises(ValueError, match=f"precision={precision} must be between 0 and 1"):
            degrees_of_freedom(wine, labels, labels, method="bootstrap", precision=precision)
    with pytest.raises(ValueError, match="n_jobs=0 must be a positive number"):
        degrees_of_freedom(wine, labels, labels, n_jobs=0)


def test_what_is_shown():
    X, _ = blobs(2)
    one = degrees_of_freedom(X, np.zeros(80), np.arange(80) // 2)
    assert repr(one) == "DegreesOfFreedom(total=3, naive=3, excess=0)"
    short = DegreesOfFreedom(4, np.array([0.5, 0.25]), 0.75, 0.125)
    assert repr(short) == "DegreesOfFreedom(total=4.75, naive=4, excess=0.75, error=0.125)"


def test_the_noise_is_corrected_for_what_the_pilot_spends(monkeypatch):
    X, _ = blobs(2, n=30, d=2)
    table = read_rows(np.column_stack([X, np.full(60, 7.0)]))  # a constant column spends nothing
    labels = np.arange(60) // 6
    pilot = fit_of_labels(table.values, labels.astype(np.int32), 10)
    sigma = pilot_sigma(table, pilot)
    assert sigma == pytest.approx(np.sqrt(pilot.inertia / 120))
    with Threads(1) as pool:
        drawn = [
            dof_module.bootstrap_draw(table, [pilot], pilot, sigma, 5, number)[0]
            for number in range(256, 264)
        ]
        assert np.shape(drawn) == (8, 60)
        spent = np.sum(drawn, axis=1).mean()
        assert 20 < spent < 108  # ten centroids in two columns, much freedom, and no bound reached
        found = dof_module.corrected_sigma(table, pilot, 5, pool)
        assert found == pytest.approx(sigma / np.sqrt(1 - spent / 120))
        # No more than nine tenths, and nothing below zero.
        for spends, expected in ((1e9, np.sqrt(10)), (-3.0, 1.0), (0.5, 1 / np.sqrt(119.5 / 120))):
            monkeypatch.setattr(
                dof_module, "bootstrap_draw", lambda *_, spends=spends: [np.array([spends])]
            )
            found = dof_module.corrected_sigma(table, pilot, 5, pool)
            assert found == pytest.approx(expected * sigma)


@pytest.mark.parametrize("noise, precision", [(1.0, None), (1.0, 0.1), (0.01, None), (50.0, None)])
def test_the_bootstrap_draws_until_it_knows(noise, precision, monkeypatch):
    """With draws made up: eight at a time, until the error is small enough or there are 256."""
    X, labels = blobs(2, n=10, d=2)

    def made_up(number):
        return 0.5 + noise * np.random.default_rng(number).normal(size=20)

    asked = []

    def draw(table, fits, pilot, sigma, seed, number):
        asked.append(number)
        return [made_up(number)]

    monkeypatch.setattr(dof_module, "bootstrap_draw", draw)
    dof = degrees_of_freedom(
        X, labels, np.arange(20) // 4, method="bootstrap", precision=precision, random_state=0,
        n_jobs=1,
    )  # fmt: skip
    count = {1.0: 256 if precision is None else 24, 0.01: 8, 50.0: 256}[noise]
    assert sorted(asked) == [*range(count), *range(256, 264)]  # the last eight are for the noise

    def known(count):
        totals = [made_up(number).sum() for number in range(count)]
        error = np.std(totals, ddof=1) / np.sqrt(count)
        return np.mean(totals), error, error <= (precision or 0.02) * np.mean(totals)

    assert known(count)[2] or count == 256
    assert count == 8 or not known(count - 8)[2]
    assert dof.total == pytest.approx(known(count)[0])
    assert dof.error == pytest.approx(known(count)[1])
    mean = np.mean([made_up(number) for number in range(count)], axis=0)
    np.testing.assert_allclose(dof.per_point, mean - 2 / 10)


def test_effective_columns():
    rng = np.random.default_rng(0)
    n = BLOCK + 800
    X = rng.normal(size=(n, 3)) @ np.diag([1.0, 2.0, 0.5]) + np.array([0, 5.0, 0])
    X[BLOCK:] *= [3.0, 0.2, 1.0]  # the rows of the second block are of another kind
    labels = np.arange(n) % 2
    path = KMeansPath.from_labels(X, {2: labels})
    residual = X - np.array([X[labels == c].mean(axis=0) for c in (0, 1)])[labels]
    eigenvalues = np.linalg.eigvalsh(residual.T @ residual)
    spread = eigenvalues.sum() ** 2 / (eigenvalues**2).sum()
    assert effective_columns(read_rows(X), path) == pytest.approx(np.sqrt(3 * spread))
    same = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 3.0]])
    path = KMeansPath.from_labels(same, {2: [0, 0, 1]})
    assert effective_columns(read_rows(same), path) == np.sqrt(2)


def test_effective_columns_of_few_rows_and_many_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 200)) * rng.uniform(0.1, 2, size=200)
    path = KMeansPath.from_labels(X, {2: np.arange(30) % 2})
    residual = X - path.centers(2)[path.labels(2)]
    scatter = residual.T @ residual
    expected = np.sqrt(200 * np.trace(scatter) ** 2 / (scatter**2).sum())
    assert effective_columns(read_rows(X), path) == pytest.approx(expected)

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from conftest import blobs
from edfkmeans import compare, plots, select_k
from edfkmeans.fits.flow import flow

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def found():
    X, _ = blobs(3, n=40)
    return X, select_k(X, 6, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


DRAWN = {
    "plot_choice": lambda X, s, **o: plots.plot_choice(s, **o),
    "plot_bic": lambda X, s, **o: plots.plot_bic(s, **o),
    "plot_dof": lambda X, s, **o: plots.plot_dof(s, **o),
    "plot_inertia": lambda X, s, **o: plots.plot_inertia(s, **o),
    "plot_silhouettes": lambda X, s, **o: plots.plot_silhouettes(s, X, **o),
    "plot_scatter": lambda X, s, **o: plots.plot_scatter(s, X, **o),
    "plot_profiles": lambda X, s, **o: plots.plot_profiles(s, **o),
    "plot_flow": lambda X, s, **o: plots.plot_flow(s, **o),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN)
def test_every_plot_takes_and_returns_axes(draw, found):
    own = pyplot.subplots()[1]
    assert draw(*found, ax=own) is own
    assert draw(*found) is not own
    assert own.get_ylabel() or own.get_xticklabels()


def test_what_is_drawn_is_in_the_table(found):
    _, result = found
    line = plots.plot_inertia(result).lines[0]
    np.testing.assert_array_equal(line.get_ydata(), result.table["inertia"])
    raw, smooth, naive = plots.plot_dof(result).lines[:3]
    np.testing.assert_array_equal(raw.get_ydata(), result.table["dof_raw"])
    np.testing.assert_array_equal(smooth.get_ydata(), result.table["dof"])
    np.testing.assert_array_equal(naive.get_ydata(), 3 * np.arange(1, 7))


def test_the_choice_is_drawn_with_how_sure_it_is(found):
    _, result = found
    ax = plots.plot_choice(result)
    confidence = result.confidence
    assert [bar.get_height() for bar in ax.patches] == confidence["agreement"].tolist()
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), confidence["near"])
    darkest = max(ax.patches, key=lambda bar: bar.get_alpha())
    assert darkest.get_x() + darkest.get_width() / 2 == pytest.approx(result.k)
    for k, bar in zip(confidence.index, ax.patches, strict=True):
        assert (bar.get_alpha() > 0.25) == (k in result.as_good)
    assert ax.get_title(loc="left") == result.headline
    bic, valleys = ax.figure.axes[-1].lines
    np.testing.assert_array_equal(bic.get_ydata(), result.table["bic"])
    assert set(valleys.get_xdata()) <= set(range(2, 6))


def test_a_choice_of_one_or_of_few_can_be_drawn():
    cloud = np.random.default_rng(0).normal(size=(40, 2))
    for k_max in (1, 2):
        assert len(plots.plot_choice(select_k(cloud, k_max, random_state=0)).patches) == k_max


def test_scatter_shows_each_row_once_in_its_cluster(found):
    X, result = found
    for k in (3, 5):
        lines = plots.plot_scatter(result, X, k=k).lines
        counts = [len(line.get_xdata()) for line in lines]
        both = np.add(counts[::2], counts[1::2])  # filled, then hollow
        assert both.tolist() == result.path.sizes(k).tolist()


def test_rows_between_clusters_are_hollow():
    X = np.random.default_rng(0).normal(size=(200, 2))
    result = select_k(X, 4, random_state=0).with_k(3, X)
    lines = plots.plot_scatter(result, X).lines[1::2]
    assert all(line.get_fillstyle() == "none" for line in lines)
    assert sum(len(line.get_xdata()) for line in lines) == (result.ambiguity > 0.1).sum() > 0


def test_bars_of_the_flow_are_the_sizes(found):
    _, result = found
    ax = plots.plot_flow(result, k=3)
    heights = [bar.get_height() for bar in ax.patches]
    sizes = [result.path.sizes(k).tolist() for k in (2, 3, 4)]
    assert heights == [size for each in sizes for size in each]
    bands = sum((flow(result.path, k).counts > 0).sum() for k in (2, 3))
    assert len(ax.collections) == bands
    ends = [label.get_text() for label in plots.plot_flow(result, k=6).get_xticklabels()]
    assert ends == ["k = 5", "k = 6"]


def test_many_rows_are_sampled():
    X = np.random.default_rng(0).normal(size=(6000, 1))
    X[3000:] += 9
    result = select_k(X, 3, random_state=0)
    lines = plots.plot_scatter(result, X).lines
    assert sum(len(line.get_xdata()) for line in lines) == 5000


def test_silhouettes_are_those_of_the_rows(found):
    X, result = found
    ax = plots.plot_silhouettes(result, X)
    assert ax.get_title(loc="left") == f"k = 3, mean {result.table['silhouette'][3]:.2f}"
    assert len(ax.collections) == 3


def test_profiles_are_sorted_by_size(found):
    _, result = found
    ax = plots.plot_profiles(result, ["a", "b", "c"], k=4)
    sizes = [int(t.get_text().split("(")[1].split()[0]) for t in ax.get_yticklabels()]
    assert sizes == sorted(result.path.sizes(4), reverse=True)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    unnamed = plots.plot_profiles(result)
    assert [t.get_text() for t in unnamed.get_xticklabels()] == ["column 1", "column 2", "column 3"]


def test_blue_is_above_the_mean(found):
    _, result = found
    image = plots.plot_profiles(result).images[0]
    values, colours = image.get_array(), image.cmap(image.norm(image.get_array()))
    red, blue = colours[..., 0], colours[..., 2]
    assert (blue > red)[values > 0.1].all()
    assert (red > blue)[values < -0.1].all()


def test_messages(found):
    X, result = found
    with pytest.raises(ValueError, match="k=1 has no silhouettes"):
        plots.plot_silhouettes(result, X, k=1)
    with pytest.raises(ValueError, match="k=7 is more than k_max=6"):
        plots.plot_scatter(result, X, k=7)
    with pytest.raises(ValueError, match="X has 5 rows, but the selection was made with 120"):
        plots.plot_scatter(result, X[:5])
    with pytest.raises(ValueError, match="names has 1 entries, but X has 3 columns"):
        plots.plot_profiles(result, ["a"])
    former = select_k(X, path=result.path, method="combined", random_state=0)
    with pytest.raises(ValueError, match="made by method='combined', which gives no expected"):
        plots.plot_choice(former)
    comparison = compare(X, ["bic", "jump"], k_max=5, random_state=0)
    with pytest.raises(ValueError, match="axes has 1 entries, but there are 2 curves"):
        comparison.plot(axes=[pyplot.subplots()[1]])

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from edfkmeans import LogTransformer, select_k


@parametrize_with_checks([LogTransformer()])
def test_it_is_a_scikit_learn_transformer(estimator, check):
    check(estimator)


def customers(seed=0):
    """Three segments that are clear in logarithms, as amounts and counts are."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [300, 200, 100])
    middle = np.array([[3.5, 0.7, 3.2], [1.5, 2.0, 4.6], [4.6, 0.3, 5.8]])
    values = np.exp(rng.normal(middle[truth], 0.4))
    return pd.DataFrame(values, columns=["recency", "frequency", "monetary"]), truth


def test_segments_are_found_in_logarithms():
    frame, truth = customers()
    plain = select_k(StandardScaler().fit_transform(frame), random_state=0)
    assert any("LogTransformer" in remark for remark in plain.remarks)
    steps = make_pipeline(LogTransformer(), StandardScaler())
    found = select_k(steps.fit_transform(frame), random_state=0)
    assert found.k == 3
    assert adjusted_rand_score(truth, found.labels) > 0.95
    assert not any("LogTransformer" in remark for remark in found.remarks)


def test_it_takes_what_is_asked_for_and_gives_it_back():
    frame, _ = customers()
    frame["normal"] = np.random.default_rng(1).normal(size=len(frame))
    auto = LogTransformer().fit(frame)
    np.testing.assert_array_equal(auto.shift_, [0, 0, 0, np.nan])
    assert auto.get_feature_names_out().tolist() == list(frame.columns)
    taken = auto.transform(frame)
    np.testing.assert_allclose(taken[:, :3], np.log(frame.iloc[:, :3]))
    np.testing.assert_allclose(auto.inverse_transform(taken), frame)
    named = clone(LogTransformer(["monetary"])).fit(frame)
    numbered = LogTransformer([2]).fit(frame.to_numpy())
    np.testing.assert_array_equal(named.shift_, numbered.shift_)
    pandas = LogTransformer().set_output(transform="pandas").fit_transform(frame)
    assert list(pandas.columns) == list(frame.columns)


def test_zeros_are_shifted_by_a_small_value():
    counts = np.array([[0.0], [0], [1], [1], [2], [5], [40]])
    logs = LogTransformer("all").fit(counts)
    np.testing.assert_array_equal(logs.shift_, [1.0])
    np.testing.assert_allclose(logs.transform(counts), np.log1p(counts))


@pytest.mark.parametrize(
    "columns, message",
    [
        ("all", r"'b' holds negative values \(-1 in row 1, counted from 0\)"),
        (["c"], "X has no column 'c'. It has 'a', 'b'"),
        ([7], "X has no column 7"),
        ("a", r"columns='a' must be 'auto', 'all' or a list of columns. Give \['a'\]"),
    ],
)
def test_messages(columns, message):
    frame = pd.DataFrame({"a": [1.0, 2, 3], "b": [1.0, -1, 2]})
    with pytest.raises(ValueError, match=message):
        LogTransformer(columns).fit(frame)


def test_new_zeros_are_refused_where_there_were_none():
    logs = LogTransformer("all").fit([[1.0], [2.0]])
    with pytest.raises(ValueError, match=r"'column 0' holds zeros \(0 in row 1"):
        logs.transform([[1.0], [0.0]])

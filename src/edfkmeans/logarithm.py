"""LogTransformer: logarithms of skewed columns, as a scikit-learn transformer."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from edfkmeans.rows.arguments import some
from edfkmeans.rows.scaling import exponentials, log_shift, logarithms
from edfkmeans.rows.shapes import skewed_columns

_KINDS = (np.float64, np.float32)


class LogTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Take the logarithm of columns that are heavily skewed, such as amounts of money.

    Groups of very different size, in money or counts, lie evenly apart in logarithms; as they are,
    k-means sees one dense group and a long tail that it cuts into pieces. Standardise afterwards.

    Parameters
    ----------
    columns : "auto", "all", or list of str or int
        "auto": columns without negative values that are heavily skewed, or nearly so beside one
        that is, and less than half so in logarithms. "all": every column. A list: these, by their
        names in a data frame or by their numbers.

    Attributes
    ----------
    shift_ : ndarray of shape (n_features_in_,)
        What is added to a column before the logarithm: 0 where all its values are positive; with
        zeros the 5 % quantile of the positive values, which for counts is mostly 1. NaN for columns
        that are left as they are.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from edfkmeans import LogTransformer, select_k
    >>> rng = np.random.default_rng(0)
    >>> size = np.repeat([1.0, 30.0, 900.0], 100)[:, None]
    >>> money = size * rng.lognormal(sigma=0.5, size=(300, 2))
    >>> steps = make_pipeline(LogTransformer(), StandardScaler())
    >>> select_k(steps.fit_transform(money), random_state=0).k
    3
    >>> steps[0].shift_
    array([0., 0.])
    """

    def __init__(self, columns: Any = "auto") -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns, and what to add to them; y is ignored."""
        values = validate_data(self, X, dtype=_KINDS)
        chosen = self._chosen(values)
        self.shift_ = np.full(values.shape[1], np.nan)
        for j in chosen:
            self.shift_[j] = log_shift(values[:, j])
        self._taken(values)  # refuses negative values
        return self

    def transform(self, X: Any) -> Any:
        """Return X with the logarithms of some columns."""
        check_is_fitted(self)
        return self._taken(validate_data(self, X, dtype=_KINDS, reset=False))

    def inverse_transform(self, X: Any) -> Any:
        """Return what `transform` was given; means of logarithms are turned back as values are."""
        check_is_fitted(self)
        return exponentials(check_array(X, dtype=_KINDS), self.shift_)

    def _taken(self, values: Any) -> Any:
        return logarithms(values, self.shift_, self._names())

    def _names(self) -> Sequence[str]:
        numbers = [f"column {j}" for j in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", numbers)]

    def _chosen(self, values: Any) -> list[int]:
        d = values.shape[1]
        if isinstance(self.columns, str):
            if self.columns == "all":
                return list(range(d))
            if self.columns == "auto":
                may = values.min(axis=0) >= 0
                return [int(j) for j in np.flatnonzero(may & skewed_columns(values))]
            raise ValueError(
                f"columns={self.columns!r} must be 'auto', 'all' or a list of columns. "
                f"Give [{self.columns!r}] for one column."
            )
        names = list(getattr(self, "feature_names_in_", ()))
        chosen = []
        for column in self.columns:
            if isinstance(column, str) and column in names:
                chosen.append(names.index(column))
            elif isinstance(column, int | np.integer) and 0 <= column < d:
                chosen.append(int(column))
            else:
                known = f"It has {some(names, 8)}" if names else f"It has the columns 0 to {d - 1}"
                raise ValueError(f"columns: X has no column {column!r}. {known}.")
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

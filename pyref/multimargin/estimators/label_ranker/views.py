"""Features as a stack takes them, whatever container they come in."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.parameters import check_flag
from multimargin.estimators.shared.features import TakesFeatures

# Columns up to which, and entries up to which, features are held dense.
_FEW_COLUMNS, _MOST_ENTRIES = 500, 2**27
# Share of entries that are not 0 from which on more columns are held dense.
_DENSE = 0.25


class Views(TransformerMixin, TakesFeatures):  # type: ignore[misc]
    """Features in the form that models fit best, by their numbers and not by their container.

    Up to 500 columns, or where a quarter of the entries or more are not 0, rows become a dense
    matrix if it has at most 2^27 entries; else a CSR matrix.

    Parameters
    ----------
    unit_length : bool, default=False
        If True, rows are divided by their Euclidean norm.

    Attributes
    ----------
    dense_ : bool
        True if rows become a dense matrix.
    n_features_in_ : int
        Number of features.
    """

    def __init__(self, *, unit_length: bool = False) -> None:
        self.unit_length = unit_length

    @classmethod
    def of(cls, X: Any, like: Any, *, unit_length: str | bool) -> Self:
        """Return fitted views of features that another estimator has checked and names.

        A length of "auto" is 1 for rows that are not held dense.
        """
        dense = is_dense(X)
        views = cls(unit_length=not dense if isinstance(unit_length, str) else unit_length)
        views.dense_ = dense
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(like, name):
                setattr(views, name, getattr(like, name))
        return views

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the form.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : object, default=None
            Not used.
        """
        check_flag("unit_length", self.unit_length)
        self.dense_ = is_dense(self._checked_features(X, reset=True))
        return self

    def transform(self, X: Any) -> Any:
        """Return the features in the form that was chosen.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray or CSR matrix of shape (n, d)
            The features.
        """
        check_is_fitted(self)
        return self.prepared(self._checked_features(X, reset=False))

    def prepared(self, X: Any) -> Any:
        """Return checked features in the form that was chosen."""
        X = in_form(X, dense=self.dense_)
        return normalize(X) if self.unit_length else X

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any] | None:
        """Return the names of the features: those given, else those of the fit, if it had some.

        Parameters
        ----------
        input_features : array-like of shape (d,), default=None
            Names of the features.

        Returns
        -------
        ndarray of shape (d,) or None
            The same names.
        """
        names = getattr(self, "feature_names_in_", None)
        return names if input_features is None else np.asarray(input_features, dtype=object)


def is_dense(X: Any) -> bool:
    """Return whether features are held dense, by their numbers."""
    n, d = X.shape
    if n * d > _MOST_ENTRIES:
        return False
    if d <= _FEW_COLUMNS:
        return True
    nonzero = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    return bool(nonzero >= _DENSE * n * d)


def in_form(X: Any, *, dense: bool) -> Any:
    """Return features as a dense or as a CSR matrix."""
    if dense:
        return X.toarray() if sparse.issparse(X) else X
    return X if sparse.issparse(X) else sparse.csr_array(X)

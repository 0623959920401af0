"""Features of one or several views in the form that a stack takes, whatever their container."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array, check_is_fitted

from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.parameters import check_auto, is_estimator
from multimargin.features.checked import TakesFeatures
from multimargin.features.kinds_of_columns import words_and_measurements
from multimargin.features.lengths import unit_rows
from multimargin.features.scales import (
    Ranges,
    ends_of_scale,
    largest_of_columns,
    of_most_columns,
    of_unit_variance,
    ranges_of,
    within_ranges,
)
from multimargin.typing import Features, LabelsLike, MatrixLike, is_sparse

# Maximum number of columns, and of entries, for which features are held dense.
_FEW_COLUMNS, _MOST_ENTRIES = 500, 2**27
# Share of nonzero entries from which features with more columns are held dense.
_DENSE = 0.25

Triples = list[tuple[str, Any, Any]]


class Views(TransformerMixin, TakesFeatures):  # type: ignore[misc]
    """Features in the form that is fastest to fit, chosen by their values, not by their container.

    Up to 500 columns, or where a quarter of the entries or more are not 0, the rows of a view
    become a dense matrix if it has at most 2^27 entries; else a CSR matrix. Several views stand
    side by side.

    Parameters
    ----------
    views : {"auto"}, list of (str, transformer, columns) or None, default=None
        Names, transformers and columns of the views, as for
        `sklearn.compose.ColumnTransformer`. None is one view, X itself. "auto" is two where X has
        both columns of measurements, which fill nearly all rows with varied numbers, and many of
        words or names: "sparse" has the latter, "dense" the former and the most frequent of the
        latter.
    unit_length : {"auto"} or bool, default="auto"
        If True, the rows of each view are divided by their Euclidean norm; "auto" does so for views
        that are not held dense.
    scaling : {"auto"} or bool, default="auto"
        If True, the columns of dense views are scaled to [0, 1], and constant ones to 0; "auto"
        does so if the largest numbers of one column are more than a hundred times those of another
        and the rows do not get unit length. Before sparse rows do, "auto" brings columns whose mean
        entry is more than ten times that of the median column to that one.
    unit_variance : bool, default=False
        If True, `scaling="auto"` then divides dense views whose rows do not get unit length by one
        number if the variances of the columns sum to less than 0.1 or more than 10, to 1.
    dense : {"auto"} or bool, default="auto"
        If False, all views become CSR matrices, if True dense ones; "auto" as above.

    Attributes
    ----------
    columns_ : list of ColumnTransformer or None
        The fitted transformer of each view.
    names_ : list of str
        Names of the views; "" for X itself.
    dense_ : list of bool
        True for views that are held dense.
    unit_length_ : list of bool
        True for views whose rows have unit length.
    ranges_ : list of (ndarray, ndarray) or None
        Of views whose columns are scaled, what is subtracted from each column, and twice what it
        is multiplied by then.
    stops_ : list of int
        Numbers of the columns at which the views end.
    sparse_in_ : bool
        True if X is sparse where the transformers take it.
    n_features_in_ : int
        Number of features.
    """

    columns_: list[ColumnTransformer] | None

    def __init__(
        self,
        views: str | Sequence[tuple[str, BaseEstimator | str, object]] | None = None,
        *,
        unit_length: bool | str = "auto",
        scaling: bool | str = "auto",
        unit_variance: bool = False,
        dense: bool | str = "auto",
    ) -> None:
        self.views = views
        self.unit_length = unit_length
        self.scaling = scaling
        self.unit_variance = unit_variance
        self.dense = dense

    def fit(self, X: MatrixLike, y: LabelsLike | None = None) -> Self:
        """Fit the transformers and choose the forms.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : object, default=None
            Not used.
        """
        self.fit_parts(X)
        return self

    def fit_parts(
        self,
        X: MatrixLike,
        *,
        checked_by: BaseEstimator | None = None,
    ) -> list[Features]:
        """Fit, and return the features of each view in the chosen form.

        Features that another estimator has checked already have their number and names.
        """
        check_auto("unit_length", self.unit_length)
        check_auto("scaling", self.scaling)
        self.columns_, self.names_ = None, [""]
        triples: Triples | None = None
        if prepares_features(self.views):
            triples = named_views(self.views)
        else:
            X = X if checked_by is not None else self._checked_features(X, reset=True)
            copy_names(checked_by, self)
            if isinstance(self.views, str):
                triples = self._by_kinds_of_columns(X)
                X = X if triples is None else in_form(X, dense=False)
        self.sparse_in_ = is_sparse(X)
        parts: list[Any] = [X]
        if triples is not None:
            self.names_ = [name for name, _, _ in triples]
            self.columns_ = [
                ColumnTransformer([(name, clone(own, safe=False), columns)], sparse_threshold=1.0)
                for name, own, columns in triples
            ]
            parts = [
                _of_view(name, own.fit_transform, X)
                for name, own in zip(self.names_, self.columns_, strict=True)
            ]
            if prepares_features(self.views):
                copy_names(self.columns_[0], self)
        if isinstance(self.views, str) and triples is not None:
            self.dense_ = [False, True]
        else:
            by_numbers = isinstance(self.dense, str)
            self.dense_ = [is_dense(part) if by_numbers else bool(self.dense) for part in parts]
        by_form = isinstance(self.unit_length, str)
        self.unit_length_ = [
            not dense if by_form else bool(self.unit_length) for dense in self.dense_
        ]
        self.stops_ = np.cumsum([part.shape[1] for part in parts]).tolist()
        parts = self._in_form(parts)
        self.ranges_ = [
            self._ranges_of(part, unit=unit)
            for part, unit in zip(parts, self.unit_length_, strict=True)
        ]
        return self._scaled(parts)

    def _by_kinds_of_columns(self, X: Features) -> Triples | None:
        """Return views of the columns that are best held sparse and dense, None if all are one."""
        if not isinstance(self.dense, str) or is_dense(X):
            return None
        columns = words_and_measurements(X)
        if columns is None:
            return None
        return [
            (name, "passthrough", own)
            for name, own in zip(("sparse", "dense"), columns, strict=True)
        ]

    def _ranges_of(self, part: Features, *, unit: bool) -> Ranges | None:
        by_scale = isinstance(self.scaling, str)
        if is_sparse(part):
            return of_most_columns(part) if by_scale and unit else None
        if not by_scale:
            return ranges_of(part) if self.scaling else None
        if unit:
            return None
        largest = largest_of_columns(part)
        ranges = None if ends_of_scale(largest) is None else ranges_of(part)
        if not self.unit_variance:
            return ranges
        return of_unit_variance(part, ranges, float(largest.max()))

    def transform(self, X: MatrixLike) -> Features:
        """Return the features of all views in the form that was chosen, side by side.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray or CSR matrix of shape (n, d_1 + d_2 + ...)
            The features, dense if all views are.
        """
        check_is_fitted(self)
        prepares = prepares_features(self.views)
        return self.prepared(X if prepares else self._checked_features(X, reset=False))

    def prepared(self, X: MatrixLike) -> Features:
        """Return checked features as `transform` does."""
        parts: list[Any] = [X]
        if self.columns_ is not None:
            given: Any = X
            if isinstance(X, np.ndarray) or is_sparse(X):
                # The transformers have seen one container.
                given = in_form(X, dense=not self.sparse_in_)
            if isinstance(self.views, str):
                # Checked features, taken as they are
                parts = [given[:, own.transformers_[0][2]] for own in self.columns_]
            else:
                widths = np.diff([0, *self.stops_])
                parts = [
                    _of_view(name, own.transform, given, width)
                    for name, own, width in zip(self.names_, self.columns_, widths, strict=True)
                ]
        return self.side_by_side(self._scaled(self._in_form(parts)))

    def _in_form(self, parts: list[Any]) -> list[Features]:
        return [in_form(part, dense=dense) for part, dense in zip(parts, self.dense_, strict=True)]

    def _scaled(self, parts: list[Features]) -> list[Features]:
        found = []
        for part, ranges, unit in zip(parts, self.ranges_, self.unit_length_, strict=True):
            rows = part if ranges is None else within_ranges(part, ranges)
            found.append(unit_rows(rows) if unit else rows)
        return found

    def side_by_side(self, parts: list[Features]) -> Features:
        """Return the features of all views as one matrix."""
        if len(parts) == 1:
            return parts[0]
        return np.hstack(parts) if all(self.dense_) else sparse.hstack(parts, format="csr")

    def on_its_view(
        self, place: int, name: str, estimator: BaseEstimator
    ) -> tuple[str, BaseEstimator]:
        """Return a classifier of one view, with its name, as one of the features of all views."""
        if self.columns_ is None:
            return name, estimator
        start, stop = (0, *self.stops_)[place], self.stops_[place]
        first = OneView(start, stop, dense=self.dense_[place])
        return self.full_name(place, name), Pipeline([("view", first), (name, estimator)])

    def full_name(self, place: int, name: str) -> str:
        """Return the name of a classifier of one view among those of all."""
        return name if self.columns_ is None else f"{self.names_[place]}__{name}"

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_] | None:
        """Return the names of the features: those given, else those of the fit, if it had some.

        Parameters
        ----------
        input_features : array-like of shape (d,), default=None
            Names of the features.

        Returns
        -------
        ndarray of shape (d_1 + d_2 + ...,) or None
            The same names; of several views, those of their transformers, after the name of the
            view and two underscores, or numbers where a transformer names nothing.
        """
        names = getattr(self, "feature_names_in_", None)
        if self.columns_ is None:
            return names if input_features is None else np.asarray(input_features, dtype=object)
        found: list[str] = []
        for name, own, (start, stop) in zip(
            self.names_, self.columns_, pairwise((0, *self.stops_)), strict=True
        ):
            try:
                found.extend(own.get_feature_names_out(names))
            except (AttributeError, ValueError):
                found.extend(f"{name}__{place}" for place in range(stop - start))
        return np.array(found, dtype=object)


class OneView(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """The features of one view, of those of all side by side.

    Parameters
    ----------
    start, stop : int
        Its first column, and that after its last.
    dense : bool, default=False
        If True, its rows become a dense matrix.
    """

    def __init__(self, start: int, stop: int, *, dense: bool = False) -> None:
        self.start = start
        self.stop = stop
        self.dense = dense

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: MatrixLike, y: LabelsLike = None) -> Self:
        """Do nothing."""
        return self

    def transform(self, X: Features) -> Features:
        """Return the columns of the view.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
            Features of all views.

        Returns
        -------
        ndarray or CSR matrix of shape (n, stop - start)
            Those of the view.
        """
        own = X[:, self.start : self.stop]
        return in_form(own, dense=self.dense) if is_sparse(X) else np.ascontiguousarray(own)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> NDArray[np.object_] | None:
        """Return the names of the features of the view, of those of all."""
        return (
            None if input_features is None else np.asarray(input_features)[self.start : self.stop]
        )


def prepares_features(views: object) -> bool:
    """Return whether views have transformers, which check their own input."""
    return not (views is None or (isinstance(views, str) and views == "auto"))


def named_views(views: object) -> Triples:
    """Return views that are given as triples of a name, a transformer and columns."""
    expected = (
        "expected 'auto', None or a list of (name, transformer, columns), each name once and "
        "without two underscores side by side"
    )
    if not isinstance(views, list | tuple) or not views:
        raise TypeError(f"views is {views!r}; {expected}.")
    for one in views:
        if not isinstance(one, list | tuple) or len(one) != 3 or not isinstance(one[0], str):
            raise TypeError(f"views has {one!r}; {expected}.")
    names = [name for name, _, _ in views]
    if len(set(names)) < len(names) or any(not name or "__" in name for name in names):
        raise ValueError(f"views has the names {names}; {expected}.")
    for name, transformer, _ in views:
        transforms = is_estimator(transformer) and hasattr(transformer, "transform")
        if not (transforms or transformer == "passthrough"):
            raise TypeError(
                f"views has {transformer!r} for {name!r}; expected a transformer with `fit` "
                "and `transform`, or 'passthrough'."
            )
    return [tuple(one) for one in views]


def copy_names(fitted: BaseEstimator, other: BaseEstimator) -> None:
    """Give an estimator the number and the names of the features of a fitted one."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(fitted, name):
            setattr(other, name, getattr(fitted, name))


def _of_view(name: str, transform: Any, X: Any, width: int | None = None) -> Any:
    """Return the numeric output of a view's transformer, checked to be as wide as in the fit."""
    try:
        found = transform(X)
    except Exception as error:
        error.add_note(f"It is raised by the transformer of the view {name!r}.")
        raise
    try:
        rows = check_array(found, accept_sparse="csr", dtype=np.float64, order="C")
        check_as_many_rows(rows, X, "the matrix")
        if width not in (None, rows.shape[1]):
            raise ValueError(f"the matrix has {rows.shape[1]} columns; expected {width}, as in fit")
        return rows
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"views: the transformer of {name!r} does not return a matrix of finite numbers with "
            f"a row for each row of X and at least one column: {error}"
        ) from error


def is_dense(X: Features) -> bool:
    """Return whether features are held dense, given their values."""
    n, d = X.shape
    if n * d > _MOST_ENTRIES:
        return False
    if d <= _FEW_COLUMNS:
        return True
    nonzero = X.nnz if is_sparse(X) else np.count_nonzero(X)
    return bool(nonzero >= _DENSE * n * d)


def in_form(X: Features, *, dense: bool) -> Features:
    """Return features as a dense or as a CSR matrix."""
    if dense:
        return X.toarray() if is_sparse(X) else X
    return X if is_sparse(X) else sparse.csr_array(X)

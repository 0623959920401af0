"""Scalers of features by name, and pipelines of a scaler and a classifier."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from multimargin.checks.parameters import check_choice
from multimargin.typing import Features, Name

SCALINGS = ("minmax", "standard", "unit", "none")
"""The names that `make_scaler` accepts."""
# Ratio of the largest numbers of two columns from which their scales count as different.
_OTHER_SCALE = 100.0


def make_scaler(scaling: str, *, sparse: bool = False) -> BaseEstimator:
    """Return an unfitted scaler of features."""
    check_choice("scale", scaling, SCALINGS)
    if scaling == "minmax":
        return MaxAbsScaler() if sparse else MinMaxScaler()
    if scaling == "standard":
        return StandardScaler(with_mean=not sparse)
    return Normalizer() if scaling == "unit" else None


def with_scaler(classifier: BaseEstimator, scaling: str, *, sparse: bool = False) -> Pipeline:
    """Return an unfitted pipeline that scales before it classifies.

    Parameters
    ----------
    classifier : estimator
        The unfitted classifier; its step is named "method", so that its parameter C is
        ``method__C``.
    scaling : {"minmax", "standard", "unit", "none"}
        See `make_scaler`; the step is named "scale", and missing for "none".
    sparse : bool, default=False
        True if the features are stored sparse.

    Returns
    -------
    sklearn.pipeline.Pipeline
        The pipeline. The scaler is fitted on the training rows only, also in cross-validation.

    Examples
    --------
    >>> from multimargin import RankSVM
    >>> from multimargin.scaling import with_scaler
    >>> with_scaler(RankSVM(), "minmax")
    Pipeline(steps=[('scale', MinMaxScaler()), ('method', RankSVM())])
    """
    scaler = make_scaler(scaling, sparse=sparse)
    steps = [] if scaler is None else [("scale", scaler)]
    return Pipeline([*steps, ("method", classifier)])


def told_scales(X: Features, names: Sequence[Name] | None = None) -> str:
    """Return advice about columns of very different scales, empty if there are none.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, d)
        Features.
    names : sequence of d names, default=None
        Names of the columns; None numbers them.

    Returns
    -------
    str
        A sentence, after a blank; empty if the largest numbers of no column are a hundred times
        those of another.
    """
    ends = X.min(axis=0), X.max(axis=0)
    low, high = (end.toarray().ravel() if issparse(end) else end for end in ends)
    sizes = np.maximum(-low, high)
    used = np.flatnonzero(sizes)
    if not used.size:
        return ""
    least, most = used[sizes[used].argmin()], used[sizes[used].argmax()]
    if not sizes[most] > _OTHER_SCALE * sizes[least]:
        return ""
    scaler = "MaxAbsScaler" if issparse(X) else "StandardScaler"
    shown = [
        f"{sizes[place]:.2g} (column {place if names is None else names[place]})"
        for place in (least, most)
    ]
    return (
        f" The columns of X differ in scale, from {shown[0]} to {shown[1]}: "
        f"sklearn.preprocessing.{scaler} puts them on one."
    )

"""Scalers of features by name, and pipelines of a scaler and a classifier."""

from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from multimargin.checks.parameters import check_choice

SCALINGS = ("minmax", "standard", "unit", "none")
"""The names that `make_scaler` accepts."""


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

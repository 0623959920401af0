"""Scaling of the features, learned on the training rows of each split."""

from typing import Any

from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from multimargin.parameters import check_choice

SCALINGS = ("minmax", "standard", "unit", "none")


def scaled(estimator: Any, scaling: str, X: Any) -> Pipeline:
    """Put a scaler before an estimator.

    Parameters
    ----------
    estimator : estimator
        A classifier; it is not copied.
    scaling : {"minmax", "standard", "unit", "none"}
        Each feature to [0, 1]; each feature to mean 0 and variance 1; each row to length 1; or
        nothing.
    X : {ndarray, CSR matrix} of shape (n, d)
        The features, which tell the scaler apart for sparse storage: zeros have to stay zeros, so
        that "minmax" divides by the largest absolute value (the same where the smallest value of
        the feature is 0) and "standard" does not subtract the mean.

    Returns
    -------
    Pipeline
        The steps "scale" and "classify".

    Raises
    ------
    ValueError
        If `scaling` is unknown.
    """
    check_choice("scaling", scaling, SCALINGS)
    dense = not sparse.issparse(X)
    scalers = {
        "minmax": MinMaxScaler() if dense else MaxAbsScaler(),
        "standard": StandardScaler(with_mean=dense),
        "unit": Normalizer(),
        "none": "passthrough",
    }
    return Pipeline([("scale", scalers[scaling]), ("classify", estimator)])

"""Sizes of models as runtimes hold them, with dense arrays."""

from math import prod

from sklearn.base import BaseEstimator

from multimargin.blocks import LabelNeighbours
from multimargin.calibration import CalibratedClassifier
from multimargin.inspection.steps import final_estimator, fitted_inside


def dense_bytes(model: BaseEstimator) -> int:
    """Estimate the bytes of the arrays of a fitted model in an ONNX runtime.

    They are those of weights, support vectors and neighbours, which alone may be too large. Files
    are smaller where arrays have few entries.
    """
    model = final_estimator(model)
    if isinstance(model, CalibratedClassifier):
        return sum(dense_bytes(one) for _, one in model.estimators_)
    inner = fitted_inside(model)
    if inner is not None:
        return dense_bytes(inner)
    arrays = [getattr(model, name, None) for name in ("coef_", "support_vectors_")]
    if isinstance(model, LabelNeighbours):
        arrays = [model.rows_]
    elif arrays[0] is not None:
        arrays = arrays[:1]
    return sum(8 * prod(array.shape) for array in arrays if array is not None)

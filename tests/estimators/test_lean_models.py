"""The file of a linear model, of every estimator: no training rows, and no longer with more."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import multimargin
from multimargin import CalibratedClassifier, RankSVM, ThresholdedClassifier
from tests.support.subsets import fast_only

# Such numbers are made by no sum of others.
MARK = 3.14159265358979
FEW, MANY = 100, 1000

WRAPPED = {
    "ThresholdedClassifier": ThresholdedClassifier(RankSVM(kernel="linear", random_state=0), cv=2),
    "CalibratedClassifier": CalibratedClassifier(RankSVM(kernel="linear", random_state=0), cv=2),
    "search": GridSearchCV(RankSVM(kernel="linear"), {"C": [0.1, 1.0]}, cv=2),
    "features": RankSVM(kernel="linear", threshold="features", random_state=0),
    "pipeline": make_pipeline(MinMaxScaler(), RankSVM(kernel="linear", random_state=0)),
}


def linear_model(name: str):
    if name in WRAPPED:
        return WRAPPED[name]
    model = getattr(multimargin, name)()
    known = model.get_params(deep=False)
    # Neighbours of a stack keep their rows.
    settings = {"kernel": "linear", "random_state": 0, "stack": None}
    return model.set_params(**{key: value for key, value in settings.items() if key in known})


def content(name: str, n: int) -> bytes:
    """The bytes of a fitted model but `history_`, which is as long as the fit had epochs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    Y = (X @ rng.standard_normal((6, 3)) + rng.standard_normal((n, 3)) > 0.3).astype(int)
    X[:, 2] = rng.choice([-MARK, MARK], n)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", "The best C")
        model = linear_model(name).fit(X, Y)
    wrapped = [getattr(model, key, None) for key in ("estimator_", "best_estimator_")]
    steps = [step for _, step in getattr(model, "steps", [])]
    for part in (model, *wrapped, *steps):
        vars(part).pop("history_", None) if part is not None else None
    return pickle.dumps(model)


ESTIMATORS = [name for name in multimargin.__all__ if hasattr(getattr(multimargin, name), "fit")]


# Of those that share their code one is enough.
FAST = ["RankSVM", "RankHLapSVM", "SSMLRL", "LLSF", "search", "pipeline", "features"]


@pytest.mark.parametrize("name", fast_only(sorted({*ESTIMATORS, *WRAPPED}), FAST))
def test_a_linear_model_holds_no_training_rows(name: str) -> None:
    few, many = content(name, FEW), content(name, MANY)
    # A scaler keeps the extremes of each feature.
    if name != "pipeline":
        assert np.float64(MARK).tobytes() not in many
    # Not even a byte a row.
    assert len(many) - len(few) < (MANY - FEW) // 2

"""Bad input to the estimators of the family: messages name the argument and what is expected."""

import re
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    LabelRankerCV,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
)
from multimargin.estimators import FrankWolfeOptions, RelationshipOptions
from tests.support.cases import case
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

ESTIMATORS = [
    *(method() for method in PAIRWISE),
    RankCVM(solver="frank-wolfe", tol=0.1),
    RankHLapSVM(kernel="linear"),
]

every_estimator = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__}-{e.solver}-{e.kernel}"
)


X, Y = noisy_linear_problem(0, 60, 4, 4, noise=0.5)
NO_MATRIX = "X is not a matrix of finite real numbers, one row per instance: "


def precomputed(estimator):
    """A clone for a kernel matrix, with a threshold that needs no features."""
    model = clone(estimator).set_params(kernel="precomputed")
    return model.set_params(threshold="scores") if "threshold" in model.get_params() else model


def with_entry(matrix, value):
    changed = matrix.astype(float)
    changed[2, 1] = value
    return changed


# What scikit-learn and the checks of labels and arrays say has tests in tests/checks.
BAD_DATA = {
    "X with NaN": ((with_entry(X, np.nan), Y), ValueError, NO_MATRIX + "Input X contains NaN"),
    "X too large to square": (
        (with_entry(X, -1e160), Y),
        ValueError,
        "X has entries as large as 1e+160; expected at most 1e+150 in magnitude",
    ),
    "fewer labels than rows": ((X, Y[:59]), ValueError, "y has 59 rows; expected 60, as many as X"),
    "Y of signs": (
        (X, np.where(Y, 1, -1)),
        ValueError,
        "y has values other than 0 and 1: -1. Labels coded as -1 and +1 are converted by (y > 0)",
    ),
    "all labels or none": (
        (X, np.tile(Y[:, :1], 4)),
        ValueError,
        "y has no label pair: each of its 60 rows has all labels or none; expected a row with both",
    ),
    "one class": (
        (X, np.zeros(60)),
        ValueError,
        "y has one class only, 0.0; expected at least two classes",
    ),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data(kind):
    data, error, message = BAD_DATA[kind]
    for estimator in ESTIMATORS:
        # Pairs with the zero label are in every row.
        if not (isinstance(estimator, RankSVMz) and message.startswith("y has no label pair")):
            with pytest.raises(error, match=re.escape(message)):
                clone(estimator).fit(*data)


ABOVE_0 = "a finite number above 0"
# What every one of them says that has such a parameter.
BAD_PARAMETERS = {
    "C": [(0.0, ABOVE_0), ("1", ABOVE_0, TypeError)],
    "gamma": [(-2.0, ABOVE_0), ("wide", "one of 'scale', 'auto'"), (None, ABOVE_0, TypeError)],
    "tol": [(0.0, ABOVE_0)],
    "kernel": [("magic", "one of 'linear', 'rbf'")],
    "solver": [("magic", "one of 'bcd', 'dcd'")],
    "degree": [(-1, "an integer of at least 0"), (1.5, "an integer of at least 0", TypeError)],
    "coef0": [(float("inf"), "a finite number")],
    "max_iter": [(0, "an integer of at least 1")],
    "max_time": [(value, "") for value in (0, -1.0, float("nan"), -float("inf"))],
    "cache_size": [(-1, "a finite number from 0")],
    "verbose": [(-1, "an integer of at least 0")],
    "threshold": [("best", "'auto', 'micro', 'samples',")],
    "n_jobs": [(0, ""), *((value, "None, a positive", TypeError) for value in ("two", 1.5, True))],
    "top_k": [(value, "") for value in (0, -1, 0.0, 1.5, float("nan"))],
}
BAD_PARAMETERS["degree"] += [(2**31, "at most 2147483647")]
BAD_PARAMETERS["top_k"] += [(True, "", TypeError), ("2", "", TypeError)]
BAD_PARAMETERS["max_time"] += [(True, "", TypeError), ("1", "", TypeError)]


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_bad_parameters(name):
    for estimator, (value, expected, *error) in product(ESTIMATORS, BAD_PARAMETERS[name]):
        # One has its threshold within.
        if name in estimator.get_params():
            message = re.escape(f"{name} is {value!r}; expected {expected}")
            with case(estimator), pytest.raises((*error, ValueError)[0], match=message):
                clone(estimator).set_params(**{name: value}).fit(X, Y)


FROM_0 = "a finite number of at least 0"
BIASES = "one of 'free', 'penalized', 'none'"
OF_ONE_METHOD = [
    (RankSVM(bias="some"), f"bias is 'some'; expected {BIASES}"),
    (RankSVMz(bias="some"), f"bias is 'some'; expected {BIASES}"),
    (
        RankSVM(kernel="precomputed", threshold="features"),
        "threshold is 'features', but kernel='precomputed' has no features; expected",
    ),
    (RankSVM(pair_weights="some"), "pair_weights is 'some'; expected one of 'balanced', 'un"),
    *(
        (kind(top_k=2, solver=solver), f"top_k is 2; expected None with solver='{solver}'")
        for kind, solver in (
            *((RankSVM, "dcd"), (RankSVM, "frank-wolfe"), (RankLSVM, "dcd")),
            *((RankCVM, "frank-wolfe"), (RankHLapSVM, "dcd")),
        )
    ),
    (
        RankCVM(options=FrankWolfeOptions(epsilon=0)),
        "options.epsilon is 0; expected a finite number above 0",
    ),
    (RankCVM(options=RelationshipOptions()), "expected None or a FrankWolfeOptions"),
    (MLODM(theta=1.0), f"theta is 1.0; expected {FROM_0} and below 1"),
    (MLODM(theta=-0.1), f"theta is -0.1; expected {FROM_0} and below 1"),
    (MLODM(mu=0.0), "mu is 0.0; expected a finite number above 0 and of at most 1"),
    (MLODM(mu=1.5), "mu is 1.5; expected a finite number above 0 and of at most 1"),
    (RankHLapSVM(lam=-1.0), "lam is -1.0; expected a finite number from 0 to"),
    (RankHLapSVM(nu=-1.0), f"nu is -1.0; expected {FROM_0}"),
    (RankHLapSVM(nu="auto"), "nu is 'auto'; expected one of 'scale'"),
    (MLRL(lam=0.0), "lam is 0.0; expected"),
    (MLRL(solver="smo"), "solver is 'smo'; expected"),
    (MLRL(options={"ridge": 0.1}), "options is {'ridge': 0.1}; expected None or a Relat"),
    (MLRL(options=RelationshipOptions(ridge=2.0)), "options.ridge is 2.0; expected"),
    *(
        (MLRL(options=RelationshipOptions(fixed_covariance=S)), f"options.fixed_covariance {said}")
        for S, said in (
            (np.eye(3), "has shape (3, 3); expected (4, 4)"),
            *((-np.eye(4), "is not"), (np.triu(np.ones((4, 4))), "is not")),
        )
    ),
    *(
        (model(**{name: 0}), f"{name} is 0; expected")
        for model in (MLRL, LLSF)
        for name in ("tol", "max_iter", "max_time", "n_jobs")
    ),
    (SSMLRL(lam2=-1), "lam2 is -1"),
    (LLSF(alpha=-1), "alpha is -1; expected"),
    *((LLSF(**{name: 0}), f"{name} is 0; expected") for name in ("beta", "gamma")),
    *((LLSF(**{name: "x"}), f"{name} is 'x'; expected") for name in ("threshold", "solver")),
]


def test_bad_parameters_of_one_method():
    for estimator, message in OF_ONE_METHOD:
        with case(estimator), pytest.raises(ValueError, match=re.escape(message)):
            estimator.fit(X, Y)


SOLVERS = [
    RankSVM(),
    RankSVM(solver="dcd"),
    RankSVM(bias="none", solver="frank-wolfe"),
    *ESTIMATORS[1:-1],
]


@pytest.mark.parametrize("estimator", SOLVERS, ids=lambda e: f"{type(e).__name__}-{e.solver}")
def test_bad_precomputed_kernels(estimator):
    model = precomputed(estimator)
    with pytest.raises(ValueError, match=r"X has shape \(60, 4\); expected a square kernel matrix"):
        model.fit(X, Y)
    K = X @ X.T
    K[3, 4] += 1.0
    with pytest.raises(
        ValueError, match=r"X is not symmetric: .* differ by up to 1; expected a sy"
    ):
        model.fit(K, Y)
    with pytest.raises(TypeError, match="Sparse data was passed for X, but dense data is required"):
        model.fit(sparse.csr_array(X @ X.T), Y)
    model.set_params(kernel=lambda A, B: np.arange(3600.0).reshape(60, 60))
    with pytest.raises(ValueError, match="not symmetric"):
        model.fit(X, Y)


@every_estimator
def test_other_features_than_in_fit(estimator):
    name = type(estimator).__name__
    for kernel in ("rbf", "linear"):
        model = clone(estimator).set_params(kernel=kernel).fit(X, Y)
        for method in (model.predict, model.decision_function, model.label_scores):
            with pytest.raises(ValueError, match=f"X has 3 features, but {name} is expecting 4"):
                method(X[:, :3])
            with pytest.raises(ValueError, match=NO_MATRIX + "could not convert string"):
                method(X.astype(str).astype(object) + "a")
    model = precomputed(model).fit(X @ X.T, Y)
    with pytest.raises(ValueError, match=f"X has 59 features, but {name} is expecting 60"):
        model.predict(X @ X[:59].T)


@every_estimator
def test_bad_labels_for_margins(estimator):
    with pytest.raises(NotFittedError, match="instance is not fitted yet"):
        clone(estimator).margins(X, Y)
    model = clone(estimator).fit(X, Y)
    with pytest.raises(ValueError, match="y has 3 labels; expected 4"):
        model.margins(X, Y[:, :3])
    with pytest.raises(ValueError, match="y has 59 rows; expected 60"):
        model.margins(X, Y[1:])
    with pytest.raises(ValueError, match="y has values other than 0 and 1: -1"):
        model.margins(X, 2 * Y - 1)


@pytest.mark.parametrize("ranker", [RankSVM(kernel="poly"), LabelRankerCV([1.0], kernel="poly")])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_new_rows_whose_scores_overflow_are_named(ranker):
    model = clone(ranker).fit(X, Y)
    rows = X[:5].copy()
    rows[3, 0] = 1e120
    for method, kind in product(
        ("label_scores", "decision_function", "predict"), (np.asarray, sparse.csr_array)
    ):
        with pytest.raises(ValueError, match="X has numbers in row 3 that are so large"):
            getattr(model, method)(kind(rows))

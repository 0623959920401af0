"""scikit-learn's checks: all of them on each base class, a part on variants and baselines."""

import warnings
from functools import cache

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

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
    baselines,
)
from multimargin.methods import METHODS
from multimargin.tuning import LazySearchCV

# The default tries twelve settings in each of the checks.
OTHERS = {"label-ranker": LabelRankerCV([10.0], threshold=0.5, cv=2, random_state=0)}
OTHERS["label-ranker"].set_params(kernel="linear", loss="hinge", class_weight=None, top_k=None)
MADE = [OTHERS.get(name, method.make()) for name, method in METHODS.items()]
# One base class, whose checks are those of Rank-SVM.
FAMILY = [model for model in MADE if isinstance(model, RankLSVM | RankCVM | MLODM | RankSVMz)]
ESTIMATORS = [
    *(model for model in MADE if model not in FAMILY),
    LazySearchCV(LogisticRegression(tol=0.1), {"C": [0.1, 1.0]}, cv=2),
]
# Classes that have all checks, with other options.
VARIANTS = [
    RankSVM(kernel="linear", bias="penalized", max_iter=100_000),
    RankSVM(solver="dcd"),
    RankSVM(solver="frank-wolfe", bias="penalized", tol=1e-2, max_iter=100_000),
    RankSVM(threshold="features"),
    RankSVM(threshold=0.5, bias="none"),
    RankCVM(solver="frank-wolfe", tol=0.05),
    RankHLapSVM(kernel="rbf"),
    MLRL(kernel="linear", solver="alternating"),
    LLSF(solver="apg", alpha=0.0),
]

# Classes whose other checks are slow.
OTHER_CLASSES = [
    *FAMILY,
    baselines.MLkNN(),
    baselines.BPMLL(n_epochs=10, random_state=0),
    baselines.CalibratedLabelRanking(),
    baselines.RAkEL(random_state=0),
    baselines.LabelPowerset(),
]

# What another solver, kernel or threshold can break: kinds of input, and the same model again.
# Names and types of parameters, tags and messages are those of the class.
OF_VARIANTS = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimator_sparse_array",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_readonly_memmap_input",
}
# They ask for the same decision values to seven digits. Where the loss is piecewise linear a gap of
# 1e-10 is on the solution's face; else decision values are as far off as the root of the gap.
OF_SAMPLE_WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
SMOOTH = ("MLODM", "RankCVM", "RankLSVM")


def fails_by_design(estimator):
    """Name the checks that an estimator fails, and why."""
    weights = {
        ("MLRL", "alternating"): "Algorithm 1 of MLRL comes to rest at a gap of some thousandths",
        ("RankCVM", "frank-wolfe"): "plain Frank-Wolfe steps come near at a rate of 1 / t",
        # As for LogisticRegressionCV: folds of repeated rows are other folds.
        ("LabelRankerCV", None): "a repeated row lies in several folds, a weighted one in one",
    }
    name = type(estimator).__name__
    reason = weights.get((name, getattr(estimator, "solver", None)))
    found = {} if reason is None else dict.fromkeys(OF_SAMPLE_WEIGHTS, reason)
    if name == "LabelRankerCV":
        reason = "the calibration undoes what weights do to frequencies"
        found["check_class_weight_classifiers"] = reason
    if name == "SSMLRL":
        # As for scikit-learn's own semi-supervised estimators.
        found["check_classifiers_classes"] = "-1 in y marks an unlabelled row"
    return found


def sharp(estimator, check):
    """Give the estimator of a check of sample weights the tolerance that its seven digits need."""
    if check.func.__name__ not in OF_SAMPLE_WEIGHTS or isinstance(estimator, LazySearchCV):
        return estimator
    estimator = clone(estimator)
    if "selector" in estimator.get_params():
        estimator.set_params(estimator=LogisticRegression(), selector=LLSF(alpha=0.5, beta=0.1))
    smooth = type(estimator).__name__ in SMOOTH and estimator.solver == "bcd"
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "tol"]
    return estimator.set_params(**dict.fromkeys(names, 1e-15 if smooth else 1e-10))


def cases(estimators, *, first, others):
    """Yield estimators and checks, those of `OF_VARIANTS` first, and the others if at all."""
    every = parametrize_with_checks(estimators, expected_failed_checks=fails_by_design)
    for case in every.args[1]:
        estimator, check = getattr(case, "values", case)
        slow = "readonly_memmap" in check.keywords
        if check.func.__name__ not in OF_VARIANTS:
            if not others:
                continue
            slow |= first
        marks = (*getattr(case, "marks", ()), *([pytest.mark.slow] if slow else ()))
        yield pytest.param(sharp(estimator, check), check, marks=marks)


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        *cases(ESTIMATORS, first=False, others=True),
        *cases(OTHER_CLASSES, first=True, others=True),
        *cases(VARIANTS, first=True, others=False),
    ],
    ids=cache(parametrize_with_checks(ESTIMATORS).kwargs["ids"]),
)
@pytest.mark.filterwarnings(r"ignore:LLSF ended \(slow\)")
@pytest.mark.filterwarnings("ignore:y has labels of one class only")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_accepts_it(estimator, check):
    with warnings.catch_warnings():
        # Class weights of 1000 and 0.0001: the free bias is not found within max_iter.
        extreme = isinstance(estimator, RankSVMz) and "class_weight" in check.func.__name__
        if isinstance(estimator, MLRL | SSMLRL) or extreme:
            warnings.simplefilter("ignore", ConvergenceWarning)
        if isinstance(estimator, LazySearchCV):
            # As `GridSearchCV` warns when a check feeds it nonsense.
            warnings.simplefilter("ignore")
        check(estimator)

"""scikit-learn's checks: all of them on one estimator a class, a part of them on its variants."""

import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from multimargin import LLSF

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


def _sharp(case):
    """Give the estimator of a check of sample weights the tolerance that its seven digits need."""
    estimator, check = case.values
    if check.func.__name__ not in OF_SAMPLE_WEIGHTS:
        return case
    estimator = clone(estimator)
    if "selector" in estimator.get_params():
        estimator.set_params(estimator=LogisticRegression(), selector=LLSF(alpha=0.5, beta=0.1))
    smooth = type(estimator).__name__ in SMOOTH and estimator.solver == "bcd"
    names = [name for name in estimator.get_params() if name.split("__")[-1] == "tol"]
    estimator.set_params(**dict.fromkeys(names, 1e-15 if smooth else 1e-10))
    return pytest.param(estimator, check, marks=case.marks)


def _fails_by_design(estimator):
    """Name the checks that a published loop fails, and why."""
    published = {
        ("MLRL", "alternating"): "Algorithm 1 of MLRL comes to rest at a gap of some thousandths",
        ("RankCVM", "frank-wolfe"): "plain Frank-Wolfe steps come near at a rate of 1 / t",
    }
    reason = published.get((type(estimator).__name__, getattr(estimator, "solver", None)))
    return {} if reason is None else dict.fromkeys(OF_SAMPLE_WEIGHTS, reason)


def all_checks_of(estimators, **options):
    """Parametrize `estimator` and `check`; checks that come again with read-only data are slow."""
    every = parametrize_with_checks(estimators, **options)
    return pytest.mark.parametrize(
        ("estimator", "check"), list(_again_slow(every.args[1])), **every.kwargs
    )


def _again_slow(cases):
    for case in cases:
        values = getattr(case, "values", case)
        marks = (pytest.mark.slow,) if "readonly_memmap" in values[1].keywords else ()
        yield pytest.param(*values, marks=(*getattr(case, "marks", ()), *marks))


def _cases_of(estimators, **options):
    exempt = options.pop("expected_failed_checks", lambda _: {})
    every = parametrize_with_checks(
        estimators,
        expected_failed_checks=lambda estimator: _fails_by_design(estimator) | exempt(estimator),
        **options,
    )
    return [_sharp(case) for case in _again_slow(every.args[1])]


def checks_of(classes, variants, **options):
    """Parametrize `estimator` and `check`: all of `classes`; of `variants` the others are slow."""
    every = parametrize_with_checks(classes)
    cases = _cases_of(classes, **options)
    for case in _cases_of(variants, **options):
        estimator, check = case.values
        marks = () if check.func.__name__ in OF_VARIANTS else (pytest.mark.slow,)
        cases.append(pytest.param(estimator, check, marks=(*case.marks, *marks)))
    return pytest.mark.parametrize(("estimator", "check"), cases, **every.kwargs)

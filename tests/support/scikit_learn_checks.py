"""scikit-learn's checks: all of them on one estimator a class, a part of them on its variants."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

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


# They ask for the same decision values to seven digits, which loops with a tolerance do not give;
# tests/agreement/test_sample_weight.py asks for the same within the tolerance.
NOT_WITHIN_A_TOLERANCE = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


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
    def exact(case):
        check = getattr(case, "values", case)[1]
        return check.func.__name__ not in NOT_WITHIN_A_TOLERANCE

    return list(_again_slow(filter(exact, parametrize_with_checks(estimators, **options).args[1])))


def checks_of(classes, variants, **options):
    """Parametrize `estimator` and `check`: all of `classes`; of `variants` the others are slow."""
    every = parametrize_with_checks(classes)
    cases = _cases_of(classes, **options)
    for case in _cases_of(variants):
        estimator, check = case.values
        marks = () if check.func.__name__ in OF_VARIANTS else (pytest.mark.slow,)
        cases.append(pytest.param(estimator, check, marks=(*case.marks, *marks)))
    return pytest.mark.parametrize(("estimator", "check"), cases, **every.kwargs)

"""The table of methods, and parameters that come as text."""

import warnings

import pytest

from multimargin import LabelSpecificClassifierChain
from multimargin.datasets import load_digit_attributes
from multimargin.methods import METHODS, find_method, make_method, parse
from tests.support.cases import case


@pytest.mark.parametrize("name", METHODS)
def test_ends_of_the_grid_are_valid(name):
    method = METHODS[name]
    assert set(method.aliases) <= set(method.parameters)
    X, _, Y, _ = load_digit_attributes().train_test()
    iterations = {"max_iter"} & set(method.parameters)
    # Loose and short: whether the parameters are refused is the question, not the fit.
    quick = {"tol": 10.0} | dict.fromkeys(iterations, 5)
    for end in (0, -1):
        parameters = {key: values[end] for key, values in method.grid.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            method.make(**quick, **parameters).fit(X[:40], Y[:40])


def test_the_grids_of_the_papers():
    def powers(lowest, highest):
        return tuple(2.0**k for k in range(lowest, highest + 1))

    tenths, wide = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), powers(-10, 10)
    gamma, weights = powers(-10, 2), (0.01, 0.1, 1.0, 10.0, 100.0)
    for names, grid in (
        # Rank-CVM, section 5; mlODM, section 6.1; MLRL, section 6; LLSF, section IV-D.
        ("rank-svm rank-cvm", {"C": powers(-1, 8), "gamma": gamma}),
        ("rank-svmz rank-lsvm", {"C": powers(-2, 10), "gamma": gamma}),
        ("mlodm", {"C": powers(-2, 10), "gamma": gamma, "theta": tenths, "mu": tenths}),
        ("mlrl", {"lam": weights}),
        ("ssmlrl", {"lam1": weights, "lam2": weights}),
        ("llsf", {"alpha": wide, "beta": wide}),
    ):
        for name in names.split():
            assert METHODS[name].grid == grid, name


def test_names_are_read_kindly():
    for name in ("RankSVM", "rank_svm", "Rank-SVM", " rank-svm "):
        assert find_method(name) is METHODS["rank-svm"]
    # A bias of none is not the value None.
    assert make_method("rank-svm", bias="none").bias == "none"


def test_aliases_reach_inner_estimators():
    model = make_method("llsf-cc", C="3", alpha="0.25", selector__beta=2.0)
    assert isinstance(model, LabelSpecificClassifierChain)
    assert (model.estimator.C, model.selector.alpha, model.selector.beta) == (3.0, 0.25, 2.0)
    with pytest.raises(ValueError, match="llsf-cc is given selector__alpha twice, by two of its"):
        make_method("llsf-cc", alpha=1, selector__alpha=2)
    # The pattern in the table is not touched.
    assert make_method("llsf-cc").selector.alpha == 0.5


def test_parse():
    for text, default, value in (
        ("8", 1.0, 8.0),
        ("1e-3", 1.0, 1e-3),
        ("2^-3", 1.0, 0.125),
        ("2**4", 1.0, 16.0),
        ("3", 5, 3),
        ("1e4", 5, 10_000),
        ("2.5", 5, 2.5),
        ("none", None, None),
        ("None", None, None),
        ("none", "free", "none"),
        ("None", "auto", None),
        ("none", (None, "sqrt"), None),
        ("sqrt", (None, "sqrt"), "sqrt"),
        ("[0.1, 1]", 9, [0.1, 1]),
        ('["hinge"]', ("squared_hinge",), ["hinge"]),
        ("[0.1, 1", 9, "[0.1, 1"),
        ("-1", None, -1),
        ("true", False, True),
        ("0", True, False),
        ("maybe", True, "maybe"),
        ("rbf", "linear", "rbf"),
        ("0", "scores", 0.0),
        ("0.5", "scale", 0.5),
        *((odd, 1.0, odd) for odd in ("-1^0.5", "0^-1", "10^400", "2^")),
    ):
        parsed = parse(text, default)
        assert (parsed, type(parsed)) == (value, type(value)), (text, default)


def test_unknown_names():
    for name, parameters, message in (
        (
            "rank-svn",
            {},
            r"no method 'rank-svn' \(did you mean 'rank-svm'\?\); expected one of .*mlodm",
        ),
        ("xyz", {}, r"no method 'xyz'; expected one of label-ranker, rank-svm, "),
        ("", {}, "no method ''; expected"),
        (
            "mlodm",
            {"gama": 1},
            r"mlodm has no parameter 'gama' \(did you mean 'gamma'\?\); expected one of C, .*theta",
        ),
        ("llsf", {"C": 1}, "llsf has no parameter 'C'"),
        ("llsf-cc", {"order__x": 1}, "llsf-cc has no parameter 'order__x'"),
        ("ovr_svm", {}, r"no method 'ovr_svm' \(did you mean 'ovr-svc'\?\).*knn"),
        ("ovr-svc", {"Gamma": 1}, r"ovr-svc has no parameter 'Gamma' \(did you mean 'gam"),
    ):
        with case(name, parameters), pytest.raises(ValueError, match=message):
            make_method(name, **parameters)


@pytest.mark.parametrize("name", METHODS)
def test_names_that_are_told_without_an_import_are_those_of_the_estimator(name):
    method = METHODS[name]
    assert method.names == set(method.parameters)
    with pytest.raises(ValueError, match=rf"{name} has no parameter 'tool' \(did you mean 'tol'"):
        method.check_name("tool")

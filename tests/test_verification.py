"""The fast solvers against the exact one, and a verdict that can be negative."""

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    LabelSpecificBinaryRelevance,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
    UnknownLabelsWarning,
)
from multimargin.datasets import load_digit_attributes
from multimargin.estimators import RelationshipOptions
from multimargin.estimators.bases import pairwise as base
from multimargin.estimators.pairwise.problem import Fit, Problem
from multimargin.methods import METHODS, make_method
from multimargin.verification import draw_rows, verify

X, _, Y, _ = load_digit_attributes().train_test()
ROWS = draw_rows(Y, 12)
# What label-ranker chooses is one of the others.
WITH_OBJECTIVE = [name for name in METHODS if name not in ("label-ranker", "llsf-bsvm", "llsf-cc")]


@pytest.mark.parametrize("name", WITH_OBJECTIVE)
def test_every_method_agrees(name: str) -> None:
    found = verify(make_method(name), X[ROWS][:, 20:40], Y[ROWS][:, :4])
    assert found.agrees
    assert found.objective_difference < 1e-6
    assert found.score_difference < 1e-2
    assert found.bound <= found.exact_objective * (1 + 1e-9)
    assert (found.n_samples, found.n_features, found.n_labels) == (12, 20, 4)


WEIGHTS = np.array([0.5, 1.0, 2.0, 0.3])
LOW_RANK = RelationshipOptions(fixed_covariance=np.diag([0.5, 0.5, 0.0, 0.0]))


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(kernel="rbf", gamma="mean_distance", class_weight="balanced"),
        RankSVM(kernel="poly", gamma="auto", coef0=0.5, degree=2, class_weight="sqrt", top_k=2),
        RankSVM(kernel="linear", bias="penalized", pair_weights="uniform"),
        RankSVM(kernel="linear", bias="none", class_weight={0: 3.0}, top_k=0.5),
        RankSVM(kernel=lambda X, Z: (1.0 + X @ Z.T) ** 2),
        RankSVMz(kernel="linear", class_weight=WEIGHTS),
        RankLSVM(kernel="poly", gamma=0.1, top_k=1, pair_weights="uniform"),
        RankCVM(gamma=0.2, top_k=2, class_weight=WEIGHTS),
        MLODM(theta=0.1, mu=0.9, pair_weights="uniform", solver="dcd"),
        RankHLapSVM(lam=0.5, nu=0.3, kernel="linear"),
        RankHLapSVM(lam=0.5, class_weight="sqrt", top_k=1),
        MLRL(lam=0.01, options=LOW_RANK),
        SSMLRL(lam1=0.01, lam2=0.0),
        SSMLRL(lam1=0.01, lam2=0.1, kernel="linear", options=LOW_RANK),
        SSMLRL(lam1=0.01, lam2=0.1),
        LLSF(alpha=0.5, beta=0.2),
    ],
    # Without the address of a function.
    ids=lambda model: re.sub(" at 0x[0-9a-f]+", "", " ".join(repr(model).split())),
)
def test_every_parameter_of_a_problem_is_the_reference_s_too(model: Any) -> None:
    labels = Y[ROWS][:, :4].astype(float)
    if isinstance(model, SSMLRL):
        labels[::3] = -1
    elif not isinstance(model, LLSF):
        labels[1, 2] = labels[4, 0] = np.nan
    features = X[ROWS][:, 20:40]
    forms: list[Any] = [features]
    if model.get_params().get("kernel") == "linear":
        forms = [features, sparse.csr_array(features), features.astype(np.float32)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownLabelsWarning)
        for form in forms:
            found = verify(model, form, labels)
            assert found.agrees, found
            assert found.status == "converged"
            assert found.score_difference < 1e-2


def test_a_kernel_without_an_optimum_is_told() -> None:
    model = RankSVM(kernel="sigmoid", gamma=1.0, coef0=-1.0)
    with pytest.raises(ValueError, match="K is indefinite: its eigenvalues lie between"):
        verify(model, X[ROWS], Y[ROWS])


def test_a_wrong_solver_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = base.solve_problem

    def careless(problem: Problem, solver: str) -> Fit:
        fit = solve(problem, solver)
        return replace(fit, primal=1.001 * fit.primal)

    monkeypatch.setattr(base, "solve_problem", careless)
    # The estimators would notice: what is wrong here is what leaves them.
    monkeypatch.setattr(base, "certified", lambda problem, fit, *_: fit)
    found = verify(MLODM(random_state=0), X[ROWS], Y[ROWS])
    assert not found.agrees
    assert found.objective_difference == pytest.approx(1e-3, rel=1e-2)


def test_a_false_bound_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = verify(MLODM(random_state=0), X[ROWS], Y[ROWS])
    assert found.agrees
    for share in (1.001, 0.999, 0.5, -np.inf):
        assert not replace(found, bound=share * found.exact_objective).agrees
    assert found.exact_bound is not None
    assert not replace(found, exact_bound=1.001 * found.objective).agrees
    assert not replace(found, tolerance=1e-15).agrees


def test_rows_have_pairs() -> None:
    labels = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [1, 0]], dtype=np.uint8)
    assert draw_rows(labels, 9).tolist() == [1, 3, 4]
    assert draw_rows(labels, 2).size == 2
    assert draw_rows(labels, 2).tolist() == draw_rows(labels, 2).tolist()
    with pytest.raises(ValueError, match="no row with both"):
        draw_rows(labels[[0, 2]], 1)
    with pytest.raises(ValueError, match="random_state is -1; expected"):
        draw_rows(labels, 1, random_state=-1)
    unknown = np.array([[np.nan, 0, 1], [np.nan, np.nan, 1], [0, np.nan, 0], [0, 1, 1]])
    assert draw_rows(unknown, 9).tolist() == [0, 3]


def test_what_cannot_be_verified() -> None:
    for model, message in (
        (LabelSpecificBinaryRelevance(), "has no objective of its own; expected its selector"),
        (make_method("llsf", convexify=False), "convexify is False; expected True"),
    ):
        with pytest.raises(ValueError, match=message):
            verify(model, X[ROWS], Y[ROWS])
    for foreign in ("rank-svm", LogisticRegression()):
        with pytest.raises(TypeError, match=r"model is .*; expected a method of multimargin"):
            verify(foreign, X[ROWS], Y[ROWS])

"""``solver="exact"``: its certificates are bounds, and its failures say what helps."""

import numpy as np
import pytest

from multimargin import MLODM, MLRL, RankLSVM, RankSVM, RankSVMz
from multimargin.estimators.shared import exact_flows, exact_solver
from multimargin.estimators.shared import exact_pairs as ep
from tests.support.problems import unrelated_problem


def problem(seed, n=12, d=3, q=4):
    return unrelated_problem(seed, n, d, q, share=0.5)


def test_equal_label_rows_need_no_weights():
    X, _ = problem(0)
    Y = np.zeros((12, 4), dtype=int)
    Y[:, :2] = 1
    model = RankSVM(kernel="linear", solver="exact").fit(X, Y)
    assert model.status_ == "converged"
    assert model.objective_ == model.dual_objective_ == model.dual_gap_ == 0.0


@pytest.mark.parametrize(
    "model",
    [
        *(
            kind(C, solver="exact")
            for kind in (RankSVM, RankSVMz, RankLSVM, MLODM)
            for C in (1, 1e6)
        ),
        *(MLRL(lam, solver="exact") for lam in (1e-6, 0.1)),
    ],
    ids=str,
)
def test_the_gap_is_that_of_the_objectives(model):
    X, Y = problem(7)
    model.fit(X, Y)
    difference = model.objective_ - model.dual_objective_
    assert model.dual_gap_ == difference / model.objective_
    assert difference >= 0.0


def test_a_bound_above_the_objective_certifies_nothing():
    assert exact_solver.relative_gap(1.0, 1.1) == np.inf
    assert exact_solver.relative_gap(1.0, 1.1, loss_at_zero=2.0) == np.inf
    assert exact_solver.relative_gap(1.0, np.nan) == np.inf
    assert exact_solver.relative_gap(1e-20, 0.0, loss_at_zero=1.0) == 0.0


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1e4, 1e8])
@pytest.mark.parametrize("method", [RankSVM, MLODM])
def test_the_scale_of_the_features_is_that_of_C(method, scale):
    X, Y = problem(5)
    options = {"kernel": "linear", "solver": "exact", "tol": 1e-8}
    one = method(1.0, **options).fit(X, Y)
    other = method(1.0 / scale**2, **options).fit(scale * X, Y)
    assert one.status_ == other.status_ == "converged"
    assert other.objective_ * scale**2 == pytest.approx(one.objective_, rel=1e-9)


def test_the_scale_of_the_features_is_that_of_lam():
    X, Y = problem(6)
    one = MLRL(0.1, kernel="linear", solver="exact", tol=1e-6).fit(X, Y)
    other = MLRL(0.1 * 1e12, kernel="linear", solver="exact", tol=1e-6).fit(1e6 * X, Y)
    assert one.status_ == other.status_ == "converged"
    assert other.objective_ == pytest.approx(one.objective_, rel=1e-7)


def test_a_point_outside_is_moved_inside():
    Y = np.array([[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1]])
    pairs = ep.pairs(Y)
    c = ep.pair_weights(pairs, 2.0)
    interior = exact_flows.interior_circulation(pairs, c, 4)
    H = ep.pair_matrix(pairs, 4).toarray()
    fixed = (pairs.m == 3) | (pairs.n == 3)
    assert fixed.any()
    assert (interior[fixed] == 0.0).all()
    assert (interior[~fixed] > 0.0).all()
    assert (interior < c).all()
    np.testing.assert_allclose(H @ interior, 0.0, atol=1e-15)
    random = np.random.default_rng(0)
    for _ in range(20):
        moved = exact_flows.feasible(random.normal(size=len(c)) + 0.5, pairs, c, 4)
        assert ((moved >= 0.0) & (moved <= c)).all()
        np.testing.assert_allclose(H @ moved, 0.0, atol=1e-14)
        np.testing.assert_allclose(exact_flows.feasible(moved, pairs, c, 4), moved, atol=1e-14)


def test_a_failure_names_solver_status_and_remedy(monkeypatch):
    for settings, _ in exact_solver.QUADRATIC:
        monkeypatch.setitem(settings, "max_iter", 1)
    X, Y = problem(8)
    with pytest.raises(
        exact_solver.ExactSolverError, match=r"clarabel stopped with status .*; expected"
    ):
        RankSVM(solver="exact").fit(X, Y)
    with pytest.raises(RuntimeError, match=r"Scale the features, lower C .* solver='bcd'"):
        MLODM(solver="exact").fit(X, Y)

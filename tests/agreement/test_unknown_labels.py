"""Unknown labels: every loss against a quadratic programme written over the known pairs."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from multimargin import (
    LLSF,
    MLRL,
    SSMLRL,
    LabelSpecificBinaryRelevance,
    RankSVM,
    RankSVMz,
)
from multimargin.estimators.shared import exact_models
from multimargin.estimators.shared import exact_pairs as ep
from tests.support import certificates
from tests.support.models import PAIRWISE

C, THETA, MU, GAMMA = 2.5, 0.3, 0.6, 0.4
TOL = 1e-9


def problem(seed: int, n: int = 14, d: int = 4, q: int = 5):
    """Random labels of which a third is unknown, with rows of every rare kind."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    Y = (random.random((n, q)) < 0.5).astype(float)
    Y[random.random((n, q)) < 0.33] = np.nan
    Y[0] = np.nan
    Y[1] = [1, np.nan, 1, np.nan, 1][:q]
    Y[2] = [0, 0, np.nan, np.nan, 0][:q]
    Y[3] = [1, 0, 1, 0, 0][:q]
    return X, Y


def known_pairs(Y):
    """All (i, m, n, weight) of a label known to be relevant and one known not to be."""
    listed = []
    for i, row in enumerate(Y):
        of_row = [
            (i, m, n)
            for m in range(len(row))
            for n in range(len(row))
            if row[m] == 1 and row[n] == 0
        ]
        listed += [(*pair, C / len(of_row)) for pair in of_row]
    return listed


def optimum(K, Y, loss, bias):
    """The primal optimum over W = G^T V and b, pair by pair."""
    n, q = Y.shape
    G = np.linalg.cholesky(K + 1e-13 * np.trace(K) * np.eye(n))
    V, b = cp.Variable((n, q)), cp.Variable((1, q))
    F = G @ V + np.ones((n, 1)) @ b
    terms = []
    for i, m, other, weight in known_pairs(Y):
        z = F[i, m] - F[i, other]
        if loss == "hinge":
            terms.append(weight * cp.pos(1 - z))
        elif loss == "squared_hinge":
            terms.append(weight / 2 * cp.square(cp.pos(1 - z)))
        else:
            low, high = cp.pos(1 - THETA - z), cp.pos(z - 1 - THETA)
            terms.append(weight / 2 * (cp.square(low) + MU * cp.square(high)))
    square = cp.sum_squares(V) + (cp.sum_squares(b) if bias == "penalized" else 0)
    constraints = [b == 0] if bias == "none" else [cp.sum(b) == 0]
    whole = cp.Problem(cp.Minimize(square / 2 + sum(terms)), constraints)
    whole.solve(solver="CLARABEL")
    return float(whole.value)


# Every solver is judged by the exact models in tests/optimum, with unknown labels, too.
def test_the_exact_models_agree_with_the_programme():
    X, Y = problem(8)
    K = rbf_kernel(X, gamma=GAMMA)
    hinge = optimum(K, Y, "hinge", "free")
    solution = exact_models.hinge(K, Y, C, "free")
    assert solution.objective == pytest.approx(hinge, rel=1e-6)
    assert certificates.dual_infeasibility(Y, C, solution.B, "free") < 1e-7
    assert not solution.B[np.isnan(Y)].any()
    square = optimum(K, Y, "squared_hinge", "penalized")
    assert exact_models.squared_hinge(K, Y, C).objective == pytest.approx(square, rel=1e-6)
    margin = optimum(K, Y, "optimal_margin", "none")
    assert exact_models.optimal_margin(K, Y, C, THETA, MU).objective == pytest.approx(
        margin, rel=1e-6
    )
    zero = exact_models.zero_label(K, Y, C, "free")
    assert certificates.zero_label_infeasibility(Y, C, zero.B, "free") < 1e-7
    assert zero.primal == pytest.approx(zero.objective, rel=1e-6)
    np.testing.assert_array_equal(np.transpose(ep.pairs(Y)), [pair[:3] for pair in known_pairs(Y)])


@pytest.mark.parametrize("method", PAIRWISE)
def test_labels_without_nan_give_the_same_bits_in_every_type(method):
    X, Y = problem(9)
    Y = np.nan_to_num(Y)
    first = method(random_state=0, tol=1e-6).fit(X, Y.astype(int))
    other = method(random_state=0, tol=1e-6).fit(X, Y)
    np.testing.assert_array_equal(first.label_scores(X), other.label_scores(X))
    assert first.objective_ == other.objective_


@pytest.mark.parametrize("method", PAIRWISE)
def test_a_warm_start_survives_labels_that_became_unknown(method):
    X, Y = problem(12)
    settings = {"tol": 1e-8, "gamma": 0.3, "max_iter": 100_000}
    model = method(**settings, warm_start=True).fit(X, np.nan_to_num(Y))
    model.fit(X, Y)
    cold = method(**settings).fit(X, Y)
    assert model.dual_gap_ <= 1e-8
    assert model.objective_ == pytest.approx(cold.objective_, rel=1e-7)


def test_no_known_pair_is_said():
    X, Y = problem(13)
    Y[:] = np.nan
    with pytest.raises(ValueError, match="y has no label pair"):
        RankSVM().fit(X, Y)
    with pytest.raises(ValueError, match="y has no known label"):
        RankSVMz().fit(X, Y)


def of_relationships(K, Y, lam, weights=None):
    """The optimum of MLRL's joint problem, label by label over its known rows."""
    n, q = Y.shape
    G = np.linalg.cholesky(K + 1e-12 * np.eye(n))
    W, b = cp.Variable((n, q)), cp.Variable(q)
    known = np.isfinite(Y)
    counts = known.any(axis=1) * (np.ones(n) if weights is None else weights)
    terms = [
        counts[i] / counts.sum() * cp.pos(1 - (2 * Y[i, k] - 1) * (G[i] @ W[:, k] + b[k]))
        for i in range(n)
        for k in range(q)
        if known[i, k]
    ]
    whole = cp.Problem(cp.Minimize(sum(terms) + lam / 2 * cp.square(cp.normNuc(W))))
    whole.solve(solver="CLARABEL")
    return float(whole.value)


@pytest.mark.parametrize("solver", ["splitting", "exact"])
def test_mlrl_leaves_the_loss_of_unknown_labels_out(solver):
    X, Y = problem(14, n=16, q=3)
    expected = of_relationships(rbf_kernel(X, gamma=GAMMA), Y, 0.05)
    model = MLRL(
        lam=0.05,
        gamma=GAMMA,
        solver=solver,
        tol=1e-6 if solver == "exact" else 1e-7,
        max_iter=20_000,
    ).fit(X, Y)
    assert model.objective_ == pytest.approx(expected, rel=1e-6)
    assert model.dual_objective_ == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(model.label_scores(X)).all()
    part = MLRL(lam=0.05, gamma=GAMMA, tol=1e-7, max_iter=20_000).fit(X[1:], Y[1:])
    assert model.objective_ == pytest.approx(part.objective_, rel=1e-6)


def test_a_row_of_which_nothing_is_known_is_unlabelled_for_ssmlrl():
    X, Y = problem(15, n=16, q=3)
    Y[10:] = np.nan
    marked = Y.copy()
    marked[np.isnan(Y).all(axis=1)] = -1
    settings = {"lam1": 0.05, "lam2": 0.02, "tol": 1e-7, "max_iter": 20_000}
    model, other = SSMLRL(**settings).fit(X, Y), SSMLRL(**settings).fit(X, marked)
    np.testing.assert_array_equal(model.labelled_, other.labelled_)
    np.testing.assert_array_equal(model.label_scores(X), other.label_scores(X))
    assert model.labelled_.max() < 10


@pytest.mark.parametrize("method", [LLSF, lambda: LabelSpecificBinaryRelevance(LLSF())])
def test_methods_that_need_every_label_say_so(method):
    X, Y = problem(16)
    with pytest.raises(ValueError, match=r"y has NaN, .* the pairwise methods, MLRL, SSMLRL and"):
        method().fit(X, Y)

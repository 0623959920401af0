"""The Rust solvers of MLRL and SSMLRL against the exact models and the published loops."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from multimargin import MLRL, SSMLRL, _rust
from multimargin.estimators import RelationshipOptions
from multimargin.reference import mlrl
from tests.support.problems import noisy_linear_problem


def test_independent_labels_are_libsvm():
    X, Y = noisy_linear_problem(0, 120, 4, 3)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    n, q, lam = 120, 3, 0.01
    C = 1.0 / (n * lam * q)
    model = MLRL(
        lam,
        kernel="precomputed",
        options=RelationshipOptions(fixed_covariance=np.eye(q) / q),
        tol=1e-9,
    ).fit(K, Y)
    for j in range(q):
        machine = SVC(kernel="precomputed", C=C, tol=1e-8).fit(K, Y[:, j])
        z = np.zeros(n)
        z[machine.support_] = machine.dual_coef_[0] / (n * C)
        values = [
            np.abs(dual).sum() - dual @ K @ dual / (2 * lam * q)
            for dual in (z, model.dual_variables_[:, j])
        ]
        assert abs(values[0] - values[1]) <= 1e-6 * values[0]
        scores = model.decision_function(K)[:, j]
        np.testing.assert_allclose(scores, machine.decision_function(K), atol=1e-3)


# Seed 5 is left out: the reference's SMO needs minutes for it.
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 6, 7, 8, 9, 10, 11])
def test_the_alternation_at_the_limit_of_rounding_is_the_published_one(seed):
    random = np.random.default_rng(seed)
    n, q = int(random.integers(8, 15)), int(random.integers(2, 5))
    X = random.normal(size=(n, int(random.integers(1, 6)))) * random.choice([0.3, 1, 3])
    Y = (random.random((n, q)) < 0.5).astype(int)
    Y[0], Y[1] = 1, 0
    lam = 10.0 ** random.uniform(-3, 0)
    model = MLRL(
        lam,
        kernel="precomputed",
        solver="alternating",
        options=RelationshipOptions(ridge=0.0),
        tol=1e-12,
        max_iter=10,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X @ X.T, Y)
    *_, published = mlrl.mlrl(X @ X.T, Y, lam, rounds=10, epsilon=1e-11)
    objective = model.history_["primal"]
    assert (np.diff(objective) <= 1e-7 * objective[0]).all()
    assert model.status_ == ("max_iterations" if len(objective) == 10 else "converged")
    # At the optimum nothing changes any more.
    np.testing.assert_allclose(
        np.pad(objective, (0, 10 - len(objective)), mode="edge"), published, rtol=1e-6
    )


@pytest.mark.parametrize("seed", [4, 6, 7, 9])
def test_a_smaller_tolerance_ends_no_higher(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(12, 4))
    Y = (random.random((12, 3)) < 0.5).astype(int)
    Y[0], Y[1] = 1, 0
    options = RelationshipOptions(ridge=0.0)
    ends = []
    for tol in (1e-4, 1e-6, 1e-9, 1e-12):
        model = MLRL(0.02, kernel="linear", solver="alternating", options=options, tol=tol)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            ends.append(model.set_params(max_iter=40).fit(X, Y).objective_)
    assert ends[1] <= ends[0] * (1 + 1e-5)
    np.testing.assert_allclose(ends[1:], ends[-1], rtol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("fixed", [True, False])
def test_the_rounds_of_unlabelled_rows_are_the_published_ones(seed, fixed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(18, 4))
    Y = np.full((18, 3), -1)
    Y[:12] = random.random((12, 3)) < 0.5
    Y[0], Y[1] = 1, 0
    lam1, lam2, ridge = 0.05, 0.03, 1e-2 if fixed else 0.0
    model = SSMLRL(lam1, lam2, kernel="linear", solver="alternating", tol=1e-12, max_iter=6)
    model.set_params(options=RelationshipOptions(ridge=ridge, keep_rows=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, Y)
    _, _, Omega, published = mlrl.ssmlrl(
        X @ X.T, Y[:12], lam1, lam2, rounds=6, epsilon=1e-11, ridge=ridge
    )
    np.testing.assert_allclose(model.history_["primal"], published, rtol=1e-6)
    np.testing.assert_allclose(model.label_covariance_, Omega, atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_one_label_takes_the_published_steps(seed):
    random = np.random.default_rng(seed)
    n, lam = 14, 10.0 ** random.uniform(-2, 0)
    X, y = random.normal(size=(n, 3)), (random.random((n, 1)) < 0.5).astype(float)
    y[:2, 0] = 0, 1
    K, signs = X @ X.T, 2 * y[:, 0] - 1
    bounds, one = np.full(n, 1 / n), np.ones((1, 1))
    settings = {"scale": 1 / lam, "tolerance": 1e-9}
    found, made = np.zeros(n), 0
    for steps in range(1, 60):
        f = K @ found / lam - signs
        shrinks = np.sort(f[found > np.minimum(0.0, signs / n)])
        if made and shrinks[-1] - shrinks[-2] < 1e-10:
            # A pair that met in a step may be chosen next, and rounding says which of the two.
            break
        Z, _ = mlrl.smo(K, y, lam, one, epsilon=1e-9, max_steps=steps)
        found, gradient, made = _rust.solve_label(
            K, signs, bounds, np.zeros(n), steps=steps, **settings
        )
        np.testing.assert_allclose(found, Z[:, 0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(gradient, K @ found / lam - signs, rtol=0, atol=1e-10)
    assert made >= 5
    end, _, _ = _rust.solve_label(K, signs, bounds, found, steps=10**6, **settings)
    Z, _ = mlrl.smo(K, y, lam, one, epsilon=1e-9)
    np.testing.assert_allclose(K @ end, K @ Z[:, 0], atol=1e-7)


def _many_labels(kind):
    """Return a kernel matrix and 70 labels whose best weights have few singular values."""
    random = np.random.default_rng(5)
    n, q = 90, 70
    X = random.normal(size=(n, 30)) / np.sqrt(30)
    Y = (X @ random.normal(size=(30, 3)) @ random.normal(size=(3, q)) > 0.3).astype(int)
    Y ^= random.random((n, q)) < 0.05
    Y[:2], Y[2:4] = 1, 0
    K = X @ X.T
    if kind == "copies of labels":
        Y[:, 10:] = Y[:, [k % 10 for k in range(10, q)]]
    elif kind == "rows in two parts that share nothing":
        K[:45, 45:] = K[45:, :45] = 0.0
        Y[45:, :35] = np.arange(45)[:, None] % 2
        Y[:45, 35:] = np.arange(45)[:, None] % 2
    elif kind == "a steep kernel":
        K *= 100.0
    return K, Y


@pytest.mark.parametrize(
    "kind",
    ["plain", "copies of labels", "rows in two parts that share nothing", "a steep kernel"],
)
@pytest.mark.parametrize("lam", [1.0, 1e-2, 1e-3])
def test_bounds_of_many_labels_meet_at_the_joint_optimum(kind, lam):
    K, Y = _many_labels(kind)
    n = len(Y)
    models = [
        MLRL(lam, kernel="precomputed", tol=1e-6, max_iter=20_000, n_jobs=jobs).fit(K, Y)
        for jobs in (1, 2)
    ]
    model, other = models
    assert model.status_ == "converged"
    Z, A = model.dual_variables_, model.dual_coef_
    signs = 2.0 * Y - 1.0
    hinges = np.maximum(0.0, 1.0 - signs * model.decision_function(K)).sum() / n
    values, vectors = np.linalg.eigh(K)
    root = vectors * np.sqrt(np.where(values > 1e-12 * values[-1], values, 0.0))
    norm = np.linalg.svd(root.T @ A, compute_uv=False).sum()
    upper = hinges + 0.5 * lam * norm**2
    assert np.abs(Z.sum(axis=0)).max() <= 1e-12
    assert (signs * Z >= 0).all()
    assert (np.abs(Z) <= (1 + 1e-12) / n).all()
    lower = np.abs(Z).sum() - np.linalg.eigvalsh(Z.T @ K @ Z)[-1] / (2 * lam)
    assert -1e-9 * upper <= upper - lower <= 1e-6 * upper
    np.testing.assert_allclose([model.objective_, model.dual_objective_], [upper, lower], rtol=1e-7)
    np.testing.assert_array_equal(A, other.dual_coef_)


@pytest.mark.parametrize("constant", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize("lam", [1e-1, 1e-3])
def test_a_constant_that_hides_the_kernel_in_single_precision_changes_nothing(constant, fixed, lam):
    """Columns of Z sum to 0, so a constant drops out of Z^T K Z."""
    X, Y = noisy_linear_problem(3, 150, 4, 5)
    n, q = Y.shape
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    options = RelationshipOptions(fixed_covariance=np.eye(q) / q) if fixed else None
    settings = {"kernel": "precomputed", "options": options, "max_iter": 20_000}
    exact = MLRL(lam, tol=1e-7, **settings).fit(K, Y)
    model = MLRL(lam, tol=1e-4, **settings).fit(K + constant, Y)
    assert model.status_ == "converged"
    assert model.objective_ >= exact.dual_objective_ * (1 - 1e-9)
    assert model.dual_objective_ <= exact.objective_ * (1 + 1e-9)
    # The certificate is that of the returned model, in double precision.
    A, signs = model.dual_coef_, 2.0 * Y - 1.0
    hinges = np.maximum(0.0, 1.0 - signs * (K @ A + model.intercept_)).sum() / n
    values = np.linalg.eigvalsh(A.T @ K @ A).clip(0.0)
    norm = q * values.sum() if fixed else np.sqrt(values).sum() ** 2
    upper = hinges + 0.5 * lam * norm
    # The trace norm has the square roots of what rounding leaves of eigenvalues that are 0.
    rounding = 1e-9 + 0.1 * np.sqrt(2.0**-52 * constant)
    assert model.objective_ == pytest.approx(upper, rel=rounding)
    assert upper - model.dual_objective_ <= 1e-4 * (1 + rounding) * upper

"""Problems on which coordinate ascent crawls: iterations on all blocks reach the optimum."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from multimargin import MLODM, RankCVM, RankHLapSVM, RankSVM, RankSVMz
from multimargin.reference import rank_svm
from tests.support import certificates
from tests.support.exact import optimum_of
from tests.support.models import expansion_matrix
from tests.support.problems import noisy_linear_problem, unrelated_problem


def wide_kernel_problem(seed, n=20, q=4):
    """All values of the kernel are 1 to seven digits."""
    return unrelated_problem(seed, n, 3, q, share=0.5)


@pytest.mark.parametrize("bias", ["free", "penalized", "none"])
def test_a_very_wide_kernel(bias):
    X, Y = wide_kernel_problem(3)
    model = RankSVM(
        C=5.0, kernel="rbf", gamma=1e-7, bias=bias, tol=1e-7, max_iter=5000, random_state=0
    ).fit(X, Y)
    K = rbf_kernel(X, gamma=1e-7)
    B = expansion_matrix(model, len(X))
    assert certificates.dual_infeasibility(Y, 5.0, B, bias) <= 1e-10
    bound = certificates.dual_objective(K, Y, B, bias)
    b = model.intercept_
    objective = rank_svm.objective_18(K, Y, 5.0, B, b) + (bias == "penalized") * b @ b / 2
    assert bound * (1 - 1e-12) <= objective <= bound * (1 + 1.1e-7)


@pytest.mark.parametrize(
    "method",
    [
        RankSVM(bias="free"),
        RankSVM(bias="penalized"),
        RankSVM(bias="none", top_k=1),
        RankSVMz(),
        MLODM(),
        RankCVM(),
        RankHLapSVM(lam=0.1),
    ],
    ids=lambda method: type(method).__name__,
)
def test_standardised_columns(method):
    X, Y = noisy_linear_problem(5, 80, 4, 4)
    X = StandardScaler().fit_transform(X)
    shared = {"C": 100.0, "kernel": "linear", "tol": 2e-7, "max_iter": 20_000, "random_state": 0}
    model = clone(method).set_params(**shared).fit(X, Y)
    # Coordinate ascent alone would not have come near.
    assert model.status_ == "converged"
    assert np.diff(model.history_["epoch"]).max() > 10
    exact = optimum_of(model, X, Y)
    assert model.objective_ == pytest.approx(exact.upper, rel=1e-6)
    assert model.dual_objective_ == pytest.approx(exact.upper, rel=1e-6)
    # A free bias is known up to a number.
    differences = model.label_scores(X) - exact.scores
    differences -= differences.mean()
    assert np.abs(differences).max() < 2e-3 * np.abs(exact.scores).max()


@pytest.mark.parametrize("bias", ["free", "none"])
def test_a_fit_that_ends_early_returns_the_better_model(bias):
    shared = {"C": 300.0, "kernel": "linear", "bias": bias, "tol": 1e-12, "max_iter": 600}
    ratios = []
    for seed in range(8):
        X, Y = noisy_linear_problem(seed % 4, 80, 4, 4)
        X = StandardScaler().fit_transform(X)
        model = RankSVM(**shared, random_state=seed)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, Y)
        gaps = model.history_["primal"] - model.history_["dual"]
        ratios.append(gaps[-1] / gaps[-2])
        assert model.objective_ == pytest.approx(certificates.objective(model, X, Y), rel=1e-12)
    # The last epoch, which no iteration on all blocks follows, does not gain as much.
    assert 0.0 < np.exp(np.mean(np.log(ratios))) < 0.7


def test_a_label_that_every_instance_has():
    # No pair of it carries a dual variable: its bias is set apart at the end.
    for seed in range(5):
        X, Y = noisy_linear_problem(seed, 80, 3, 4)
        X, Y = StandardScaler().fit_transform(X), np.column_stack([Y, np.ones(len(Y), int)])
        model = RankSVM(C=20.0, kernel="linear", tol=1e-7, max_iter=20_000, random_state=0)
        model.fit(X, Y)
        assert np.diff(model.history_["epoch"]).max() > 10
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(certificates.objective(model, X, Y), rel=1e-12)
        assert model.history_["primal"][-1] == pytest.approx(model.objective_, rel=1e-12)


def test_rows_that_are_all_alike():
    """Their scores have no spread, which gives the penalty elsewhere."""
    for seed in range(2):
        random = np.random.default_rng(seed)
        Y, weights = random.random((60, 4)) < 0.5, random.lognormal(sigma=3.0, size=60)
        model = RankSVM(C=10.0, kernel="linear", bias="penalized", tol=1e-7, random_state=0)
        model.fit(np.ones((60, 1)), Y.astype(int), sample_weight=weights)
        assert model.status_ == "converged"
        assert np.diff(model.history_["epoch"]).max() > 10


def test_iterations_on_all_blocks_count():
    X, Y = wide_kernel_problem(0)
    arguments = {"C": 5.0, "kernel": "rbf", "gamma": 1e-7, "bias": "penalized", "tol": 1e-13}
    longest = []
    for max_iter in (400, 410, 430, 450):
        model = RankSVM(**arguments, max_iter=max_iter, random_state=0)
        with pytest.warns(ConvergenceWarning):
            model.fit(X, Y)
        epochs = model.history_["epoch"]
        assert epochs[-1] == model.n_iter_ == max_iter
        assert (np.diff(epochs) >= 1).all()
        longest.append(np.diff(epochs).max())
    # Iterations on all blocks, each as long as an epoch, were among them.
    assert max(longest) > 10


def test_threads_change_nothing():
    random = np.random.default_rng(1)
    X = random.normal(size=(150, 3))
    Y = (random.random((150, 4)) < 0.5).astype(int)
    model = RankSVM(
        C=100.0, kernel="linear", bias="penalized", tol=1e-6, max_iter=5000, random_state=0
    )
    model.set_params(warm_start=True)
    one, two = clone(model).fit(X, Y), clone(model).set_params(n_jobs=2).fit(X, Y)
    assert one.n_iter_ > 200
    assert one.n_iter_ == two.n_iter_
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)

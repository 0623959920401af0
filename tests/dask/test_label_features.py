"""LLSF over parts: the coefficients, the certificate and the names of one machine."""

import pickle
from typing import Any

import numpy as np
import pytest
from dask import delayed
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import multimargin.dask
from multimargin import LLSF
from multimargin.checks.targets import Targets
from multimargin.dask.label_features import fit_label_features
from multimargin.dask.local import LocalParts
from multimargin.dask.parts import Pairs, make_part
from multimargin.reference.llsf import label_dissimilarity

PROBLEMS = {
    "coupled": {"alpha": 0.3, "beta": 0.2},
    "alone": {"alpha": 0.0, "beta": 0.2},
    "sparse solution": {"alpha": 0.3, "beta": 3.0},
    "gradient": {"alpha": 0.3, "beta": 0.2, "solver": "apg"},
}


def problem(n: int, d: int, seed: int = 0) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.4)
    Y = X @ random.normal(size=(d, 4)) + random.normal(size=(n, 4)) > 0.5
    return X, Y.astype(np.uint8)


def fitted_to_parts(model: LLSF, X: Any, Y: Any, count: int = 3, weight: Any = None) -> LLSF:
    rows = np.array_split(np.arange(Y.shape[0]), count)
    parts = [
        make_part(k, X[at], Y[at], None if weight is None else weight[at], Pairs(kind="none"))
        for k, at in enumerate(rows)
    ]
    targets = Targets(np.zeros((0, Y.shape[1]), dtype=np.uint8), np.arange(Y.shape[1]), True, None)
    fit_label_features(model, LocalParts(parts), targets, X.shape[1])
    return model


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("shape", [(60, 12), (20, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_parts_have_the_optimum_of_all_rows(name: str, shape: tuple[int, int], kind: Any) -> None:
    X, Y = problem(*shape)
    options = PROBLEMS[name] | {"tol": 1e-8, "max_iter": 100_000}
    model = fitted_to_parts(LLSF(**options), kind(X), Y)
    alone = LLSF(**(options | {"solver": "auto"})).fit(X, Y)
    assert model.status_ == "converged"
    assert -1e-12 <= model.dual_gap_ <= 1e-8
    assert model.objective_ == pytest.approx(alone.objective_, rel=2e-8)
    assert model.shift_ == pytest.approx(alone.shift_, rel=1e-12)
    # The objective is that of the rows.
    W = model.coef_.T
    difference = X @ W - Y
    R = label_dissimilarity(Y) + model.shift_ * np.eye(4)
    expected = 0.5 * np.sum(difference**2) + 0.5 * options["alpha"] * np.trace(R @ W.T @ W)
    assert model.objective_ == pytest.approx(expected + options["beta"] * np.abs(W).sum())


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_weights_of_rows_count_as_copies_do(kind: Any) -> None:
    X, Y = problem(40, 12)
    weight = np.random.default_rng(0).integers(0, 4, 40).astype(float)
    copies = np.repeat(np.arange(40), weight.astype(int))
    options = {"alpha": 0.3, "beta": 0.2, "tol": 1e-8, "max_iter": 100_000}
    model = fitted_to_parts(LLSF(**options), kind(X), Y, weight=weight)
    alone = LLSF(**options).fit(X[copies], Y[copies])
    assert model.status_ == "converged"
    assert model.objective_ == pytest.approx(alone.objective_, rel=2e-8)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-3)


def test_unknown_labels_are_an_error(client: Any) -> None:
    X, Y = problem(8, 3)
    unknown = np.where(Y == 1, np.nan, 0.0)
    with pytest.raises(ValueError, match="y has NaN"):
        multimargin.dask.fit(LLSF(), [delayed(X)], [delayed(unknown)], client)


def test_a_cluster_gives_the_model_of_one_machine(client: Any) -> None:
    X, Y = problem(48, 10)
    blocks = [[delayed(M[k : k + 16]) for k in (0, 16, 32)] for M in (X, Y)]
    weight = np.random.default_rng(1).uniform(0.0, 3.0, 48)
    model = multimargin.dask.fit(
        LLSF(threshold="scores", tol=1e-7, max_iter=9999),
        *blocks,
        client,
        sample_weight=[delayed(weight[k : k + 16]) for k in (0, 16, 32)],
    )
    alone = LLSF(threshold="scores", tol=1e-7, max_iter=9999).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, alone.coef_, atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert model.n_features_in_ == 10
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_scores(X), model.label_scores(X))


def test_a_warm_start_goes_on_and_few_iterations_warn(client: Any) -> None:
    X, Y = problem(48, 10)
    model = LLSF(warm_start=True, tol=1e-7, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        multimargin.dask.fit(model, [delayed(X)], [delayed(Y)], client)
    model.set_params(max_iter=9999)
    multimargin.dask.fit(model, [delayed(X)], [delayed(Y)], client)
    rounds = model.n_iter_
    multimargin.dask.fit(model, [delayed(X)], [delayed(Y)], client)
    assert model.n_iter_ < rounds


@pytest.mark.parametrize(
    ("options", "arguments", "message"),
    [
        ({"convexify": False}, {}, "convexify is False; expected True"),
        ({"solver": "cd"}, {}, "solver is 'cd'; expected 'auto', 'admm' or 'apg'"),
    ],
)
def test_what_needs_the_rows_is_an_error(
    client: Any, options: Any, arguments: Any, message: str
) -> None:
    X, Y = problem(8, 3)
    with pytest.raises(ValueError, match=message):
        multimargin.dask.fit(LLSF(**options), [delayed(X)], [delayed(Y)], client, **arguments)


def test_too_many_features_are_an_error() -> None:
    X = sparse.csr_array((4, 5000), dtype=np.float64)
    with pytest.raises(ValueError, match="X has 5000 features; expected at most 4096"):
        fitted_to_parts(LLSF(), X, np.eye(4, dtype=np.uint8), 1)

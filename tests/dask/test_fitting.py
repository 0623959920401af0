"""`multimargin.dask.fit` on a cluster of processes: the ordinary estimators, the same answers."""

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.array as da
import distributed
import numpy as np
import pytest
from dask import delayed
from scipy import sparse
from sklearn.base import clone

import multimargin.dask
from multimargin import (
    MLODM,
    CalibratedClassifier,
    LabelRankerCV,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
)
from multimargin.dask import calls, solving
from multimargin.model_files import load_model, save_model
from multimargin.thresholds import F1Threshold, ScoresThreshold, base
from tests.campaign.bounds import returned
from tests.campaign.tasks import Task
from tests.support.certificates import objective
from tests.support.exact import exact_objective
from tests.support.rounds import at_rounds
from tests.support.subsets import first_fast

# A round costs the messages to the workers: the first of these need few.
ESTIMATORS = {
    "optimal margin": MLODM(kernel="linear"),
    # The root of twice the gap bounds the error of rho.
    "rho, small C": RankCVM(kernel="linear", C=0.1, tol=2e-5),
    "weights and the top": RankLSVM(kernel="linear", C=0.1, class_weight="balanced", top_k=2),
    "no bias": RankSVM(kernel="linear", bias="none"),
    "free bias": RankSVM(kernel="linear"),
    "squared hinge": RankLSVM(kernel="linear"),
    "rho": RankCVM(kernel="linear"),
    "zero label": RankSVMz(kernel="linear", C=3.0),
    "weights, free bias": RankSVM(kernel="linear", class_weight="sqrt", top_k=3),
    "weights, zero label": RankSVMz(kernel="linear", C=3.0, class_weight="balanced"),
    "an array of weights, zero label": RankSVMz(
        kernel="linear", C=3.0, class_weight=np.linspace(0.5, 2.0, 5)
    ),
    "pairs alike": RankSVM(kernel="linear", C=20.0, pair_weights="uniform"),
}
# Where any model will do.
ROUGH = RankLSVM(kernel="linear", C=0.1, tol=0.1)


def parted(matrix: Any, rows: int = 16) -> Any:
    return da.from_array(matrix, chunks=(rows, *matrix.shape[1:]))


def fitted(estimator: Any, X: Any, Y: Any, client: Any, weight: Any = None) -> tuple[Any, Any]:
    """Fit on the cluster and on one machine; objectives and thresholds are the same."""
    alone = clone(estimator).set_params(tol=1e-5).fit(X, Y, sample_weight=weight)
    options = {} if weight is None else {"sample_weight": parted(weight)}
    model = multimargin.dask.fit(clone(estimator), parted(X), parted(Y), client, **options)
    assert model.status_ == "converged"
    assert 0.0 <= model.dual_gap_ <= model.tol
    assert abs(model.objective_ - alone.objective_) <= 1.1 * model.tol * abs(model.objective_)
    if not isinstance(model, RankCVM):
        task = Task(0, 0, type(model), model.get_params(), X, Y, X, 1.0, X @ X.T, weight)
        assert model.objective_ == pytest.approx(returned(task, model).objective, rel=1e-9)
    if not isinstance(model, RankSVMz):
        # The threshold is that of one machine on these scores, to the tolerance of its regression.
        scores, unit = model.label_scores(X), getattr(model, "rho_", 1.0)
        threshold = clone(model.threshold_).fit(scores / unit, Y, X, sample_weight=weight)
        expected = threshold.rescale(unit).predict(scores, X)
        np.testing.assert_allclose(model.threshold_.predict(scores, X), expected, atol=1e-3)
    return model, alone


@pytest.mark.parametrize("name", first_fast(ESTIMATORS, 3))
def test_the_estimator_is_that_of_one_machine(name: str, client: Any, data: Any) -> None:
    X, Y = data
    model, alone = fitted(ESTIMATORS[name], X, Y, client)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_scores(X), model.label_scores(X))
    assert {name for name in vars(alone) if name.endswith("_")} <= set(vars(again))
    assert {"growth", "step", "bytes"} <= set(model.history_)
    if isinstance(model, RankSVMz):
        np.testing.assert_array_equal(model.predict(X), model.label_scores(X) > 0.0)
    if isinstance(model, RankCVM):
        assert model.rho_ == pytest.approx(alone.rho_, rel=1e-2)


@pytest.mark.parametrize("name", ["squared hinge", "zero label"])
def test_weights_of_rows_and_unknown_labels(name: str, client: Any, data: Any) -> None:
    X, Y = data
    random = np.random.default_rng(1)
    Y = np.where(random.random(Y.shape) < 0.2, np.nan, Y)
    Y[3] = np.nan
    fitted(ESTIMATORS[name], X, Y, client, random.uniform(0.0, 3.0, len(Y)))


def test_predictions_by_map_blocks(client: Any, data: Any) -> None:
    X, Y = data
    model = multimargin.dask.fit(clone(ROUGH), parted(X), parted(Y), client)
    blocks = parted(X)
    predicted = blocks.map_blocks(model.predict, dtype=int, chunks=(blocks.chunks[0], (5,)))
    np.testing.assert_array_equal(client.compute(predicted, sync=True), model.predict(X))


@pytest.mark.parametrize("bias", ["none", "penalized", "free"])
def test_weights_that_are_handed_over_once_change_no_bit(
    bias: str, client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights this small go with each task, unless they count as large."""
    model = RankSVM(kernel="linear", bias=bias, C=10.0, tol=1e-9, max_iter=6, random_state=0)
    blocks = [parted(array, 12) for array in data]
    pace = r"max_iter.* At the pace of the last 3 it takes about \d+ more"
    with pytest.warns(UserWarning, match=pace):
        expected = multimargin.dask.fit(clone(model), *blocks, client)
    monkeypatch.setattr(calls, "_LARGE", 1000)
    parts = at_rounds(monkeypatch, {})
    with pytest.warns(UserWarning, match="max_iter"):
        kept = multimargin.dask.fit(clone(model), *blocks, client)
    np.testing.assert_array_equal(kept.coef_, expected.coef_)
    np.testing.assert_array_equal(kept.history_["dual"], expected.history_["dual"])
    assert parts[-1].recoveries == 0


def test_weights_in_single_precision(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half the bytes, and a certificate that allows for the rounding."""
    monkeypatch.setattr(solving, "MOST_FEATURES", 0)
    X, Y = data
    bytes_moved = {}
    for tol in (2e-5, 0.5e-5):
        model = RankSVM(kernel="linear", bias="none", C=1.0, tol=tol, max_iter=300)
        model = multimargin.dask.fit(model, parted(X), parted(Y), client)
        exact = exact_objective(model, X, Y)
        assert model.status_ == "converged"
        assert model.objective_ == pytest.approx(objective(model, X, Y), rel=1e-12)
        assert (model.history_["dual"] <= exact * (1.0 + 1e-9)).all()
        bytes_moved[tol] = np.diff(model.history_["bytes"])[1]
    # Small weights go to each of the three parts; their changes come from the two workers.
    numbers = X.shape[1] * Y.shape[1]
    assert bytes_moved[0.5e-5] - bytes_moved[2e-5] == (3 + 2) * 4 * numbers


def test_neither_workers_nor_kinds_of_input_change_a_bit(
    client: Any, data: Any, tmp_path: Path
) -> None:
    X, Y = data
    X = np.where(np.abs(X) > 0.1, X, 0.0)
    few = {"kernel": "linear", "max_iter": 3, "random_state": 3}
    penalized = RankSVM(bias="penalized", **few)
    of_all_pairs = RankSVM(pair_weights="uniform", C=9.0, **few)
    with_gaps = np.where(np.random.default_rng(2).random(Y.shape) < 0.2, np.nan, Y)

    def weights(*arguments: Any, estimator: Any = penalized, **options: Any) -> Any:
        estimator = clone(estimator)
        with pytest.warns(UserWarning, match="max_iter"):
            return multimargin.dask.fit(estimator, *arguments, **options).coef_

    expected = weights(parted(X), parted(Y), client)
    others = {
        estimator: weights(parted(X), parted(with_gaps), client, estimator=estimator)
        for estimator in (RankSVMz(**few), of_all_pairs)
    }
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=2, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as other,
    ):
        np.testing.assert_array_equal(weights(parted(X), parted(Y), other), expected)
        for estimator, alike in others.items():
            found = weights(parted(X), parted(with_gaps), other, estimator=estimator)
            np.testing.assert_array_equal(found, alike)
    blocks = [[delayed(M[k : k + 16]) for k in (0, 16, 32)] for M in (X, Y)]
    np.testing.assert_array_equal(weights(*blocks, client), expected)
    futures = [client.scatter([M[k : k + 16] for k in (0, 16, 32)]) for M in (X, Y)]
    np.testing.assert_array_equal(weights(*futures, client), expected)
    for k in (0, 16, 32):
        np.savez(tmp_path / f"{k:02d}.npz", X=X[k : k + 16], Y=Y[k : k + 16])
    np.testing.assert_array_equal(weights(tmp_path, None, client), expected)


@pytest.mark.parametrize("threshold", ["scores", "features"])
def test_parts_may_have_no_rows_and_some_be_sparse(threshold: str, client: Any, data: Any) -> None:
    X, Y = data
    parts = [slice(*pair) for pair in pairwise([0, 0, 16, 16, 48, 48])]
    features, labels = ([delayed(matrix[rows]) for rows in parts] for matrix in data)
    features[-2:] = map(delayed(sparse.csr_array), features[-2:])
    estimator = clone(ROUGH).set_params(threshold=threshold)
    model = multimargin.dask.fit(estimator, features, labels, client)
    scores = model.label_scores(X)
    expected = clone(model.threshold_).fit(scores, Y, X).predict(scores, X)
    np.testing.assert_allclose(model.threshold_.predict(scores, X), expected, atol=1e-3)


def test_warnings_are_those_of_one_machine(client: Any, data: Any) -> None:
    X, Y = data
    Y = Y.astype(float)
    Y[:9] = 0.0
    Y[20, 2] = np.nan
    weights = np.where(np.arange(48) < 9, 2.0, 1.0)
    with pytest.warns() as alone:
        clone(ROUGH).fit(X, Y, sample_weight=weights)
    given = parted(X), parted(Y), client
    with pytest.warns() as found:
        multimargin.dask.fit(clone(ROUGH), *given, sample_weight=parted(weights))
    told = [[str(one.message) for one in those] for those in (alone, found)]
    assert len(told[0]) == 2
    assert told[0] == told[1]


def test_data_frames_give_names(client: Any, data: Any) -> None:
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    X, Y = data
    features = pd.DataFrame(X, columns=[f"x{k}" for k in range(60)])
    labels = pd.DataFrame(Y, columns=list("abcde"))
    model = multimargin.dask.fit(
        clone(ROUGH),
        dd.from_pandas(features, npartitions=3),
        dd.from_pandas(labels, npartitions=3),
        client,
    )
    assert model.label_names_in_.tolist() == list("abcde")
    assert model.feature_names_in_[0] == "x0"


def test_sparse_parts_in_files_of_another_kind(client: Any, data: Any, tmp_path: Path) -> None:
    X, Y = data

    def read(path: str) -> Any:
        rows = sparse.csr_array(sparse.load_npz(path))
        return rows[:, :60], rows[:, 60:]

    for k in (0, 24):
        sparse.save_npz(tmp_path / f"{k}", sparse.csr_array(np.hstack([X, Y])[k : k + 24]))
    estimator = RankLSVM(kernel="linear", C=0.1)
    model = multimargin.dask.fit(estimator, tmp_path, client=client, read=read)
    alone = RankLSVM(kernel="linear", C=0.1, tol=1e-5).fit(X, Y)
    assert model.objective_ == pytest.approx(alone.objective_, rel=1.1e-3)


def test_callbacks_leave_nothing_behind(client: Any, data: Any) -> None:
    callback = pytest.importorskip("sklearn.callback")
    X, Y = data
    estimator = clone(ROUGH)
    estimator.set_callbacks(callback.ProgressBar())
    model = multimargin.dask.fit(estimator, parted(X), parted(Y), client)
    model.set_callbacks()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.coef_, model.coef_)


@pytest.mark.parametrize(
    ("estimator", "X", "Y", "error", "message"),
    [
        (RankSVM(), "X", "Y", ValueError, "Nystroem"),
        (RankSVM(kernel="linear", solver="dcd"), "X", "Y", ValueError, "solver is 'dcd'"),
        (object(), "X", "Y", TypeError, "estimator is object"),
        (RankSVMz(kernel="linear"), "X", "unknown", ValueError, "no known label"),
        (RankSVM(kernel="linear"), "X", "unknown", ValueError, "no label pair"),
        (RankHLapSVM(kernel="linear"), "X", "Y", TypeError, "estimator is RankHLapSVM"),
        (CalibratedClassifier(RankSVM()), "X", "Y", TypeError, r"FrozenEstimator\(model"),
        (LabelRankerCV(), "X", "Y", TypeError, r"clone\(search.ranker_\) here"),
        (RankSVM(kernel="linear", C=-1), "X", "Y", ValueError, "C is -1"),
        (RankSVM(kernel="linear"), "array", "Y", TypeError, "X is ndarray"),
        (RankSVM(kernel="linear"), "X", "other chunks", ValueError, "same parts"),
        (RankSVM(kernel="linear"), "columns", "Y", ValueError, "whole rows"),
        (RankSVM(kernel="linear"), "X", "zeros", ValueError, "no label pair"),
        (RankSVM(kernel="linear"), "nan", "Y", ValueError, "NaN"),
        (RankSVM(kernel="linear"), "nowhere", None, FileNotFoundError, "nowhere"),
        (RankSVM(kernel="linear"), "widths", "two", ValueError, "Part 1 has 50 .* part 0 has 60"),
        (RankSVM(kernel="linear"), "frames", "two", ValueError, "Part 1 has features of other nam"),
        (RankSVM(kernel="linear"), "npz", None, ValueError, "Part 1 has labels of other names"),
        (RankSVM(kernel="linear"), "durations", "two", TypeError, "X holds durations"),
        (RankSVM(kernel="linear"), "halves", "lists", ValueError, "y lists names of labels"),
    ],
)
def test_what_is_wrong_is_named(
    estimator: Any, X: str, Y: Any, error: Any, message: str, client: Any, data: Any, tmp_path: Path
) -> None:
    features, labels = data
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(features).add_prefix("x")
    halves = [slice(16), slice(16, None)]
    (tmp_path / "npz").mkdir()
    for k, rows in enumerate(halves):
        names = [f"{(number + k) % 5}" for number in range(5)]
        np.savez(tmp_path / f"npz/{k}.npz", X=features[rows], Y=labels[rows], label_names=names)
    missing = features.copy()
    missing[20, 3] = np.nan
    arguments = {
        "X": parted(features),
        "Y": parted(labels),
        "array": features,
        "other chunks": parted(labels, 12),
        "columns": da.from_array(features, chunks=(16, 30)),
        "zeros": parted(np.zeros_like(labels)),
        "nan": parted(missing),
        "unknown": parted(np.full(labels.shape, np.nan)),
        "widths": [delayed(features[:16]), delayed(features[16:, :50])],
        "two": [delayed(labels[rows]) for rows in halves],
        "halves": [delayed(features[rows]) for rows in halves],
        "frames": [delayed(frame[:16]), delayed(frame.iloc[16:, ::-1])],
        "durations": [delayed(features[:16]), delayed(features[16:].astype("m8[s]"))],
        "lists": [delayed([["a", "b"], ["c"]] * 8), delayed([["a"], ["b"]] * 16)],
        "npz": tmp_path / "npz",
        None: None,
    }
    with pytest.raises(error, match=message):
        multimargin.dask.fit(estimator, arguments.get(X, X), arguments[Y], client)


def test_no_client(data: Any) -> None:
    X, Y = data
    with pytest.raises(ValueError, match="client is None"):
        multimargin.dask.fit(RankSVM(kernel="linear"), parted(X), parted(Y))


@pytest.mark.parametrize("name", ["free bias", "rho", "zero label"])
def test_a_saved_model_goes_on_in_other_parts(
    name: str, client: Any, data: Any, tmp_path: Path
) -> None:
    X, Y = data
    model = clone(ESTIMATORS[name]).set_params(warm_start=True, C=30.0)
    first = multimargin.dask.fit(model, parted(X), parted(Y), client)
    save_model(first, tmp_path / "saved.model")
    saved = load_model(tmp_path / "saved.model")
    rounds, objective_before = first.n_iter_, first.objective_
    again = multimargin.dask.fit(saved, parted(X, 23), parted(Y, 23), client)
    assert again.status_ == "converged"
    assert 0.0 <= again.dual_gap_ <= again.tol
    if name != "rho":
        # It starts at the saved weights; problem 37 needs dual rows, which were not saved.
        assert again.n_iter_ <= rounds
        assert again.history_["primal"][0] == pytest.approx(objective_before, rel=1e-9)
    assert again.objective_ == pytest.approx(objective_before, rel=1.1e-3)
    # Of another shape it starts anew.
    saved.set_params(tol=0.1)
    fewer = multimargin.dask.fit(saved, parted(X[:, :50], 24), parted(Y, 24), client)
    assert fewer.status_ == "converged"


class InterruptedThreshold(ScoresThreshold):
    """A threshold during whose fit Ctrl-C is pressed."""

    def fit_design(self, *arguments: Any) -> Any:
        raise KeyboardInterrupt


def test_a_model_without_its_threshold_is_kept(client: Any, data: Any) -> None:
    X, Y = data
    model = clone(ROUGH).set_params(threshold=InterruptedThreshold())
    with pytest.raises(KeyboardInterrupt):
        multimargin.dask.fit(model, parted(X), parted(Y), client)
    assert model.status_ == "interrupted"
    assert 0.0 <= model.dual_gap_ <= model.tol
    assert model.predict(X).shape == Y.shape


def test_one_number_for_all_is_learned_from_few_rows(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has their scores of all labels."""

    class CountingThreshold(F1Threshold):
        def fit(self, scores: Any, *others: Any) -> Any:
            rows.append(len(scores))
            return super().fit(scores, *others)

    X, Y = data
    rows: list[int] = []
    for most in (base.MOST_PAIRS, 20 * Y.shape[1]):
        monkeypatch.setattr(base, "MOST_PAIRS", most)
        model = clone(ROUGH).set_params(threshold=CountingThreshold())
        multimargin.dask.fit(model, parted(X), parted(Y), client)
    assert rows[0] == len(X)
    assert 20 <= rows[1] < 20 + parted(X).npartitions < len(X)


def test_one_worker_has_the_rows_of_a_part(
    client: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows made on another worker than that of their rounds would be on both."""

    def look() -> None:
        homes = seen[-1]._homes
        holders = client.who_has(seen[-1].data)
        found.append([holders[f.key] for f in seen[-1].data] == [(homes[k],) for k in homes])

    found: list[bool] = []
    seen = at_rounds(monkeypatch, {3: look})
    model = RankSVM(kernel="linear", tol=1e-9, max_iter=3)
    with pytest.warns(UserWarning, match="max_iter"):
        multimargin.dask.fit(model, *(parted(M, 6) for M in data), client)
    assert found == [True]

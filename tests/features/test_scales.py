import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multimargin import LLSF, MLRL, LabelRankerCV, RankSVM, explain, load_model, save_model
from multimargin.features.scales import of_most_columns, ranges_of, told_scales, within_ranges
from multimargin.features.views import Views
from multimargin.onnx import export

X = np.array([[0.0, -4.0, 2.0], [2.0, 0.0, 1.0], [6.0, 2.0, 2.0]])
SCALES = np.array([1e-3, 1.0, 1e4, 2e7, 1e140])


def test_columns_on_other_scales_are_named() -> None:
    wide = X * [1e-3, 0.0, 7.0]
    of_two = r"differ in scale, from 0\.006 \(column 0\) to 14 \(column 2\): .*\.%s puts"
    for features, scaler in (
        (wide, "StandardScaler"),
        (sparse.csr_array(wide), "MaxAbsScaler"),
        (sparse.csr_matrix(wide), "MaxAbsScaler"),
    ):
        assert re.search(of_two % scaler, told_scales(features))
    assert "(column a)" in told_scales(wide, ["a", "b", "c"])
    for features in (X, np.zeros((2, 3)), sparse.csr_array((2, 3)), -X):
        assert told_scales(features) == ""


@pytest.mark.parametrize(
    "model",
    [MLRL(kernel="linear", tol=1e-12), RankSVM(kernel="linear", tol=1e-12), LLSF(tol=1e-12)],
)
def test_fits_that_end_above_the_tolerance_tell_of_columns_on_other_scales(model: Any) -> None:
    random = np.random.default_rng(0)
    features, Y = random.normal(size=(30, 3)), random.integers(0, 2, size=(30, 4))
    for factor, told in (([1, 1, 1], False), ([1e3, 1e-2, 1], True)):
        frame = pd.DataFrame(features * factor, columns=["size", "share", "count"])
        with pytest.warns(ConvergenceWarning) as caught:
            model.set_params(max_iter=1).fit(frame, Y)
        assert (
            bool(
                re.search(
                    r"\(column share\) to .*\(column size\)",
                    " ".join(str(one.message) for one in caught),
                )
            )
            == told
        )


def test_ranges_become_the_unit_interval_whatever_their_size() -> None:
    largest, least = np.finfo(float).max, 5e-324
    columns = np.array([[-largest, 0.0, least, 1e-300, 7.0], [largest, least, 3 * least, 0.0, 7.0]])
    with np.errstate(all="raise", under="ignore"):
        found = within_ranges(columns, ranges_of(columns))
    # Of the range of a few least numbers there is no inverse.
    np.testing.assert_allclose(found, [[0, 0, 0, 1, 0], [1, 0, 0, 0, 0]], rtol=1e-15)
    # New rows may lie beyond the range, and those of a constant column are ignored.
    np.testing.assert_allclose(within_ranges(2 * X, ranges_of(X)).max(), 3.0)
    constant = ranges_of(np.full((3, 1), 1e6))
    assert within_ranges(np.array([[2e6]]), constant) == 0.0


def problem(n: int = 150) -> tuple[Any, Any]:
    """Return columns of one scale, and labels that depend on each."""
    random = np.random.default_rng(0)
    features = random.random((n, 5))
    return features, (features @ random.normal(size=(5, 4)) > 0.3).astype(int)


def test_forms_scale_dense_columns_of_other_scales_alone() -> None:
    features, _ = problem()
    low, high = features.min(axis=0), features.max(axis=0)
    expected = (features - low) / (high - low)
    far = features * SCALES + SCALES
    for container in (np.array, sparse.csr_array, pd.DataFrame, np.asfortranarray):
        found = Views().fit(container(far))
        np.testing.assert_allclose(found.transform(container(far)), expected, rtol=1e-12)
    for options, unchanged in (
        ({"unit_length": True}, far / np.sqrt((far**2).sum(axis=1, keepdims=True))),
        ({"scaling": False}, far),
    ):
        np.testing.assert_allclose(Views(**options).fit_transform(far), unchanged)
    np.testing.assert_array_equal(Views().fit_transform(features), features)
    np.testing.assert_allclose(Views(scaling=True).fit_transform(features), expected)
    text = sparse.csr_array(far * np.eye(150, 5))
    assert Views(dense=False, scaling=True).fit(text).ranges_ == [None]


def test_models_do_not_depend_on_the_units_of_the_columns() -> None:
    features, y = problem()
    quick = LabelRankerCV([1.0], kernel="linear", class_weight=None, cv=2, random_state=0)
    expected = clone(quick).set_params(scaling=True).fit(features, y)
    assert expected.scaled_
    for far in (features * SCALES, features * SCALES - 3 * SCALES):
        found = clone(quick).fit(far, y)
        assert found.best_params_ == expected.best_params_
        np.testing.assert_allclose(
            found.predict_proba(far), expected.predict_proba(features), atol=1e-6
        )
    assert not quick.fit(features, y).scaled_


@pytest.mark.filterwarnings("ignore:The best C")
@pytest.mark.parametrize("columns", [5, 600])
def test_models_do_not_depend_on_the_unit_of_all_columns(columns: int, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    features = 20.0 * random.normal(size=(80, columns))
    y = (features[:, :5] @ random.normal(size=(5, 4)) > 5.0).astype(int)
    options = {"kernel": "linear", "loss": "squared_hinge", "cv": 2, "random_state": 0}
    model = LabelRankerCV(3, **options).fit(features, y)
    expected = model.predict_proba(features)
    assert model.scaled_
    prepared = model.best_estimator_[0].transform(features)
    np.testing.assert_allclose(prepared.var(axis=0).sum(), 1.0)
    for unit in (2.0**-60, 2.0**9):
        far = unit * features
        other = LabelRankerCV(3, **options).fit(far, y)
        np.testing.assert_array_equal(other.predict_proba(far), expected)
    export(model, tmp_path / "a.onnx")
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    (probabilities,) = session.run(["probabilities"], {"X": features})
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    # Columns near one unit stay as they are, as do those with values of C, or of gamma.
    near = features / np.sqrt(features.var(axis=0).sum())
    options["stack"] = None
    assert not LabelRankerCV(3, **options).fit(near, y).scaled_
    for given in ({"Cs": [1.0]}, {"gamma": 0.5}, {"scaling": False}, {"kernel": "poly"}):
        assert not LabelRankerCV(**{"Cs": 1} | options | given).fit(features, y).scaled_


def test_amounts_beside_sparse_columns_of_ones_do_not_fill_the_rows(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(0)
    ones = sparse.csr_array(np.eye(600)[random.integers(0, 600, 300)])
    amounts = random.random(size=(300, 2))
    y = np.column_stack([ones[:, k::3].sum(axis=1) + amounts[:, 0] > 1.2 for k in range(3)])

    def fitted(unit: float) -> tuple[Any, Any]:
        X = sparse.hstack([ones, sparse.csr_array(unit * amounts)], format="csr")
        return LabelRankerCV(1, views=None, cv=2, loss="hinge", random_state=0).fit(
            X, y.astype(int)
        ), X

    model, X = fitted(2.0**10)
    assert model.scaled_
    assert not fitted(1.0)[0].scaled_
    rows = abs(model.best_estimator_[0].transform(X)).toarray()
    assert rows[:, :600].max(axis=1).min() > 0.3
    expected = model.predict_proba(X)
    for unit in (2.0**20, 2.0**70):
        other, far = fitted(unit)
        np.testing.assert_array_equal(other.predict_proba(far), expected)
    export(model, tmp_path / "a.onnx")
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    (probabilities,) = session.run(["probabilities"], {"X": X.toarray()})
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    assert Views().fit(sparse.csr_matrix((3, 600))).ranges_ == [None]


def test_the_mean_entry_of_amounts_becomes_that_of_the_median_column() -> None:
    entries = np.array([[1.0, 0.0, 2.0, 80.0], [1.0, 4.0, 0.0, 0.0], [1.0, 0.0, 2.0, -20.0]])
    rows = sparse.csr_array(entries)
    ranges = of_most_columns(rows)
    assert ranges is not None
    # Means of 1, 4, 2 and 50, of which the median is 3.
    np.testing.assert_allclose(within_ranges(rows, ranges).toarray(), entries * [1, 1, 1, 0.06])
    assert of_most_columns(rows[:, :3]) is None


def test_units_of_extreme_columns() -> None:
    least, largest = 5e-324, 1e150
    for X in (np.zeros((3, 2)), np.full((3, 2), 7.0), np.array([[0.0, 1.0], [largest, 1.0]])):
        assert np.isfinite(Views(unit_variance=True).fit_transform(X)).all()
    X = np.array([[least, least], [0.0, least]])
    assert np.isfinite(Views(unit_variance=True).fit_transform(X)).all()


def test_rows_of_no_weight_have_no_part_in_ranges() -> None:
    features, y = problem()
    far = np.vstack([features * SCALES, np.full(5, 1e145)])
    weights = np.append(np.ones(150), 0.0)
    expected = LabelRankerCV([1.0], random_state=0).fit(far[:-1], y).best_estimator_[0]
    model = LabelRankerCV([1.0], random_state=0)
    found = model.fit(far, np.vstack([y, [[1, 0, 0, 1]]]), sample_weight=weights)
    for one, other in zip(expected.ranges_[0], found.best_estimator_[0].ranges_[0], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("unit_length", ["auto", True])
def test_scaled_models_are_stored_exported_and_explained(tmp_path: Path, unit_length: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    features, y = problem()
    far = features[:, :4] * SCALES[:4]
    model = LabelRankerCV(
        [1.0], kernel="linear", scaling=True, unit_length=unit_length, random_state=0
    ).fit(far, y)
    expected = model.predict_proba(far)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(far), expected)
    save_model(model, tmp_path / "a.model")
    np.testing.assert_array_equal(load_model(tmp_path / "a.model").predict_proba(far), expected)
    export(model, tmp_path / "a.onnx")
    session = runtime.InferenceSession(tmp_path / "a.onnx")
    (probabilities,) = session.run(["probabilities"], {"X": far})
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    (reasons,) = explain(model, far[:1], 0)
    scores = model.ranker_.decision_function(model.best_estimator_[0].transform(far[:1]))[0, :4]
    np.testing.assert_allclose(reasons.total, scores[0] - scores.mean(), atol=1e-9)

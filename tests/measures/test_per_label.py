"""Measures of each label and of each row, against scikit-learn's."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from multimargin.measures import auc_macro, example_f1, label_measures, macro_f1, row_measures

RANDOM = np.random.default_rng(0)
Y = (RANDOM.random((60, 5)) < 0.4).astype(int)
SCORES = RANDOM.normal(size=Y.shape) + Y
WEIGHTS = RANDOM.integers(0, 4, 60)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_against_scikit_learn(weights):
    predicted = (SCORES > 0.4).astype(int)
    found = label_measures(Y, predicted, SCORES, sample_weight=weights)
    expected = precision_recall_fscore_support(Y, predicted, sample_weight=weights)
    for name, values in zip(("precision", "recall", "f1", "support"), expected, strict=True):
        np.testing.assert_allclose(found[name], values)
    areas = [roc_auc_score(Y[:, k], SCORES[:, k], sample_weight=weights) for k in range(5)]
    np.testing.assert_allclose(found["auc"], areas)
    counts = np.ones(60) if weights is None else weights
    np.testing.assert_allclose(found["errors"], counts @ (predicted != Y))
    np.testing.assert_allclose(found["predicted"], counts @ predicted)
    assert np.mean(found["f1"]) == pytest.approx(macro_f1(Y, predicted, sample_weight=weights))
    assert np.mean(found["auc"]) == pytest.approx(auc_macro(Y, SCORES, sample_weight=weights))


def test_a_data_frame_keeps_its_names():
    predicted = (SCORES > 0.4).astype(int)
    expected = label_measures(Y, predicted, SCORES)
    frame = pd.DataFrame(Y, columns=list("abcde"))
    for truth, guess in ((frame, predicted), (Y, 0 * frame + predicted)):
        found = label_measures(truth, guess, SCORES)
        assert found.index.tolist() == list("abcde")
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values)


def test_unknown_labels_are_left_out():
    predicted, holes = (SCORES > 0.4).astype(int), Y.astype(float)
    holes[RANDOM.random(Y.shape) < 0.3] = np.nan
    found = label_measures(holes, predicted, SCORES)
    for k in range(5):
        rows = ~np.isnan(holes[:, k])
        both = [np.c_[one[rows, k], one[rows, k]] for one in (holes, predicted, SCORES)]
        for name, values in label_measures(both[0], both[1], both[2]).items():
            assert found[name][k] == values[0]


def test_what_is_not_defined_is_nan():
    never, always = np.zeros((4, 1), dtype=int), np.ones((4, 1), dtype=int)
    found = label_measures(np.hstack([never, always]), np.hstack([never, never]), np.eye(4)[:, :2])
    assert found["support"].tolist() == [0.0, 4.0]
    assert found["errors"].tolist() == [0.0, 4.0]
    np.testing.assert_array_equal(found["precision"], [np.nan, np.nan])
    np.testing.assert_array_equal(found["recall"], [np.nan, 0.0])
    np.testing.assert_array_equal(found["f1"], [np.nan, 0.0])
    np.testing.assert_array_equal(found["auc"], [np.nan, np.nan])


def test_other_shapes_are_refused():
    with pytest.raises(ValueError, match=r"Y_pred has shape \(60, 4\); expected that of Y_true"):
        label_measures(Y, Y[:, :4], SCORES)


def test_rows_are_measured_as_labels_are():
    predicted, holes = (SCORES > 0.4).astype(int), Y.astype(float)
    holes[RANDOM.random(Y.shape) < 0.3] = np.nan
    for truth in (Y, holes):
        found = row_measures(truth, predicted)
        turned = label_measures(truth.T, predicted.T, SCORES.T)
        assert list(found) == ["support", "predicted", "errors", "precision", "recall", "f1"]
        for name, values in found.items():
            np.testing.assert_array_equal(values, turned[name])
    defined = (Y | predicted).any(axis=1)
    found = row_measures(Y[defined], predicted[defined])
    assert np.mean(found["f1"]) == pytest.approx(example_f1(Y[defined], predicted[defined]))
    with pytest.raises(ValueError, match=r"Y_pred has shape \(60, 4\); expected that of Y_true"):
        row_measures(Y, Y[:, :4])

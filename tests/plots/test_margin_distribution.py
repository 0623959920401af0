"""MarginDistributionDisplay: what is drawn are the margins."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multimargin import RankSVM
from multimargin.plots import MarginDistributionDisplay


def test_the_cumulative_curve_counts_margins(data, rank_svm):
    X, Y = data
    display = MarginDistributionDisplay.from_estimator(rank_svm, X, Y)
    margins = rank_svm.margins(X, Y)
    x, share = display.lines_[0].get_data()
    np.testing.assert_array_equal(x[1:], np.sort(margins))
    for at, height in zip(x[1:], share[1:], strict=True):
        assert height == pytest.approx((margins <= at).mean())
    assert display.mean["RankSVM"] == pytest.approx(margins.mean())
    assert display.variance["RankSVM"] == pytest.approx(margins.var())
    assert f"mean {margins.mean():.3g}" in display.legend_.get_texts()[0].get_text()


def test_long_curves_are_thinned_to_true_points():
    margins = np.random.default_rng(0).normal(size=30_000)
    x, share = MarginDistributionDisplay({"a": margins}).plot().lines_[0].get_data()
    assert x.size <= 2001
    np.testing.assert_allclose(share[1:], np.searchsorted(np.sort(margins), x[1:], "right") / 3e4)


def test_histograms_share_their_bins_and_have_area_one(data, rank_svm, mlodm):
    display = MarginDistributionDisplay.from_estimator(
        [rank_svm, mlodm], *data, kind="histogram", bins=13
    )
    values, edges, _ = display.lines_[0].get_data()
    others, same_edges, _ = display.lines_[1].get_data()
    np.testing.assert_array_equal(edges, same_edges)
    assert (values * np.diff(edges)).sum() == pytest.approx(1.0)
    assert (others * np.diff(edges)).sum() == pytest.approx(1.0)


def test_normalized_margins_do_not_depend_on_the_scale(data, rank_svm):
    X, Y = data
    scores = rank_svm.label_scores(X)
    display = MarginDistributionDisplay.from_predictions(
        Y, {"_a": scores, "b": 1000 * scores}, normalize=True
    )
    np.testing.assert_allclose(display.margins["_a"], display.margins["b"])
    assert np.abs(display.margins["b"]).mean() == pytest.approx(1.0)
    assert len(display.legend_.get_texts()) == 2


def test_pipelines_and_searches_show_the_margins_before_thresholds(data):
    X, Y = data
    # One threshold for each label: it changes the margins of the decision function.
    model = RankSVM(C=1.0, random_state=0, threshold="labels")
    pipeline = make_pipeline(StandardScaler(), model)
    search = GridSearchCV(pipeline, {"ranksvm__C": [1.0]}, cv=2).fit(X, Y)
    display = MarginDistributionDisplay.from_estimator(search, X, Y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(display.margins["RankSVM"], model.fit(scaled, Y).margins(scaled, Y))


def test_input_is_checked(data, rank_svm):
    X, Y = data
    with pytest.raises(NotFittedError):
        MarginDistributionDisplay.from_estimator(RankSVM(), X, Y)
    with pytest.raises(TypeError, match="StandardScaler, which has no label_scores or"):
        MarginDistributionDisplay.from_estimator(StandardScaler().fit(X), X, Y)
    one_label = LogisticRegression().fit(X, Y[:, 0])
    with pytest.raises(ValueError, match=r"expected \(40, 4\)"):
        MarginDistributionDisplay.from_estimator(one_label, X, Y)
    with pytest.raises(ValueError, match="at least one pair"):
        MarginDistributionDisplay.from_predictions(np.ones((3, 1), dtype=int), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="estimator is empty"):
        MarginDistributionDisplay.from_estimator([], X, Y)
    with pytest.raises(ValueError, match="kind is 'violin'"):
        MarginDistributionDisplay.from_estimator(rank_svm, X, Y, kind="violin")
    with pytest.raises(ValueError, match="missing or infinite"):
        MarginDistributionDisplay({"a": [0.0, np.nan]})
    with pytest.raises(TypeError, match="dict of one array a model"):
        MarginDistributionDisplay(np.zeros(3))

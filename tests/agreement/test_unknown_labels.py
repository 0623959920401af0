"""Unknown labels: types, warm starts, refusals; tests/optimum has the optimum."""

import numpy as np
import pytest

from multimargin import LLSF, SSMLRL, LabelSpecificBinaryRelevance, RankSVM, RankSVMz
from tests.support.models import PAIRWISE


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

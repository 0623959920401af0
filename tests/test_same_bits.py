"""Fits of the same data with the same seed give the same bits, alone and beside other fits."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.svm import LinearSVC

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    SSMLRL,
    CalibratedClassifier,
    LabelRankerCV,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
    ThresholdedClassifier,
)
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from multimargin.thresholds import FeaturesThreshold
from tests.support.problems import noisy_linear_problem

pytestmark = pytest.mark.filterwarnings("ignore")

# More rows than features, and fewer.
SHAPES = [(200, 8, 5), (40, 90, 5)]
PROBLEMS = [noisy_linear_problem(seed, *shape) for seed in (0, 1) for shape in SHAPES]
SEED = {"random_state": 0}
MODELS = {
    **{
        f"{method.__name__}, {threshold}": method(kernel="linear", threshold=threshold, **SEED)
        for method, threshold in (
            (RankSVM, "features"),
            (RankHLapSVM, "features"),
            (RankCVM, "scores"),
            (MLODM, "macro"),
        )
    },
    "RankSVMz": RankSVMz(**SEED),
    "RankSVM, rbf": RankSVM(**SEED),
    "MLRL": MLRL(),
    "SSMLRL": SSMLRL(),
    "LLSF": LLSF(),
    "binary relevance": LabelSpecificBinaryRelevance(selector=LLSF(beta=1e-3)),
    "chain": LabelSpecificClassifierChain(selector=LLSF(beta=1e-3), **SEED),
    "dual loop": LabelSpecificBinaryRelevance(LinearSVC(dual=True, **SEED), LLSF(beta=1e-3)),
    "calibrated": CalibratedClassifier([LabelDiscriminant(), LabelForest(5, **SEED)]),
    "thresholded": ThresholdedClassifier(RankLSVM(kernel="linear", **SEED), "features"),
    "logistic": LabelLogistic(),
    "kernel ridge": LabelKernelRidge(),
    "neighbours": LabelNeighbours(),
    "boosting": LabelBoosting(5, max_samples=30, **SEED),
    "LabelRankerCV": LabelRankerCV([1.0], threshold="samples", cv=2, class_weight=None, **SEED),
}


@pytest.mark.parametrize("name", MODELS)
def test_fits_one_after_the_other_and_in_threads(name):
    def answers(problem):
        X, Y = problem
        model = clone(MODELS[name]).fit(X, Y)
        scores = model.predict_proba if hasattr(model, "predict_proba") else model.decision_function
        return np.hstack([scores(X), model.predict(X)])

    alone = [answers(problem) for problem in PROBLEMS]
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(answers, PROBLEMS))
    for found, expected in zip(beside, alone, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_regressions_of_thresholds_in_threads():
    """They share LIBLINEAR's generator of random numbers, and are long enough to meet."""
    X, Y = noisy_linear_problem(0, 400, 30, 8, cut=1.0)
    scores = Y + np.random.default_rng(0).normal(size=Y.shape)

    def weights(C):
        return FeaturesThreshold(C).fit(scores, Y, X).coef_

    alone = [weights(C) for C in (1.0, 2.0, 3.0, 4.0)]
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(weights, (1.0, 2.0, 3.0, 4.0)))
    np.testing.assert_array_equal(beside, alone)

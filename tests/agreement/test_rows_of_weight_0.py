"""A row of weight 0 is not there: models are those of the other rows, bit for bit."""

import inspect
import warnings
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, PredefinedSplit
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import multimargin
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
from multimargin.calibration import LabelLift, PooledCalibration, ShortlistClassifier
from multimargin.estimators import RelationshipOptions
from multimargin.estimators.label_ranker import shortlists
from multimargin.measures import SCORERS
from multimargin.measures.scorers import Answers, scorer_of
from multimargin.thresholds import (
    ConstantThreshold,
    CountThreshold,
    ExpectedF1Threshold,
    F1Threshold,
    FeaturesThreshold,
    LabelsThreshold,
    PrecisionGuarantee,
    RecallGuarantee,
    ScoresThreshold,
    ShrunkenThreshold,
)
from tests.support.subsets import fast_only

pytestmark = pytest.mark.filterwarnings("ignore")

N = 48
ZERO = np.random.default_rng(0).random(N) < 0.3
KEPT = np.flatnonzero(~ZERO)
WEIGHTS = np.where(ZERO, 0.0, np.random.default_rng(1).choice([0.5, 1.0, 3.0], N))


def problem(unknown: bool = False, far: float = 1e6):
    """Rows of which those of weight 0 have other features, far away, and other labels."""
    random = np.random.default_rng(2)
    X = random.normal(size=(N, 4))
    Y = (X @ random.normal(size=(4, 4)) + random.normal(size=(N, 4)) > 0.3).astype(float)
    if unknown:
        Y[random.random(Y.shape) < 0.15] = np.nan
    X[ZERO] = far * (1.0 + 1e-3 * random.normal(size=(ZERO.sum(), 4)))
    Y[ZERO, 0] = 1.0 - Y[ZERO, 0]
    return X, Y


def answers(model, X):
    """What a model says of rows."""
    found = []
    for name in ("label_scores", "decision_function", "predict_proba", "predict"):
        if hasattr(model, name):
            said = getattr(model, name)(X)
            found.append(said.toarray() if sparse.issparse(said) else said)
    return found


def assert_same(model, X, y, X_kept, X_new, y_kept=None, kept=None, **fit):
    """Fit to all rows and to those that count, and compare."""
    one = clone(model).fit(X, y, sample_weight=WEIGHTS, **fit)
    own = {name: np.asarray(value)[KEPT] for name, value in fit.items()}
    y_kept = y[KEPT] if y_kept is None else y_kept
    other = (clone(model) if kept is None else kept).fit(
        X_kept, y_kept, sample_weight=WEIGHTS[KEPT], **own
    )
    both = answers(one, X_new), answers(other, X_new)
    assert both[0]
    for found, expected in zip(*both, strict=True):
        np.testing.assert_array_equal(found, expected)
    return one, other


FAST = {"tol": 1e-2, "random_state": 0}
PAIRWISE = [RankSVM, RankLSVM, RankCVM, MLODM, RankSVMz, RankHLapSVM]
KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": "mean_distance"},
    {"kernel": "laplacian", "gamma": "mean_distance"},
    {"kernel": "linear"},
    {"kernel": "poly"},
    # Not positive semidefinite: the nearest matrix that is depends on all rows of the kernel.
    {"kernel": "sigmoid", "gamma": 1.0},
    {"kernel": lambda A, B: A @ B.T},
]


@pytest.mark.parametrize(
    "kernel",
    fast_only(KERNELS, [KERNELS[0], KERNELS[2], KERNELS[5]]),
    ids=lambda options: str(options["kernel"])[:9],
)
@pytest.mark.parametrize("method", PAIRWISE, ids=lambda method: method.__name__)
def test_pairwise_methods(method, kernel):
    X, Y = problem(unknown=True)
    model = method(**FAST, **kernel, class_weight="balanced", warm_start=True)
    one, other = assert_same(model, X, Y, X[KEPT], X[KEPT])
    # Rows have their numbers among all.
    np.testing.assert_array_equal(one.support_, KEPT[other.support_])
    assert one.objective_ == other.objective_
    # A warm start of rows that had weight 0.
    again = one.fit(X, Y, sample_weight=np.ones(N))
    assert np.isfinite(again.label_scores(X[KEPT])).all()


RELATIONSHIPS = {
    "MLRL": MLRL(lam=0.05, options=RelationshipOptions(keep_rows=True)),
    "SSMLRL": SSMLRL(lam1=0.05, lam2=0.05, options=RelationshipOptions(keep_rows=True)),
    "SSMLRL as MLRL": SSMLRL(lam1=0.05, lam2=0.0),
}


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=lambda options: str(options["kernel"])[:9])
@pytest.mark.parametrize("name", RELATIONSHIPS)
def test_label_relationships(name, kernel):
    X, Y = problem(unknown=True)
    if name != "MLRL":
        Y[::3] = -1
    model = clone(RELATIONSHIPS[name]).set_params(**kernel)
    one, other = assert_same(model, X, Y, X[KEPT], X[KEPT])
    if not hasattr(one, "support_"):
        return
    np.testing.assert_array_equal(one.support_, KEPT[other.support_])
    labelled = np.arange(N) if name == "MLRL" else one.labelled_
    assert one.dual_variables_.shape == (labelled.size, 4)
    np.testing.assert_array_equal(one.dual_variables_[~ZERO[labelled]], other.dual_variables_)
    assert not one.dual_variables_[ZERO[labelled]].any()


@pytest.mark.parametrize("method", [*PAIRWISE, MLRL], ids=lambda method: method.__name__)
def test_precomputed_kernels(method):
    X, Y = problem()
    K = X @ X.T
    model = method(kernel="precomputed", **FAST if method is not MLRL else {})
    one = clone(model).fit(K, Y, sample_weight=WEIGHTS)
    other = clone(model).fit(K[np.ix_(KEPT, KEPT)], Y[KEPT], sample_weight=WEIGHTS[KEPT])
    np.testing.assert_array_equal(one.label_scores(K), other.label_scores(K[:, KEPT]))
    assert one.n_features_in_ == N


OTHERS = {
    "LLSF": LLSF(tol=1e-3),
    "binary relevance": LabelSpecificBinaryRelevance(LogisticRegression(), LLSF()),
    "chain": LabelSpecificClassifierChain(LogisticRegression(), LLSF(), order=range(4)),
    "forest": LabelForest(5, min_samples_leaf=2, random_state=0),
    "boosting": LabelBoosting(5, max_samples=20, random_state=0),
    "discriminant": LabelDiscriminant(),
    "kernel ridge": LabelKernelRidge(),
    "logistic": LabelLogistic(class_weight="balanced"),
    "neighbours": LabelNeighbours(5, metric="euclidean"),
    "cosine": LabelNeighbours(5, metric="cosine"),
    "calibrated": CalibratedClassifier(
        [LabelDiscriminant(), LabelForest(5, random_state=0)],
        lift=True,
        empty_label=True,
        threshold="macro",
    ),
    "not ours": CalibratedClassifier(MultiOutputClassifier(GaussianNB())),
    "thresholded": ThresholdedClassifier(RankLSVM(**FAST), "scores"),
    "threshold of each": ThresholdedClassifier(LabelDiscriminant(), "macro"),
}
KNOWN_ONLY = ("LLSF", "binary relevance", "chain", "not ours")


@pytest.mark.parametrize(
    "name", fast_only(OTHERS, [one for one in OTHERS if one not in ("binary relevance", "chain")])
)
def test_other_methods(name):
    X, Y = problem(unknown=name not in KNOWN_ONLY, far=1e33)
    assert_same(OTHERS[name], X, Y, X[KEPT], X[KEPT])


@pytest.mark.parametrize("name", ["calibrated", "thresholded"])
def test_groups(name):
    X, Y = problem(unknown=True)
    assert_same(OTHERS[name], X, Y, X[KEPT], X[KEPT], groups=np.arange(N) // 3)


QUICK = {"Cs": [1.0, 10.0], "cv_tol": 0.1, "tol": 0.1, "random_state": 0}
RANKERS = {
    "default": {},
    "rbf": {"kernel": "rbf", "gamma": "scale", "stack": None},
    "mean distance": {"kernel": "rbf", "gamma": "mean_distance", "stack": None},
    "linear, scaled": {"kernel": "linear", "scaling": True, "loss": "hinge"},
    "unit length": {"unit_length": True, "stack": ["linear", "neighbours"]},
    "alone": {"calibration": False, "threshold": 0.1},
    "two jobs": {"n_jobs": 2, "stack": ["discriminant"]},
    "weights of labels": {"class_weight": "balanced", "top_k": 2, "threshold": "samples"},
    "threshold of each": {"stack": None, "threshold": "macro", "scoring": "f1_macro"},
}


@pytest.mark.parametrize("name", fast_only(RANKERS, ["linear, scaled"]))
def test_label_rankers(name):
    X, Y = problem(unknown=True)
    model = LabelRankerCV(**QUICK | RANKERS[name])
    one, other = assert_same(model, X, Y, X[KEPT], X[KEPT])
    assert one.best_score_ == other.best_score_
    for fold in range(3):
        key = f"split{fold}_test_score"
        np.testing.assert_array_equal(one.cv_results_[key], other.cv_results_[key])


@pytest.mark.parametrize(
    "kind", fast_only(["classes", "groups", "sparse", "names", "frame"], ["classes", "frame"])
)
def test_label_rankers_of_other_data(kind):
    X, Y = problem()
    model, fit = LabelRankerCV(**QUICK, stack=["neighbours"]), {}
    y, X_kept, y_kept = Y, X[KEPT], Y[KEPT]
    if kind == "classes":
        y = np.array(["one", "two", "three", "four"])[Y.argmax(axis=1)]
        y_kept = y[KEPT]
    elif kind == "groups":
        fit["groups"] = np.arange(N) // 3
    elif kind == "sparse":
        X = sparse.csr_array(X)
        X_kept = X[KEPT]
    elif kind == "names":
        y = [[f"label {k}" for k in np.flatnonzero(row)] for row in Y]
        y_kept = [y[row] for row in KEPT]
    else:
        X, y = pd.DataFrame(X, columns=list("abcd")), pd.DataFrame(Y, columns=list("efgh"))
        X_kept, y_kept = X.iloc[KEPT], y.iloc[KEPT]
    assert_same(model, X, y, X_kept, X_kept, y_kept, **fit)


def test_the_transformers_of_views_do_not_see_the_rows():
    X, Y = problem()
    words = np.where(X[:, 0] > 0, "big dog", "small cat").astype(object)
    words[ZERO] = "hidden words"
    X = pd.DataFrame({"text": words, **{f"x{k}": X[:, k] for k in range(4)}})
    views = [("words", TfidfVectorizer(), "text"), ("numbers", StandardScaler(), slice(1, 5))]
    model = LabelRankerCV(**QUICK, views=views, stack=["neighbours"])
    one, _ = assert_same(model, X, Y, X.iloc[KEPT], X.iloc[KEPT])
    names = one.best_estimator_[0].get_feature_names_out()
    assert "words__cat" in names
    assert "words__hidden" not in names


def test_shortlists(monkeypatch):
    monkeypatch.setattr(shortlists, "MOST_SCORES", 100)
    X, Y = problem(unknown=True)
    X, Y = sparse.csr_array(X), sparse.csr_array(Y)
    model = LabelRankerCV(Cs=[1.0], random_state=0)
    one, other = assert_same(model, X, Y, X[KEPT], X[KEPT])
    assert one.shortlisted_
    np.testing.assert_array_equal(one.base_rates_, other.base_rates_)
    ranker = RankSVM(kernel="linear", bias="penalized", threshold=0.0, random_state=0)
    models = ShortlistClassifier([("ranker", ranker), ("near", LabelNeighbours())])
    assert_same(models, X, Y, X[KEPT], X[KEPT])


FOLDS = [(np.arange(N) % 3 != k, np.arange(N) % 3 == k) for k in range(3)]
CVS = {
    "masks": FOLDS,
    "numbers": [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in FOLDS],
    "numbers from the end": [(np.flatnonzero(a) - N, np.flatnonzero(b)) for a, b in FOLDS],
    "shuffled": KFold(3, shuffle=True, random_state=0),
    # It numbers all rows, however many it is given.
    "predefined": PredefinedSplit(np.arange(N) % 3),
    # A fold of rows that do not count.
    "nothing held out": [*FOLDS, (~ZERO, ZERO)],
}


@pytest.mark.parametrize("name", fast_only(CVS, ["masks", "predefined"]))
@pytest.mark.parametrize(
    "model",
    [
        LabelRankerCV(**QUICK, stack=["discriminant"]),
        CalibratedClassifier(LabelDiscriminant()),
        ThresholdedClassifier(LabelDiscriminant(), PrecisionGuarantee(0.2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_folds_are_of_all_rows(model, name):
    X, Y = problem()
    cv = CVS[name]
    weights = np.where(ZERO, 0.0, 2.0)
    place = np.cumsum(~ZERO) - 1
    folds = cv if isinstance(cv, list) else list(cv.split(X, Y))
    own = []
    for train, test in folds:
        rows = np.arange(N)[train], np.arange(N)[test]
        own.append(tuple(place[part[~ZERO[part]]] for part in rows))
    own = [(train, test) for train, test in own if test.size]
    one = clone(model).set_params(cv=cv).fit(X, Y, sample_weight=weights)
    other = clone(model).set_params(cv=own).fit(X[KEPT], Y[KEPT], sample_weight=weights[KEPT])
    for found, expected in zip(answers(one, X[KEPT]), answers(other, X[KEPT]), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([(ZERO, ~ZERO)], "cv has a fold with no row to learn from but those of sample_weight 0"),
        ([(~ZERO, ZERO)], "cv has a fold with no row held out but those of sample_weight 0"),
    ],
)
def test_folds_without_rows_that_count(folds, message):
    X, Y = problem()
    for model in (LabelRankerCV(cv=folds), CalibratedClassifier(LabelDiscriminant(), cv=folds)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y, sample_weight=WEIGHTS)
    with pytest.raises(
        ValueError, match=r"groups has shape \(3,\); expected \(48,\), one for each row"
    ):
        LabelRankerCV().fit(X, Y, sample_weight=WEIGHTS, groups=[0, 1, 2])


THRESHOLDS = [
    ConstantThreshold(0.1),
    CountThreshold(),
    ExpectedF1Threshold(0.5),
    F1Threshold("samples"),
    F1Threshold(),
    FeaturesThreshold(),
    LabelsThreshold(),
    PrecisionGuarantee(0.2),
    RecallGuarantee(0.5),
    ScoresThreshold(),
    ShrunkenThreshold(),
]


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=str)
def test_thresholds(threshold):
    X, Y = problem(unknown=True)
    scores = np.random.default_rng(3).normal(size=Y.shape) + 2.0 * np.nan_to_num(Y)
    scores[ZERO] *= 1e3
    weights = (WEIGHTS > 0.0).astype(float)
    one = clone(threshold).fit(scores, Y, X, weights)
    other = clone(threshold).fit(scores[KEPT], Y[KEPT], X[KEPT], weights[KEPT])
    both = (model.predict(scores[KEPT], X[KEPT]) for model in (one, other))
    np.testing.assert_allclose(*both, rtol=1e-12)


def test_calibrations():
    _, Y = problem(unknown=True)
    scores = np.random.default_rng(3).normal(size=Y.shape)
    scores[ZERO] = 1e6
    one = PooledCalibration().fit(scores, Y, WEIGHTS)
    other = PooledCalibration().fit(scores[KEPT], Y[KEPT], WEIGHTS[KEPT])
    both = (model.decision_function(scores[KEPT]) for model in (one, other))
    np.testing.assert_array_equal(*both)
    marks = np.nan_to_num(Y).astype(np.uint8)
    lifts = LabelLift().fit(marks, WEIGHTS), LabelLift().fit(marks[KEPT], WEIGHTS[KEPT])
    np.testing.assert_allclose(lifts[0].lift_, lifts[1].lift_, rtol=1e-12)


@pytest.mark.parametrize("name", sorted(SCORERS))
def test_scorers(name):
    _, Y = problem()
    Y = np.nan_to_num(Y).astype(int)
    odds = np.random.default_rng(3).normal(size=Y.shape) + Y
    odds[ZERO] *= 1e6
    scorer = scorer_of(name)
    one = scorer(Answers(odds, lambda: odds > 0), odds, Y, sample_weight=WEIGHTS)
    rest = odds[KEPT]
    other = scorer(Answers(rest, lambda: rest > 0), rest, Y[KEPT], sample_weight=WEIGHTS[KEPT])
    assert one == pytest.approx(other, rel=1e-12)


def test_every_class_with_weights_of_rows_is_here():
    """A new one is added to the cases above."""
    found = set()
    for module in walk_packages(multimargin.__path__, "multimargin."):
        if any(part in module.name for part in (".dask", ".cli", "__main__")):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            members = vars(import_module(module.name)).values()
        found |= {
            one
            for one in members
            if inspect.isclass(one)
            and one.__module__.startswith("multimargin")
            and hasattr(one, "fit")
            and has_fit_parameter(one, "sample_weight")
        }
    bases = {one for one in found if any(issubclass(other, one) for other in found - {one})}
    others = {type(one) for one in (*OTHERS.values(), *THRESHOLDS, *RELATIONSHIPS.values())}
    tried = {*PAIRWISE, *others, LabelRankerCV, ShortlistClassifier, PooledCalibration, LabelLift}
    assert {one.__name__ for one in found - bases} <= {one.__name__ for one in tried}

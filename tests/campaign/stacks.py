"""Random small tables through the classifiers around others: `LabelRankerCV`, calibrated, guarded.

Whatever is drawn, a fit is refused by name before anything is computed, or its answers agree with
each other, with their formulas, with copies of the model, and on new rows with what it promises.
"""

from __future__ import annotations

import re
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.model_selection import KFold, RepeatedKFold
from sklearn.preprocessing import MaxAbsScaler

import multimargin.onnx
from multimargin import (
    CalibratedClassifier,
    LabelRankerCV,
    RankLSVM,
    RankSVMz,
    ThresholdedClassifier,
    load_model,
    save_model,
)
from multimargin.blocks import (
    LabelBoosting,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from multimargin.measures.label_scores import scores_by
from multimargin.thresholds import (
    CountThreshold,
    ExpectedF1Threshold,
    FeaturesThreshold,
    LabelsThreshold,
    PrecisionGuarantee,
    RecallGuarantee,
    ScoresThreshold,
    ShrunkenThreshold,
)

# Words of which one is in each refusal: it names what is wrong.
NAMED = [
    *("y", "cv", "threshold", "sample_weight", "at_least_one", "n_labels", "stack"),
    *("recall", "precision", "scores", "scoring", "X"),
]
# New rows on which promises are measured.
NEW = 400


# More than are held dense.
N_NAMES = 300


@dataclass
class Draw:
    """A table, the options of a fit, and what is known of new rows."""

    seed: int
    kind: str
    X: Any
    y: Any
    X_new: Any
    y_new: Any
    model: Any
    options: dict[str, Any] = field(default_factory=dict)


def features(random: np.random.Generator, kind: str, n: int, d: int) -> Any:
    """Rows of a kind that users have, or that breaks what treats rows as distinct."""
    X = random.normal(size=(n, d))
    if kind == "grid":
        X = random.integers(0, 3, size=(n, d)).astype(float)
    elif kind == "copies":
        X = np.repeat(X[: n // 4 + 1], 4, axis=0)[:n]
    elif kind == "constant":
        X[:, : max(1, d // 2)] = 3.0
    elif kind == "scales":
        X *= 10.0 ** random.uniform(-6, 6, size=d)
    elif kind == "words":
        X = np.maximum(X, 0.0) * (random.random((n, d)) < 0.4)
    return X


def with_names(random: np.random.Generator, X: Any) -> Any:
    """Return features beside so many names, some frequent, that they are held sparse."""
    names = np.where(random.random((len(X), 2)) < 0.5, 3, N_NAMES)
    names = random.integers(0, names)
    return np.hstack([X, *np.eye(N_NAMES)[names.T]])


def draw(seed: int) -> Draw:
    """Return the table and options of a seed."""
    random = np.random.default_rng([20261128, seed])
    pick = lambda *values: values[random.integers(len(values))]  # noqa: E731
    kind = pick("normal", "normal", "grid", "copies", "constant", "scales", "words")
    n, d, q = random.integers(18, 70), random.integers(1, 6), random.integers(2, 6)
    X = features(random, kind, n + NEW, d)
    scale = np.maximum(np.abs(X).max(axis=0), 1e-12)
    W, noise = random.normal(size=(d, q)), random.uniform(0.2, 2.0)
    scores = 3.0 * X / scale @ W + noise * random.normal(size=(n + NEW, q))
    y = (scores > random.uniform(-1.0, 2.5)).astype(float)
    order = random.permutation(n + NEW)
    X, y = X[order], y[order]
    X, X_new, y, y_new = X[:n], X[n:], y[:n], y[n:]
    if random.random() < 0.2:
        y[random.random(y.shape) < 0.15] = np.nan
    options: dict[str, Any] = {}
    weights = pick("none", "none", "some", "zeros", "wide")
    if weights != "none":
        options["sample_weight"] = {
            "some": np.where(random.random(n) < 0.3, 5.0, 1.0),
            "zeros": (random.random(n) < 0.8).astype(float),
            "wide": 10.0 ** random.uniform(-8, 8, size=n),
        }[weights]
    if random.random() < 0.2:
        options["groups"] = random.integers(0, max(4, n // 3), size=n)
    folds = pick(2, 3, 3, "single", "twice", "repeated")
    if folds == "single":
        folds = list(KFold(3, shuffle=True, random_state=seed).split(X))[:1]
    elif folds == "twice":
        folds = list(KFold(2, shuffle=True, random_state=seed).split(X))[:1] * 2
    elif folds == "repeated":
        folds = RepeatedKFold(n_splits=2, n_repeats=2, random_state=seed)
    model = _model(random, pick, seed, folds, d)
    chance = np.random.default_rng([20261128, seed, 1])
    if isinstance(model, LabelRankerCV) and d > 1 and chance.random() < 0.3:
        left = "passthrough" if chance.random() < 0.5 else MaxAbsScaler()
        half = int(d) // 2
        views = [("left", left, slice(0, half)), ("right", "passthrough", slice(half, int(d)))]
        if model.calibration:
            model.set_params(views=views)
    elif isinstance(model, LabelRankerCV) and chance.random() < 0.3:
        X, X_new = (with_names(chance, rows) for rows in (X, X_new))
    return Draw(seed, kind, X, y, X_new, y_new, model, options)


def _model(random: np.random.Generator, pick: Any, seed: int, folds: Any, d: int) -> Any:
    threshold = pick(
        *("micro", "macro", "samples", 0.4),
        *(RecallGuarantee(0.8), PrecisionGuarantee(0.7), FeaturesThreshold(max_iter=2000)),
        *(LabelsThreshold(), CountThreshold(1), ShrunkenThreshold(), ExpectedF1Threshold()),
    )
    at_least_one, lift = bool(random.random() < 0.3), bool(random.random() < 0.4)
    inner = pick(
        RankLSVM(kernel="linear", random_state=0),
        RankLSVM(kernel="rbf", random_state=0),
        RankSVMz(kernel="linear", bias="penalized", random_state=0),
    )
    blocks = [
        ("neighbours", LabelNeighbours(4, metric=pick("cosine", "euclidean"))),
        ("forest", LabelForest(3, random_state=0)),
        ("boosting", LabelBoosting(3, max_samples=20, random_state=0)),
        ("linear", LabelLogistic(class_weight=pick(None, "balanced"))),
        ("ridge", LabelKernelRidge()),
    ]
    chosen = [block for block in blocks if random.random() < 0.5]
    kind = pick("ranker", "ranker", "calibrated", "thresholded")
    if kind == "calibrated":
        return CalibratedClassifier(
            [("ranker", inner), *chosen],
            threshold,
            at_least_one=at_least_one,
            lift=lift,
            empty_label=bool(random.random() < 0.2),
            cv=folds,
        )
    if kind == "thresholded":
        if isinstance(threshold, str):
            threshold = pick("macro", "scores", "count", "micro", "auto", ScoresThreshold())
        return ThresholdedClassifier(inner, threshold, at_least_one=at_least_one, cv=folds)
    calibration = bool(random.random() < 0.85)
    stack: Any = pick(None, "auto", [*chosen, "lift"] if lift else chosen or None)
    return LabelRankerCV(
        [0.3, 3.0],
        kernel=pick("auto", "linear", "rbf"),
        gamma="scale",
        loss=pick("hinge", "squared_hinge", "margin_distribution"),
        class_weight=pick(None, "sqrt", "balanced"),
        top_k=pick(None, 1, 0.5),
        stack=stack if calibration else pick(None, "auto"),
        scoring=pick("auto", "auto", "micro_f1", "macro_average_precision", "neg_one_error"),
        cv=folds,
        calibration=calibration,
        threshold=threshold,
        at_least_one=at_least_one,
        unit_length=pick("auto", True, False),
        scaling=pick("auto", True, False),
        random_state=seed,
        max_time=pick(None, None, None, 0.2),
    )


def misses_of(drawn: Draw) -> tuple[str, list[str]]:
    """Return how a fit ended, and what is wrong with it."""
    model = clone(drawn.model)
    untouched = drawn.X.copy(), drawn.y.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(drawn.X, drawn.y, **drawn.options)
        except (TypeError, ValueError) as error:
            named = any(re.search(rf"\b{word}\b", str(error)) for word in NAMED)
            return "refused", [] if named else [f"the refusal names nothing: {error!r}"]
        found = list(_misses(drawn, model))
    for before, now in zip(untouched, (drawn.X, drawn.y), strict=True):
        if not np.array_equal(before, now, equal_nan=True):
            found.append("what was passed in is changed")
    return "fitted", found


def _misses(drawn: Draw, model: Any) -> Any:
    X = drawn.X_new[:60]
    scores, decision, predicted = (
        model.label_scores(X),
        model.decision_function(X),
        model.predict(X),
    )
    if not (np.isfinite(scores).all() and np.isfinite(decision).all()):
        yield "scores are not finite"
        return
    if not np.array_equal(predicted, (decision > 0).astype(int)):
        yield "predict is not where the decision function is positive"
    if model.at_least_one and not predicted.any(axis=1).all():
        yield "a row has no label in spite of at_least_one"
    if hasattr(model, "predict_proba"):
        p = model.predict_proba(X)
        if not np.allclose(p, expit(scores), atol=1e-12):
            yield "probabilities are not those of the scores"
        stack = model.best_estimator_[-1] if hasattr(model, "best_estimator_") else model
        rows = model.best_estimator_[0].transform(X) if hasattr(model, "best_estimator_") else X
        shares = sum(stack.shares(rows).values())
        offsets = scores - shares
        # Scores that are alike but for their last digits have large coefficients, which cancel.
        coefficients = getattr(stack.head_.calibration, "label_coef_", np.zeros(1))
        rounding = 16.0 * np.finfo(float).eps * np.abs(coefficients).max()
        tolerance = 1e-6 * (1.0 + np.abs(shares).max()) + rounding
        if not np.allclose(offsets, offsets[0], atol=tolerance):
            yield "shares and intercepts do not sum to the odds"
    order = np.random.default_rng(drawn.seed).permutation(len(X))
    if not np.allclose(model.label_scores(X[order]), scores[order], atol=1e-8, rtol=1e-8):
        yield "an answer depends on the rows beside it"
    if not np.allclose(model.label_scores(sparse.csr_array(X)), scores, atol=1e-6, rtol=1e-6):
        yield "an answer depends on the container"
    if getattr(model, "max_time", None) is None:
        again = clone(model).fit(drawn.X, drawn.y, **drawn.options)
        if not np.array_equal(again.label_scores(X), scores):
            yield "the same fit gives other scores"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        save_model(model, path)
        if not np.array_equal(load_model(path).decision_function(X), decision):
            yield "the model file answers otherwise"
        if not _is_of_rounding(model, X):
            yield from _misses_of_onnx(model, X, scores, decision, Path(folder) / "model.onnx")
    yield from _broken_promises(drawn, model)


def _is_of_rounding(model: Any, X: Any) -> bool:
    """Whether a ranker has learned nothing: what its scores rank is their rounding."""
    rankers = [getattr(model, "estimator_", None)]
    if hasattr(model, "best_estimator_"):
        X = model.best_estimator_[0].transform(X)
        named = model.best_estimator_[-1].estimators_
        rankers = [one for name, one in named if name.endswith("ranker")]
    return any(np.abs(scores_by(one, "label_scores", X)).max() < 1e-12 for one in rankers)


def _misses_of_onnx(model: Any, X: Any, scores: Any, decision: Any, path: Path) -> Any:
    try:
        multimargin.onnx.export(model, path)
    except (TypeError, ValueError) as error:
        yield f"it cannot be exported: {error}"
        return
    session = onnxruntime.InferenceSession(path)
    found = dict(
        zip([o.name for o in session.get_outputs()], session.run(None, {"X": X}), strict=True)
    )
    # The threshold of a row may lie at its score.
    clear = np.abs(decision) > 1e-5 * (1.0 + np.abs(scores))
    if not np.allclose(found["scores"], scores, atol=1e-5, rtol=1e-5):
        yield f"ONNX: scores differ by {np.abs(found['scores'] - scores).max():.2g}"
    elif not np.array_equal(found["labels"][clear], (decision > 0)[clear].astype(int)):
        yield "ONNX: labels differ"


def _broken_promises(drawn: Draw, model: Any) -> Any:
    """A promise of a small sample is broken now and then: far below it is a miss."""
    threshold = getattr(model, "threshold_", None)
    if not getattr(threshold, "guaranteed_", False):
        return
    units = drawn.options.get("groups", np.arange(len(drawn.X)))
    predicted, y = model.predict(drawn.X_new), drawn.y_new
    if isinstance(threshold, RecallGuarantee):
        relevant = y.any(axis=1)
        found = ((predicted * y).sum(axis=1)[relevant] / y.sum(axis=1)[relevant]).mean()
        wanted = threshold.recall
    else:
        wrong = (predicted * (1 - y)).sum(axis=1) / np.maximum(predicted.sum(axis=1), 1)
        found, wanted = 1.0 - wrong.mean(), threshold.precision
    if threshold.n_rows_ > np.unique(units).size:
        yield f"a promise counts {threshold.n_rows_} rows of {np.unique(units).size}"
    error = np.sqrt(0.25 / threshold.n_rows_)
    if found < wanted - 4.0 * error:
        yield f"{threshold}: {found:.2f} on new rows, learned from {threshold.n_rows_}"

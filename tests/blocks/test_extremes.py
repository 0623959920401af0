"""Blocks on copies of rows, constants, extreme weights and tiny features, in all their forms.

Each is compared with its formula, written anew in loops, as a Python object, as an ONNX file and as
a model file.
"""

import warnings
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion, make_pipeline

from multimargin import CalibratedClassifier, RankLSVM, load_model, save_model
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from tests.support.cases import case

onnxruntime = pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("multimargin.onnx")

RNG = np.random.default_rng(0)


def labels(n):
    Y = RNG.integers(0, 2, size=(n, 3))
    # No label of one value.
    Y[:2] = [[0, 1, 0], [1, 0, 1]]
    return Y


DATA = {
    "ordinary": RNG.normal(size=(40, 3)),
    "copies": np.repeat(RNG.normal(size=(4, 3)), 10, axis=0),
    "grid": RNG.integers(0, 2, size=(60, 3)).astype(float),
    "far from 0": 1e6 + np.repeat(RNG.integers(0, 2, size=(8, 3)), 5, axis=0),
    "tenths": 0.1 * RNG.integers(0, 3, size=(50, 2)) + 0.7,
    "constant": np.ones((30, 2)),
    "one row": np.repeat([[0.3, -0.2]], 25, axis=0),
    "zeros": np.zeros((25, 2)),
    "small": 1e-50 * RNG.normal(size=(30, 2)),
    "tiny": 1e-200 * RNG.normal(size=(30, 2)),
    "huge": 1e100 * RNG.normal(size=(30, 2)),
    "a huge number": np.vstack([RNG.normal(size=(40, 2)), [[0.5, 1e30]]]),
    "huge and constant": np.column_stack([np.full(37, 1e30), RNG.normal(size=(37, 2))]),
}
WEIGHTS = {
    "none": lambda n: None,
    "zeros": lambda n: (np.arange(n) % 3 > 0).astype(float),
    "heavy": lambda n: np.where(np.arange(n) % 10 == 0, 1e6, 1.0),
    "equal and tiny": lambda n: np.full(n, 1e-200),
    "wide": lambda n: 10.0 ** np.linspace(-150, 150, n),
}


def neighbours_by_formula(model, X, Y, weights, X_new):
    """Votes by loops: the expected ones where ties are broken at random."""
    counted = np.ones(len(X)) if weights is None else weights
    X, Y, counted = X[counted > 0], Y[counted > 0], counted[counted > 0]
    counted = counted / counted.max()
    shares = counted @ Y / counted.sum()
    k, found = min(model.n_neighbors, len(X)), []
    for x in X_new:
        if model.metric == "cosine":
            lengths = np.linalg.norm(X, axis=1) * np.linalg.norm(x)
            near = np.divide(X @ x, lengths, out=np.zeros(len(X)), where=lengths > 0)
            near, rounding = np.round(near, 9), 1e-6
            close = np.maximum(near, 1e-9)
        else:
            squares = ((X - x) ** 2).sum(axis=1)
            last = np.sort(squares)[k - 1]
            rounding = 1e-11 * (3 * ((x - np.median(X, axis=0)) ** 2).sum() + 2 * last)
            near = -squares
            close = 1 / np.sqrt(np.maximum(squares, max(1e-18 * last, rounding, 2.3e-308)))
            close /= close.max()
        last = np.sort(near)[-k]
        closer, tied = near > last + rounding, np.abs(near - last) <= rounding
        member = closer + tied * (k - closer.sum()) / tied.sum()
        votes = member * close * counted
        v = votes @ Y / votes.sum()
        found.append((k * v + 2 * shares + 0.02) / (k + 2.04))
    return np.array(found)


def with_all_weights(blocks, X):
    """Each block fitted with each kind of weights: the kind, the labels, the weights, the block."""
    for kind, block in product(WEIGHTS, blocks):
        Y, weights = labels(len(X)), WEIGHTS[kind](len(X))
        yield kind, Y, weights, clone(block).fit(X, Y, weights)


def answers(blocks, X_new, folder):
    """Probabilities by the blocks themselves, by a model file, and by an ONNX file of all."""
    named = [(f"odds {k}", block) for k, block in enumerate(blocks)]
    # A file holds a classifier, and what comes before it.
    save_model(make_pipeline(FeatureUnion(named), blocks[0]), folder / "blocks")
    from multimargin.onnx.blocks import add_block
    from multimargin.onnx.graph import Given, Graph

    given = Given(X_new.shape[1], False)
    graph = Graph(given)
    outputs = {name: (add_block(graph, block, given), np.float64, 3) for name, block in named}
    content = graph.model(outputs, {"multimargin": "0"})
    session = onnxruntime.InferenceSession(content.SerializeToString())
    stored = load_model(folder / "blocks")[0].transformer_list
    exported = session.run([name for name, _ in named], {"X": X_new})
    for block, (_, again), odds in zip(blocks, stored, exported, strict=True):
        yield block.predict_proba(X_new), again.predict_proba(X_new), expit(odds)


@pytest.mark.parametrize("data", DATA)
def test_neighbours(tmp_path, data):
    X = DATA[data]
    X_new = np.vstack([X[::7], X[:2] + 0.5 * X.std(axis=0)])
    blocks = [LabelNeighbours(7, metric=metric) for metric in ("euclidean", "cosine")]
    fits = list(with_all_weights(blocks, X))
    every = answers([block for *_, block in fits], X_new, tmp_path)
    for (kind, Y, weights, block), found in zip(fits, every, strict=True):
        expected = neighbours_by_formula(block, X, Y, weights, X_new)
        for probabilities in found:
            with case(kind, block.metric):
                np.testing.assert_allclose(probabilities, expected, atol=1e-5)


@pytest.mark.parametrize("data", DATA)
def test_forests_and_logistic_regressions(tmp_path, data):
    X = DATA[data]
    blocks = [
        LabelForest(3, random_state=0),
        LabelBoosting(3, min_samples_leaf=2, random_state=0),
        LabelLogistic(),
        LabelLogistic(class_weight="balanced"),
        LabelDiscriminant(),
        LabelKernelRidge(),
    ]
    fits = list(with_all_weights(blocks, X))
    every = answers([block for *_, block in fits], X, tmp_path)
    for (kind, Y, weights, block), (own, stored, exported) in zip(fits, every, strict=True):
        with case(kind, block):
            is_forest = isinstance(block, LabelForest)
            assert np.isfinite(own).all()
            np.testing.assert_array_equal(stored, own)
            own = np.clip(own, 0.01, 0.99) if is_forest else own
            np.testing.assert_allclose(exported, own, atol=1e-6)
            if kind in ("none", "zeros") and not is_forest:
                rows = slice(None) if weights is None else weights > 0
                same = clone(block).fit(X[rows], Y[rows])
                np.testing.assert_allclose(same.predict_proba(X), own, atol=1e-6)


@pytest.mark.parametrize("data", ["copies", "grid", "constant", "one row", "zeros"])
def test_all_in_one_stack(tmp_path, data):
    X = DATA[data]
    Y = labels(len(X))
    blocks = [
        ("ranker", RankLSVM(kernel="linear", random_state=0)),
        ("neighbours", LabelNeighbours(5)),
        ("cosines", LabelNeighbours(5, metric="cosine")),
        ("forest", LabelForest(3, random_state=0)),
        ("boosting", LabelBoosting(3, min_samples_leaf=2, random_state=0)),
        ("linear", LabelLogistic()),
        ("kernel ridge", LabelKernelRidge()),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CalibratedClassifier(blocks, cv=2).fit(X, Y)
    onnx.export(model, tmp_path / "model.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "model.onnx")
    _, predicted, probabilities = session.run(["scores", "labels", "probabilities"], {"X": X})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-6)
    odds = logit(model.predict_proba(X))
    far = np.abs(odds - model.threshold_.value_) > 1e-5
    np.testing.assert_array_equal(predicted[far], model.predict(X)[far])

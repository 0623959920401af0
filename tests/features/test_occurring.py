"""Sparse features of which most columns are empty, as of words hashed to 2^20 columns."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from multimargin import (
    MLODM,
    MLRL,
    SSMLRL,
    CalibratedClassifier,
    LabelRankerCV,
    RankCVM,
    RankHLapSVM,
    RankLSVM,
    RankSVM,
    RankSVMz,
    explain,
    load_model,
    save_model,
)
from multimargin.blocks import LabelBoosting, LabelForest, LabelLogistic
from multimargin.features.occurring import occurring_columns
from multimargin.onnx import export

pytestmark = pytest.mark.filterwarnings("ignore")

N, D, Q, WIDE = 60, 30, 4, 50_000
random = np.random.default_rng(0)
FEW = sparse.random_array((N, D), density=0.3, rng=random, format="csr")
Y = (FEW @ random.normal(size=(D, Q)) + 0.5 * random.normal(size=(N, Q)) > 0.2).astype(int)
PLACES = np.sort(random.choice(WIDE, D, replace=False))
HASHED = sparse.csr_array((FEW.data, PLACES[FEW.indices], FEW.indptr), shape=(N, WIDE))

LINEAR = {"kernel": "linear", "random_state": 0, "threshold": 0.0}
MODELS = {
    **{method.__name__: method(**LINEAR) for method in (RankSVM, RankCVM, MLODM)},
    "zero label": RankSVMz(kernel="linear", random_state=0),
    "warm start": RankLSVM(**LINEAR | {"threshold": "scores"}, warm_start=True),
    "published": RankCVM(**LINEAR, solver="frank-wolfe"),
    "hypergraph": RankHLapSVM(**LINEAR),
    "no hypergraph": RankHLapSVM(**LINEAR, lam=0.0),
    "MLRL": MLRL(kernel="linear"),
    "SSMLRL": SSMLRL(kernel="linear"),
    "logistic": LabelLogistic(),
    "forest": LabelForest(5, random_state=0),
    "boosting": LabelBoosting(5, random_state=0),
    "stack": CalibratedClassifier([RankSVM(**LINEAR), LabelLogistic(), LabelForest(5)]),
}


def answers(model, X):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)
    return model.label_scores(X)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "stack"])
def test_models_are_those_of_the_columns_that_occur(name):
    one = clone(MODELS[name]).fit(FEW, Y)
    other = clone(MODELS[name]).fit(HASHED, Y)
    # Again, from where it was.
    if name == "warm start":
        one, other = one.fit(FEW, Y), other.fit(HASHED, Y)
    expected = answers(one, FEW)
    np.testing.assert_array_equal(answers(other, HASHED), expected)
    # New words have no part.
    new = sparse.csr_array(HASHED.toarray() + (np.arange(WIDE) == (PLACES[0] + 1) % WIDE))
    np.testing.assert_array_equal(answers(other, new), expected)
    np.testing.assert_array_equal(answers(other, new.toarray()[:3]).round(9), expected[:3].round(9))
    if name not in ("forest", "boosting"):
        assert other.coef_.shape == (Q, WIDE)
        np.testing.assert_array_equal(other.coef_[:, PLACES], one.coef_)
        assert np.count_nonzero(other.coef_) == np.count_nonzero(one.coef_)


@pytest.mark.parametrize("name", MODELS)
def test_copies_and_files_are_small_and_answer_alike(name, tmp_path):
    model = clone(MODELS[name]).fit(HASHED, Y)
    save_model(model, tmp_path / "it.model")
    assert (tmp_path / "it.model").stat().st_size < 2 * WIDE
    expected = answers(model, HASHED)
    for one in (
        load_model(tmp_path / "it.model"),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(answers(one, HASHED), expected)


def test_reasons_and_graphs_name_columns_of_all(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = LabelRankerCV([1.0], kernel="linear", stack=["forest", "balanced"], random_state=0)
    model.fit(HASHED, Y)
    reasons = explain(model, HASHED[:1], k=3)[0]
    assert {int(name) for one in reasons for name in one.features} <= set(PLACES.tolist())
    export(model, tmp_path / "it.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "it.onnx")
    rows = {session.get_inputs()[0].name: HASHED[:5].toarray()}
    (found,) = session.run(["probabilities"], rows)
    np.testing.assert_allclose(found, model.predict_proba(HASHED[:5]), atol=1e-6)


def test_weights_may_be_replaced():
    model = RankSVM(**LINEAR).fit(HASHED, Y)
    model.coef_ = np.ones((Q, WIDE))
    scores = model.label_scores(HASHED) - model.intercept_
    np.testing.assert_allclose(scores, HASHED.sum(axis=1)[:, None] * np.ones(Q))
    with pytest.raises(AttributeError, match="RankSVM has no weights of features"):
        _ = RankSVM(random_state=0).fit(FEW, Y).coef_


def test_when_columns_are_left_out():
    assert occurring_columns(FEW) is None
    assert occurring_columns(FEW.toarray()) is None
    assert occurring_columns(sparse.csr_array((3, 9))) is None
    np.testing.assert_array_equal(occurring_columns(HASHED), PLACES)
    np.testing.assert_array_equal(occurring_columns(sparse.csc_matrix(HASHED)), PLACES)

"""Thousands of labels: sparse storage, epochs without a certificate, best labels by blocks."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from multimargin import (
    MLODM,
    LabelRankerCV,
    RankSVM,
    UnknownLabelsWarning,
    _rust,
    explain,
    load_model,
    predict_names,
    predict_top,
    save_model,
)
from multimargin.estimators.pairwise import engine
from multimargin.estimators.pairwise.pair_weights import weights_of_pairs
from multimargin.inspection import names
from tests.support.certificates import objective
from tests.support.subsets import first_fast


def sparse_problem(seed, n, d, q, *, words=10, labels=4):
    """Rows of a few words, with labels that have words of their own."""
    random = np.random.default_rng(seed)
    topics = random.integers(0, d, size=(q, 6))
    relevant, places, values = [], [], []
    for _ in range(n):
        chosen = np.unique(random.zipf(1.4, size=random.integers(0, labels + 1)) % q)
        own = random.choice(topics[chosen].ravel(), size=words // 2) if chosen.size else []
        drawn = np.unique(np.concatenate([own, random.integers(0, d, size=words)]).astype(int))
        relevant.append(chosen)
        places.append(drawn)
        values.append(random.random(drawn.size) / np.sqrt(words))

    def rows(numbers, columns, width):
        starts = np.cumsum([0, *map(len, columns)], dtype=np.int32)
        joined = np.concatenate(columns, dtype=np.int32)
        return sparse.csr_array((numbers, joined, starts), shape=(n, width))

    X = rows(np.concatenate(values), places, d)
    return X, rows(np.ones(sum(map(len, relevant)), np.uint8), relevant, q)


def solved(X, Y, **options):
    options = {
        "c": 10.0,
        "loss": "hinge",
        "kernel_name": "linear",
        "bias": "penalized",
        "solver": "bcd",
        "tolerance": 1e-4,
        "max_epochs": 300,
        "seed": 3,
        **options,
    }
    features = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32), X.shape[1]
    found = _rust.solve_pairwise(np.ascontiguousarray(Y.toarray()), features, **options)
    return SimpleNamespace(**found)


def dense(matrix, shape):
    if not isinstance(matrix, tuple):
        return matrix
    indptr, indices, data = matrix
    assert np.all(data != 0.0)
    return sparse.csr_array((data, indices, indptr), shape=shape).toarray()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"bias": "none", "threads": 2},
        {"top": 3},
        {"loss": "optimal_margin", "theta": 0.2, "mu": 0.5},
        {"c": 1e4, "tolerance": 1e-6},
        {"max_epochs": 1},
        {"c": 1e-3},
        # With iterations on all blocks, which count as so many epochs.
        {"c": 1e3, "tolerance": 1e-9, "max_epochs": 600},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_storage_changes_no_bit(seed, options):
    slow = options.get("max_epochs") == 600
    X, Y = sparse_problem(seed, 120, 10, 8, words=5) if slow else sparse_problem(seed, 120, 80, 45)
    whole, compact = (solved(X, Y, storage=how, **options) for how in ("dense", "compact"))
    assert isinstance(compact.dual, tuple)
    np.testing.assert_array_equal(dense(compact.dual, Y.shape), whole.dual)
    np.testing.assert_array_equal(compact.weights, whole.weights)
    np.testing.assert_array_equal(compact.bias, whole.bias)
    for name in ("epoch", "primal", "dual"):
        np.testing.assert_array_equal(compact.history[name], whole.history[name])
    assert (compact.status, compact.gap) == (whole.status, whole.gap)
    assert not slow or np.diff(whole.history["epoch"]).max() > 1


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"top": 5},
        {"top": 2, "bias": "none", "threads": 2},
        {"c": 300.0},
        {"c": 50.0, "top": 5, "loss": "squared_hinge"},
        {"top": 5, "label_weights": np.linspace(0.2, 3.0, 300)},
    ],
)
def test_passes_over_the_hardest_labels_end_at_the_same_optimum(options):
    X, Y = sparse_problem(6, 150, 100, 300)
    unknown = np.random.default_rng(0).random(Y.shape) < 0.02
    Y = sparse.csr_array(np.where(unknown, 2, Y.toarray()).astype(np.uint8))
    short, compact, whole = (
        solved(X, Y, **options, **how, chains=1, tolerance=1e-8, max_epochs=3000)
        for how in ({}, {"storage": "compact"}, {"without": ["shortlists"]})
    )
    assert short.status == whole.status == "converged"
    assert short.primal == pytest.approx(whole.primal, rel=1e-7)
    np.testing.assert_array_equal(compact.weights, short.weights)
    # With one chain no step lowers the dual objective, before iterations on all blocks set in.
    duals = short.history["dual"][short.history["epoch"] < 40]
    assert np.all(np.diff(duals) >= -1e-9 * duals[-1])


def test_few_instances_that_hold_the_gap_take_no_more_epochs_than_in_passes_over_all_labels():
    """Sample weights or norms over several orders of magnitude."""
    for seed, C, scaled in ((0, 100.0, False), (1, 100.0, True)):
        random = np.random.default_rng(seed)
        X = sparse.random(300, 150, density=0.1, random_state=random, format="csr")
        Y = (random.random((300, 400)) < 0.01).astype(int)
        tail = random.lognormal(sigma=3.0, size=300)
        weights = None if scaled else tail
        X = X.multiply(tail[:, None]).tocsr() if scaled else X
        model = RankSVM(C=C, kernel="linear", bias="none", top_k=5, threshold=0.0, tol=1e-4)
        short, whole = (clone(model).fit(rows, Y, weights) for rows in (X, X.toarray()))
        assert short.status_ == whole.status_ == "converged"
        assert short.n_iter_ <= whole.n_iter_


def test_single_precision_is_certified_as_it_is_returned():
    """The bounds that are reported are those of the weights that are returned."""
    for seed, options in enumerate(
        [
            {},
            {"c": 1e3},
            {"top": 5, "bias": "none", "threads": 2, "tolerance": 1e-3, "c": 3e3},
            {"top": 5, "c": 1e3, "label_weights": np.linspace(0.2, 3.0, 300)},
            {"loss": "optimal_margin", "theta": 0.2, "mu": 0.5},
            {"max_epochs": 2},
        ]
    ):
        X, Y = sparse_problem(seed, 200, 120, 300, words=20)
        C, top = options.get("c", 10.0), options.get("top")
        pairs = weights_of_pairs(Y.toarray(), C, "balanced", top=top)
        # Weights in single precision have no leaps, which count for many epochs.
        options = {"bias": "penalized", "pair_weights": pairs, "without": ["leaps"], **options}
        single, whole = (solved(X, Y, storage=how, **options) for how in ("single", "compact"))
        assert single.weights.dtype == np.float32
        assert single.status == whole.status
        assert single.n_iter <= 1.1 * whole.n_iter + 1
        # The reported quadratic term by the weights returned, and by those of the dual matrix.
        W, B = single.weights.astype(float), dense(single.dual, Y.shape)
        bias = single.bias @ single.bias if options["bias"] == "penalized" else 0.0
        found, of_dual = (float((V**2).sum()) + bias for V in (W, X.T @ B))
        loss = {key: options[key] for key in ("loss", "theta", "mu", "top") if key in options}
        total = _rust.total_loss(
            Y.toarray(),
            X @ W + single.bias,
            pairs,
            **{"loss": "hinge", **loss},
            label_weights=options.get("label_weights"),
        )
        assert single.primal == pytest.approx(0.5 * found + total, rel=1e-8)
        # D = sum of the dual terms - |W|^2 / 2 is what it was, but for the rounding of W.
        assert found == pytest.approx(of_dual, rel=1e-8)
        assert single.dual_objective <= whole.primal * (1 + 1e-9)
        assert whole.dual_objective <= single.primal * (1 + 1e-9)


def test_what_single_precision_cannot_solve_is_in_double_precision():
    X, Y = sparse_problem(0, 60, 40, 12)
    kept = solved(X, Y, storage="single")
    assert kept.weights.dtype == np.float32
    for scale, options in (
        (1.0, {"tolerance": 9e-5}),
        (1.0, {"c": 1e6}),
        (1e30, {"c": 1e-60}),
        (1e-30, {"c": 1e60}),
    ):
        double = solved(scale * X, Y, storage="single", **options)
        assert double.weights.dtype == np.float64
    # The same problem, whose weights no float32 holds.
    scaled = solved(1e40 * X, Y, storage="single", c=1e-79)
    assert scaled.weights.dtype == np.float64


def test_what_has_no_compact_form_is_dense():
    X, Y = sparse_problem(0, 60, 40, 12)
    for options in ({"bias": "free"}, {"solver": "dcd"}):
        for storage in ("compact", "single"):
            assert isinstance(solved(X, Y, storage=storage, **options).dual, np.ndarray)
    with pytest.raises(ValueError, match="storage is \"sparse\", expected None, 'dense'"):
        solved(X, Y, storage="sparse")


@pytest.fixture
def all_single(monkeypatch):
    """Store all that may be so compactly and in single precision."""

    def solve(*arguments, storage, **options):
        return _rust.solve_pairwise(*arguments, storage=storage or "single", **options)

    monkeypatch.setattr(engine, "_rust", SimpleNamespace(solve_pairwise=solve))


@pytest.mark.parametrize(
    "model",
    [
        RankSVM(bias="penalized"),
        RankSVM(bias="none", threshold=0.1, top_k=3),
        RankSVM(bias="penalized", class_weight="sqrt", threshold="macro"),
        MLODM(threshold="count"),
    ],
    ids=repr,
)
def test_a_model_in_single_precision_is_the_same_but_for_rounding(
    model, all_single, monkeypatch, tmp_path
):
    model.set_params(C=5.0, kernel="linear", random_state=0)
    X, Y = sparse_problem(2, 150, 90, 30)
    single = clone(model).fit(X, Y)
    monkeypatch.undo()
    whole = clone(model).fit(X, Y)
    assert (single.coef_.dtype, whole.coef_.dtype) == (np.float32, np.float64)
    assert single.n_iter_ == whole.n_iter_
    assert single.objective_ == pytest.approx(whole.objective_, rel=1e-5)
    for rows in (X, X[:3].toarray()):
        own = X[: rows.shape[0]] @ single.coef_.T.astype(float) + single.intercept_
        np.testing.assert_allclose(single.label_scores(rows), own, atol=1e-12)
        np.testing.assert_allclose(single.label_scores(rows), whole.label_scores(rows), atol=1e-4)
    assert explain(single, X[:2], 3)[0].features == explain(whole, X[:2], 3)[0].features
    assert explain(single, None, 3).features == explain(whole, None, 3).features
    save_model(single, tmp_path / "tagger.model")
    again = load_model(tmp_path / "tagger.model")
    assert again.coef_.dtype == np.float32
    np.testing.assert_array_equal(again.decision_function(X), single.decision_function(X))


def test_warm_starts_are_dense(all_single):
    X, Y = sparse_problem(2, 80, 60, 12)
    model = RankSVM(C=5.0, kernel="linear", bias="penalized", warm_start=True).fit(X, Y)
    assert isinstance(model.dual_coef_, np.ndarray)
    assert model.fit(X, Y).status_ == "converged"


@pytest.mark.parametrize(("n", "d"), first_fast([(600, 400), (4300, 1500)], 1))
def test_two_thousand_labels(n, d):
    """Each epoch has a certificate, and that of the fit is that of the model."""
    q, C, k = 2000, 2.0, 5
    X, Y = sparse_problem(5, n, d, q, labels=3)
    model = RankSVM(C=C, kernel="linear", bias="penalized", threshold=0.0, random_state=0)
    model.fit(X, Y)
    seen = model.history_["epoch"]
    assert model.status_ == "converged"
    assert model.n_iter_ == seen[-1] == seen.size
    assert model.objective_ == pytest.approx(objective(model, X, Y.toarray()), rel=1e-9)
    assert 0.0 <= model.dual_gap_ <= 1e-3
    # The bounds of two fits hold each other's objectives.
    closer = RankSVM(C=C, kernel="linear", bias="penalized", threshold=0.0, tol=2e-4).fit(X, Y)
    assert model.dual_objective_ <= closer.objective_ * (1 + 1e-12)
    assert closer.dual_objective_ <= model.objective_
    labels, values = predict_top(model, X, k)
    scores = model.label_scores(X)
    np.testing.assert_array_equal(labels, np.argsort(-scores, axis=1, kind="stable")[:, :k])
    np.testing.assert_allclose(values, -np.sort(-scores, axis=1)[:, :k], atol=1e-12)


def test_sparse_labels_stay_sparse_and_change_no_bit(monkeypatch):
    """Any sparse format, with stored zeros, unknown labels and rows without pairs or weight."""

    def fitted(model, X, Y, weights):
        model = clone(model).set_params(random_state=0).fit(X, Y, sample_weight=weights)
        scores = model.decision_function(X)
        return [model.objective_, model.dual_gap_, model.n_iter_, model.intercept_, scores]

    models = [
        RankSVM(threshold=0.0, top_k=2),
        RankSVM(threshold=0.5, bias="none", kernel="rbf", gamma=1.0),
        RankSVM(threshold=0.0, bias="penalized", class_weight="balanced"),
        MLODM(threshold=0.0),
    ]
    for seed, make in enumerate((sparse.csr_matrix, sparse.csc_array, sparse.coo_array)):
        random = np.random.default_rng(seed)
        X, Y = sparse_problem(seed, 60, 40, (7, 30, 300)[seed])
        Y = Y.toarray().astype(float)
        Y[random.random(Y.shape) < 0.02] = np.nan if seed else 1.0
        Y[:2] = np.array([[0.0], [1.0]])
        rows, columns = np.nonzero((Y != 0) | (random.random(Y.shape) < 0.05))
        stored = make((Y[rows, columns], (rows, columns)), shape=Y.shape)
        kept = stored.copy()
        for model in models:
            # Sums over weights that are not whole numbers differ in the last bit.
            whole = model.class_weight is None
            weights = random.exponential(size=60) if whole and seed != 1 else None
            with warnings.catch_warnings(), monkeypatch.context() as patch:
                warnings.simplefilter("ignore", UnknownLabelsWarning)
                wanted = fitted(model, X, Y, weights)
                for kind in (sparse.csr_array, sparse.csr_matrix, make):
                    patch.setattr(kind, "toarray", None)
                found = fitted(model, X, stored, weights)
            for one, other in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(one, other)
        assert np.array_equal(stored.data, kept.data, equal_nan=True)


def test_damaged_sparse_labels_are_refused():
    X, _ = sparse_problem(0, 4, 6, 3)
    features = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32), X.shape[1]

    def ask(labels, starts, marks=(1, 1, 1, 1)):
        numbers = (np.array(part, dtype=np.int32) for part in (labels, starts))
        return _rust.solve_pairwise(
            (np.array(marks, dtype=np.uint8), *numbers, 3),
            features,
            c=1.0,
            loss="hinge",
            kernel_name="linear",
            bias="none",
            solver="bcd",
            tolerance=1e-4,
            max_epochs=9,
            seed=0,
        )

    assert ask([0, 1, 2, 0], [0, 1, 2, 3, 4])["status"] == "converged"
    for labels, starts in (
        ([0, 1, 3, 0], [0, 1, 2, 3, 4]),
        ([0, 1, -1, 0], [0, 1, 2, 3, 4]),
        ([1, 0, 2, 0], [0, 2, 2, 3, 4]),
        ([1, 1, 2, 0], [0, 2, 2, 3, 4]),
        ([0, 1, 2, 0], [0, 3, 2, 3, 4]),
        ([0, 1, 2, 0], [-1, 1, 2, 3, 4]),
        ([0, 1, 2, 0], [0, 1, 2, 3, 9]),
        ([0, 1, 2], [0, 1, 2, 3, 4]),
    ):
        with pytest.raises(ValueError, match=r"places that ascend|increasing indptr and indices"):
            ask(labels, starts)
    for starts, marks in (([], ()), ([0], ()), ([0, 1, 2, 3], (1, 1, 1)), ([0, 1, 2, 3, 4], (1,))):
        with pytest.raises(ValueError, match=r"Y has . rows|increasing indptr and indices"):
            ask([0, 1, 2, 0][: max(starts, default=0)], starts, marks)


@pytest.mark.parametrize("k", [1, 3, 30, 100])
def test_the_best_labels_by_blocks(k, monkeypatch):
    X, Y = sparse_problem(4, 70, 60, 30)
    model = RankSVM(kernel="linear", random_state=0).fit(X, Y)
    # Rows whose best labels are tied across the last place, to the bit.
    model.intercept_[:] = 0.0
    model.coef_[:] = model.coef_.round(9)
    X = sparse.vstack([X, sparse.csr_array((3, 60))], format="csr")
    whole = model.decision_function(X)
    monkeypatch.setattr(names, "_SCORES", 100)
    labels, values = predict_top(model, X, k)
    expected = np.argsort(-whole, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(labels, expected)
    np.testing.assert_allclose(values, np.take_along_axis(whole, expected, axis=1), atol=1e-12)
    assert predict_names(model, X, k=k) == expected.tolist()


def test_the_best_labels_of_texts_by_probability():
    texts = [f"{a} {b}" for a in ("plays", "edits", "shows") for b in ("audio", "photos")] * 4
    tags = [[word for word in text.split() if word != "shows"] for text in texts]
    tagger = make_pipeline(TfidfVectorizer(), LabelRankerCV([1.0], cv=2, random_state=0))
    tagger.fit(texts, tags)
    labels, values = predict_top(tagger, texts, 2)
    probabilities = tagger.predict_proba(texts)
    np.testing.assert_allclose(values, -np.sort(-probabilities, axis=1)[:, :2], atol=1e-12)
    assert labels.shape == (24, 2)
    with pytest.raises(ValueError, match="k is 0; expected an integer"):
        predict_top(tagger, texts, 0)
    one_class = RankSVM(kernel="linear").fit(np.eye(3), [0, 1, 2])
    with pytest.raises(ValueError, match="model predicts one class per row"):
        predict_top(one_class, np.eye(3))

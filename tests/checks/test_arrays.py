"""What the checks of arrays refuse, wherever arrays come in."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from multimargin import (
    LLSF,
    MLODM,
    MLRL,
    CalibratedClassifier,
    LabelRankerCV,
    RankCVM,
    RankHLapSVM,
    RankSVM,
    ThresholdedClassifier,
)
from multimargin.checks.arrays import check_readable, warn_of_other_order
from multimargin.checks.scores import check_scores
from multimargin.checks.storage import canonical
from multimargin.datasets import MultilabelData
from multimargin.kernels import Kernel, rust_matrix
from multimargin.measures import MEASURES, MORE_MEASURES
from multimargin.measures.label_scores import scores_of
from multimargin.methods import BASELINES, METHODS
from multimargin.targets.indicator import check_indicator
from multimargin.thresholds import FeaturesThreshold
from multimargin.tuning import MultilabelStratifiedKFold, stratified_train_test_split
from tests.support.cases import case
from tests.support.models import PAIRWISE
from tests.support.problems import noisy_linear_problem

X, Y = noisy_linear_problem(0, 30, 4, 3, noise=0.0, cut=0.0)

ESTIMATORS = [
    *(method() for method in PAIRWISE),
    RankSVM(kernel="linear"),
    RankSVM(threshold="features"),
    RankCVM(solver="frank-wolfe"),
    RankHLapSVM(kernel="linear"),
    MLRL(),
    LLSF(),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


def masked(array):
    return np.ma.array(array, mask=np.arange(array.size).reshape(array.shape) == 5)


def damaged(format, index):
    """A sparse matrix of 30 x 4 with one index changed behind SciPy's back."""
    matrix = sparse.csr_array(X).asformat(format)
    if format == "coo":
        matrix.coords[1][7] = index
    else:
        matrix.indices[7] = index
    return matrix


@every_estimator
def test_masked_arrays_are_refused_at_fit_and_at_prediction(estimator):
    with pytest.raises(ValueError, match="X has masked entries; expected a number everywhere"):
        estimator.fit(masked(X), Y)
    with pytest.raises((TypeError, ValueError), match="y has masked entries"):
        estimator.fit(X, masked(Y))
    estimator.fit(X, Y)
    for method in (estimator.predict, estimator.label_scores):
        with pytest.raises(ValueError, match="X has masked entries"):
            method(masked(X))


def test_an_array_whose_mask_hides_nothing_is_an_array():
    plain = RankSVM(random_state=0).fit(X, Y)
    with_mask = RankSVM(random_state=0).fit(np.ma.array(X, mask=False), Y)
    np.testing.assert_array_equal(plain.label_scores(X), with_mask.label_scores(np.ma.array(X)))


def test_masked_arrays_are_refused_wherever_arrays_come_in():
    with pytest.raises(ValueError, match="scores has masked entries"):
        check_scores(masked(X))
    with pytest.raises(ValueError, match="y has masked entries"):
        RankSVM().fit(X, masked(np.arange(30) % 3))
    with pytest.raises(ValueError, match="X has masked entries"):
        MultilabelData(X=masked(X), Y=Y)
    with pytest.raises(ValueError, match="X has masked entries"):
        FeaturesThreshold().fit(X[:, :3], Y, masked(X))


@every_estimator
def test_sparse_indices_outside_the_matrix_are_refused(estimator):
    estimator.fit(sparse.csr_array(X), Y)
    for format, index in product(("csr", "csc", "coo"), (30, -1, 2**30, -(2**31))):
        bad = damaged(format, index)
        for call in (
            estimator.predict,
            estimator.label_scores,
            lambda X: clone(estimator).fit(X, Y),
        ):
            with pytest.raises(ValueError, match=f"X has the sparse index {index}; expected indic"):
                call(bad)


def test_damaged_row_pointers_are_refused():
    for format, place, value in product(("csr", "csc", "bsr"), (0, 1, -1), (-3, 10**6)):
        matrix = sparse.csr_array(X).asformat(format)
        matrix.indptr[place] = value
        with case(format, place, value):
            with pytest.raises(ValueError, match="X has a damaged indptr"):
                check_readable(matrix)
            with pytest.raises(ValueError, match="y has a damaged indptr"):
                check_indicator(matrix, "y")


def test_every_sparse_format_passes_unsorted_and_repeated_indices_too():
    for format in ("csr", "csc", "bsr", "coo", "lil", "dok", "dia"):
        check_readable(sparse.csr_array(X).asformat(format))
        check_readable(sparse.csr_matrix(X).asformat(format))
    blocks = sparse.bsr_array(np.kron(np.eye(3), np.ones((2, 5))), blocksize=(2, 5))
    check_readable(blocks)
    indices, indptr = [3, 0, 3, 1], [0, 3, 4]
    repeated = sparse.csr_array(([1.0, 2.0, 4.0, 8.0], indices, indptr), shape=(2, 5))
    check_readable(repeated)
    dense = repeated.toarray()
    np.testing.assert_allclose(Kernel("linear").matrix(repeated), dense @ dense.T, rtol=1e-15)
    np.testing.assert_array_equal(repeated.indices, indices)
    assert rust_matrix(repeated)[3] == 5


RETURNS = {
    "missing values": (lambda A, B: np.full((len(A), len(B)), np.nan), ValueError, "infinite or"),
    "infinite values": (lambda A, B: np.full((len(A), len(B)), np.inf), ValueError, "infinite or"),
    "huge values": (lambda A, B: np.full((len(A), len(B)), 1e200), ValueError, "as large as 1e"),
    "another shape": (lambda A, B: np.ones((len(A), len(B) + 1)), ValueError, "shape"),
    "a number": (lambda A, B: 1.0, ValueError, "of shape"),
    "rows of different lengths": (lambda A, B: [[1.0], [1.0, 2.0]], ValueError, "lengths"),
    "complex numbers": (lambda A, B: np.ones((len(A), len(B)), complex), TypeError, "complex128"),
    "text": (lambda A, B: np.full((len(A), len(B)), "1"), TypeError, "<U1"),
    "nothing": (lambda A, B: None, TypeError, "object"),
    "a sparse matrix": (lambda A, B: sparse.csr_array(A @ B.T), TypeError, "sparse"),
    "a masked array": (lambda A, B: masked(A @ B.T), ValueError, "masked"),
}


@pytest.mark.parametrize(
    "estimator",
    [RankSVM(), RankCVM(solver="frank-wolfe"), RankHLapSVM(kernel="linear"), MLRL(), MLODM()],
    ids=str,
)
def test_what_a_kernel_function_returns_is_checked_at_fit_and_at_prediction(estimator):
    for function, kind, words in RETURNS.values():
        current = [lambda A, B: A @ B.T + 1.0]
        estimator.set_params(kernel=lambda A, B, current=current: current[0](A, B)).fit(X, Y)
        current[0] = function
        for call in (lambda: estimator.predict(X), lambda: estimator.fit(X, Y)):
            with pytest.raises(kind, match=words) as raised:
                call()
            assert "kernel returned" in str(raised.value)


def test_a_kernel_function_may_return_integers_and_float32():
    for kind in (np.float32, np.int64, bool):
        kernel = Kernel("precomputed", function=lambda A, B, kind=kind: np.ones((3, 3), kind))
        np.testing.assert_array_equal(kernel.matrix(X[:3]), np.ones((3, 3)))


def test_missing_values_and_text_get_the_advice_that_helps():
    with pytest.raises(ValueError, match=r"X is not .*contains NaN\. Fill in .* example\.$"):
        RankSVM().fit([[0.0, np.nan], [1.0, 2.0]], [[0, 1], [1, 0]])
    for text, shown in (("a b", r"'a b'\. "), ("a b " * 40, r"'[ab ]{30,}\.\.\.'\. ")):
        with pytest.raises(ValueError, match=f"X is not .*float: {shown}TfidfVectorizer makes .*"):
            RankSVM().fit([[text], [text]], [[0, 1], [1, 0]])


def in_pieces(matrix):
    """The same CSR matrix: entries in two halves, columns out of order, stored zeros, 64 bits."""
    indptr, indices, data = [0], [], []
    for row in matrix.toarray():
        columns = np.flatnonzero(row)[::-1]
        indices += [*columns, *columns[:1], 0]
        data += [*row[columns[:1]] / 2, *row[columns[1:]], *row[columns[:1]] / 2, 0.0]
        indptr.append(len(indices))
    same = matrix.copy()
    same.data = np.array(data)
    same.indices, same.indptr = (np.array(a, dtype=np.int64) for a in (indices, indptr))
    for flag in ("has_canonical_format", "has_sorted_indices"):
        # As after a change of the arrays: what it says of itself need not be true.
        setattr(same, flag, True)
    np.testing.assert_array_equal(same.toarray(), matrix.toarray())
    return same


def parts_of(matrix):
    return [np.array(part) for part in (matrix.data, matrix.indices, matrix.indptr)]


# Sparse in some columns and dense in others.
THIN = sparse.csr_array(np.where(np.abs(X) > 0.4, X, 0.0))
SETTINGS = {"Cs": [1.0], "top_k": None, "n_epochs": 2}
EVERY_METHOD = {**METHODS, **BASELINES}
# HistGradientBoostingClassifier takes no sparse rows.
SPARSE = sorted(EVERY_METHOD.keys() - {"ovr-boosting"})
BY_FOLDS = [
    ThresholdedClassifier(RankSVM(random_state=0, kernel="linear"), threshold="features", cv=2),
    CalibratedClassifier(RankSVM(random_state=0), cv=2),
]


def seeded(model):
    """A model with a seed, also in what is inside of it."""
    known = model.get_params()
    seeds = {name: 0 for name in known if name.split("__")[-1] == "random_state"}
    return model.set_params(**seeds, **{k: v for k, v in SETTINGS.items() if k in known})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "model", [*(EVERY_METHOD[name].make() for name in SPARSE), *BY_FOLDS], ids=str
)
def test_a_sparse_matrix_is_the_same_however_it_is_stored(model):
    model = seeded(model)
    plain = clone(model).fit(THIN, Y)
    expected = plain.predict(THIN), scores_of(plain, THIN, 3)[0]
    for kind in (sparse.csr_array, sparse.csr_matrix):
        pieces = in_pieces(kind(THIN))
        before = parts_of(pieces)
        for fitted in (plain, clone(model).fit(pieces, in_pieces(kind(Y.astype(float))))):
            for found, right in zip(
                (fitted.predict(pieces), scores_of(fitted, pieces, 3)[0]), expected, strict=True
            ):
                np.testing.assert_array_equal(found, right)
        for part, old in zip(parts_of(pieces), before, strict=True):
            assert part.dtype == old.dtype
            np.testing.assert_array_equal(part, old)


@pytest.mark.parametrize("model", [RankSVM(kernel="linear", random_state=0), *BY_FOLDS], ids=str)
def test_every_sparse_format_is_the_same_matrix(model):
    plain = clone(model).fit(THIN, Y)
    expected = plain.label_scores(THIN)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        for format in ("csc", "bsr", "coo", "lil", "dok", "dia"):
            with case(kind, format):
                other, labels = kind(THIN).asformat(format), kind(Y).asformat(format)
                np.testing.assert_array_equal(plain.label_scores(other), expected)
                fitted = clone(model).fit(other, labels)
                np.testing.assert_array_equal(fitted.label_scores(THIN), expected)


def test_measures_and_data_sets_take_a_sparse_matrix_however_it_is_stored():
    pieces, scores = in_pieces(sparse.csr_array(Y.astype(float))), X[:, :3]
    predicted = (scores > 0).astype(int)
    for measure in {**MEASURES, **MORE_MEASURES}.values():
        other = scores if measure.needs == "scores" else predicted
        assert measure.function(pieces, other) == measure.function(Y, other), measure.name
    data = MultilabelData(X=in_pieces(THIN), Y=pieces)
    np.testing.assert_array_equal(data.Y, Y)
    for part, right in zip(parts_of(data.X), parts_of(THIN), strict=True):
        np.testing.assert_array_equal(part, right)


def test_what_lies_behind_the_last_row_is_no_entry():
    longer = sparse.csr_array(np.eye(2, 3))
    longer.data, longer.indices = np.ones(5), np.zeros(5, dtype=int)
    assert canonical(longer).data.size == 2
    assert longer.data.size == 5


@pytest.fixture(scope="module")
def frames():
    """Features and labels, whose rows have names."""
    names = [f"row {number}" for number in range(len(X))]
    return pd.DataFrame(X, index=names), pd.DataFrame(Y, index=names)


PAIRS = [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
OTHER_ORDER = "y has another index than X, in row 0 'row 29' where X has 'row 0'; rows are matched"


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_y_in_another_order_are_told(method, frames):
    X, y = frames
    estimator = METHODS[method].make()
    with pytest.warns(UserWarning, match=OTHER_ORDER):
        estimator.fit(X, y[::-1])
    with pytest.warns(UserWarning, match=OTHER_ORDER):
        estimator.score(X, y[::-1])


@pytest.mark.parametrize(
    "call",
    [
        CalibratedClassifier(LLSF()).fit,
        ThresholdedClassifier(LLSF()).fit,
        stratified_train_test_split,
        lambda X, y: next(MultilabelStratifiedKFold().split(X, y)),
    ],
)
def test_rows_of_y_in_another_order_are_told_beside_fits(call, frames):
    X, y = frames
    with pytest.warns(UserWarning, match=OTHER_ORDER):
        call(X, y[::-1])


def test_weights_and_groups_in_another_order_are_told(frames):
    X, y = frames
    weights, groups = (pd.Series(np.arange(1, 31), index=X.index[::-1]) for _ in range(2))
    with pytest.warns(UserWarning, match="sample_weight has another index than X"):
        RankSVM().fit(X, y, sample_weight=weights)
    with pytest.warns(UserWarning, match="groups has another index than X"):
        LabelRankerCV([1.0], kernel="linear").fit(X, y, groups=groups)


@pytest.mark.parametrize(
    ("index", "other", "told"),
    [
        (range(4), [3, 2, 1, 0], True),
        # Of a part of the rows: made anew, or not.
        ([5, 2, 1, 7], range(4), False),
        ([5, 2, 1, 7], [2, 1, 5, 9], True),
        ([5, 2, 1, 7], [15, 12, 11, 7], False),
        (["a", "a", "b", "c"], ["c", "b", "a", "a"], False),
        (range(4), [0.0, 1.0, 2.0, 3.0], False),
        (pd.date_range("2024", periods=4), pd.date_range("2024", periods=4)[::-1], True),
        (pd.MultiIndex.from_tuples(PAIRS), pd.MultiIndex.from_tuples(PAIRS[::-1]), True),
        (pd.CategoricalIndex([*"abcd"]), pd.CategoricalIndex([*"dcba"]), True),
    ],
)
def test_indices_of_the_same_rows(index, other, told):
    X, y = pd.DataFrame(np.zeros((4, 1)), index=index), pd.Series(np.zeros(4), index=other)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_other_order(X, y=y)
    assert bool(found) == told

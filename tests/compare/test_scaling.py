import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier

from multimargin.compare.scaling import SCALINGS, scaled

X = np.array([[0.0, 4.0], [2.0, 0.0], [1.0, 2.0]])
EXPECTED = {
    "minmax": [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]],
    "standard": (X - X.mean(axis=0)) / X.std(axis=0),
    "unit": X / np.linalg.norm(X, axis=1, keepdims=True),
    "none": X,
}


@pytest.mark.parametrize("scaling", SCALINGS)
def test_dense(scaling: str) -> None:
    pipeline = scaled(DummyClassifier(), scaling, X).fit(X, [0, 1, 0])
    np.testing.assert_allclose(pipeline[:-1].transform(X), EXPECTED[scaling])


@pytest.mark.parametrize("scaling", SCALINGS)
def test_sparse_stays_sparse(scaling: str) -> None:
    rows = sparse.csr_array(X)
    pipeline = scaled(DummyClassifier(), scaling, rows).fit(rows, [0, 1, 0])
    found = pipeline[:-1].transform(rows)
    assert sparse.issparse(found)
    assert found.nnz == rows.nnz
    expected = X / X.std(axis=0) if scaling == "standard" else EXPECTED[scaling]
    np.testing.assert_allclose(found.toarray(), expected)


def test_learned_on_the_training_rows_alone() -> None:
    pipeline = scaled(DummyClassifier(), "minmax", X).fit(X[:2], [0, 1])
    np.testing.assert_allclose(pipeline[:-1].transform([[4.0, 8.0]]), [[2.0, 2.0]])


def test_unknown() -> None:
    with pytest.raises(ValueError, match=r"scaling is 'max'; expected one of 'minmax'"):
        scaled(DummyClassifier(), "max", X)

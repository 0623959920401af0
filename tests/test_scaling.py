import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from multimargin import RankSVM
from multimargin.scaling import SCALINGS, make_scaler, with_scaler

X = np.array([[0.0, -4.0, 2.0], [2.0, 0.0, 1.0], [6.0, 2.0, 2.0]])


UNIT = X / np.sqrt((X**2).sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("scaling", "of_dense", "of_sparse"),
    [
        ("minmax", [[0, 0, 1], [1 / 3, 2 / 3, 0], [1, 1, 1]], X / [6.0, 4.0, 2.0]),
        ("standard", (X - X.mean(axis=0)) / X.std(axis=0), X / X.std(axis=0)),
        ("unit", UNIT, UNIT),
    ],
)
def test_zeros_of_sparse_features_stay(scaling: str, of_dense: object, of_sparse: object) -> None:
    assert_allclose(make_scaler(scaling).fit_transform(X), of_dense)
    scaled = make_scaler(scaling, sparse=True).fit_transform(sparse.csr_array(X))
    assert scaled.nnz == np.count_nonzero(X)
    assert_allclose(scaled.toarray(), of_sparse)


def test_none() -> None:
    assert make_scaler("none") is None
    assert [name for name, _ in with_scaler(RankSVM(), "none").steps] == ["method"]
    assert SCALINGS == ("minmax", "standard", "unit", "none")


def test_the_pipeline_learns_from_the_rows_it_is_fitted_to() -> None:
    pipeline = with_scaler(RankSVM(), "minmax").set_params(method__C=4.0)
    pipeline.fit(X, [[1, 0], [0, 1], [1, 0]])
    assert pipeline[-1].C == 4.0
    assert pipeline[0].data_max_.tolist() == [6.0, 2.0, 2.0]


def test_unknown() -> None:
    with pytest.raises(ValueError, match="scale is 'maxmin'; expected one of 'minmax'"):
        make_scaler("maxmin")

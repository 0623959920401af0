import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from multimargin import LLSF, MLRL, RankSVM
from multimargin.scaling import SCALINGS, make_scaler, told_scales, with_scaler

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


def test_columns_on_other_scales_are_named() -> None:
    wide = X * [1e-3, 0.0, 7.0]
    of_two = r"differ in scale, from 0\.006 \(column 0\) to 14 \(column 2\): .*\.%s puts"
    for features, scaler in (
        (wide, "StandardScaler"),
        (sparse.csr_array(wide), "MaxAbsScaler"),
        (sparse.csr_matrix(wide), "MaxAbsScaler"),
    ):
        assert re.search(of_two % scaler, told_scales(features))
    assert "(column a)" in told_scales(wide, ["a", "b", "c"])
    for features in (X, np.zeros((2, 3)), sparse.csr_array((2, 3)), -X):
        assert told_scales(features) == ""


@pytest.mark.parametrize(
    "model",
    [MLRL(kernel="linear", tol=1e-12), RankSVM(kernel="linear", tol=1e-12), LLSF(tol=1e-12)],
)
def test_fits_that_end_above_the_tolerance_tell_of_columns_on_other_scales(model: Any) -> None:
    random = np.random.default_rng(0)
    features, Y = random.normal(size=(30, 3)), random.integers(0, 2, size=(30, 4))
    for factor, told in (([1, 1, 1], False), ([1e3, 1e-2, 1], True)):
        frame = pd.DataFrame(features * factor, columns=["size", "share", "count"])
        with pytest.warns(ConvergenceWarning) as caught:
            model.set_params(max_iter=1).fit(frame, Y)
        assert (
            bool(
                re.search(
                    r"\(column share\) to .*\(column size\)",
                    " ".join(str(one.message) for one in caught),
                )
            )
            == told
        )

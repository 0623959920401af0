"""Rows of unit length are the same, dense or sparse."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import normalize

from multimargin.features.lengths import unit_rows


@pytest.mark.parametrize("scale", [1e-100, 1e-20, 1.0, 1e100])
def test_unit_rows_are_the_same_however_short(scale):
    X = scale * np.random.default_rng(0).normal(size=(20, 5))
    X[3] = 0.0
    dense, of_sparse = unit_rows(X), unit_rows(sparse.csr_array(X)).toarray()
    np.testing.assert_allclose(dense, of_sparse, rtol=1e-12)
    lengths = np.linalg.norm(dense, axis=1)
    np.testing.assert_allclose(lengths, np.where(np.arange(20) == 3, 0.0, 1.0))
    if scale == 1.0:
        np.testing.assert_array_equal(dense, normalize(X))

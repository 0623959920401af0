"""Which share of some rows is among others."""

import numpy as np
import pytest
from scipy import sparse

from multimargin.datasets.row_hashes import share_among, smallest_hashes

X = np.random.default_rng(0).integers(0, 1000, (4000, 3)).astype(float)
X[:, 0] = np.arange(4000)


def framed(rows):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({"x": rows[:, 0], "name": [f"n{x}" for x in rows[:, 1]], "gap": np.nan})


@pytest.mark.parametrize("stored", [np.array, sparse.csr_array, framed])
def test_the_share_of_the_rows_that_are_among_others(stored):
    few = smallest_hashes(stored(X[:300]))
    assert share_among(few, stored(X[250:350])) == 0.5
    assert share_among(few, stored(X[300:])) == 0.0
    many = smallest_hashes(stored(X[:3000]))
    assert len(many) == 500
    assert share_among(many, stored(X[:3000])) == 1.0
    assert share_among(many, stored(X[3000:])) == 0.0
    # Some 500 of them say something: 4 standard deviations.
    assert share_among(many, stored(X)) == pytest.approx(0.75, abs=0.08)
    assert share_among((), stored(X)) is None

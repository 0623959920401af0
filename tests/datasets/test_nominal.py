"""Nominal attributes as features, against the definition cell by cell."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse

from multimargin.datasets._nominal import Attribute, feature_matrix

KINDS = (None, ("0", "1"), ("1", "0"), ("1",), ("0",), ("a", "b"), ("a", "b", "c"), tuple("abcdef"))


def expected_columns(values, attribute):
    declared = attribute.values
    if declared is None or set(declared) <= {"0", "1"}:
        numbers = [
            value if declared is None or np.isnan(value) else float(declared[int(value)])
            for value in values
        ]
        return [attribute.name], np.array(numbers)[:, None]
    if len(declared) == 2:
        return [attribute.name], values[:, None]
    one_hot = np.where(np.isnan(values), np.nan, 0.0)[:, None].repeat(len(declared), axis=1)
    for row in np.flatnonzero(~np.isnan(values)):
        one_hot[row, int(values[row])] = 1.0
    return [f"{attribute.name}={value}" for value in declared], one_hot


def test_attributes_of_every_kind_in_any_order():
    random = np.random.default_rng(0)
    for _ in range(60):
        n, m = random.integers(1, 7, size=2)
        kinds = [KINDS[k] for k in random.integers(len(KINDS), size=m)]
        attributes = [Attribute(f"a{k}", values) for k, values in enumerate(kinds)]
        values = np.column_stack(
            [
                random.normal(size=n).round(1)
                if kind is None
                else random.integers(len(kind), size=n)
                for kind in kinds
            ]
        ).astype(float)
        values[random.random(values.shape) < 0.2] = np.nan
        names, columns = zip(
            *(expected_columns(v, a) for v, a in zip(values.T, attributes, strict=True)),
            strict=True,
        )
        for stored in (values, sparse.csc_array(values)):
            X, found = feature_matrix(stored, attributes)
            assert found == [name for part in names for name in part]
            assert_array_equal(X.toarray() if sparse.issparse(X) else X, np.hstack(columns))
            assert not sparse.issparse(X) or X.has_canonical_format


def test_many_nominal_attributes():
    attributes = [Attribute(f"a{k}", ("x", "y", "z") if k % 2 else None) for k in range(20_000)]
    values = sparse.csc_array(([2.0, 1.0, 5.0], ([0, 1, 1], [1, 19_999, 4])), shape=(2, 20_000))
    X, names = feature_matrix(values, attributes)
    assert X.shape == (2, 40_000) == (2, len(names))
    # Two attributes have a value each; whatever a sparse row leaves out has its first value.
    assert X.nnz == 20_000 + 1
    assert names[3] == "a1=z"
    assert X[0, 3] == X[1, 39_998] == 1.0
    assert X[1, 4 // 2 * 4] == 5.0

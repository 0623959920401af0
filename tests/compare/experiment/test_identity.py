import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from multimargin import RankSVM
from multimargin.compare.experiment.identity import describe, fingerprint, identity


class TestDescribe:
    def test_estimators_inside_estimators(self) -> None:
        described = describe(OneVsRestClassifier(SVC(C=np.float64(2.0), degree=np.int64(4))))
        assert described["class"] == "OneVsRestClassifier"
        inner = described["parameters"]["estimator"]
        assert inner["class"] == "SVC"
        assert inner["parameters"]["C"] == 2.0
        assert json.loads(json.dumps(described)) == described

    @pytest.mark.parametrize("value", [float("inf"), float("nan"), np.bool_(True), (1, None), {}])
    def test_everything_fits_json(self, value: object) -> None:
        described = describe(value)
        assert json.loads(json.dumps(described, allow_nan=False)) == described

    def test_arrays_by_content(self) -> None:
        assert describe(np.arange(3)) == describe(np.arange(3))
        assert describe(np.arange(3)) != describe(np.arange(4))

    def test_functions_by_code(self) -> None:
        # A name alone would not tell these apart, and lambdas cannot be pickled.
        first, second = (lambda a, b: a @ b.T), (lambda a, b: 2 * a @ b.T)
        assert describe(first) == describe(first)
        assert describe(first) != describe(second)
        described = describe(RankSVM(kernel=first))
        assert described != describe(RankSVM(kernel=second))

    def test_what_cannot_be_pickled(self) -> None:
        with (
            open(__file__) as file,
            pytest.raises(TypeError, match=r"cannot be pickled; expected parameters that can"),
        ):
            describe({"log": file})


class TestFingerprint:
    def test_content_shape_type_and_storage_count(self) -> None:
        X = np.arange(6.0).reshape(2, 3)
        others = [X.astype(np.float32), X.reshape(3, 2), X + 1, sparse.csr_array(X)]
        assert fingerprint(X) == fingerprint(X.copy(order="F"))
        assert len({fingerprint(other) for other in [X, *others]}) == 5

    def test_sparse_position_counts(self) -> None:
        left, right = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
        assert fingerprint(sparse.csr_array(left)) != fingerprint(sparse.csr_array(right))


def test_identity_does_not_depend_on_the_order_of_keys() -> None:
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity({"a": 1, "b": 2}) != identity({"a": 2, "b": 1})

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from multimargin import RankSVM
from multimargin.compare.experiment.identity import describe, fingerprint, identity


def test_descriptions_are_json_and_tell_apart():
    nested = OneVsRestClassifier(SVC(C=np.float64(2.0), degree=np.int64(4)))
    described = describe(nested)
    assert described["class"] == "OneVsRestClassifier"
    inner = described["parameters"]["estimator"]
    assert (inner["class"], inner["parameters"]["C"]) == ("SVC", 2.0)
    for value in (nested, float("inf"), float("nan"), np.bool_(True), (1, None), {}):
        described = describe(value)
        assert json.loads(json.dumps(described, allow_nan=False)) == described
    assert describe(np.arange(3)) == describe(np.arange(3)) != describe(np.arange(4))
    # Functions by their code: a name would not tell these apart, and lambdas cannot be pickled.
    first, second = (lambda a, b: a @ b.T), (lambda a, b: 2 * a @ b.T)
    assert describe(first) == describe(first) != describe(second)
    assert describe(RankSVM(kernel=first)) != describe(RankSVM(kernel=second))
    message = r"cannot be pickled; expected parameters that can"
    with open(__file__) as file, pytest.raises(TypeError, match=message):
        describe({"log": file})


def test_fingerprints_are_of_content_shape_type_and_storage():
    X = np.arange(6.0).reshape(2, 3)
    others = [X.astype(np.float32), X.reshape(3, 2), X + 1, sparse.csr_array(X)]
    others.append(sparse.csr_array(X[:, ::-1]))  # the same values at other places
    assert fingerprint(X) == fingerprint(X.copy(order="F"))
    assert len({fingerprint(other) for other in [X, *others]}) == 6


def test_identity_does_not_depend_on_the_order_of_keys():
    assert identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})
    assert identity({"a": 1, "b": 2}) != identity({"a": 2, "b": 1})

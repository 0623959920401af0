"""What a fitted model keeps of its training rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from multimargin import MLRL, SSMLRL, RankSVM, RelationshipOptions
from multimargin.estimators.shared.kernel_expansion import takes_unknown_labels
from tests.support.models import PAIRWISE

ROWS = ("support_", "dual_coef_", "support_vectors_")
RELATIONSHIPS = [MLRL, SSMLRL]


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    return X, (X @ rng.standard_normal((4, 3)) > 0.3).astype(int)


@pytest.mark.parametrize("method", PAIRWISE)
def test_a_linear_model_is_its_weights(method: type, problem) -> None:
    X, Y = problem
    lean = method(C=1.0, kernel="linear", random_state=0).fit(X, Y)
    kept = method(C=1.0, kernel="linear", random_state=0, warm_start=True).fit(X, Y)
    assert not any(hasattr(lean, name) for name in ROWS)
    assert all(hasattr(kept, name) for name in ROWS)
    assert_array_equal(lean.decision_function(X), kept.decision_function(X))
    assert (lean.objective_, lean.dual_gap_) == (kept.objective_, kept.dual_gap_)
    # No row of X is in the file, whatever the attribute.
    assert X[0].tobytes() not in pickle.dumps(lean)
    assert len(pickle.dumps(lean)) < len(X.tobytes())


@pytest.mark.parametrize("method", PAIRWISE)
def test_a_model_with_a_kernel_needs_its_rows(method: type, problem) -> None:
    X, Y = problem
    model = method(kernel="rbf", random_state=0).fit(X, Y)
    assert all(hasattr(model, name) for name in ROWS)
    # Nothing is left of an earlier fit, in either direction.
    assert not hasattr(model.set_params(kernel="linear").fit(X, Y), "dual_coef_")
    assert not hasattr(model.set_params(kernel="rbf").fit(X, Y), "coef_")


@pytest.mark.parametrize("method", RELATIONSHIPS)
def test_relationships_of_a_linear_model_need_no_rows(method: type, problem) -> None:
    X, Y = problem
    Y = Y.copy()
    if method is SSMLRL:
        Y[120:] = -1
    lean = method(kernel="linear").fit(X, Y)
    kept = method(kernel="linear", options=RelationshipOptions(keep_rows=True)).fit(X, Y)
    names = (*ROWS, "dual_variables_", *(["labelled_"] if method is SSMLRL else []))
    assert not any(hasattr(lean, name) for name in names)
    assert all(hasattr(kept, name) for name in names)
    assert_array_equal(lean.label_scores(X), kept.label_scores(X))
    assert (lean.objective_, lean.dual_gap_) == (kept.objective_, kept.dual_gap_)
    model = method(kernel="rbf").fit(X, Y)
    assert all(hasattr(model, name) for name in names)
    assert not hasattr(model.set_params(kernel="linear").fit(X, Y), "dual_coef_")
    with pytest.raises(TypeError, match=r"options\.keep_rows is 1; expected True or False"):
        method(options=RelationshipOptions(keep_rows=1)).fit(X, Y)


def test_whether_labels_may_be_unknown_is_asked_of_the_last_step():
    for inner, expected in ((RankSVM(), True), (KNeighborsClassifier(), False)):
        pipeline = make_pipeline(MinMaxScaler(), inner)
        assert takes_unknown_labels(pipeline) == expected
        assert takes_unknown_labels(GridSearchCV(pipeline, {})) == expected

"""A fit that fails leaves the model that was there, whatever it had stored by then."""

import copy
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

from multimargin import (
    CalibratedClassifier,
    LabelRankerCV,
    LabelSpecificBinaryRelevance,
    LabelSpecificClassifierChain,
    RankLSVM,
    ThresholdedClassifier,
)
from multimargin.baselines import BPMLL, MLkNN
from multimargin.baselines.one_class_labels import WithOneClassLabels
from multimargin.blocks import (
    LabelBoosting,
    LabelDiscriminant,
    LabelForest,
    LabelKernelRidge,
    LabelLogistic,
    LabelNeighbours,
)
from multimargin.methods import METHODS
from multimargin.whole_fits import is_whole, whole_or_unchanged
from tests.support.problems import noisy_linear_problem

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

X, Y = noisy_linear_problem(0, 40, 4, 3, cut=0.3)
OTHER, Z = noisy_linear_problem(1, 40, 4, 3, cut=0.3)
inner = RankLSVM(kernel="linear", random_state=0)

ESTIMATORS = [
    # One of a single setting stands for the label ranker.
    *(method.estimator() for name, method in METHODS.items() if name != "label-ranker"),
    BPMLL(n_epochs=2, random_state=0),
    MLkNN(3),
    WithOneClassLabels(MultiOutputClassifier(LogisticRegression())),
    CalibratedClassifier(inner, cv=2),
    ThresholdedClassifier(inner, cv=2),
    LabelRankerCV([1.0], kernel="linear", loss="squared_hinge", cv=2, stack=["linear"]),
    LabelSpecificBinaryRelevance(),
    LabelSpecificClassifierChain(),
    LabelForest(2, random_state=0),
    LabelBoosting(2, random_state=0),
    LabelLogistic(),
    LabelDiscriminant(),
    LabelKernelRidge(),
    LabelNeighbours(3),
]


class _StopError(Exception):
    """What ends a fit."""


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_fit_that_fails_leaves_the_model_that_was_there(monkeypatch, model):
    model = copy.deepcopy(model)
    kind, assigned, last = type(model), [], [None]

    def assign(self, name, value):
        if self is model:
            assigned.append(name)
            if len(assigned) == last[0]:
                raise _StopError
        object.__setattr__(self, name, value)

    model.fit(X, Y)
    before, answer = dict(vars(model)), model.predict(X)
    monkeypatch.setattr(kind, "__setattr__", assign, raising=False)
    model.fit(OTHER, Z)
    count = len(assigned)
    assert count > 0
    vars(model).clear()
    vars(model).update(before)
    # Early, in the middle, and with all but the last stored.
    for place in sorted({1, 2, count // 2, count - 1, count} - {0}):
        assigned.clear()
        last[0] = place
        with pytest.raises(_StopError):
            model.fit(OTHER, Z)
        last[0] = None
        after = vars(model)
        assert after.keys() == before.keys()
        assert all(after[name] is before[name] for name in before)
        np.testing.assert_array_equal(model.predict(X), answer)


def test_what_ends_a_fit_whose_model_is_kept():
    class Model:
        @whole_or_unchanged
        def fit(self, error, keep):
            self.weights = "new"
            if keep:
                is_whole(self)
            raise error

    for error, keep, before in product(
        (KeyboardInterrupt(), ValueError()), (True, False), ({}, {"weights": "old", "bias": 0.0})
    ):
        model = Model()
        vars(model).update(before)
        with pytest.raises(type(error)):
            model.fit(error, keep)
        assert vars(model) == (before | {"weights": "new"} if keep else before)

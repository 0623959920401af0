"""Label powerset: each set of labels that occurs is a class.

Source: Boutell et al. 2004; named so by Tsoumakas & Katakis 2007.

Problem: a multi-class classifier whose classes are the label sets of the training rows; a row gets
the set with the largest decision value.

Defaults: a linear support vector machine, C = 1. The papers leave the classifier open.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.binary import check_classifier, classifier_or_default, fitted
from multimargin.decompositions import aside
from multimargin.targets.reading import Targets
from multimargin.typing import Features, Matrix


@dataclass(repr=False, eq=False)
class LabelPowerset(BaselineClassifier):
    """Label powerset: a multi-class classifier over the label sets of the training rows.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any multi-class classifier of scikit-learn with `decision_function` or `predict_proba`; None
        means libsvm with a linear kernel and C = 1, which pits all pairs of sets against each
        other: it is slow where there are many sets.

    Attributes
    ----------
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    label_sets_ : ndarray of shape (n_sets, q)
        The sets that occur in the training rows, the classes of the classifier.
    estimator_ : classifier or None
        The fitted classifier; None when there is one set.

    Notes
    -----
    Boutell et al. 2004. The score of a label is the largest decision value of a set
    with it, minus the largest of a set without it: it is positive for the labels of the best set,
    and tells how far the others are from it. A label that no training row has is ranked last, one
    that all have first. No set is predicted that was not in the training rows, but where two sets
    share the largest value their intersection is.

    Examples
    --------
    >>> from multimargin.baselines import LabelPowerset
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> LabelPowerset().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any = None

    def _check_parameters(self) -> None:
        check_classifier(self.estimator)

    def _fit(self, X: Features, targets: Targets) -> None:
        indicator = np.ascontiguousarray(targets.indicator)
        # As texts: where Ctrl-C comes while NumPy compares rows, it raises another error instead.
        rows = indicator.view(f"S{indicator.shape[1]}").ravel()
        _, first, codes = np.unique(rows, return_index=True, return_inverse=True)
        self.label_sets_ = indicator[first]
        self.estimator_ = None
        if len(self.label_sets_) > 1:
            self.estimator_ = fitted(classifier_or_default(self.estimator), X, codes)

    def _label_scores(self, X: Features) -> Matrix:
        values = self._values(X)
        members = self.label_sets_.astype(bool)
        scores = np.empty((X.shape[0], members.shape[1]))
        beyond = values.max(axis=1) - values.min(axis=1) + 1.0
        for k, member in enumerate(members.T):
            if member.all() or not member.any():
                scores[:, k] = beyond if member.all() else -beyond
            else:
                scores[:, k] = values[:, member].max(axis=1) - values[:, ~member].max(axis=1)
        return scores

    def _values(self, X: Features) -> Matrix:
        """Return the decision value of each set."""
        if self.estimator_ is None:
            return np.zeros((X.shape[0], 1))
        if not hasattr(self.estimator_, "decision_function"):
            return np.asarray(aside(self.estimator_.predict_proba, X), dtype=np.float64)
        values = np.asarray(aside(self.estimator_.decision_function, X), dtype=np.float64)
        return values if values.ndim == 2 else np.column_stack([-values / 2.0, values / 2.0])


def predicted_sets(model: LabelPowerset, X: Features) -> NDArray[np.bool_]:
    """Return the label sets that a fitted label powerset predicts for checked features."""
    return np.asarray(model._label_scores(X) > 0.0)

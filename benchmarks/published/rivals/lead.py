"""LEAD: a Bayesian network of the errors tells which labels a label is learned from.

Source: Zhang & Zhang 2010.

Problem: (1) one binary classifier a label on the features, whose errors e = y - prediction are in
{-1, 0, 1}; (2) the structure of a Bayesian network of the errors; (3) one binary classifier a label
on the features and the labels that are its parents in the network; (4) for a new row the labels are
predicted in the order of the network, each from the predictions of its parents.

Defaults: a linear support vector machine with C = 1; the BDeu score with equivalent sample size 1
and at most 3 parents. The paper searches the structure by the program Banjo; its settings are not
in public text.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.baselines.base import BaselineClassifier
from multimargin.baselines.binary import check_classifier, fit_all
from multimargin.checks.parameters import check_integer, check_real
from multimargin.estimators.label_specific import decision
from multimargin.targets.reading import Targets
from multimargin.typing import Matrix
from published.rivals.bayesian_network import learn_structure, topological_order


class LEAD(BaselineClassifier):
    """LEAD: label dependency by a Bayesian network of the errors.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any binary classifier of scikit-learn; None means libsvm with a linear kernel and C = 1.
    max_parents : int, default=3
        Largest number of labels that a label is learned from, at least 0.
    sample_size : float, default=1.0
        Equivalent sample size of the BDeu score, positive: larger ones give more edges.
    n_jobs : int, default=None
        Number of labels whose classifiers are fitted at once, by joblib.

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
    parents_ : list of tuple of int
        The labels that each label is learned from.
    order_ : list of int
        The labels, parents first.
    estimators_ : list of length q
        The fitted classifiers.

    Notes
    -----
    Zhang & Zhang 2010. The errors are those on the training rows: where the classifiers of step
    1 make none, there is nothing to learn a structure from, and LEAD is one classifier per label.

    Examples
    --------
    >>> from multimargin.baselines import LEAD
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> LEAD().fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        max_parents: int = 3,
        sample_size: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_parents = max_parents
        self.sample_size = sample_size
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_classifier(self.estimator)
        check_integer("max_parents", self.max_parents, at_least=0)
        check_real("sample_size", self.sample_size, above=0.0)

    def _fit(self, X: Any, targets: Targets) -> None:
        Y = targets.indicator
        alone = fit_all(self.estimator, ((X, y) for y in Y.T), self.n_jobs)
        predicted = np.column_stack([decision(classifier, X) > 0.0 for classifier in alone])
        errors = Y.astype(np.intp) - predicted
        self.parents_ = learn_structure(
            errors,
            max_parents=int(self.max_parents),
            sample_size=float(self.sample_size),
        )
        self.order_ = topological_order(self.parents_)
        self.estimators_ = list(alone)
        children = [k for k, family in enumerate(self.parents_) if family]
        refitted = fit_all(
            self.estimator,
            ((_with_columns(X, Y[:, list(self.parents_[k])]), Y[:, k]) for k in children),
            self.n_jobs,
        )
        for k, classifier in zip(children, refitted, strict=True):
            self.estimators_[k] = classifier

    def _label_scores(self, X: Any) -> Matrix:
        scores = np.zeros((X.shape[0], len(self.order_)))
        for k in self.order_:
            seen = scores[:, list(self.parents_[k])] > 0.0
            scores[:, k] = decision(self.estimators_[k], _with_columns(X, seen))
        return scores


def _with_columns(X: Any, columns: NDArray[Any]) -> Any:
    """Append columns of zeros and ones to features."""
    if columns.shape[1] == 0:
        return X
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(columns.astype(np.float64))], format="csr")
    return np.hstack([X, columns])

"""Binary classifiers on label-specific features: LLSF-BSVM, LLSF-CC and their relatives."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.svm import LinearSVC
from sklearn.utils.validation import has_fit_parameter

from multimargin.checks.parameters import is_estimator, job_count, random_state_of
from multimargin.decompositions import aside, one_at_a_time
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.estimators.llsf import LLSF
from multimargin.notices import warn
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike
from multimargin.whole_fits import whole_or_unchanged
from multimargin.workers import delayed


@dataclass(frozen=True)
class MajorityClass:
    """Replaces a classifier if there is nothing to learn from."""

    # Whether the label is relevant for more than half of the training rows, by weight
    relevant: bool

    def decision_function(self, X: Features) -> Matrix:
        """Return 1 for every row when the label is relevant, else -1."""
        return np.full(X.shape[0], 1.0 if self.relevant else -1.0)


# Squares of larger features overflow in LIBLINEAR's primal loop, which then never ends.
_LARGE = 1e50


def _default_classifier(X: Any) -> LinearSVC:
    """Return a linear classifier whose loop ends on these features.

    Its primal loop draws no random numbers.
    """
    values = X.data if sparse.issparse(X) else X
    large = max(values.max(initial=0.0), -values.min(initial=0.0)) > _LARGE
    return LinearSVC(dual=large, random_state=0)


class _LabelSpecificClassifier(MetaEstimatorMixin, LabelScoringClassifier):  # type: ignore[misc]
    """Base of the two strategies: one selector, one classifier per label."""

    estimator: Any
    selector: Any
    n_jobs: int | None

    def _label_order(self, q: int) -> NDArray[np.intp] | None:
        """Return the chain, None if the classifiers are independent."""
        raise NotImplementedError

    @whole_or_unchanged
    def fit(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> Self:
        """Select each label's features, then fit one classifier per label on them.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features. Sparse ones stay sparse.
        y : array-like, sparse matrix or data frame of shape (n, q), or array-like of shape (n,)
            Label indicator of 0 and 1, or one class per row, which is one-hot encoded and predicted
            by the largest score.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, not negative; selector and classifiers are fitted with these
            weights. A row of weight 0 is not there. None counts each row once.

        Raises
        ------
        TypeError
            If `estimator` or `selector` is none, or the latter does not say which features belong
            to which label, or one of them takes no `sample_weight` and there is one.

        Warns
        -----
        UserWarning
            Names the labels that fall back to their majority class.
        """
        for name, value in (("estimator", self.estimator), ("selector", self.selector)):
            if value is not None and not is_estimator(value):
                raise TypeError(f"{name} is {value!r}; expected None or an estimator with `fit`.")
        X, targets, weights = self._checked_data(X, y, sample_weight)
        indicator = targets.indicator
        n, q = indicator.shape
        jobs = job_count(self.n_jobs, q)
        order = self._label_order(q)

        selector = LLSF(alpha=0.5, beta=0.1) if self.selector is None else self.selector
        self.selector_ = _fit_one(clone(selector), X, indicator, weights)
        supports = _supports(self.selector_, q, X.shape[1])
        self.label_specific_features_ = supports

        counts = np.count_nonzero(indicator, axis=0)
        self.labels_with_one_class_ = np.flatnonzero((counts == 0) | (counts == n))
        self.labels_without_features_ = np.flatnonzero(~supports.any(axis=1))
        mostly_relevant = np.average(indicator, axis=0, weights=weights) > 0.5
        predecessors = _predecessors(q, order)
        classifier = _default_classifier(X) if self.estimator is None else self.estimator

        degenerate = {int(k) for k in self.labels_with_one_class_}
        degenerate |= {
            int(k) for k in self.labels_without_features_ if predecessors[int(k)].size == 0
        }
        learned = [k for k in range(q) if k not in degenerate]
        fitted = Parallel(n_jobs=jobs)(
            delayed(_fit_one)(
                clone(classifier),
                _label_features(X, supports[k], indicator[:, predecessors[k]]),
                indicator[:, k],
                weights,
            )
            for k in learned
        )
        of_label = dict(zip(learned, fitted, strict=True))
        self.estimators_ = [
            of_label[k] if k in of_label else MajorityClass(bool(mostly_relevant[k]))
            for k in range(q)
        ]
        self._store_targets(targets)
        if degenerate and self.multilabel_:
            self._warn(sorted(degenerate))
        return self

    def _warn(self, degenerate: list[int]) -> None:
        names = getattr(self, "label_names_in_", self.classes_)
        one_class = {int(k) for k in self.labels_with_one_class_}
        reasons = ", ".join(
            f"{names[k]} ({'one class' if k in one_class else 'no feature selected'})"
            for k in degenerate
        )
        warn(
            f"{len(degenerate)} of {len(names)} labels fall back to their majority class: "
            f"{reasons}. Expected both classes, and a selector that finds a feature."
        )

    def _label_scores(self, X: Features) -> Matrix:
        # The classifiers' decision function; the probability minus 1/2 where they have none; 1 or
        # -1 for labels that fall back to their majority class.
        q = len(self.estimators_)
        order = getattr(self, "order_", None)
        predecessors = _predecessors(q, order)
        scores = np.zeros((X.shape[0], q))
        for k in range(q) if order is None else order:
            predicted = (scores[:, predecessors[k]] > 0).astype(np.uint8)
            features = _label_features(X, self.label_specific_features_[k], predicted)
            scores[:, k] = decision(self.estimators_[k], features)
        return scores


@dataclass(repr=False, eq=False)
class LabelSpecificBinaryRelevance(_LabelSpecificClassifier):
    """One binary classifier per label, each on its own features (LLSF-BSVM).

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier; None means `sklearn.svm.LinearSVC`, by its primal loop, or
        by its dual one where features exceed 1e50.
    selector : estimator or None, default=None
        Fitted on (X, Y), it must offer the features of each label as
        ``label_specific_features_`` (boolean, shape (q, d)) or by ``get_support(label=k)``. None
        means `LLSF(alpha=0.5, beta=0.1)`, as in the paper.
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
    selector_ : estimator
        The fitted selector.
    label_specific_features_ : ndarray of shape (q, d), dtype bool
        Each label's features.
    estimators_ : list of length q
        The fitted classifiers, by label number; a `MajorityClass` for a label that falls back to
        it.
    labels_with_one_class_ : ndarray of int
        Labels that are relevant for all training rows or for none.
    labels_without_features_ : ndarray of int
        Labels for which the selector found nothing.

    Notes
    -----
    Huang et al. 2015, Algorithm 3. A label with one class or without features falls back to its
    majority class. The time of the selection is limited by ``selector=LLSF(max_time=...)``; that of
    the classifiers by their own parameters.

    Examples
    --------
    >>> from multimargin import LLSF, LabelSpecificBinaryRelevance
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = LabelSpecificBinaryRelevance(selector=LLSF(beta=10.0)).fit(X, Y)
    >>> model.predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any = None
    selector: Any = None
    n_jobs: int | None = None

    def _label_order(self, q: int) -> NDArray[np.intp] | None:
        return None


@dataclass(repr=False, eq=False)
class LabelSpecificClassifierChain(_LabelSpecificClassifier):
    """A classifier chain whose links use their label's own features (LLSF-CC).

    Each link is trained on its label's features and the true values of the labels before it in the
    chain; at prediction these are the predicted ones.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any scikit-learn classifier; None means `sklearn.svm.LinearSVC`, by its primal loop, or
        by its dual one where features exceed 1e50.
    selector : estimator or None, default=None
        Fitted on (X, Y), it must offer the features of each label as
        ``label_specific_features_`` (boolean, shape (q, d)) or by ``get_support(label=k)``. None
        means `LLSF(alpha=0.5, beta=0.1)`, as in the paper.
    order : "random" or array-like of shape (q,), default="random"
        The chain: a permutation of the label numbers.
    n_jobs : int, default=None
        Number of links fitted at once, by joblib.
    random_state : int, RandomState instance or None, default=None
        For a random order; an int makes it reproducible.

    Attributes
    ----------
    order_ : ndarray of shape (q,)
        The chain.
    classes_ : ndarray of shape (q,)
        Label numbers, or the classes of one-dimensional targets.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features d.
    selector_ : estimator
        The fitted selector.
    label_specific_features_ : ndarray of shape (q, d), dtype bool
        Each label's features.
    estimators_ : list of length q
        The fitted classifiers, by label number; a `MajorityClass` for a label that falls back to
        it.
    labels_with_one_class_ : ndarray of int
        Labels that are relevant for all training rows or for none.
    labels_without_features_ : ndarray of int
        Labels for which the selector found nothing.

    Notes
    -----
    Huang et al. 2015, Algorithm 3 and section IV-B. A label with one class falls back to its
    majority class; a label without features learns from the labels before it alone, and falls back
    only at the head of the chain.

    Examples
    --------
    >>> from multimargin import LLSF, LabelSpecificClassifierChain
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> chain = LabelSpecificClassifierChain(selector=LLSF(beta=10.0), random_state=0)
    >>> chain.fit(X, Y).predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any = None
    selector: Any = None
    order: str | ArrayLike = "random"
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None

    def _label_order(self, q: int) -> NDArray[np.intp] | None:
        is_random = isinstance(self.order, str) and self.order == "random"
        order = random_state_of(self.random_state).permutation(q) if is_random else self.order
        order = np.asarray(order)
        if order.shape != (q,) or not np.array_equal(np.sort(order), np.arange(q)):
            raise ValueError(
                f"order is {self.order!r}; expected 'random' or a permutation of 0..{q - 1}."
            )
        self.order_: NDArray[np.intp] = order.astype(np.intp)
        return self.order_


def _supports(selector: Any, q: int, d: int) -> NDArray[np.bool_]:
    """Return the features of each label that a fitted selector names."""
    if hasattr(selector, "label_specific_features_"):
        supports = np.asarray(selector.label_specific_features_)
    else:
        try:
            supports = np.asarray([selector.get_support(label=k) for k in range(q)])
        except (AttributeError, TypeError) as error:
            raise TypeError(
                f"selector is {selector!r}, which names no features for each label; expected "
                "one with label_specific_features_ or get_support(label=...) after fit."
            ) from error
    if supports.shape != (q, d) or supports.dtype != np.bool_:
        raise TypeError(
            f"selector names the features of labels by an array of shape {supports.shape} and "
            f"dtype {supports.dtype}; expected booleans of shape ({q}, {d})."
        )
    return supports


def _predecessors(q: int, order: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """Return the labels before each label in the chain."""
    none = np.empty(0, dtype=np.intp)
    chain = none if order is None else order
    before = [none] * q
    for place, k in enumerate(chain):
        before[k] = chain[:place]
    return before


def _label_features(X: Features, support: NDArray[np.bool_], labels: NDArray[np.uint8]) -> Any:
    own = X[:, np.flatnonzero(support)]
    if labels.shape[1] == 0:
        return own
    if sparse.issparse(own):
        return sparse.hstack([own, sparse.csr_array(labels.astype(np.float64))], format="csr")
    return np.hstack([own, labels])


def _fit_one(estimator: Any, X: Features, y: NDArray[np.uint8], weights: Matrix | None) -> Any:
    in_dual = isinstance(estimator, LinearSVC) and estimator.dual is not False
    fit = one_at_a_time(estimator.fit) if in_dual else estimator.fit
    if weights is None:
        return aside(fit, X, y)
    if not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(f"{type(estimator).__name__}.fit takes no sample_weight; expected None.")
    return aside(fit, X, y, sample_weight=weights)


def decision(classifier: BaseEstimator, X: Features) -> Matrix:
    """Return the decision values of a fitted binary classifier, positive for class 1."""
    if hasattr(classifier, "decision_function"):
        return np.asarray(aside(classifier.decision_function, X), dtype=np.float64)
    if hasattr(classifier, "predict_proba"):
        return np.asarray(classifier.predict_proba(X)[:, 1] - 0.5, dtype=np.float64)
    return np.asarray(classifier.predict(X), dtype=np.float64) - 0.5

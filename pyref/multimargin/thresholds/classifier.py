"""Any multi-label classifier with a threshold learned from out-of-fold scores."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from sklearn.utils import _safe_indexing

from multimargin.thresholds.base import Threshold, learn_threshold
from multimargin.thresholds.head import Head
from multimargin.thresholds.held_out import HeldOutClassifier, sliceable
from multimargin.thresholds.make import make_threshold


@dataclass(repr=False, eq=False)
class ThresholdedClassifier(HeldOutClassifier):
    """A multi-label classifier whose threshold is learned from out-of-fold scores.

    The classifier is fitted without each fold in turn and scores the rows of the fold; the
    threshold is learned from these scores. A model flatters the rows that it was trained on, so a
    threshold learned from their scores would not fit new rows. Then the classifier is fitted on all
    rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's (one-vs-rest, classifier chains, forests, neighbours, ...),
        pipelines and searches.
    threshold : {"labels", "count", "scores", "features", "f1", "auto"}, float or Threshold
        By default "labels". "auto" is "scores" up to 1,000 labels, and "f1" above; the other names
        stand for `LabelsThreshold`, `CountThreshold`, `ScoresThreshold`, `FeaturesThreshold` and
        `F1Threshold`, a number for a constant.
    cv : int, splitter or iterable of (train, test), default=5
        The folds; a number means `multimargin.tuning.MultilabelStratifiedKFold`, with `groups`
        scikit-learn's `GroupKFold`.
    response_method : {"auto", "label_scores", "decision_function", "predict_proba"}, default="auto"
        Scores to use; "auto" is the first that the classifier has, of a pipeline or a search the
        one that it ends with or found.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1.

    Attributes
    ----------
    estimator_ : estimator
        The classifier, fitted on all rows.
    threshold_ : Threshold
        The threshold, fitted on the out-of-fold scores.
    response_method_ : str
        Source of the scores: a value of `response_method`.
    classes_ : ndarray of shape (q,)
        Label numbers.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features, if the classifier tells.

    Notes
    -----
    The threshold is learned in units of the spread of the scores (the standard deviation over the
    labels, averaged over the rows), because scores of different models, probabilities, margins,
    distances, have different scales, and thresholds beyond the last score lie one unit beyond.
    Rows that are in no test fold take no part in the threshold, rows that are in several count as
    often. For one-dimensional targets of two classes there is
    `sklearn.model_selection.TunedThresholdClassifierCV`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from multimargin import ThresholdedClassifier
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = ThresholdedClassifier(KNeighborsClassifier(), threshold="labels").fit(X, Y)
    >>> model.predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any
    threshold: str | float | Threshold = "labels"
    _: KW_ONLY
    cv: Any = 5
    response_method: str = "auto"
    n_jobs: int | None = None

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **params: Any
    ) -> Self:
        make_threshold(self.threshold)
        X = sliceable(X)
        held_out = self._hold_out(X, y, sample_weight, groups, params)
        q = held_out.labels.shape[1]
        threshold = make_threshold(self.threshold, n_labels=q, random_state=0)
        learned = learn_threshold(
            threshold,
            held_out.blocks[0],
            held_out.labels,
            _safe_indexing(X, held_out.rows),
            held_out.sample_weight,
        )
        self.head_ = Head(None, learned, q)
        return self

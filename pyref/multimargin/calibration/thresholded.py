"""Any multi-label classifier with a threshold learned from out-of-fold scores."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut, HeldOutClassifier, Named
from multimargin.checks.parameters import check_flag
from multimargin.targets.empty_rows import share_of_empty_rows
from multimargin.targets.reading import Targets
from multimargin.thresholds.base import Threshold, spread
from multimargin.thresholds.make import make_threshold
from multimargin.typing import Folds, Matrix, MatrixLike


@dataclass(repr=False, eq=False)
class ThresholdedClassifier(HeldOutClassifier):
    """A multi-label classifier whose threshold is learned from out-of-fold scores.

    The classifier is fitted without each fold in turn and scores the rows of the fold; the
    threshold is learned from these scores. Scores of training rows are optimistic, so a threshold
    learned from them would not fit new rows. Then the classifier is fitted on all
    rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's (one-vs-rest, classifier chains, forests, neighbours, ...),
        pipelines and searches.
    threshold : {"macro", "micro", "samples", "count", "scores", "features", "auto"}, float or \
            Threshold, default="macro"
        "macro" is a `LabelsThreshold`, "micro" and "samples" an `F1Threshold`, the other names
        stand for `CountThreshold`, `ScoresThreshold` and `FeaturesThreshold`, a number for a
        constant. "auto" is "scores" or, where rows have no label, "features" up to 1,000 labels,
        and "micro" above.
    at_least_one : bool, default=False
        If True, the best label of a row is always predicted.
    cv : int, splitter or iterable of (train, test), default=3
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
        Number of features, if the classifier has it.

    Notes
    -----
    The threshold is learned in units of the spread of the scores (the standard deviation over the
    labels, averaged over the rows), because scores of different models, probabilities, margins,
    distances, have different scales, and thresholds beyond the last score lie one unit beyond.
    Rows that are in no test fold take no part in the threshold, rows that are in several count as
    often, but once for a threshold with a guarantee. For one-dimensional targets of two classes
    there is `sklearn.model_selection.TunedThresholdClassifierCV`.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from multimargin import ThresholdedClassifier
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = ThresholdedClassifier(KNeighborsClassifier(), threshold="macro").fit(X, Y)
    >>> model.predict(X_test).shape == Y_test.shape
    True
    """

    estimator: Any
    threshold: str | float | Threshold = "macro"
    _: KW_ONLY
    at_least_one: bool = False
    cv: Folds = 3
    response_method: str = "auto"
    n_jobs: int | None = None

    def fit_held_out(
        self, estimators: Named, held_out: HeldOut, targets: Targets, X: MatrixLike
    ) -> Matrix:
        """Learn the threshold from given held-out scores, and return these."""
        scores, q = held_out.blocks[0], targets.indicator.shape[1]
        threshold = None
        if targets.multilabel:
            unit = spread(scores, held_out.sample_weight)
            threshold = self._new_threshold(q, share_of_empty_rows(targets.indicator))
            threshold = held_out.learn(threshold, scores / unit, X, q).rescale(unit)
        self.take(estimators, Head(None, threshold, q, self.at_least_one), targets)
        return scores

    def _new_threshold(self, n_labels: int, empty: float = 0.0) -> Threshold:
        check_flag("at_least_one", self.at_least_one)
        return make_threshold(self.threshold, n_labels=n_labels, empty=empty, random_state=0)

"""Any multi-label classifier with probabilities calibrated on out-of-fold scores."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from multimargin.checks.parameters import check_choice
from multimargin.thresholds.base import spread
from multimargin.thresholds.held_out import HeldOutClassifier

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]

_METHODS = ("sigmoid", "isotonic")


class CalibratedClassifier(HeldOutClassifier):
    """A multi-label classifier with a probability for each label.

    The classifier is fitted without each fold in turn and scores the rows of the fold; for each
    label a function from its score to its probability is learned from these scores. Then the
    classifier is fitted on all rows.

    Parameters
    ----------
    estimator : estimator
        A multi-label classifier with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's, pipelines and searches.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        "sigmoid" is Platt's logistic function of the score, "isotonic" the best increasing one,
        which needs more rows (a thousand, say) and gives equal probabilities to many scores.
    cv : int, splitter or iterable of (train, test), default=5
        The folds, as in `ThresholdedClassifier`.
    response_method : {"auto", "label_scores", "decision_function", "predict_proba"}, default="auto"
        Which scores to take, as in `ThresholdedClassifier`.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1.

    Attributes
    ----------
    estimator_ : estimator
        The classifier, fitted on all rows.
    calibrators_ : list of q calibrators
        The function of each label: its ``predict`` takes scores to probabilities.
    response_method_ : str
        Where the scores come from.
    classes_ : ndarray of shape (q,)
        Label numbers.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features, if the classifier tells.

    Notes
    -----
    A ranking loss fixes the scores of a row among each other and not those of a label over the
    rows: a constant added to all scores of a row costs nothing. The calibration makes what it can
    of such scores; how good that is, a measure of probabilities (`sklearn.metrics.log_loss` or
    `brier_score_loss` of a column) on new rows tells. An increasing function keeps the ranking of
    the rows of a label, and changes that of the labels of a row.

    `sklearn.calibration.CalibratedClassifierCV` does this for one label or class; its calibrators
    are these: with fewer than ten rows, or rare labels, Platt's targets (N+ + 1)/(N+ + 2) and
    1/(N- + 2) keep "sigmoid" from probabilities of 0 and 1. Rows count by their weights; of unknown
    labels nothing is learned.

    Examples
    --------
    >>> from multimargin import CalibratedClassifier, RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = CalibratedClassifier(RankSVM(random_state=0), cv=3).fit(X, Y)
    >>> probabilities = model.predict_proba(X_test)
    >>> probabilities.shape == Y_test.shape
    True
    """

    def __init__(
        self,
        estimator: Any,
        method: str = "sigmoid",
        *,
        cv: Any = 5,
        response_method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.response_method = response_method
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the probabilities, and fit the classifier on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features, whatever the classifier takes.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1, q >= 2; NaN for unknown labels, if the classifier takes
            them.
        sample_weight : array-like of shape (n,), default=None
            How often each row counts, in the classifier's fits, which must take them, and for the
            probabilities. A pipeline hands them to its last step.

        Returns
        -------
        CalibratedClassifier
            The fitted estimator itself.

        Raises
        ------
        TypeError, ValueError
            If an argument or a parameter is malformed, or whatever the classifier raises.

        Warns
        -----
        UserWarning
            If labels have one value only in the held-out rows; one warning names them.
        """
        check_choice("method", self.method, _METHODS)
        held_out = self._hold_out(X, y, sample_weight)
        unit = spread(held_out.scores, held_out.sample_weight)
        scores, labels, weights = held_out.scores, held_out.labels, held_out.sample_weight
        counts = np.ones(len(scores)) if weights is None else weights
        self.calibrators_ = []
        constant = []
        for k in range(scores.shape[1]):
            rows = np.flatnonzero((counts > 0.0) & np.isin(labels[:, k], (0, 1)))
            relevant = labels[rows, k] == 1
            if relevant.all() or not relevant.any():
                constant.append(k)
            calibrate = _sigmoid if self.method == "sigmoid" else _isotonic
            self.calibrators_.append(calibrate(scores[rows, k], relevant, counts[rows], unit))
        if constant:
            names: Any = getattr(self, "label_names_in_", self.classes_)
            warnings.warn(
                "Labels with one value only in the held-out rows have a constant probability: "
                f"{', '.join(str(names[k]) for k in constant)}.",
                UserWarning,
                stacklevel=2,
            )
        return self

    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities that label k is relevant; they do not sum to 1.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        scores = self._scores(X)
        columns = zip(self.calibrators_, scores.T, strict=True)
        return np.column_stack([calibrator.predict(column) for calibrator, column in columns])

    def decision_function(self, X: Any) -> Matrix:
        """Return the probabilities less one half: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            p_k(x_i) - 1/2.

        Raises
        ------
        NotFittedError
            If the estimator is not fitted.
        """
        return self.predict_proba(X) - 0.5


class Sigmoid(BaseEstimator):  # type: ignore[misc]
    """A logistic function of the score.

    Parameters
    ----------
    slope, intercept : float
        The probability is 1 / (1 + exp(-slope * score - intercept)).
    """

    def __init__(self, slope: float, intercept: float) -> None:
        self.slope = slope
        self.intercept = intercept

    def predict(self, scores: Vector) -> Vector:
        """Return probabilities.

        Parameters
        ----------
        scores : ndarray of shape (n,)
            Scores of the label.

        Returns
        -------
        ndarray of shape (n,)
            Probabilities.
        """
        return np.asarray(expit(self.slope * scores + self.intercept))


def _sigmoid(scores: Vector, relevant: NDArray[np.bool_], counts: Vector, unit: float) -> Sigmoid:
    positive, negative = float(counts[relevant].sum()), float(counts[~relevant].sum())
    targets = np.where(relevant, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))
    if min(positive, negative) == 0.0:
        share = (positive + 1.0) / (positive + negative + 2.0)
        return Sigmoid(0.0, float(np.log(share / (1.0 - share))))
    # Each row is both: relevant by its target, irrelevant by the rest.
    column = np.concatenate([scores, scores])[:, None] / unit
    both = np.concatenate([np.ones(scores.size), np.zeros(scores.size)])
    weights = np.concatenate([counts * targets, counts * (1.0 - targets)])
    regression = LogisticRegression(C=np.inf, tol=1e-8, max_iter=10_000)
    regression.fit(column, both, sample_weight=weights)
    return Sigmoid(float(regression.coef_[0, 0]) / unit, float(regression.intercept_[0]))


def _isotonic(
    scores: Vector, relevant: NDArray[np.bool_], counts: Vector, unit: float
) -> IsotonicRegression:
    regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    if scores.size == 0:
        return regression.fit([0.0], [0.0])
    return regression.fit(scores, relevant.astype(np.float64), sample_weight=counts)

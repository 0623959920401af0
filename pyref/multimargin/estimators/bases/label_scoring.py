"""Base of all estimators: scores of labels, and predictions from them."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.weights import check_sample_weight, of_rows_that_count
from multimargin.estimators.fitting.certificate import without_rounding
from multimargin.estimators.fitting.report import Report
from multimargin.features.checked import TakesFeatures
from multimargin.measures.default_score import ExactMatch
from multimargin.measures.margins import pair_margins
from multimargin.targets.reading import Labels, Targets, read_targets
from multimargin.thresholds import over_labels
from multimargin.typing import Features, LabelsLike, Matrix, MatrixLike, Vector


class LabelScoringClassifier(ExactMatch, TakesFeatures):
    """Base of the estimators, which score labels and predict those above a threshold."""

    classes_: NDArray[Any]
    label_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def label_scores(self, X: MatrixLike) -> Matrix:
        """Return the scores f(x) of all labels, before any threshold.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features; for ``kernel="precomputed"`` the kernel with the training rows, (n, n_train).

        Returns
        -------
        ndarray of shape (n, q)
            f_k(x_i), relevant labels ranked first.
        """
        check_is_fitted(self)
        return self._label_scores(self._checked_features(X, reset=False))

    def margins(self, X: MatrixLike, y: LabelsLike) -> Matrix:
        """Return the margins f_m(x) - f_n(x) of all pairs of a relevant and an irrelevant label.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.
        y : array-like, sparse matrix or data frame of shape (n, q), or list of n lists of names
            Label indicator or classes, as in `fit`; columns of a data frame are found by name.

        Returns
        -------
        ndarray of shape (L,)
            The margins of the L pairs, by row, then by relevant, then by irrelevant label.

        Raises
        ------
        ValueError
            If `X` or `y` is malformed, or if they have different numbers of rows or labels.
        """
        scores = self.label_scores(X)
        targets = read_targets(y, labels=Labels.of(self))
        targets.warn_of_others()
        check_as_many_rows(targets.indicator, scores)
        return pair_margins(targets.indicator, scores)

    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the scores minus the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            f_k(x_i) - t(x_i) for labels, with t = 0 for methods without a threshold; f_k(x_i) for
            three or more classes; f_1(x_i) - f_0(x_i) for two classes. A threshold of its own for
            each label changes the ranking of the labels here; `label_scores` keeps it.
        """
        check_is_fitted(self)
        X = self._checked_features(X, reset=False)
        scores = self._label_scores(X)
        if self.multilabel_:
            if hasattr(self, "threshold_"):
                scores -= over_labels(self.threshold_.predict(scores, X))
        elif self.classes_.size == 2:
            return np.ascontiguousarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Predict the relevant labels, or the class.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features, as in `label_scores`.

        Returns
        -------
        ndarray of shape (n, q) or (n,)
            Label indicator (1 where the decision function is positive), or classes.
        """
        decision = self.decision_function(X)
        if self.multilabel_:
            return (decision > 0).astype(int)
        winners = (decision > 0).astype(int) if decision.ndim == 1 else decision.argmax(axis=1)
        predicted: NDArray[Any] = self.classes_[winners]
        return predicted

    def _checked_data(
        self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, Targets, Vector | None]:
        """Return features, targets and weights as a fit takes them, of the rows that count."""
        if y is None:
            validate_data(self, X, y)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        X = self._checked_features(X, reset=True)
        targets = read_targets(y)
        check_as_many_rows(targets.indicator, X)
        weights, X, indicator = of_rows_that_count(
            check_sample_weight(sample_weight, X.shape[0]), X, targets.indicator
        )
        return X, replace(targets, indicator=indicator), weights

    def _label_scores(self, X: Features) -> Matrix:
        """Return the scores of checked rows, in an array that the caller may change."""
        raise NotImplementedError

    def _store_targets(self, targets: Targets) -> None:
        targets.name_outputs(self)
        self.multilabel_ = targets.multilabel

    def _store_report(self, report: Report) -> None:
        report = without_rounding(report)
        self.n_iter_ = report.n_iter
        self.objective_ = report.primal
        self.dual_objective_ = report.dual_objective
        self.dual_gap_ = report.gap
        self.status_ = report.status
        self.history_ = report.history

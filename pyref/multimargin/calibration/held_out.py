"""Classifiers that learn from the scores of rows that their models have not seen."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn import get_config
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted

from multimargin.calibration.head import Head
from multimargin.calibration.on_folds import RESPONSES, OnFolds, block_of, weights_for
from multimargin.calibration.pairs import Listed
from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.names import listed
from multimargin.checks.parameters import check_choice, is_estimator, job_count
from multimargin.checks.weights import check_sample_weight
from multimargin.measures.default_score import ExactMatch
from multimargin.measures.label_scores import label_names_of, response_of
from multimargin.scikit_learn import check_method_params, safe_indexing
from multimargin.targets.indicator import UNKNOWN, check_indicator, with_nan
from multimargin.targets.reading import Targets, read_targets
from multimargin.thresholds.base import Threshold
from multimargin.tuning.counted import counted
from multimargin.tuning.folds import Rows, check_held_out, folds_of
from multimargin.typing import Folds, LabelsLike, Marks, Matrix, MatrixLike, is_sparse
from multimargin.whole_fits import whole_or_unchanged

Named = list[tuple[str, Any]]


@dataclass(frozen=True)
class HeldOut:
    """Held-out scores with their labels, weights and folds."""

    blocks: list[Matrix]  # (m, q) each: Scores of the rows of all folds by each model
    labels: NDArray[Any]  # (m, q): Their labels, NaN where they are unknown
    rows: Rows  # (m,): Their numbers among the rows of the fit
    sample_weight: Matrix | None  # (m,): Their weights
    folds: NDArray[np.intp]  # (m,): The number of the fold that held each out
    groups: NDArray[np.intp] | None = None  # (m,): The group of each, if there are some
    listed: Listed | None = None  # Which labels the scores are of, if not of all
    per_label: bool = True  # Whether a calibration has corrections for each label
    # How many labels a calibration learns from, if not all; scores of the others are features
    n_learned: int | None = None

    @classmethod
    def of(
        cls,
        blocks: list[Matrix],
        labels: Marks,
        sample_weight: Matrix | None,
        folds: Sequence[tuple[Rows, Rows]],
        groups: ArrayLike | None = None,
        n_learned: int | None = None,
    ) -> Self:
        """Return the scores of all folds with labels and weights, given those of all rows."""
        rows = np.concatenate([np.asarray(test) for _, test in folds])
        return cls(
            blocks,
            labels[rows],
            rows,
            None if sample_weight is None else sample_weight[rows],
            np.repeat(np.arange(len(folds)), [len(test) for _, test in folds]),
            None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1][rows],
            n_learned=n_learned,
        )

    def at(self, places: NDArray[np.intp]) -> "HeldOut":
        """Return the held-out scores of some places."""
        return HeldOut(
            [block[places] for block in self.blocks],
            self.labels[places],
            self.rows[places],
            None if self.sample_weight is None else self.sample_weight[places],
            self.folds[places],
            None if self.groups is None else self.groups[places],
            None if self.listed is None else self.listed.at(places),
            self.per_label,
            self.n_learned,
        )

    def indicator(self) -> NDArray[np.uint8]:
        """Return the labels (m, q) that a calibration learns from, with marks of unknown ones."""
        indicator = check_indicator(self.labels, "y", unknown=True)
        if self.n_learned is not None:
            indicator = indicator.copy()
            indicator[:, self.n_learned :] = UNKNOWN
        return indicator

    @property
    def is_mostly_empty(self) -> bool:
        """True if most rows have no label, and the label of empty rows is only a feature."""
        return self.n_learned is not None

    @property
    def units(self) -> NDArray[np.intp]:
        """The groups of the rows, or the rows themselves if there are none."""
        return self.rows if self.groups is None else self.groups

    def learn(
        self, threshold: Threshold, scores: Matrix, X: MatrixLike, n_labels: int
    ) -> Threshold:
        """Learn a threshold of the first labels from scores of the held-out rows of features X."""
        at = self._learned_by(threshold)
        weights = None if self.sample_weight is None else self.sample_weight[at]
        scores, labels = scores[at, :n_labels], self.labels[at, :n_labels]
        return threshold.fit(scores, labels, safe_indexing(X, self.rows[at]), weights)

    def _learned_by(self, threshold: Threshold) -> NDArray[np.intp]:
        """Return the places from which a threshold is learned."""
        places = np.arange(self.rows.size)
        if not threshold.exchangeable:
            return places
        drawn = np.random.RandomState(0).permutation(places)
        _, first = np.unique(self.units[drawn], return_index=True)
        return np.sort(drawn[first])


class HeldOutClassifier(MetaEstimatorMixin, ExactMatch, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the classifiers around others, which are fitted without each fold in turn."""

    estimator: Any
    at_least_one: bool
    cv: Folds
    response_method: str
    n_jobs: int | None
    head_: Head
    estimators_: Named
    response_methods_: list[str]
    classes_: NDArray[Any]
    multilabel_: bool
    # Whether probabilities are turned into logarithms of odds.
    _of_odds: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        with suppress(TypeError):
            _, first = named_estimators(self.estimator)[0]
            tags.input_tags = get_tags(first).input_tags
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of this classifier, for scikit-learn.

        Returns
        -------
        MetadataRouter
            `fit` passes `sample_weight` and others to each estimator's `fit`, and `groups` to the
            splitter.
        """
        router = MetadataRouter(owner=self).add_self_request(self)
        fit = MethodMapping().add(caller="fit", callee="fit")
        for name, estimator in named_estimators(self.estimator):
            router.add(**{name: estimator}, method_mapping=fit)
        if hasattr(self.cv, "split"):
            split = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=split)
        return router

    @property
    def estimator_(self) -> BaseEstimator:
        """The first classifier, fitted on all rows."""
        return self.estimators_[0][1]

    @property
    def response_method_(self) -> str:
        """Response method of the first classifier."""
        return self.response_methods_[0]

    @property
    def threshold_(self) -> Threshold | None:
        """The fitted threshold."""
        return self.head_.threshold

    @property
    def n_features_in_(self) -> int:
        """Number of features, if the classifier has it."""
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[np.generic]:
        """Names of the features, if the classifier was fitted to a data frame with such."""
        names: NDArray[Any] = self.estimator_.feature_names_in_
        return names

    def _hold_out(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None,
        groups: ArrayLike | None,
        params: Any,
    ) -> tuple[Named, HeldOut, Targets, MatrixLike]:
        """Return classifiers fitted on all rows that count, held-out scores, targets, features."""
        estimators = named_estimators(self.estimator)
        if len(estimators) > 1 and not self._of_odds:
            raise TypeError(
                "estimator is a list; expected one classifier: only CalibratedClassifier stacks."
            )
        check_choice("response_method", self.response_method, ("auto", *RESPONSES))
        warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
        targets = read_targets(y, unknown="take")
        if not targets.multilabel:
            raise ValueError(
                "y has one dimension; expected a label indicator of shape (n, q) (for two classes, "
                "use sklearn.model_selection.TunedThresholdClassifierCV or "
                "sklearn.calibration.CalibratedClassifierCV)."
            )
        check_label_names(estimators, targets)
        check_as_many_rows(targets.indicator, X)
        n, q = targets.indicator.shape
        weights = check_sample_weight(sample_weight, n)
        self._new_threshold(q).check(
            n_labels=q, sample_weight=weights, at_least_one=self.at_least_one
        )
        metadata = self._metadata(estimators, X, sample_weight, weights, groups, params)
        left = counted(X, targets, weights, groups, self.cv)
        if left.rows is not None:
            metadata = {
                name: check_method_params(X, own, left.rows) for name, own in metadata.items()
            }
        X, targets, weights, groups = left.X, left.targets, left.sample_weight, left.groups
        labels = with_nan(self._learned(targets.indicator))
        if labels.dtype.kind != "f":
            labels = labels.astype(int)
        folds = folds_of(left.cv, X, targets.strata, groups)
        check_held_out(folds, targets.indicator)
        jobs = job_count(self.n_jobs, len(folds))
        on_folds = OnFolds(X, labels, folds, self._asked(), self._of_odds, jobs)
        blocks, fitted_ones = [], []
        for name, estimator in estimators:
            scores, fitted = on_folds.fit(estimator, metadata[name])
            blocks.append(scores)
            fitted_ones.append((name, fitted))
        n_learned = self._n_learned(targets.indicator)
        held_out = HeldOut.of(blocks, labels, weights, folds, groups, n_learned)
        return fitted_ones, held_out, targets, X

    @abstractmethod
    def _new_threshold(self, n_labels: int) -> Threshold:
        """Return the threshold to be learned."""

    def _learned(self, indicator: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the labels that the classifiers learn."""
        return indicator

    def _n_learned(self, indicator: NDArray[np.uint8]) -> int | None:
        """Return the number of labels a calibration learns from, if not all."""
        return None

    def _asked(self) -> tuple[str, ...]:
        return RESPONSES if self.response_method == "auto" else (self.response_method,)

    def _metadata(
        self,
        estimators: Named,
        X: MatrixLike,
        given: Any,
        weights: Any,
        groups: ArrayLike | None,
        params: Any,
    ) -> dict[str, dict[str, Any]]:
        """Return the arguments of each classifier's fit besides X and y."""
        if get_config()["enable_metadata_routing"]:
            named = {"sample_weight": given, "groups": groups, **params}
            named = {key: value for key, value in named.items() if value is not None}
            routed = process_routing(self, "fit", **named)
            return {name: check_method_params(X, routed[name].fit) for name, _ in estimators}
        if params:
            raise TypeError(
                f"fit is given {', '.join(sorted(params))}; expected only sample_weight and "
                "groups, unless metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        return {name: weights_for(estimator, weights) for name, estimator in estimators}

    @whole_or_unchanged
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Learn from held-out scores, and fit the classifiers on all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features, whatever the classifiers take.
        y : array-like, sparse matrix or data frame of shape (n, q)
            Label indicator of 0 and 1, q >= 2; NaN for unknown labels, if the classifiers take
            them.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows in the classifiers' fits, which must take them, and in what is
            learned from the scores. A pipeline passes them to its last step. Rows of weight 0 are
            left out; a splitter and pairs of row numbers are of all rows.
        groups : array-like of shape (n,), default=None
            Rows of one group stay in one fold.
        **params : dict
            With scikit-learn's metadata routing enabled, what else the classifiers' fits request.
        """
        X = _sliceable(X)
        self.fit_held_out(*self._hold_out(X, y, sample_weight, groups, params))
        return self

    @abstractmethod
    def fit_held_out(
        self, estimators: Named, held_out: HeldOut, targets: Targets, X: MatrixLike
    ) -> Matrix:
        """Learn from held-out scores that are there, of fitted classifiers; return their odds."""

    def label_scores(self, X: MatrixLike) -> Matrix:
        """Return a score of each label, before the threshold.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Those of the classifier, or log(p / (1 - p)) of a calibrated one; relevant labels are
            ranked first.
        """
        blocks = self._blocks(X)
        return self.head_.label_scores(blocks)

    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the label scores less the threshold: positive for the labels that are predicted.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            Scores less the threshold. One for each label changes the ranking of the labels here;
            `label_scores` keeps it. The scores of three classes or more; of two their difference,
            or the logarithm of the ratio of their probabilities.
        """
        blocks = self._blocks(X)
        decision = self.head_.decision_function(blocks, X)
        if not self.multilabel_ and self.classes_.size == 2:
            # Odds of two classes, unlike their probabilities, need not rank rows by one of them.
            decision = log_expit(decision) if self._of_odds else decision
            return np.ascontiguousarray(decision[:, 1] - decision[:, 0])
        return decision

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Predict the relevant labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q) or (n,)
            1 where the decision function is positive, else 0; or the best class.
        """
        blocks = self._blocks(X)
        predicted = self.head_.predict(blocks, X)
        if self.multilabel_:
            return predicted
        classes: NDArray[Any] = self.classes_[predicted.argmax(axis=1)]
        return classes

    def take(self, estimators: Named, head: Head, targets: Targets) -> None:
        """Store fitted classifiers, and the head that turns their scores into label sets."""
        self.estimators_, self.head_, self.multilabel_ = estimators, head, targets.multilabel
        self.response_methods_ = [response_of(one, self._asked()) for _, one in estimators]
        targets.name_outputs(self)

    def _blocks(self, X: MatrixLike) -> list[Matrix]:
        check_is_fitted(self)
        return [
            block_of(estimator, response, X, self._of_odds)
            for (_, estimator), response in zip(
                self.estimators_, self.response_methods_, strict=True
            )
        ]


def named_estimators(estimator: BaseEstimator | Named, parameter: str = "estimator") -> Named:
    """Return the classifiers of a parameter with their names: one, or a list."""
    if is_estimator(estimator):
        estimator = [estimator]
    found: Named = []
    if isinstance(estimator, list | tuple):
        pairs = [isinstance(one, list | tuple) and len(one) == 2 for one in estimator]
        if all(pairs):
            found = [(name, one) for name, one in estimator]
        elif not any(pairs):
            found = make_pipeline(*estimator).steps
    names = [name for name, _ in found]
    if (
        not found
        or len(set(names)) < len(names)
        or not all(isinstance(name, str) and is_estimator(one) for name, one in found)
    ):
        raise TypeError(
            f"{parameter} is {estimator!r}; expected a classifier with `fit`, or a list of "
            "classifiers or of pairs of a unique name and a classifier."
        )
    return found


def check_label_names(estimators: Named, targets: Targets) -> None:
    """Refuse frozen classifiers that were fitted to other labels, or in another order."""
    if targets.label_names is None:
        return
    found = targets.label_names.tolist()
    for name, estimator in estimators:
        # What others have learned before does not count.
        names = label_names_of(clone(estimator))
        if names is not None and (expected := names.tolist()) != found:
            raise ValueError(
                f"y has the labels {listed(found)}; expected those that {name!r} was fitted to, in "
                f"its order: {listed(expected)}."
            )


def _sliceable(X: MatrixLike) -> MatrixLike:
    """Return features in a format that can be indexed by rows, unlike some sparse ones."""
    return X.tocsr() if is_sparse(X) else X

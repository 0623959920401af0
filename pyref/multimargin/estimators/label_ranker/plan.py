"""The plan of a fit: its settings, what judges them, what is stacked, and what learns from it."""

from typing import Any

import numpy as np
from sklearn.base import clone

from multimargin.blocks import blocks_of
from multimargin.blocks.by_name import Data, lifts
from multimargin.blocks.stack import Effort, Stack
from multimargin.calibration import CalibratedClassifier, ThresholdedClassifier
from multimargin.calibration.calibrated import make_odds_threshold
from multimargin.calibration.held_out import Named
from multimargin.estimators.label_ranker.judging import Judge
from multimargin.estimators.label_ranker.search import Search
from multimargin.estimators.label_ranker.settings import (
    Cs_of,
    Grid,
    class_weights_of,
    gammas_of,
    is_auto,
    kernels_of,
    losses_of,
    top_ks_of,
)
from multimargin.estimators.label_ranker.task import Fold, Task
from multimargin.measures.scorers import scorer_of
from multimargin.thresholds import Threshold, make_threshold

# Of `max_time`, what the first epochs of "rbf" may take.
_SHARE_OF_RBF = 0.5
# What "auto" measures where rows have labels.
WITHIN_ROWS, _ACROSS_ROWS = "ranking_average_precision", "micro_average_precision"


def threshold_of(model: Any) -> Threshold:
    """Return the threshold that the parameters of a `LabelRankerCV` mean."""
    if not model.calibration and not isinstance(model.threshold, str | Threshold):
        return make_threshold(model.threshold)
    return make_odds_threshold(model.threshold)


class Plan:
    """A fit by the scores of all labels, as the parameters of a `LabelRankerCV` state it."""

    def __init__(self, model: Any, task: Task) -> None:
        self.model, self.task = model, task

    @property
    def scoring(self) -> Any:
        """The measure to select by."""
        if not is_auto(self.model.scoring):
            return self.model.scoring
        return _ACROSS_ROWS if self.task.has_many_empty else WITHIN_ROWS

    def judge(self, folds: list[Fold]) -> Any:
        """Return what judges settings by the scores of the rows that the folds hold out."""
        multilabel = self.task.targets.multilabel
        return Judge(
            self.task,
            folds,
            scorer=scorer_of(self.scoring),
            make_threshold=(lambda: threshold_of(self.model)) if multilabel else None,
            at_least_one=self.model.at_least_one,
            calibration=self.model.calibration,
        )

    def grid(self, X: Any) -> Grid:
        """Return the settings of a view among which the search selects."""
        model, task = self.model, self.task
        n_labels = task.targets.indicator.shape[1]
        seconds = np.inf if model.max_time is None else _SHARE_OF_RBF * model.max_time
        kernels = kernels_of(model.kernel, X, n_labels, seconds / len(task.parts))
        return Grid(
            losses_of(model.loss, task),
            kernels,
            gammas_of(model.gamma, X, kernels[0]),
            class_weights_of(model.class_weight, task),
            top_ks_of(model.top_k, n_labels),
            Cs_of(model.Cs),
        )

    def blocks(self, X: Any) -> tuple[Named, dict[str, str]]:
        """Return the blocks of a view, and those left out with the reason."""
        if not self.model.calibration and is_auto(self.model.stack):
            return [], {}
        full = self.model.stack == "full"
        data = Data(X, self.task.labels.shape[1], self.task.seed, full)
        return blocks_of(self.model.stack, data)

    def stack(self, X: Any, search: Search, effort: Effort) -> Stack:
        """Return what fits the blocks of a view on the folds."""
        return Stack(X, self.task.labels, self.task.sample_weight, self.task.folds, effort)

    def lift(self) -> tuple[bool, dict[str, str]]:
        """Return whether the calibration has a lift, and why it is left out."""
        targets = self.task.targets
        if not self.model.calibration or not targets.multilabel:
            return False, {}
        return lifts(self.model.stack, targets.indicator.shape[1])

    def learner(self, estimators: Named, *, lifted: bool) -> Any:
        """Return what is to learn calibration and threshold from held-out scores."""
        model, unfitted = self.model, unfitted_of(estimators)
        shared = {"at_least_one": model.at_least_one, "cv": model.cv}
        if not model.calibration:
            return ThresholdedClassifier(unfitted[0][1], threshold_of(model), **shared)
        return CalibratedClassifier(
            unfitted, model.threshold, lift=lifted, empty_label=self.task.empty_label, **shared
        )


def unfitted_of(estimators: Named) -> Named:
    """Return clones of classifiers."""
    return [(name, clone(estimator)) for name, estimator in estimators]

"""Fits on the best labels of each row, if scores of all would not fit into memory."""

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from multimargin.calibration.held_out import HeldOut, Named
from multimargin.calibration.shortlists import HeldOutLists, ShortlistClassifier, Shortlists
from multimargin.estimators.label_ranker.fit import Fit, unfitted_of
from multimargin.estimators.label_ranker.judging import Judge
from multimargin.estimators.label_ranker.settings import Grid
from multimargin.estimators.label_ranker.task import Fold
from multimargin.targets.reading import Targets
from multimargin.typing import Features, Matrix

MOST_SCORES = 2**26
"""Pairs of a row and a label up to which scores of all labels are held."""
SCORING = "precision_at_5"
"""The measure to select by: it needs the best labels of a row alone."""
# The parameters supported here.
_TAKEN: dict[str, list[Any]] = {
    "kernel": ["auto", "linear"],
    "loss": ["auto", "hinge", ["hinge"]],
    "scoring": ["auto", SCORING],
    "threshold": ["micro", "samples"],
    "stack": [None, "auto", "full", ["neighbours"]],
    "views": ["auto", None],
    "calibration": [True],
}


def needs_shortlists(targets: Targets) -> bool:
    """Return whether there are too many rows and labels for the scores of all."""
    return math.prod(targets.indicator.shape) > MOST_SCORES


def check_for_shortlists(model: BaseEstimator, targets: Targets) -> None:
    """Refuse parameters of a search that need the scores of all labels, or kernels."""
    n, q = targets.indicator.shape
    for name, taken in _TAKEN.items():
        value = getattr(model, name)
        is_number = name == "threshold" and isinstance(value, Real)
        if not is_number and (list(value) if isinstance(value, tuple) else value) not in taken:
            expected = " or ".join(map(repr, taken))
            or_number = " or a probability" if name == "threshold" else ""
            raise ValueError(
                f"{name} is {value!r}; expected {expected}{or_number}: y has {n} rows x {q} "
                f"labels, more than {MOST_SCORES} pairs, of which the best labels of each row are "
                "calibrated."
            )
    if not targets.multilabel:
        raise ValueError(
            f"y has one class for each of {n} rows, {q} classes in all, more than {MOST_SCORES} "
            "pairs; expected labels, or fewer: RankSVM(kernel='linear', bias='penalized', "
            "top_k=20) takes that many classes."
        )


class ShortlistFit(Fit):
    """A fit on the best labels of each row."""

    listed = True

    @property
    def scoring(self) -> str:
        """The measure to select by."""
        return SCORING

    def _judge(self, folds: list[Fold]) -> Judge:
        return JudgeOfLists(self.model, self.task, folds, self.scoring)

    def _grid(self, X: Features) -> Grid:
        """Return the settings to select from, which differ in C only."""
        of_all = super()._grid(X)
        first = {name: getattr(of_all, name)[:1] for name in ("class_weights", "top_ks")}
        return replace(of_all, losses=("hinge",), **first)

    def _learner(self, classifiers: Named, *, lifted: bool) -> ShortlistClassifier:
        """Return the unfitted classifier that calibrates held-out scores and sets the threshold."""
        model = self.model
        return ShortlistClassifier(
            unfitted_of(classifiers),
            model.threshold,
            at_least_one=model.at_least_one,
            empty_label=self.task.empty_label,
            cv=model.cv,
        )

    def _weighed(self, stack: Any, held_out: Any) -> HeldOut:
        """Return the held-out scores that a learned calibration weighs."""
        if stack.stacked_:
            return super()._weighed(stack, held_out)
        reason = "the ranker alone is as precise at 5 on the held-out rows"
        self.left_out |= {name: reason for name, _ in self.members[0].stack.fitted}
        alone: HeldOut = held_out.alone
        return alone

    def _further(self, held_out: Any) -> dict[str, Any]:
        """Return the base rates of labels that are not listed."""
        return {"base_rates": held_out.base_rates}


class JudgeOfLists(Judge):
    """Compares settings by precision at 5 among the best labels of each row."""

    # Rankers fitted from scratch keep labels and dual variables sparse
    warm_start = False
    # The corrections of thousands of labels would be those of other models: less precise
    takes_fewer_rows = False

    def scores_of(self, ranker: BaseEstimator, X: Features) -> Shortlists:
        """Return the best labels of rows by a ranker."""
        return Shortlists.by(ranker, X, self._rows.labels.shape[1])

    def joined(self, parts: Sequence[Shortlists]) -> Shortlists:
        """Return the lists of the rows of all folds."""
        return Shortlists.stacked(list(parts))

    def with_blocks(self, blocks: list[Any]) -> HeldOutLists:
        """Return held-out scores of all classifiers of a stack, the lists of the ranker first."""
        lists, *further = blocks
        return HeldOutLists.of_lists(self._rows, lists, further, self._n_labels)

    def values(self, odds: Matrix, held_out: Any, *, apart: bool = False) -> Matrix:
        """Return precision at 5 of each fold, for which no threshold matters."""
        folds = [np.flatnonzero(held_out.folds == fold) for fold in range(self._n_folds)]
        values: Matrix = held_out.precisions(odds, self._n_labels, folds)
        return values

"""Fits to more rows and labels than scores of all are held of: the best labels of each row."""

import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from multimargin.blocks.neighbours import LabelNeighbours
from multimargin.blocks.stack import Effort, Stack
from multimargin.calibration.held_out import HeldOut, Named
from multimargin.calibration.shortlists import (
    HeldOutLists,
    ShortlistClassifier,
    Shortlists,
    fitted_to,
    scores_on_folds,
)
from multimargin.estimators.label_ranker.fit import Fit, unfitted_of
from multimargin.estimators.label_ranker.judging import Judge
from multimargin.estimators.label_ranker.search import Search
from multimargin.estimators.label_ranker.settings import (
    Cs_of,
    Grid,
    check_losses,
    class_weights_of,
    is_auto,
    top_ks_of,
)
from multimargin.estimators.label_ranker.task import Fold, Task
from multimargin.targets.reading import Targets
from multimargin.typing import Features, Matrix

MOST_SCORES = 2**26
"""Pairs of a row and a label up to which scores of all labels are held."""
SCORING = "precision_at_5"
"""The measure to select by: it needs the best labels of a row alone."""
# Rows beyond which comparing each with all others takes too long.
_MOST_NEIGHBOURS = 100_000


def needs_shortlists(targets: Targets) -> bool:
    """Return whether rows and labels are too many for the scores of all."""
    return math.prod(targets.indicator.shape) > MOST_SCORES


def check_for_shortlists(model: BaseEstimator, targets: Targets) -> None:
    """Refuse parameters of a search that need the scores of all labels, or kernels."""
    n, q = targets.indicator.shape
    checks: dict[str, tuple[bool, str]] = {
        "kernel": (model.kernel in ("auto", "linear"), "'auto' or 'linear'"),
        "loss": (
            is_auto(model.loss) or "hinge" in check_losses(model.loss),
            "'hinge' or 'auto', which means it here",
        ),
        "scoring": (
            isinstance(model.scoring, str) and model.scoring in ("auto", SCORING),
            f"'auto' or {SCORING!r}",
        ),
        "threshold": (
            model.threshold in ("micro", "samples")
            if isinstance(model.threshold, str)
            else isinstance(model.threshold, Real),
            "'micro', 'samples' or a probability",
        ),
        "stack": (
            model.stack in (None, "auto", "full", ["neighbours"], ("neighbours",)),
            "'auto', None or ['neighbours']",
        ),
        "views": (model.views is None, "None"),
        "calibration": (model.calibration, "True"),
    }
    of_size = (
        f"y has {n} rows x {q} labels, more than {MOST_SCORES} pairs, of which the best labels of "
        "each row are calibrated"
    )
    for name, (taken, expected) in checks.items():
        if not taken:
            raise ValueError(f"{name} is {getattr(model, name)!r}; expected {expected}: {of_size}.")
    if not targets.multilabel:
        raise ValueError(
            f"y has one class for each of {n} rows, {q} classes in all, more than {MOST_SCORES} "
            "pairs; expected labels, or fewer: RankSVM(kernel='linear', bias='penalized', "
            "top_k=20) takes that many classes."
        )


class ShortlistStack(Stack):
    """Blocks on the folds of a search, which score the labels that the ranker lists."""

    def __init__(self, task: Task, effort: Effort, lists: Callable[[], Shortlists]) -> None:
        super().__init__(task.parts[0], task.labels, task.sample_weight, task.folds, effort)
        # Of the held-out rows, when they are there
        self._lists = lists

    def _fit_on_folds(self, name: str, estimator: Any) -> tuple[Matrix, Any]:
        data = self._X, self._y, self._weights
        scores = scores_on_folds(estimator, *data, self._folds, self._lists(), self._jobs)
        return scores, fitted_to(estimator, *data)


class ShortlistFit(Fit):
    """A fit by the best labels of each row."""

    @property
    def scoring(self) -> str:
        """The measure to select by."""
        return SCORING

    def _judge(self, folds: list[Fold]) -> Judge:
        return JudgeOfLists(self.model, self.task, folds, self.scoring)

    def _grid(self, X: Features) -> Grid:
        """Return the settings to select from: values of C alone."""
        weights = class_weights_of(self.model.class_weight, self.task)
        top_ks = top_ks_of(self.model.top_k, self.task.targets.indicator.shape[1])
        Cs = Cs_of(self.model.Cs)
        return Grid(("hinge",), ("linear",), ("scale",), weights[:1], top_ks[:1], Cs)

    def _blocks(self, X: Features) -> tuple[Named, dict[str, str]]:
        """Return the blocks, and those left out with the reason."""
        if self.model.stack is None:
            return [], {}
        left_out, n = {}, X.shape[0]
        if isinstance(self.model.stack, str):
            reason = f"rows times labels are more than {MOST_SCORES}"
            left_out = dict.fromkeys(("linear", "forest", "lift"), reason)
            if n > _MOST_NEIGHBOURS:
                reason = f"{n} rows are more than {_MOST_NEIGHBOURS}"
                return [], left_out | {"neighbours": reason}
        return [("neighbours", LabelNeighbours(metric="cosine"))], left_out

    def _stack(self, X: Features, search: Search, effort: Effort) -> Stack:
        """Return what fits the blocks on the folds."""
        return ShortlistStack(self.task, effort, lambda: search.scores)

    def _lifts(self) -> bool:
        # `_blocks` says that there is none.
        return False

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

    # Rankers from scratch keep labels and dual variables sparse
    warm_start = False

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

    def _size(self, top_k: int | None) -> int:
        return int(self._rows.rows.size)

    def values(self, odds: Matrix, held_out: Any, *, apart: bool = False) -> Matrix:
        """Return precision at 5 of each fold, for which no threshold matters."""
        folds = [np.flatnonzero(held_out.folds == fold) for fold in range(self._n_folds)]
        values: Matrix = held_out.precisions(odds, self._n_labels, folds)
        return values

"""Fits to more rows and labels than scores of all are held of: the best labels of each row."""

import math
import time
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from multimargin.blocks.neighbours import LabelNeighbours
from multimargin.blocks.stack import Effort, Stack
from multimargin.calibration import PooledCalibration
from multimargin.calibration.calibrated import make_odds_threshold, odds_within_folds
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import Named
from multimargin.calibration.shortlists import (
    HeldOutLists,
    ShortlistClassifier,
    Shortlists,
    fitted_to,
    scores_on_folds,
)
from multimargin.estimators.label_ranker.judging import FITS, roughly_calibrated
from multimargin.estimators.label_ranker.plan import Plan, unfitted_of
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
from multimargin.targets.indicator import check_indicator
from multimargin.targets.reading import Targets
from multimargin.typing import Matrix

MOST_SCORES = 2**26
"""Pairs of a row and a label up to which scores of all labels are held."""
SCORING = "precision_at_5"
"""The measure to select by: it needs the best labels of a row alone."""
# Rows beyond which comparing each with all others takes too long, and rows that are held out.
_MOST_NEIGHBOURS, _MOST_HELD_OUT = 100_000, 2**15


def needs_shortlists(targets: Targets) -> bool:
    """Return whether rows and labels are too many for the scores of all."""
    return math.prod(targets.indicator.shape) > MOST_SCORES


def check_for_shortlists(model: Any, targets: Targets) -> None:
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


def one_part(folds: list[Fold], seed: int) -> list[Fold]:
    """Return the first fold, of whose rows no more are held out than a calibration needs."""
    train, test = folds[0]
    if test.size > _MOST_HELD_OUT:
        drawn = np.random.RandomState(seed).permutation(test.size)[:_MOST_HELD_OUT]
        test = test[np.sort(drawn)]
    return [(train, test)]


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


class ShortlistPlan(Plan):
    """A fit by the best labels of each row."""

    @property
    def scoring(self) -> Any:
        """The measure to select by."""
        return SCORING if is_auto(self.model.scoring) else self.model.scoring

    def judge(self, folds: list[Fold]) -> Any:
        """Return what judges settings by the scores of the rows that the folds hold out."""
        return ShortlistJudge(self.task, folds, self.model)

    def grid(self, X: Any) -> Grid:
        """Return the settings to select from: values of C alone."""
        weights = class_weights_of(self.model.class_weight, self.task)
        top_ks = top_ks_of(self.model.top_k, self.task.targets.indicator.shape[1])
        Cs = Cs_of(self.model.Cs)
        return Grid(("hinge",), ("linear",), ("scale",), weights[:1], top_ks[:1], Cs)

    def blocks(self, X: Any) -> tuple[Named, dict[str, str]]:
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

    def stack(self, X: Any, search: Search, effort: Effort) -> Stack:
        """Return what fits the blocks on the folds."""
        return ShortlistStack(self.task, effort, lambda: search.scores)

    def lift(self) -> tuple[bool, dict[str, str]]:
        """Return that the calibration has no lift, which `blocks` says."""
        return False, {}

    def learner(self, estimators: Named, *, lifted: bool) -> Any:
        """Return what is to learn calibration and threshold from held-out scores."""
        model = self.model
        return ShortlistClassifier(
            unfitted_of(estimators),
            model.threshold,
            at_least_one=model.at_least_one,
            empty_label=self.task.empty_label,
            cv=model.cv,
        )


class ShortlistJudge:
    """Judges settings by the best labels of each row."""

    # Rankers from scratch keep labels and dual variables sparse
    warm_start = False

    def __init__(self, task: Task, folds: list[Fold], model: Any) -> None:
        self._rows, self._model = task.held_out(folds), model
        self._n_labels = task.targets.indicator.shape[1]
        self._n_folds = len(folds)
        self._listed: HeldOutLists | None = None
        # The rough calibration of the scores that were judged last
        self.last: PooledCalibration | None = None
        # What the slowest judgement took
        self.seconds = 0.0

    def scores_of(self, ranker: Any, X: Any) -> Shortlists:
        """Return the best labels of rows by a ranker."""
        return Shortlists.by(ranker, X, self._rows.labels.shape[1])

    def joined(self, parts: Sequence[Shortlists]) -> Shortlists:
        """Return the lists of the rows of all folds."""
        return Shortlists.stacked(list(parts))

    def __call__(self, lists: Shortlists) -> Matrix:
        """Return the value of each fold, by one calibration of all held-out rows."""
        start = time.monotonic()
        held_out = self.with_blocks([lists])
        self.last = self._roughly_calibrated(held_out)
        values = self._values(self.last.odds(held_out.blocks, listed=held_out.listed), held_out)
        self.seconds = max(self.seconds, time.monotonic() - start)
        return values

    def _roughly_calibrated(self, held_out: HeldOutLists) -> PooledCalibration:
        indicator = check_indicator(held_out.labels, "y", unknown=True)
        return roughly_calibrated(held_out, indicator, self.last)

    def price_of_calibration(self, other: "ShortlistJudge") -> float:
        """Return the seconds of the calibration of a stack on another's rows, by own rough ones."""
        m, rough = other._rows.rows.size, self._rows.rows.size
        return float(self.seconds * m / rough * FITS * (1 + other._n_folds))

    def with_blocks(self, blocks: list[Any]) -> HeldOutLists:
        """Return held-out scores of all classifiers of a stack, the lists of the ranker first."""
        lists, *further = blocks
        self._listed = HeldOutLists.of_lists(self._rows, lists, further, self._n_labels)
        return self._listed

    def score(self, held_out: HeldOutLists, *, lift: bool) -> float:
        """Return the mean value of the folds, of odds that have not seen the row."""
        return float(np.nanmean(self._values(odds_within_folds(held_out, lift=lift), held_out)))

    def mean(self, odds: Matrix) -> float:
        """Return the mean value of the folds, of odds of the lists of `with_blocks`."""
        assert self._listed is not None
        return float(np.nanmean(self._values(odds, self._listed)))

    def _values(self, odds: Matrix, held_out: HeldOutLists) -> Matrix:
        folds = [np.flatnonzero(held_out.folds == fold) for fold in range(self._n_folds)]
        return held_out.precisions(odds, self._n_labels, folds)

    def rough_head(
        self, lists: Shortlists, calibration: PooledCalibration | None
    ) -> tuple[Head, Any]:
        """Return the head of a rough calibration, and the base rates of other labels."""
        held_out = self.with_blocks([lists])
        if calibration is None:
            calibration = self._roughly_calibrated(held_out)
        odds = calibration.odds(held_out.blocks, listed=held_out.listed)
        threshold = make_odds_threshold(self._model.threshold)
        threshold = held_out.learn_listed(threshold, odds, self._n_labels)
        head = Head(calibration, threshold, self._n_labels, self._model.at_least_one)
        return head, held_out.base_rates

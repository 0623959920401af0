"""A fit: a ranker is chosen for each view, blocks are stacked with it, and all are calibrated."""

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from multimargin.blocks import blocks_of
from multimargin.blocks.by_name import BLOCKS, Data, lifts
from multimargin.blocks.in_time import fit_in_time
from multimargin.blocks.logistic import LabelLogistic
from multimargin.blocks.pricing import Effort
from multimargin.blocks.stack import Stack
from multimargin.calibration import CalibratedClassifier, ThresholdedClassifier
from multimargin.calibration.held_out import (
    HeldOut,
    HeldOutClassifier,
    Named,
    check_label_names,
)
from multimargin.estimators.fitting.time_limit import LEAST, check_max_time
from multimargin.estimators.label_ranker.judging import Judge, threshold_of
from multimargin.estimators.label_ranker.search import Search, Tried
from multimargin.estimators.label_ranker.settings import Grid, grid_of, is_auto
from multimargin.estimators.label_ranker.task import Fold, Task
from multimargin.typing import Features, Matrix, Scoring

# Shares of `max_time`: of the search, at most, and at least where blocks need the rest, and of the
# first epochs of "rbf".
_MOST_OF_SEARCH, _LEAST_OF_SEARCH, _SHARE_OF_RBF = 0.5, 0.35, 0.2
# Share of the time after the search for the fit on all rows; the rest is for the stack.
_SHARE_OF_FIT = 0.5
# Further C of logistic regressions, and the required relative gain of each on a sample.
_FURTHER_CS, _GAIN = (10.0, 30.0, 100.0), 0.02
# The measure of "auto" if rows have labels, and if many have none.
WITHIN_ROWS, _ACROSS_ROWS = "ranking_average_precision", "micro_average_precision"


@dataclass(eq=False)
class Member:
    """The ranker of one view, and the blocks stacked with it."""

    search: Search
    stack: Stack
    ranker: Any = None

    @property
    def best(self) -> Tried:
        """The best setting of the ranker."""
        assert self.search.best is not None
        return self.search.best

    def fit_ranker(self, task: Task, options: dict[str, Any]) -> None:
        """Fit the ranker of the best setting to all rows."""
        self.ranker = self.best.setting.make(**options)
        X = task.parts[self.search.place]
        self.ranker.fit(X, task.learned, sample_weight=task.sample_weight)

    def weighed(self, first: str) -> list[tuple[tuple[str, BaseEstimator], Matrix]]:
        """Return ranker and blocks with their names and held-out scores, a given one first."""
        blocks = zip(self.stack.fitted, self.stack.blocks, strict=True)
        found = [(("ranker", self.ranker), self.search.scores), *blocks]
        return sorted(found, key=lambda one: one[0][0] != first)


class Fit:
    """A fit on the scores of all labels, for the parameters of a `LabelRankerCV`."""

    listed = False  # Whether only the best labels of each row are scored

    def __init__(self, model: BaseEstimator, task: Task, began: float) -> None:
        self.model, self.task, self._began = model, task, began
        self._limit = check_max_time(model.max_time) or np.inf
        self.effort = Effort(began + self._limit, model.n_jobs, model.verbose)
        # Judges of the held-out rows, and of the rows on which settings are compared
        self.judge = self._judge(task.folds)
        self._searched = self._judge(task.searched) if task.sampled else self.judge
        self.left_out: dict[str, str] = {}
        stacks = [self._stack(place, X) for place, X in enumerate(task.parts)]
        share = self._share_of_search(stacks) / len(stacks)
        # One for each view; once chosen, the best first
        self.members = [
            self._member(place, stack, share * (place + 1)) for place, stack in enumerate(stacks)
        ]
        self.lifted = self._lifts()  # Whether the calibration has a lift
        self._price = 0.0  # Seconds that a calibration will take

    def _stack(self, place: int, X: Features) -> Stack:
        task, (planned, left_out) = self.task, self._blocks(X)
        check_label_names(planned, task.targets)
        full_name = partial(task.views.full_name, place)
        self.left_out |= {full_name(name): reason for name, reason in left_out.items()}
        of_rows = X, task.labels, task.sample_weight, task.folds
        return Stack(*of_rows, planned, self.effort, full_name)

    def _share_of_search(self, stacks: list[Stack]) -> float:
        """Return the share of the time in which the searches of all views end."""
        of_blocks = sum(sum(stack.prices) for stack in stacks) / self._limit
        return min(max(1.0 - of_blocks, _LEAST_OF_SEARCH), _MOST_OF_SEARCH)

    def _member(self, place: int, stack: Stack, share: float) -> Member:
        """Return a view's search, which ends after a share of the time, with its stack."""
        task, grid = self.task, self._grid(self.task.parts[place])
        options = {"tol": self.model.cv_tol, "random_state": task.seed}
        effort = replace(self.effort, end=self._began + share * self._limit)
        return Member(Search(task, place, grid, self._searched, effort, options), stack)

    @property
    def scoring(self) -> Scoring:
        """The measure to select by."""
        scoring: Scoring = self.model.scoring
        if not is_auto(scoring):
            return scoring
        return _ACROSS_ROWS if self.task.has_many_empty else WITHIN_ROWS

    def _judge(self, folds: list[Fold]) -> Judge:
        return Judge(self.model, self.task, folds, self.scoring)

    def _grid(self, X: Features) -> Grid:
        """Return the settings of a view that the search selects from."""
        seconds = _SHARE_OF_RBF * self._limit / len(self.task.parts)
        return grid_of(self.model, self.task, X, seconds)

    def _blocks(self, X: Features) -> tuple[Named, dict[str, str]]:
        """Return the blocks of a view, and those left out with the reason."""
        if not self.model.calibration and is_auto(self.model.stack):
            return [], {}
        task, stack = self.task, self.model.stack
        of_rows = task.is_mostly_empty, self.listed
        data = Data(X, task.labels.shape[1], task.seed, stack == "full", *of_rows)
        return blocks_of(stack, data)

    def _lifts(self) -> bool:
        targets = self.task.targets
        if not self.model.calibration or not targets.multilabel:
            return False
        n_labels = targets.indicator.shape[1]
        lifted, left_out = lifts(self.model.stack, n_labels, listed=self.listed)
        self.left_out |= left_out
        return lifted

    def _learner(self, classifiers: Named, *, lifted: bool) -> Any:
        """Return the unfitted classifier that calibrates held-out scores and sets the threshold."""
        model, unfitted = self.model, unfitted_of(classifiers)
        shared = {"at_least_one": model.at_least_one, "cv": model.cv}
        if not model.calibration:
            return ThresholdedClassifier(unfitted[0][1], threshold_of(model), **shared)
        return CalibratedClassifier(
            unfitted, model.threshold, lift=lifted, empty_label=self.task.empty_label, **shared
        )

    def choose(self) -> None:
        """Choose each view's ranker, score the held-out rows, and fit it to all rows."""
        task, members = self.task, self.members
        options = {"tol": self.model.tol, "random_state": task.seed}
        for member in members:
            member.search.run()
        # The calibration uses the ranks by the first.
        members.sort(key=lambda member: -member.best.mean)
        share = _SHARE_OF_FIT if any(member.stack.planned for member in members) else 1.0
        for turn, member in enumerate(members):
            left = max(share * self.effort.left / (len(members) - turn), LEAST)
            if task.sampled:
                left /= 2.0
                member.search.hold_out(task.folds, left, self.judge)
                # It may have taken longer.
                left = max(min(left, self.effort.left), LEAST)
            member.fit_ranker(task, options | {"max_time": None if left == np.inf else left})

    def stack(self) -> None:
        """Fit the blocks of each view while there is time for them and the calibration."""
        if self.model.calibration:
            self._price = self._searched.price_of_calibration(self.judge)
        self.left_out |= fit_in_time(
            [member.stack for member in self.members],
            self.effort,
            reserve=self._price * (1 + self.lifted),
            is_named=self._is_named,
            tuned=self._tuned,
            listed=self.members[0].search.scores.numbers if self.listed else None,
        )
        if self.lifted and self.effort.left < 2.0 * self._price:
            self.lifted, self.left_out["lift"] = False, "no time left of max_time"

    def _is_named(self, name: str) -> bool:
        """Return whether `stack` has the name of a block, not a classifier of that name."""
        stack = self.model.stack
        return name in BLOCKS and (isinstance(stack, str) or name in stack)

    def _tuned(self, stack: Stack, name: str, estimator: Any, seconds: float) -> Any:
        """Return a block, with C chosen on a sample for logistic regressions of many rows."""
        task = self.task
        # For labels with few relevant rows, the best single C is not the best one in a stack.
        chooses = task.sampled and not task.is_mostly_empty
        if not (chooses and isinstance(estimator, LabelLogistic)):
            return estimator

        def value_of(one: Any) -> float:
            scores = stack.scores_on(task.searched, name, one)
            return float(np.nanmean(self._searched(scores)))

        end = time.monotonic() + seconds
        best, highest = estimator, value_of(estimator)
        for C in _FURTHER_CS:
            if time.monotonic() >= end:
                break
            further = clone(estimator).set_params(C=C)
            value = value_of(further)
            if not value > highest + _GAIN * abs(highest):
                break
            best, highest = further, value
        return best

    @property
    def has_time(self) -> bool:
        """True if the calibration is to be learned: there is time, or a stack needs it."""
        alone = len(self.members) == 1 and not self.members[0].stack.fitted
        return not alone or self.effort.left >= self._price

    def learned(self) -> tuple[HeldOutClassifier, float]:
        """Return the stack, calibrated by its held-out scores, and its score."""
        # Rows without labels are compared with others, unlike in the loss of a ranker.
        first = "linear" if self.task.is_mostly_empty else "ranker"
        weighed = [
            (self.task.views.on_its_view(member.search.place, *one), scores)
            for member in self.members
            for one, scores in member.weighed(first)
        ]
        classifiers = [one for one, _ in weighed]
        held_out = self.judge.with_blocks([scores for _, scores in weighed])
        stack = self._learner(classifiers, lifted=self.lifted)
        odds = stack.fit_held_out(classifiers, held_out, self.task.targets, self.task.rows)
        held_out = self._weighed(stack, held_out)
        if len(self.task.folds) == 1:
            # The odds of each row come from other rows of the only fold.
            return stack, self.judge.mean(odds, held_out)
        if self.effort.left >= self._price * (1 + self.lifted):
            return stack, self.judge.score(held_out, lift=self.lifted)
        return stack, self.members[0].best.mean

    def _weighed(self, stack: Any, held_out: HeldOut) -> HeldOut:
        """Return the held-out scores that a learned calibration weighs."""
        return held_out

    def rough(self) -> tuple[HeldOutClassifier, float]:
        """Return the first ranker, calibrated as in comparisons of settings, and its score."""
        only = self.members[0]
        alone = [self.task.views.on_its_view(only.search.place, "ranker", only.ranker)]
        stack, search = self._learner(alone, lifted=False), only.search
        head, held_out = search.judge.rough_head(search.scores, search.calibration)
        stack.take(alone, head, **self._further(held_out), targets=self.task.targets)
        return stack, only.best.mean

    def _further(self, held_out: HeldOut) -> dict[str, Any]:
        """Return further arguments of the stack that are learned from held-out scores."""
        return {}

    def keep_the_best(self) -> bool:
        """Keep only the best ranker so far, and return whether there is one."""
        tried = [member for member in self.members if member.search.best is not None]
        if not tried:
            return False
        best = max(tried, key=lambda member: member.best.mean)
        if getattr(best.ranker, "status_", "interrupted") == "interrupted":
            best.ranker = best.search.lean_model()
        self.members = [best]
        return True


def unfitted_of(classifiers: Named) -> Named:
    """Return clones of classifiers."""
    return [(name, clone(classifier)) for name, classifier in classifiers]

"""The order in which settings are tried, and the records of each."""

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning

from multimargin.blas import one_blas_thread
from multimargin.blocks.pricing import Effort
from multimargin.calibration import PooledCalibration
from multimargin.checks.parameters import job_count
from multimargin.durations import duration
from multimargin.estimators.bases.pairwise import PairwiseClassifier
from multimargin.estimators.fitting.time_limit import LEAST
from multimargin.estimators.label_ranker.judging import Judge
from multimargin.estimators.label_ranker.settings import Grid, Setting
from multimargin.estimators.label_ranker.task import Fold, Task, has_many_pairs
from multimargin.notices import silenced
from multimargin.typing import Matrix
from multimargin.workers import delayed

# A relative gain that is worth trying further C.
_WORTH = 1e-3
# Relative difference of settings that counts as none if the final fit has far more rows.
_NEAR = 0.01
# Epochs of a fit to a fold from which it is hard.
_HARD = 20


@dataclass(frozen=True, eq=False)
class Tried:
    """A setting that has been tried."""

    setting: Setting
    # (n_folds,): Value of each fold, larger is better; NaN for a fold without rows to evaluate
    values: Matrix
    fit_time: Matrix  # (n_folds,): Seconds of the fit of each fold
    score_time: Matrix  # (n_folds,): Seconds in which it scored the rows held out
    seconds: float  # Of all folds, with what judged them
    view: str = ""  # Name of the view

    @property
    def mean(self) -> float:
        """Mean value of the folds; minus infinity without a value."""
        measured = self.values[~np.isnan(self.values)]
        return float(measured.mean()) if measured.size else -np.inf

    @property
    def deviation(self) -> float:
        """Standard deviation of the values of the folds."""
        measured = self.values[~np.isnan(self.values)]
        return float(measured.std()) if measured.size else np.nan


class Search:
    """Tries settings on folds, one path over C with warm starts after another."""

    def __init__(
        self,
        task: Task,
        place: int,
        grid: Grid,
        judge: Judge,
        effort: Effort,
        options: dict[str, Any],
    ) -> None:
        self._task, self.place, self.grid, self.judge = task, place, grid, judge
        self._options, self.view = options, task.views.names_[place]
        self._deadline, self._verbose = effort.end, effort.verbose
        self._n_jobs = job_count(effort.n_jobs, len(task.searched))
        self._parts = self._parts_of(task.searched)
        self.tried: list[Tried] = []
        self.best: Tried | None = None
        self.scores: Any = None
        self.calibration: PooledCalibration | None = None
        self.models: list[PairwiseClassifier] = []  # Of the folds, by the best setting
        self.out_of_time = False

    def _parts_of(self, folds: list[Fold]) -> list[tuple[Any, ...]]:
        X, weights = self._task.parts[self.place], self._task.sample_weight
        learned, scores_of = self._task.learned, self.judge.scores_of
        return [
            (X[a], learned.rows(a), None if weights is None else weights[a], X[b], scores_of)
            for a, b in folds
        ]

    def hold_out(self, folds: list[Fold], seconds: float, judge: Judge) -> None:
        """Score the rows held out by larger folds, with the cheapest of the best settings.

        If its fits are hard, the first weights of labels and `top_k` are held out, too, and taken
        if they are as good but for a hundredth: what seems a gain on few rows may be chance. Where
        even an epoch on many pairs takes longer than there is time, the models of the search score
        the rows.
        """
        assert self.best is not None
        # With fewer pairs an epoch is short, and what is learned from these scores worse.
        spares = judge.takes_fewer_rows and has_many_pairs(self._task.targets)
        if spares and self._foretold(folds) > seconds:
            X = self._task.parts[self.place]
            parts = [
                judge.scores_of(model, X[test])
                for model, (_, test) in zip(self.models, folds, strict=True)
            ]
            self.judge, self.scores, self.calibration = judge, judge.joined(parts), None
            self.out_of_time = True
            return
        start = time.monotonic()
        self._deadline, self._parts = start + seconds, self._parts_of(folds)
        chosen = _cheapest(self.tried, self.best.mean)
        models, scores = self._held_out(chosen, judge)
        easier = self._first_like(chosen)
        spent = time.monotonic() - start
        hard = max(model.n_iter_ for model in models) > _HARD and 2.0 * spent <= seconds
        if hard and easier is not None:
            others = self._held_out(easier, judge)
            value, other = (float(np.nanmean(judge(one))) for one in (scores, others[1]))
            if value <= other + _NEAR * abs(other):
                chosen, (models, scores) = easier, others
        self.judge, self.best, self.scores = judge, chosen, scores
        self.calibration, self.models = None, models

    def _foretold(self, folds: list[Fold]) -> float:
        """Return the seconds in which the best setting makes an epoch on each of larger folds."""
        assert self.best is not None
        rows, of_sample = (
            sum(len(one) for one, _ in each) for each in (folds, self._task.searched)
        )
        return float(self.best.seconds / self.models[0].n_iter_ * rows / of_sample)

    def _held_out(self, tried: Tried, judge: Judge) -> tuple[list[PairwiseClassifier], Any]:
        """Fit a setting to all folds; return the models, and the scores of the rows held out."""
        models = [tried.setting.make(**self._options) for _ in self._parts]
        parts, _, _ = zip(*self._scored(models, tried.setting), strict=True)
        return models, judge.joined(parts)

    def _first_like(self, chosen: Tried) -> Tried | None:
        """Return the cheapest of the best settings with the first weights of labels and `top_k`.

        None if it is the chosen one, or none has been tried.
        """
        setting = chosen.setting
        first = self.grid.first(setting.loss, setting.kernel)

        if _are_same(setting, first, "class_weight", "top_k"):
            return None
        near = [
            one
            for one in self.tried
            if _are_same(one.setting, setting, "loss", "kernel", "gamma")
            and _are_same(one.setting, first, "class_weight", "top_k")
        ]
        return _cheapest(near, max(one.mean for one in near)) if near else None

    def run(self) -> None:
        """Choose loss, kernel and C, then one parameter after another near that C."""
        grid = self.grid
        self._start, self._planned = time.monotonic(), grid.most
        for loss in grid.losses:
            self._climb(grid.first(loss, grid.kernels[0]), grid.Cs)
        assert self.best is not None
        loss = self.best.setting.loss
        for kernel in grid.kernels[1:]:
            # A kernel that is worse by more than the folds differ stays so with another C.
            rival = replace(self.best, values=self.best.values - self.best.deviation)
            # Linear fits to dense features are fast with a small C.
            C = grid.Cs[len(grid.Cs) // 4] if kernel == "linear" else self.best.setting.C
            self._climb(replace(grid.first(loss, kernel), C=C), grid.Cs, rival=rival)
        for name in ("gamma", "class_weight", "top_k"):
            for setting in grid.others(name, self.best.setting):
                self._climb(replace(setting, C=self.best.setting.C), grid.Cs, rival=self.best)
        if np.isnan(self.best.values).all():
            raise ValueError(
                "scoring has nothing to measure in the held-out rows of the folds: it is NaN on "
                "each fold of each setting, as when a label has only one value; expected labels of "
                "both values in each fold, or another scoring, such as 'micro_average_precision'."
            )

    def _climb(self, setting: Setting, Cs: Sequence[float], rival: Tried | None = None) -> None:
        """Try C, then others while they improve; none after a first that a rival beats."""
        models: list[PairwiseClassifier] = [
            setting.make(**self._options, warm_start=self.judge.warm_start) for _ in self._parts
        ]
        before = len(self.tried)
        place = Cs.index(setting.C)
        first = self._try(setting, models)
        if first is not None and (rival is None or _is_worth(first.mean, rival.mean)):
            highest = first.mean
            for further in (Cs[place + 1 :], Cs[:place][::-1]):
                for C in further:
                    tried = self._try(replace(setting, C=C), models)
                    gains = tried is not None and _is_worth(tried.mean, highest)
                    highest = highest if tried is None else max(highest, tried.mean)
                    if not gains:
                        break
                if highest > first.mean:
                    break
        self._planned -= len(Cs) - (len(self.tried) - before)

    def _try(self, setting: Setting, models: list[PairwiseClassifier]) -> Tried | None:
        """Return the value of a setting, None if no time is left; the first is always tried."""
        start = time.monotonic()
        self.out_of_time = start >= self._deadline
        if self.out_of_time and self.tried:
            return None
        parts, fit_time, score_time = zip(*self._scored(models, setting), strict=True)
        scores = self.judge.joined(parts)
        values = self.judge(scores)
        times = np.array(fit_time), np.array(score_time)
        tried = Tried(setting, values, *times, time.monotonic() - start, self.view)
        self.tried.append(tried)
        if self.best is None or tried.mean > self.best.mean:
            # The same models are fitted with the next C.
            self.scores, self.calibration = scores, self.judge.last
            # One is enough for `lean_model`.
            kept = models if self._task.sampled else models[:1]
            self.models = [copy(model) for model in kept]
            self.best = tried
        if self._verbose:
            self._print(tried)
        return tried

    def _scored(
        self, models: list[PairwiseClassifier], setting: Setting
    ) -> list[tuple[Matrix, float, float]]:
        """Fit a model to each fold; return scores and seconds, as `_held_out_scores` does."""
        jobs = self._n_jobs or 1
        turns = -(-len(models) // jobs)
        # A path over C fits the same models again, those of this process.
        parallel = Parallel(n_jobs=self._n_jobs, require="sharedmem")
        with one_blas_thread():
            found: list[tuple[Matrix, float, float]] = parallel(
                delayed(_held_out_scores)(
                    model.set_params(C=setting.C), part, self._deadline, turns - place // jobs
                )
                for place, (model, part) in enumerate(zip(models, self._parts, strict=True))
            )
        return found

    def _print(self, tried: Tried) -> None:
        assert self.best is not None
        done = len(self.tried)
        left = (time.monotonic() - self._start) / done * (self._planned - done)
        view = f"{self.view}: " if self.view else ""
        print(
            f"{view}{done}/{self._planned}  {tried.setting}: {tried.mean:.5g} in "
            f"{duration(tried.seconds)}; "
            f"best {self.best.mean:.5g} ({self.best.setting}); at most {duration(left)} left",
            flush=True,
        )

    def beats_other_Cs(self) -> bool:
        """Return whether the best setting is worth more than with each other C that was tried."""
        assert self.best is not None
        best = self.best
        names = best.setting.parameters().keys() - {"C"}
        same = [one for one in self.tried if _are_same(one.setting, best.setting, *names)]
        others = [one.mean for one in same if one.setting.C != best.setting.C]
        return not others or _is_worth(best.mean, max(others))

    def lean_model(self) -> PairwiseClassifier:
        """Return the model of the best setting on one fold, without the state for warm starts."""
        model = self.models[0]
        model.set_params(warm_start=False)
        if model._weights is not None and hasattr(model, "support_"):
            model._forget_rows()
        return model


def _are_same(one: Setting, other: Setting, *names: str) -> bool:
    """Return whether two settings have the same values of some parameters."""
    return all(getattr(one, name) is getattr(other, name) for name in names)


def _cheapest(tried: Sequence[Tried], highest: float) -> Tried:
    """Return the cheapest of the settings whose value is near the highest."""
    least = highest - _NEAR * abs(highest)
    near = [one for one in tried if one.mean >= least]
    # Epochs and their number grow with C.
    return min(near, key=lambda one: (one.setting.C, -one.mean))


def _is_worth(value: float, other: float) -> bool:
    """Return whether a value is better by more than the variation of folds and rounding."""
    return value > other + _WORTH * abs(other) or (value > other and not np.isfinite(other))


def results_of(tried: list[Tried]) -> dict[str, object]:
    """Return all trials, like `cv_results_` of scikit-learn's searches."""
    parameters = [one.setting.parameters() for one in tried]
    if any(one.view for one in tried):
        parameters = [{"view": one.view} | own for one, own in zip(tried, parameters, strict=True)]
    results: dict[str, Any] = {"params": parameters}
    for name in parameters[0]:
        values = np.empty(len(parameters), dtype=object)
        values[:] = [one[name] for one in parameters]
        results[f"param_{name}"] = values
    table = np.array([one.values for one in tried])
    for fold in range(table.shape[1]):
        results[f"split{fold}_test_score"] = table[:, fold]
    means = np.array([one.mean for one in tried])
    results["mean_test_score"] = np.where(np.isfinite(means), means, np.nan)
    results["std_test_score"] = np.array([one.deviation for one in tried])
    results["rank_test_score"] = rankdata(-means, method="min").astype(np.int32)
    results["seconds"] = np.array([one.seconds for one in tried])
    for name in ("fit_time", "score_time"):
        seconds = np.array([getattr(one, name) for one in tried])
        results[f"mean_{name}"] = seconds.mean(axis=1)
        results[f"std_{name}"] = seconds.std(axis=1)
    return results


def _held_out_scores(
    model: PairwiseClassifier, part: tuple[Any, ...], deadline: float, turns: int
) -> tuple[Matrix, float, float]:
    """Return the scores of the rows of a fold, and the seconds of fit and scores.

    The time left is shared by `turns` fits.
    """
    X, targets, weights, X_test, scores_of = part
    start = time.monotonic()
    model.set_params(max_time=max((deadline - start) / turns, LEAST))
    # Of a fold: only the returned model reports its status.
    with silenced(ConvergenceWarning):
        model.fit(X, targets, sample_weight=weights)
    fitted = time.monotonic()
    return scores_of(model, X_test), fitted - start, time.monotonic() - fitted

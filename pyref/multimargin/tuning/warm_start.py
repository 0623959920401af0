"""A grid search that starts each fit from the one before."""

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from multimargin.checks.parameters import check_flag, check_verbosity

Parameters = dict[str, Any]


class WarmStartGridSearchCV(GridSearchCV):  # type: ignore[misc]
    """Grid search that fits one parameter in increasing order, each time from the last solution.

    Parameters
    ----------
    estimator : estimator
        The estimator to tune; it must have a parameter `warm_start`.
    param_grid : dict or list of dict
        As in `GridSearchCV`.
    path : str, default="C"
        The parameter whose values are fitted in increasing order with ``warm_start=True``, in each
        fold and for each combination of the others. In a pipeline, "<step>__C".
    scoring : str or callable, default=None
        As in `GridSearchCV`; one score.
    n_jobs : int, default=None
        Number of paths that are fitted at the same time; None means 1. The result does not depend
        on it.
    refit : bool, default=True
        Whether to fit the best on all rows (from a cold start).
    cv : int, splitter or iterable, default=None
        As in `GridSearchCV`: a number means blocks of rows where y is an indicator matrix. Rows in
        the order of their labels need a splitter that shuffles.
    verbose : int, default=0
        1 prints a line for each path when all are fitted.
    error_score : "raise" or float, default=nan
        Score of a fit that fails; the rest of its path starts anew.

    Attributes
    ----------
    best_params_, best_score_, best_index_, best_estimator_, cv_results_, scorer_, n_splits_
        As in `GridSearchCV`. `cv_results_` has the times and "mean_n_iter", the mean number of
        iterations where the estimator tells, but no training scores.

    Notes
    -----
    The solvers stop at a duality gap of `tol` wherever they start, so the optimum is that of a cold
    start up to `tol`; only the way to it is shorter.

    Examples
    --------
    >>> from multimargin import RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> from multimargin.measures import get_scorer
    >>> from multimargin.tuning import WarmStartGridSearchCV
    >>> X, _, Y, _ = load_digit_attributes().train_test()
    >>> search = WarmStartGridSearchCV(
    ...     RankSVM(random_state=0),
    ...     {"C": [1.0, 2.0, 4.0], "gamma": [0.5, 1.0]},
    ...     scoring=get_scorer("neg_ranking_loss"),
    ...     cv=3,
    ... )
    >>> len(search.fit(X, Y).cv_results_["params"])
    6
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]],
        *,
        path: str = "C",
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: float | str = np.nan,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
        )
        self.path = path

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search, and fit the best.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q) or (n,)
            Targets.
        **params
            Passed to the estimator's fits, such as `sample_weight`, of which each gets its rows; in
            a pipeline, ``<step>__sample_weight``.

        Returns
        -------
        WarmStartGridSearchCV
            The search itself.

        Raises
        ------
        TypeError, ValueError
            If whatever the estimator raises if ``error_score="raise"`` or while it is fitted on all
            rows.

        Warns
        -----
        FitFailedWarning
            If a fit fails and `error_score` is a number.
        """
        warm_start = self._check_search()
        X, y = indexable(X, y)
        self.scorer_ = check_scoring(self.estimator, scoring=self.scoring)
        self.multimetric_ = False
        candidates = list(ParameterGrid(self.param_grid))
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = list(cv.split(X, y))
        self.n_splits_ = len(splits)
        paths = self._paths(candidates)
        results = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_path)(
                clone(self.estimator).set_params(**{warm_start: True}),
                [candidates[k] for k in path],
                (X, y, params),
                split,
                self.scorer_,
                self.error_score,
            )
            for path in paths
            for split in splits
        )
        table = np.full((len(candidates), len(splits), 4), np.nan)
        for number, result in enumerate(results):
            table[paths[number // len(splits)], number % len(splits)] = result
        self.cv_results_ = _results(candidates, table)
        if self.verbose > 0:
            self._print_paths(paths)
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        self.best_params_ = candidates[self.best_index_]
        if self.refit:
            start = time.time()
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_ = best.fit(X, y, **_check_method_params(X, params))
            self.refit_time_ = time.time() - start
            if hasattr(best, "feature_names_in_"):
                self.feature_names_in_ = best.feature_names_in_
        return self

    def _check_search(self) -> str:
        """Return the name of the parameter that switches warm starts on."""
        check_flag("refit", self.refit)
        check_verbosity(self.verbose)
        if isinstance(self.scoring, list | tuple | dict | set):
            raise TypeError(f"scoring is {self.scoring!r}; expected one score.")
        known = self.estimator.get_params()
        if self.path not in known:
            raise ValueError(
                f"path is {self.path!r}, which {type(self.estimator).__name__} does not have; "
                f"expected one of {', '.join(sorted(known))}."
            )
        step, separator, _ = str(self.path).rpartition("__")
        name = f"{step}{separator}warm_start"
        if name not in known:
            raise ValueError(
                f"estimator is {self.estimator!r}, which has no parameter {name!r}; expected an "
                "estimator that can start from its last solution."
            )
        return name

    def _paths(self, candidates: list[Parameters]) -> list[list[int]]:
        """Group the candidates that differ in `path` alone, in its increasing order."""
        paths: list[tuple[Parameters, list[int]]] = []
        for k, candidate in enumerate(candidates):
            others = {name: value for name, value in candidate.items() if name != self.path}
            for common, path in paths:
                if common == others:
                    path.append(k)
                    break
            else:
                paths.append((others, [k]))
        own = self.estimator.get_params()[self.path]
        return [sorted(path, key=lambda k: candidates[k].get(self.path, own)) for _, path in paths]

    def _print_paths(self, paths: list[list[int]]) -> None:
        results = self.cv_results_
        for path in paths:
            others = {n: v for n, v in results["params"][path[0]].items() if n != self.path}
            best = path[int(results["rank_test_score"][path].argmin())]
            value = results["params"][best].get(self.path)
            seconds = (results["mean_fit_time"][path] * self.n_splits_).sum()
            print(
                f"{others}: best {self.path} {value!r} of {len(path)}, "
                f"score {results['mean_test_score'][best]:.6g}, {seconds:.1f} s"
            )


def _fit_path(
    estimator: Any,
    path: list[Parameters],
    data: tuple[Any, Any, dict[str, Any]],
    split: tuple[Any, Any],
    scorer: Any,
    error_score: float | str,
) -> np.ndarray[Any, Any]:
    """Return score, seconds to fit, seconds to score and iterations of each fit of a path."""
    X, y, params = data
    train, test = split
    params = _check_method_params(X, params, indices=train)
    X_train, y_train = _safe_split(estimator, X, y, train)
    X_test, y_test = _safe_split(estimator, X, y, test, train)
    table = np.full((len(path), 4), np.nan)
    for k, parameters in enumerate(path):
        start = time.perf_counter()
        try:
            estimator.set_params(**clone(parameters, safe=False)).fit(X_train, y_train, **params)
        except Exception as error:
            if isinstance(error_score, str):
                raise
            warnings.warn(
                f"The fit of {parameters} failed, its score is set to {error_score}: {error!r}",
                FitFailedWarning,
                stacklevel=2,
            )
            table[k, :2] = error_score, time.perf_counter() - start
            estimator = clone(estimator)
            continue
        fitted = time.perf_counter()
        table[k, 0] = scorer(estimator, X_test, y_test)
        table[k, 1:3] = fitted - start, time.perf_counter() - fitted
        n_iter = getattr(estimator, "n_iter_", None)
        if isinstance(n_iter, int | np.integer):
            table[k, 3] = n_iter
    return table


def _results(candidates: list[Parameters], table: np.ndarray[Any, Any]) -> dict[str, Any]:
    scores = table[:, :, 0]
    results: dict[str, Any] = {}
    for column, name in ((1, "fit_time"), (2, "score_time")):
        results[f"mean_{name}"] = table[:, :, column].mean(axis=1)
        results[f"std_{name}"] = table[:, :, column].std(axis=1)
    results["mean_n_iter"] = table[:, :, 3].mean(axis=1)
    for name in sorted({name for candidate in candidates for name in candidate}):
        values = np.ma.array(np.empty(len(candidates), dtype=object), mask=True)
        for k, candidate in enumerate(candidates):
            if name in candidate:
                values[k] = candidate[name]
        results[f"param_{name}"] = values
    results["params"] = candidates
    for i in range(scores.shape[1]):
        results[f"split{i}_test_score"] = scores[:, i]
    mean = scores.mean(axis=1)
    results["mean_test_score"] = mean
    results["std_test_score"] = scores.std(axis=1)
    # A candidate that failed ranks last.
    results["rank_test_score"] = rankdata(
        np.where(np.isnan(mean), np.inf, -mean), method="min"
    ).astype(np.int32)
    return results

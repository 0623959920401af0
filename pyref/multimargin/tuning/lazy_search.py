"""The lazy search of the Rank-CVM paper: one parameter at a time."""

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, ParameterGrid

from multimargin.checks.parameters import check_integer
from multimargin.notices import filters_put_back
from multimargin.typing import Folds, LabelsLike, MatrixLike, Scoring

Parameters = dict[str, Any]


class LazySearchCV(GridSearchCV):  # type: ignore[misc]
    """Search over one parameter at a time, with the others fixed.

    The first parameter of the grid is tuned at the start values of the others, then held at its
    best value while the next is tuned, and so on: the number of fits is the sum of the lengths of
    the grid's lists, not their product.

    Parameters
    ----------
    estimator : estimator
        The estimator to tune.
    param_grid : dict of str to list
        Values of each parameter, in the order in which the parameters are tuned.
    start : dict of str to object, default=None
        Values of parameters before they are tuned; those of `estimator` where it says nothing.
    n_rounds : int, default=1
        Number of passes through the parameters, at least 1. A round that changes nothing is the
        last.
    scoring : str, callable, list, tuple or dict, default=None
        As in `GridSearchCV`. The paper's criterion is
        ``get_scorer("neg_ranking_hamming")`` of `multimargin.measures`.
    n_jobs : int, default=None
        Number of fits at the same time; None means 1.
    refit : bool or str, default=True
        As in `GridSearchCV`. With several scores it must name the one to search by.
    cv : int, splitter or iterable, default=3
        As in `GridSearchCV`: a number means blocks of rows where y is an indicator matrix. Rows in
        the order of their labels need a splitter that shuffles. It must give the same folds each
        time.
    verbose : int, default=0
        1 prints each parameter's best value when it is found; from 2 on also each fit.
    pre_dispatch : int or str, default="2*n_jobs"
        As in `GridSearchCV`.
    error_score : "raise" or float, default=nan
        As in `GridSearchCV`.
    return_train_score : bool, default=False
        As in `GridSearchCV`.

    Attributes
    ----------
    best_params_ : dict
        The best of all combinations that were tried.
    best_score_ : float
        Its mean score over the folds.
    best_estimator_ : estimator
        The estimator fitted on all rows at `best_params_`, if `refit`.
    cv_results_ : dict of ndarray
        As in `GridSearchCV`, in the order of the search; "tuned" is the parameter that was tuned
        when the combination was tried first.

    Notes
    -----
    Rank-CVM paper, section 8.3: gamma of the rbf kernel given C = 1, then C given the best gamma,
    in three folds, by the criterion (ranking loss + Hamming loss) / 2 (equation 77). A combination
    is tried once. Of equal scores the one that was tried first wins. All else (the methods of the
    refitted estimator, routing, callbacks) is that of `GridSearchCV`.

    Examples
    --------
    >>> from multimargin import RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> from multimargin.measures import get_scorer
    >>> from multimargin.tuning import LazySearchCV
    >>> X, _, Y, _ = load_digit_attributes().train_test()
    >>> grid = {"gamma": [0.25, 1.0, 4.0], "C": [1.0, 4.0, 16.0]}
    >>> criterion = get_scorer("neg_ranking_hamming")
    >>> search = LazySearchCV(RankSVM(random_state=0), grid, start={"C": 1.0}, scoring=criterion)
    >>> len(search.fit(X, Y).cv_results_["params"])  # C = 1 was tried with gamma
    5
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: Mapping[str, Sequence[object]],
        *,
        start: Mapping[str, object] | None = None,
        n_rounds: int = 1,
        scoring: Scoring | Sequence[str] | Mapping[str, Scoring] | None = None,
        n_jobs: int | None = None,
        refit: bool | str = True,
        cv: Folds = 3,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: float | str = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.start = start
        self.n_rounds = n_rounds

    def fit(self, X: MatrixLike, y: LabelsLike | None = None, **params: Any) -> Self:
        """Search, and fit the best.

        Parameters
        ----------
        X, y, **params
            As in `GridSearchCV.fit`.
        """
        self._check_search()
        with filters_put_back():
            super().fit(X, y, **params)
        return self

    def _check_search(self) -> None:
        if not isinstance(self.param_grid, Mapping) or not self.param_grid:
            raise TypeError(
                f"param_grid is {self.param_grid!r}; expected a dict from parameters to lists of "
                "values."
            )
        ParameterGrid(dict(self.param_grid))
        check_integer("n_rounds", self.n_rounds, at_least=1)
        known = self.estimator.get_params()
        for name in (*self.param_grid, *(self.start or {})):
            if name not in known:
                raise ValueError(
                    f"param_grid or start names {name!r}, which {type(self.estimator).__name__} "
                    f"does not have; expected some of {', '.join(sorted(known))}."
                )
        several = isinstance(self.scoring, list | tuple | dict | set)
        if several and not isinstance(self.refit, str):
            raise ValueError(
                f"refit is {self.refit!r}, but scoring has several scores; expected the name of "
                "the one to search by."
            )
        shuffles = getattr(self.cv, "shuffle", hasattr(self.cv, "random_state"))
        if shuffles and not isinstance(self.cv.random_state, Integral):
            raise ValueError(
                f"cv is {self.cv!r}, whose folds differ from call to call; expected random_state "
                "to be an int."
            )

    def _run_search(self, evaluate_candidates: Callable[..., dict[str, Any]]) -> None:
        known = self.estimator.get_params()
        current = {name: known[name] for name in self.param_grid}
        current |= {name: value for name, value in (self.start or {}).items()}
        tried: list[Parameters] = []
        for _ in range(self.n_rounds):
            before = dict(current)
            for name, values in self.param_grid.items():
                new: list[Parameters] = []
                for value in values:
                    one = current | {name: value}
                    if not any(_same(one, other) for other in (*tried, *new)):
                        new.append(one)
                if new:
                    results = evaluate_candidates(new, more_results={"tuned": [name] * len(new)})
                    tried += new
                score = "score" if "mean_test_score" in results else str(self.refit)
                best = int(results[f"rank_test_{score}"].argmin())
                current = dict(results["params"][best])
                if self.verbose > 0:
                    mean = results[f"mean_test_{score}"][best]
                    print(f"{name}: best {current[name]!r} of {len(values)}, score {mean:.6g}")
            if _same(before, current):
                break


def _same(a: Parameters, b: Parameters) -> bool:
    # Values may be estimators or arrays, which need not compare to a truth value.
    return all(a[name] is b[name] or bool(np.all(a[name] == b[name])) for name in a)

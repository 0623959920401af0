"""C by cross-validation inside one fit, along a path of warm starts."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from multimargin.checks.parameters import check_integer, check_real
from multimargin.measures import SCORERS, get_scorer
from multimargin.tuning.warm_start import WarmStartGridSearchCV

# Eight values are half decades, with the default C = 10 among them. The small ones cost little and
# lead the path to the others.
_LOWEST, _HIGHEST = 0.1, 10**2.5


class PathCV(WarmStartGridSearchCV):
    """An estimator that chooses its C itself, as `LogisticRegressionCV` does.

    In each fold the values of C are fitted in increasing order, each from the solution of the one
    before; the best is fitted on all rows. For every estimator with `C` and `warm_start`.

    Parameters
    ----------
    estimator : estimator
        The estimator, or a pipeline that ends with it.
    Cs : int or sequence of float, default=8
        Values of C, or how many: then from 0.1 to 10^2.5, evenly spaced by their logarithm.
    cv : int, splitter or iterable, default=3
        As in `GridSearchCV`: a number means blocks of rows where y is an indicator matrix. Rows in
        the order of their labels need a splitter that shuffles.
    scoring : str, callable or None, default="neg_ranking_loss"
        What to choose by, larger is better: a key of `multimargin.measures.SCORERS`, or whatever
        `GridSearchCV` takes. One-dimensional targets have no ranking loss; None chooses by the
        estimator's `score`.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1. The result does not depend
        on it.
    refit : bool, default=True
        Whether to fit the best on all rows (from a cold start).
    verbose : int, default=0
        1 prints a line when all folds are fitted.
    error_score : "raise" or float, default="raise"
        Score of a fit that fails; the rest of its path starts anew.

    Attributes
    ----------
    C_ : float
        The best.
    Cs_ : ndarray of shape (n_Cs,)
        The values of C, increasing.
    scores_ : ndarray of shape (n_folds, n_Cs)
        Score of each fold and C.
    best_estimator_, best_score_, best_index_, best_params_, cv_results_, scorer_, n_splits_
        As in `WarmStartGridSearchCV`.

    Notes
    -----
    A fit of an hour has no use for an option that multiplies its time without being asked, so the
    estimators themselves take numbers for C alone.

    Examples
    --------
    >>> from multimargin import RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> from multimargin.tuning import PathCV
    >>> X, _, Y, _ = load_digit_attributes().train_test()
    >>> model = PathCV(RankSVM(random_state=0), Cs=[1.0, 10.0, 100.0]).fit(X, Y)
    >>> model.scores_.shape, model.best_estimator_.C == model.C_
    ((3, 3), True)
    """

    def __init__(
        self,
        estimator: Any,
        Cs: int | Sequence[float] = 8,
        *,
        cv: Any = 3,
        scoring: Any = "neg_ranking_loss",
        n_jobs: int | None = None,
        refit: bool = True,
        verbose: int = 0,
        error_score: float | str = "raise",
    ) -> None:
        super().__init__(
            estimator,
            {},
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
        )
        self.Cs = Cs

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Choose C, and fit the estimator with it.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q) or (n,)
            Targets.
        **params
            As in `WarmStartGridSearchCV.fit`.
        """
        self.Cs_ = self._values()
        prefix = ""
        if isinstance(self.estimator, Pipeline):
            prefix = f"{self.estimator.steps[-1][0]}__"
        self.path = f"{prefix}C"
        self.param_grid = {self.path: self.Cs_.tolist()}
        super().fit(X, y, **params)
        self.C_ = float(self.best_params_[self.path])
        self.scores_ = np.array(
            [self.cv_results_[f"split{fold}_test_score"] for fold in range(self.n_splits_)]
        )
        return self

    def _values(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        if np.ndim(self.Cs) == 0:
            number = check_integer("Cs", self.Cs, at_least=1)
            return np.geomspace(_LOWEST, _HIGHEST, number)
        if len(self.Cs) == 0:  # type: ignore[arg-type]
            raise ValueError("Cs is empty; expected at least one number above 0.")
        return np.unique([check_real("Cs", C, above=0.0) for C in self.Cs])  # type: ignore[union-attr]

    def _own_scoring(self) -> Any:
        known = isinstance(self.scoring, str) and self.scoring in SCORERS
        return get_scorer(self.scoring) if known else self.scoring

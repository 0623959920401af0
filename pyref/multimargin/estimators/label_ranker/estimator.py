"""The estimator to start with."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit
from scipy.stats import rankdata
from sklearn.metrics import get_scorer as scikit_learn_scorer
from sklearn.preprocessing import normalize
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from multimargin.checks.arrays import check_as_many_rows
from multimargin.checks.labels import with_nan
from multimargin.checks.parameters import (
    check_choice,
    check_flag,
    check_real,
    check_verbosity,
    job_count,
    seed_of,
)
from multimargin.checks.targets import Targets, check_pairs, check_targets, warn_of_unknown
from multimargin.checks.weights import check_sample_weight
from multimargin.estimators.label_ranker.judging import Judge
from multimargin.estimators.label_ranker.search import Search
from multimargin.estimators.label_ranker.settings import (
    Cs_of,
    Grid,
    class_weights_of,
    losses_of,
    top_ks_of,
    values_of,
)
from multimargin.estimators.shared.label_scoring import LabelScoringClassifier
from multimargin.estimators.shared.problem import Matrix
from multimargin.estimators.shared.time_limit import check_max_time
from multimargin.kernels import KERNELS, KernelFunction, make_kernel
from multimargin.measures import SCORERS, get_scorer
from multimargin.notices import warn
from multimargin.thresholds import PooledCalibration, Threshold
from multimargin.thresholds.calibration import make_odds_threshold, thresholds_of
from multimargin.thresholds.held_out import HeldOut
from multimargin.tuning.folds import folds_of

# More features, or more rows, are for a linear model.
_MOST_FEATURES, _MOST_ROWS = 500, 20_000
_LOWEST_C, _HIGHEST_C = 0.1, 1000.0
# Widths of an rbf kernel, times gamma="scale".
_WIDTHS = (1.0, 0.25, 4.0)
# Share of rows without labels from which on they are learned from.
_FEWEST_EMPTY = 0.01
# What the search may take of `max_time`; the fit on all rows has the rest.
_SHARE_OF_SEARCH = 0.7


@dataclass(repr=False, eq=False)
class LabelRankerCV(LabelScoringClassifier):
    """A label ranker that chooses its parameters itself, with probabilities and label sets.

    The estimator to start with. One fit tries kernel widths, losses, C, weights of labels and the
    part of the ranking that counts, on label-stratified folds; learns from the held-out scores of
    the best what a score is worth (`multimargin.thresholds.PooledCalibration`) and which labels to
    predict; and fits the best on all rows, with a certificate.

    Parameters
    ----------
    Cs : int or sequence of float, default=9
        Values of C, or how many: then from 0.1 to 1000, evenly spaced by their logarithm. The
        search starts in the middle.
    kernel : {"auto", "linear", "rbf", "poly", "sigmoid"} or callable, default="auto"
        "auto" is "linear" for sparse features, more than 500 features or more than 20,000 rows,
        else "rbf".
    gamma : float, str or list of these, default=None
        Kernel coefficients, as in `RankSVM`; None tries 1, 1/4 and 4 times what "scale" is.
    loss : {"hinge", "squared_hinge", "margin_distribution"} or list of these, \
            default=("squared_hinge", "margin_distribution")
        The loss of a pair of labels, that of `RankSVM`, `RankLSVM` or `MLODM`.
    class_weight : None, str, dict, ndarray or list of these, default=(None, "sqrt", "balanced")
        Weights of the labels, as in `RankSVM`. The search starts with the first.
    top_k : None, int, float or list of these, default=(None, 0.25)
        How many irrelevant labels, or which share of them, a relevant one is ranked against, as in
        `RankSVM`. The search starts with the first. "margin_distribution" takes None alone.
    scoring : str or callable, default="ranking_average_precision"
        What to choose by, larger is better: a key of `multimargin.measures.SCORERS`, or a scorer of
        scikit-learn for label indicators.
    cv : int, splitter or iterable of (train, test), default=3
        The folds; a number means `multimargin.tuning.MultilabelStratifiedKFold`, with `groups`
        scikit-learn's `GroupKFold`.
    calibration : bool, default=True
        Whether to calibrate the scores. Without, there are no probabilities.
    threshold : {"micro", "macro", "samples"}, float or Threshold, default="micro"
        Which labels are predicted, as in `CalibratedClassifier`; without calibration a number is a
        score.
    at_least_one : bool, default=False
        Whether the best label of a row is always predicted.
    unit_length : {"auto"} or bool, default="auto"
        Whether rows are divided by their Euclidean norm first; "auto" is for sparse features.
    tol : float, default=1e-3
        Relative duality gap of the fit on all rows.
    cv_tol : float, default=1e-2
        Relative duality gap of the fits on folds.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1. The result does not depend
        on it.
    random_state : int, RandomState instance or None, default=None
        Order in which the solvers visit the rows; an int makes the result reproducible.
    verbose : int, default=0
        1 prints a line a setting: how many are done of how many at most, the best so far, the time
        left.
    max_time : float, default=None
        Seconds that a fit may take; None is no limit. The search takes at most 70 % of them and
        ends with the best so far.

    Attributes
    ----------
    best_estimator_ : RankSVM, RankLSVM or MLODM
        The model of all rows (of rows of unit length, if `unit_length_`).
    best_params_ : dict
        Its loss, kernel, gamma, class_weight, top_k and C.
    best_score_ : float
        Mean of its score over the folds, each row calibrated without itself.
    best_index_ : int
        Its place in `cv_results_`.
    cv_results_ : dict of ndarray
        What was tried, as in `GridSearchCV`, in the order of the search; scores are after a
        calibration of all held-out rows.
    calibration_ : PooledCalibration
        The calibration.
    threshold_ : Threshold
        The threshold of the logarithms of the odds.
    kernel_ : str or callable
        The kernel.
    unit_length_ : bool
        Whether rows are divided by their norm.
    empty_label_ : bool
        Whether `best_estimator_` and `calibration_` have a further, last label: that a row has
        none.
    n_splits_ : int
        Number of folds.
    status_ : str
        How the fit ended: that of `best_estimator_`, "time_limit" if the search ran out of time, or
        "interrupted".
    dual_gap_, objective_, dual_objective_, n_iter_, history_
        The certificate, as in `best_estimator_`.
    classes_ : ndarray of shape (q,)
        Label numbers, or classes.
    label_names_in_ : ndarray of shape (q,)
        Names of the labels, when `y` was a data frame with string names or lists of names.
    multilabel_ : bool
        Whether `y` was a label indicator.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    For each loss the search starts in the middle of `Cs` and climbs to larger or smaller values
    while they are better, from warm starts. Then kernel width, class weights and top_k are changed
    one after the other at the best C, and C again where that is better. Settings are compared by
    their calibrated scores: the calibration changes who ranks best.

    A row without labels has no pair of labels to learn from. Where they are at least one in a
    hundred, they get a label of their own for the fit: its score tells how little a row is about,
    and the calibration makes use of it.

    Data in parts, on dask, are not taken; `multimargin.dask.fit` fits a single method.

    Examples
    --------
    >>> from multimargin import LabelRankerCV
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> model = LabelRankerCV(Cs=[1.0, 10.0], gamma="scale", random_state=0).fit(X, y)
    >>> model.status_, model.predict_proba(X_test).shape == y_test.shape
    ('converged', True)
    """

    Cs: int | Sequence[float] = 9
    _: KW_ONLY
    kernel: str | KernelFunction = "auto"
    gamma: Any = None
    loss: Any = ("squared_hinge", "margin_distribution")
    class_weight: Any = (None, "sqrt", "balanced")
    top_k: Any = (None, 0.25)
    scoring: Any = "ranking_average_precision"
    cv: Any = 3
    calibration: bool = True
    threshold: str | float | Threshold = "micro"
    at_least_one: bool = False
    unit_length: str | bool = "auto"
    tol: float = 1e-3
    cv_tol: float = 1e-2
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    max_time: float | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Choose, calibrate and fit.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), lists of label names, or \
                array-like of shape (n,)
            Label indicator of 0 and 1, NaN for unknown labels; or the names of the labels of each
            row; or one class a row, the best of which is predicted.
        sample_weight : array-like of shape (n,), default=None
            How often each row counts, in fits, calibration and scores.
        groups : array-like of shape (n,), default=None
            Rows of one group stay in one fold.

        Raises
        ------
        KeyboardInterrupt
            If interrupted. With a setting tried, the best so far is kept, as the model of one fold,
            with the rough calibration by which settings are compared.

        Warns
        -----
        UserWarning
            If the best C is the smallest or the largest.
        ConvergenceWarning
            If the fit on all rows ends above `tol`.
        """
        began = time.monotonic()
        self._check_parameters()
        X, targets, weights = self._checked(X, y, sample_weight)
        indicator = targets.indicator
        self.unit_length_ = (
            sparse.issparse(X) if isinstance(self.unit_length, str) else bool(self.unit_length)
        )
        rows = self._rows(X)
        self.kernel_ = self._kernel_of(rows)
        labels = with_nan(self._with_empty(indicator, targets.multilabel))
        grid = self._grid(rows, targets)
        relevant = (indicator == 1).astype(int)
        strata = relevant if targets.multilabel else relevant.argmax(axis=1)
        folds = folds_of(self.cv, X, strata, groups)
        self.n_splits_ = len(folds)
        judge = self._judge(folds, labels, weights, targets)
        limit = check_max_time(self.max_time)
        seed = seed_of(self.random_state)
        search = Search(
            rows,
            labels,
            weights,
            folds,
            judge,
            {"tol": self.cv_tol, "random_state": seed},
            deadline=None if limit is None else began + _SHARE_OF_SEARCH * limit,
            n_jobs=job_count(self.n_jobs, len(folds)),
            verbose=check_verbosity(self.verbose),
        )
        calibrated = False
        try:
            search.run(grid)
            assert search.best is not None
            calibration, threshold, values = judge.final(search.scores)
            self._keep_choice(search, targets, calibration, threshold, float(np.nanmean(values)))
            calibrated = True
            left = None if limit is None else max(began + limit - time.monotonic(), 1e-3)
            model = search.best.setting.make(tol=self.tol, random_state=seed, max_time=left)
            model.fit(rows, labels, sample_weight=weights)
            self._keep_model(model)
        except KeyboardInterrupt:
            if search.best is not None:
                if not calibrated:
                    # Nobody waits for the better calibration.
                    threshold = judge.threshold(search.scores, search.calibration)
                    score = search.best.mean
                    self._keep_choice(search, targets, search.calibration, threshold, score)
                self._keep_model(search.model)
                self.status_ = "interrupted"
            raise
        if search.out_of_time:
            self.status_ = "time_limit"
        self._warn_of_edges(grid)
        return self

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Targets, Matrix | None]:
        """Return features, targets and weights as the fit takes them."""
        if y is None:
            validate_data(self, X, y)
        X = self._checked_features(X, reset=True)
        targets = check_targets(y, unknown=True)
        warn_of_unknown(targets)
        check_as_many_rows(targets.indicator, X)
        weights = check_sample_weight(sample_weight, X.shape[0])
        check_pairs(targets.indicator if weights is None else targets.indicator[weights > 0])
        return X, targets, weights

    def _check_parameters(self) -> None:
        check_real("tol", self.tol, above=0.0)
        check_real("cv_tol", self.cv_tol, above=0.0)
        check_flag("calibration", self.calibration)
        check_flag("at_least_one", self.at_least_one)
        check_max_time(self.max_time)
        check_verbosity(self.verbose)
        if not callable(self.kernel):
            check_choice(
                "kernel", self.kernel, ("auto", *(k for k in KERNELS if k != "precomputed"))
            )
        if isinstance(self.unit_length, str):
            check_choice("unit_length", self.unit_length, ("auto",))
        else:
            check_flag("unit_length", self.unit_length)
        self._new_threshold()
        self._scorer()
        losses_of(self.loss)

    def _new_threshold(self) -> Threshold:
        if not self.calibration and not isinstance(self.threshold, str | Threshold):
            from multimargin.thresholds import make_threshold

            return make_threshold(self.threshold)
        return make_odds_threshold(self.threshold)

    def _scorer(self) -> Any:
        if isinstance(self.scoring, str):
            if self.scoring in SCORERS:
                return get_scorer(self.scoring)
            try:
                return scikit_learn_scorer(self.scoring)
            except (KeyError, ValueError) as error:
                raise ValueError(
                    f"scoring is {self.scoring!r}; expected a key of "
                    "multimargin.measures.SCORERS or a scorer of scikit-learn."
                ) from error
        if not callable(self.scoring):
            raise TypeError(f"scoring is {self.scoring!r}; expected a name or a scorer.")
        return self.scoring

    def _judge(
        self,
        folds: Sequence[tuple[Any, Any]],
        labels: NDArray[Any],
        weights: Matrix | None,
        targets: Targets,
    ) -> Judge:
        """Return what judges settings by the scores of the rows that the folds hold out."""
        held = np.concatenate([test for _, test in folds])
        held_out = HeldOut(
            np.empty(0),
            labels[held],
            held,
            None if weights is None else weights[held],
            np.repeat(np.arange(len(folds)), [len(test) for _, test in folds]),
        )
        return Judge(
            held_out,
            scorer=self._scorer(),
            make_threshold=self._new_threshold if targets.multilabel else None,
            at_least_one=self.at_least_one,
            calibration=self.calibration,
            n_labels=targets.indicator.shape[1],
        )

    def _rows(self, X: Any) -> Any:
        return normalize(X) if self.unit_length_ else X

    def _kernel_of(self, X: Any) -> Any:
        if callable(self.kernel) or self.kernel != "auto":
            return self.kernel
        linear = sparse.issparse(X) or X.shape[1] > _MOST_FEATURES or X.shape[0] > _MOST_ROWS
        return "linear" if linear else "rbf"

    def _with_empty(self, indicator: NDArray[np.uint8], multilabel: bool) -> NDArray[np.uint8]:
        """Append a label of the rows without labels, where these are some, and keep whether."""
        empty = (indicator == 0).all(axis=1)
        self.empty_label_ = bool(multilabel and empty.mean() >= _FEWEST_EMPTY)
        return np.column_stack([indicator, empty]) if self.empty_label_ else indicator

    def _grid(self, X: Any, targets: Targets) -> Grid:
        gammas: tuple[Any, ...] = ("scale",)
        if self.gamma is not None:
            gammas = values_of("gamma", self.gamma)
        elif self.kernel_ == "rbf":
            scale = make_kernel("rbf", X, gamma="scale", degree=3, coef0=0.0).gamma
            gammas = tuple(width * scale for width in _WIDTHS)
        return Grid(
            losses_of(self.loss),
            self.kernel_,
            gammas if self.kernel_ in ("rbf", "poly", "sigmoid") else gammas[:1],
            class_weights_of(self.class_weight, targets, further=self.empty_label_),
            top_ks_of(self.top_k),
            Cs_of(self.Cs, _LOWEST_C, _HIGHEST_C),
        )

    def _keep_choice(
        self,
        search: Search,
        targets: Targets,
        calibration: PooledCalibration | None,
        threshold: Threshold | None,
        score: float,
    ) -> None:
        best, tried = search.best, search.tried
        assert best is not None
        self._store_targets(targets)
        self.best_params_ = best.setting.parameters()
        self.best_index_ = tried.index(best)
        results: dict[str, Any] = {"params": [one.setting.parameters() for one in tried]}
        for name in self.best_params_:
            values = np.empty(len(tried), dtype=object)
            values[:] = [one.setting.parameters()[name] for one in tried]
            results[f"param_{name}"] = values
        table = np.array([one.values for one in tried])
        for fold in range(table.shape[1]):
            results[f"split{fold}_test_score"] = table[:, fold]
        results["mean_test_score"] = mean = np.nanmean(table, axis=1)
        results["std_test_score"] = np.nanstd(table, axis=1)
        results["rank_test_score"] = rankdata(-mean, method="min").astype(np.int32)
        results["seconds"] = np.array([one.seconds for one in tried])
        self.cv_results_ = results
        self.best_score_ = score
        for name, value in (("calibration_", calibration), ("threshold_", threshold)):
            if value is not None:
                setattr(self, name, value)
            elif hasattr(self, name):
                delattr(self, name)

    def _keep_model(self, model: Any) -> None:
        self.best_estimator_ = model
        kept = ("n_iter_", "objective_", "dual_objective_", "dual_gap_", "status_", "history_")
        for name in kept:
            setattr(self, name, getattr(model, name))

    def _warn_of_edges(self, grid: Grid) -> None:
        C = self.best_params_["C"]
        if len(grid.Cs) > 1 and C in (grid.Cs[0], grid.Cs[-1]):
            edge = "smallest" if grid.Cs[0] == C else "largest"
            warn(f"The best C, {C:g}, is the {edge} of Cs; others beyond it may be better.")

    def _label_scores(self, X: Any) -> Matrix:
        scores: Matrix = self.best_estimator_.label_scores(self._rows(X))
        if hasattr(self, "calibration_"):
            scores = self.calibration_.decision_function(scores)
        return np.ascontiguousarray(scores[:, : self.classes_.size])

    def decision_function(self, X: Any) -> Matrix:
        """Return the logarithms of the odds less the threshold: positive where it is predicted.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            log(p / (1 - p)) - t for labels; without a threshold for three or more classes; the
            difference for two.
        """
        scores = self.label_scores(X)
        if self.multilabel_:
            scores -= thresholds_of(self.threshold_, scores, X, at_least_one=self.at_least_one)
        elif self.classes_.size == 2:
            return np.ascontiguousarray(scores[:, 1] - scores[:, 0])
        return scores

    @available_if(lambda self: bool(self.calibration))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Matrix:
        """Return the probability of each label, or class.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities: of labels each by itself; those of classes sum to 1.
        """
        probabilities: Matrix = expit(self.label_scores(X))
        if not self.multilabel_:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

"""The estimator to start with."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from multimargin.calibration.bend import Calibration
from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.parameters import (
    check_auto,
    check_choice,
    check_flag,
    check_real,
    check_verbosity,
    seed_of,
)
from multimargin.checks.weights import check_sample_weight, in_units_of_a_row
from multimargin.estimators.bases.label_scoring import LabelScoringClassifier
from multimargin.estimators.bases.nested import NestedEstimators
from multimargin.estimators.fitting.time_limit import check_max_time
from multimargin.estimators.label_ranker.fit import WITHIN_ROWS, Fit
from multimargin.estimators.label_ranker.judging import check_threshold, threshold_of
from multimargin.estimators.label_ranker.search import results_of
from multimargin.estimators.label_ranker.settings import check_losses, is_auto
from multimargin.estimators.label_ranker.shortlists import (
    ShortlistFit,
    check_for_shortlists,
    needs_shortlists,
)
from multimargin.estimators.label_ranker.task import (
    Task,
    chosen_folds,
    views_of,
    warn_of_rare_labels,
    with_empty,
)
from multimargin.features.views import copy_names, named_views, prepares_features
from multimargin.kernels import KERNELS, KernelFunction
from multimargin.measures.scorers import Answers, as_measured, rows_to_measure, scorer_of
from multimargin.notices import warn
from multimargin.targets.indicator import check_pairs, with_nan
from multimargin.targets.reading import Labels, Targets, read_targets
from multimargin.thresholds import Threshold
from multimargin.tuning.counted import counted
from multimargin.tuning.folds import check_folds
from multimargin.typing import ClassWeight, Features, Folds, LabelsLike, Matrix, MatrixLike, Scoring
from multimargin.whole_fits import is_whole, whole_or_unchanged


def _scores_all_labels(model: Any) -> bool:
    """Return True, or say why not."""
    if getattr(model, "shortlisted_", False):
        raise AttributeError(
            f"The model scores only the best of its {model.classes_.size} labels for each row. "
            "predict and predict_proba are sparse, predict_top and predict_names rank, shortlists "
            "has the odds."
        )
    return True


@dataclass(repr=False, eq=False)
class LabelRankerCV(NestedEstimators, LabelScoringClassifier):
    """A label ranker that selects its hyperparameters, with probabilities and label sets.

    One fit tries kernel widths, losses, C, weights of labels and the part of the ranking that
    counts, on label-stratified folds; learns probabilities (`PooledCalibration`) and a threshold
    from the held-out scores of the best setting and of other classifiers on the same folds; and
    fits everything on all rows, the ranker with a certificate.

    Parameters
    ----------
    Cs : int or sequence of float, default=9
        Values of C, or how many: then from 0.1 to 1000, evenly spaced by their logarithm. The
        search starts in the middle.
    kernel : {"auto", "linear", "rbf", "laplacian", "poly", "sigmoid"} or callable, default="auto"
        "auto" is "linear" for features that are held sparse, more than 500 features, more than
        20,000 rows, or where the first epochs of "rbf" would take a fifth of `max_time`; else
        "rbf", "laplacian" and "linear" are tried.
    gamma : float, str or list of these, default=None
        Kernel coefficients, as in `RankSVM`; None tries 1, 1/4 and 4 times "scale".
    loss : {"auto", "hinge", "squared_hinge", "margin_distribution"} or list of these, \
            default="auto"
        The loss of a pair of labels, that of `RankSVM`, `RankLSVM` or `MLODM`. "auto" is
        ("squared_hinge", "margin_distribution"), the first alone where rows times labels are more
        than a million or most rows have no label.
    class_weight : "auto", None, str, dict, ndarray or list of these, default="auto"
        Weights of the labels, as in `RankSVM`. The search starts with the first. "auto" is (None,
        "sqrt", "balanced"), None alone where most rows have no label.
    top_k : "auto", None, int, float or list of these, default="auto"
        Numbers of irrelevant labels, or shares of them, that a relevant one is ranked against, as
        in `RankSVM`. The search starts with the first. "margin_distribution" takes None alone.
        "auto" is (None, 0.25), of 100 labels or more (20, 0.25).
    stack : None, {"auto", "full"} or list, default="auto"
        Classifiers stacked with the ranker. None is the ranker alone, which is certified as a
        whole. "auto" has the 20 nearest "neighbours"; for dense features up to 500 "boosting", 200
        boosted trees, linear discriminants, "discriminant", and up to 2000 rows "kernel_ridge"
        regressions; for others, and below 1000 rows, a "forest" of 100 extra trees (50 of 24 labels
        or more, 32 of others); for others, or where most rows have no label, one-vs-rest logistic
        regressions, "linear". "full" has twice the boosted trees, three times those of a forest,
        always a forest and, for others, "linear" with balanced weights, "balanced". Both have
        "lift", see `CalibratedClassifier`. A list has some of these names, classifiers, or pairs of
        a name and a classifier.
    scoring : str or callable, default="auto"
        Measure to select by, larger is better: a key of `multimargin.measures.SCORERS`, or a scorer
        of scikit-learn for label indicators. "auto" is "ranking_average_precision", or
        "micro_average_precision", which compares rows as well, where one row in twenty or more has
        no label.
    cv : int, splitter or iterable of (train, test), default=3
        The folds; a number means `multimargin.tuning.MultilabelStratifiedKFold`, with `groups`
        scikit-learn's `GroupKFold`.
    calibration : bool, default=True
        If True, the scores are calibrated. If False, there are no probabilities and no stack.
    threshold : {"micro", "macro", "samples"}, float or Threshold, default="micro"
        Threshold above which labels are predicted, as in `CalibratedClassifier`; without
        calibration a number is a score.
    at_least_one : bool, default=False
        If True, the best label of a row is always predicted.
    unit_length : {"auto"} or bool, default="auto"
        If True, rows are divided by their Euclidean norm first; "auto" does so for sparse features.
    scaling : {"auto"} or bool, default="auto"
        If True, dense columns are scaled to [0, 1] first. "auto" does so if the largest numbers of
        one are over 100 times those of another, then divides all by a number if their variances
        sum to less than 0.1 or over 10 and neither `Cs` nor `gamma` has numbers. Sparse columns
        whose mean entry is over 10 times that of the median column are brought to that one.
    views : {"auto"}, list of (str, transformer, columns) or None, default="auto"
        Several views of the rows, such as words and their embeddings: the name of each, a
        transformer or "passthrough", and its columns, as for `sklearn.compose.ColumnTransformer`.
        Each view has its own ranker and classifiers, and the calibration weighs all. The
        transformers are fitted to all rows once, without labels. None is one view, `X`. "auto" is
        two where `X` is not held dense and has columns of measurements, which fill nearly all rows
        with varied numbers: "sparse" has the others, "dense" these and the most frequent others,
        500 at most. It is one if `stack` is None or a list, without calibration, and with
        shortlists.
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
        1 prints a line per setting: its place, the best so far, and the time left at most.
    max_time : float, default=None
        Seconds that a fit may take; None is no limit. The search ends with the best so far after a
        third to a half of them; the classifiers of the stack share the rest. Where that is too
        little, "boosting" and "forest" grow fewer trees and others are left out, with a warning.
        The first epochs are always completed, of the first setting and of all rows: of thousands
        of labels they take longer than a limit of seconds.

    Attributes
    ----------
    best_estimator_ : Pipeline
        Model that predicts: "views", which brings features into the form that the others take, and
        "stack", a `CalibratedClassifier` of the ranker and the classifiers stacked with it, or a
        `multimargin.calibration.ShortlistClassifier`.
    ranker_ : RankSVM, RankLSVM or MLODM
        The chosen ranker, fitted on all rows (scaled, of unit length if `unit_length_`); with
        `views`, that of the view whose ranker is best by itself, as are `best_params_` and so on.
    rankers_ : dict of str to estimator
        The ranker of each view; "" is the name of `X` itself.
    blocks_ : tuple of str
        Names of what the calibration weighs: "ranker", and those of the stack; with several views
        after the name of the view, as in "words__ranker". The first, at whose ranks the calibration
        looks, is "linear" where most rows have no label, if it is there.
    left_out_ : dict of str to str
        Names of what `stack` includes and the fit left out, with the reason.
    best_params_ : dict
        The ranker's loss, kernel, gamma, class_weight, top_k and C.
    best_score_ : float
        Mean score over the folds of the whole stack. The rows of a fold are calibrated by others
        of that fold, whose labels none of their models has seen, so that it is not optimistic; the
        calibration of `best_estimator_` learns from more rows.
    scoring_ : str or callable
        The measure that the fit selected by: `scoring`, or what "auto" means for the data.
    best_index_ : int
        The row of `best_params_` in `cv_results_`.
    cv_results_ : dict of ndarray
        The settings of the ranker that were tried, as in `GridSearchCV`, in the order of the
        search; scores are calibrated on all held-out rows.
    calibration_ : PooledCalibration, LiftedCalibration or BentCalibration
        The calibration, with its own gap.
    threshold_ : Threshold
        The threshold of the logarithms of the odds.
    kernel_ : str or callable
        The kernel of the ranker.
    unit_length_ : bool
        True if rows are divided by their norm.
    scaled_ : bool
        True if columns are scaled.
    empty_label_ : bool
        True if the ranker, the stack and the calibration have a further, last label: that of rows
        without labels.
    n_splits_ : int
        Number of folds that were held out.
    shortlisted_ : bool
        True if only the best labels of each row are scored, see the notes.
    base_rates_ : ndarray of shape (q,)
        With shortlists, the probabilities of labels that are not listed: how often each applies
        where it is not.
    status_ : str
        Status of the fit: that of the rankers, "time_limit" if the search ran out of time, or
        "interrupted".
    dual_gap_, objective_, dual_objective_, n_iter_, history_
        The certificate of `ranker_`. In the stack the calibration has one, `calibration_.gap_`.
    classes_ : ndarray of shape (q,)
        Label numbers, or classes.
    label_names_in_ : ndarray of shape (q,)
        Names of the labels, when `y` was a data frame with string names or lists of names.
    multilabel_ : bool
        True for a label indicator or lists of names, False for one-dimensional targets.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    For each loss the search starts in the middle of `Cs` and climbs to larger or smaller values
    while they are better by a thousandth, from warm starts; with the better loss, a further kernel
    likewise. Then kernel width, class weights and top_k are changed one after the other at the best
    C, and C again if that is better by as much. Settings are compared without the stack, by their
    calibrated scores.

    Stacked classifiers are scored on the same folds and fitted to all rows. "auto" and "full" leave
    out neighbours of more than 40,000 rows, or fewer than labels, a forest of more than a million
    pairs of a row and a label or 6000 rows of sparse features, and the lift of more than 2000
    labels. Boosted trees see the rows of two million pairs. A listed classifier may refuse unknown
    labels.

    Of more than a million pairs of a row and a label, 20,000 rows, or 4000 rows that are held
    dense, settings are compared on a sample of 3000 to 12,000 rows, and that of the smallest C
    within 1 % of the best is taken. If that takes more than 20 epochs on the fold and gains less
    than 1 % there, the first of `class_weight` and `top_k` are taken. "linear" and "balanced",
    whose C is 3 for fewer rows, take 10, 30 or 100 while the sample gains 2 % by each, unless most
    rows have no label. Of more than a million pairs, where `cv` is a number, the first fold alone
    is held out; where `max_time` is too short for an epoch on it, the models of the sample score
    its rows.

    Rows without labels, which have no pair to learn from, get a label of their own for the fit if
    they are one in a hundred or more, whose score the calibration uses; where most rows have none,
    as features of the other labels alone, and thresholds have the best F1 by the probabilities.

    Of more than 67 million pairs (2**26) of a row and a label, no scores of all labels are held.
    The ranker is a linear `RankSVM` with the hinge and the first of `class_weight` and `top_k`, and
    C alone is searched for, by precision at 5. It lists the 50 best labels of each row
    (`shortlists`); calibration and threshold learn from these. The 20 nearest neighbours score
    them, too, and are weighed, with corrections for each label, if that is more precise on the
    held-out rows; else the order of the ranker is kept. All other labels have base rates
    (`base_rates_`). `predict` and `predict_proba` return sparse matrices, `score` is precision at
    5, and there is no `decision_function` or `label_scores`: `predict_top` and `predict_names`
    rank. Other kernels, losses, measures, thresholds and blocks, several views, classes and
    ``calibration=False`` are refused.

    Dask collections are not supported; `multimargin.dask.fit` fits a single method.

    Examples
    --------
    >>> from multimargin import LabelRankerCV
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> model = LabelRankerCV(Cs=[1.0, 10.0], gamma="scale", random_state=0).fit(X, y)
    >>> model.status_, model.predict_proba(X_test).shape == y_test.shape
    ('converged', True)
    """

    # (name, transformer, columns), and (name, classifier)
    _nested: ClassVar[dict[str, int]] = {"views": 3, "stack": 2}

    Cs: int | Sequence[float] = 9
    _: KW_ONLY
    kernel: str | KernelFunction = "auto"
    gamma: float | str | Sequence[float | str] | None = None
    loss: str | Sequence[str] = "auto"
    class_weight: ClassWeight | Sequence[ClassWeight] = "auto"
    top_k: str | float | Sequence[float | None] | None = "auto"
    stack: str | Sequence[Any] | None = "auto"
    scoring: Scoring = "auto"
    cv: Folds = 3
    calibration: bool = True
    threshold: str | float | Threshold = "micro"
    at_least_one: bool = False
    unit_length: str | bool = "auto"
    scaling: str | bool = "auto"
    views: str | Sequence[tuple[str, Any, Any]] | None = "auto"
    tol: float = 1e-3
    cv_tol: float = 1e-2
    n_jobs: int | None = None
    random_state: int | np.random.RandomState | None = None
    verbose: int = 0
    max_time: float | None = None

    @whole_or_unchanged
    def fit(
        self,
        X: MatrixLike,
        y: LabelsLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select hyperparameters, calibrate and fit.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), lists of label names, or \
                array-like of shape (n,)
            Label indicator of 0 and 1, NaN for unknown labels; or the names of the labels of each
            row; or one class per row, the best of which is predicted.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows in fits, calibration and scores, of which only the ratios count;
            rows of weight 0 are left out (a splitter as `cv` is of all rows). None is 1 for all.
        groups : array-like of shape (n,), default=None
            Rows of one group stay in one fold.

        Raises
        ------
        ValueError
            If an argument is malformed, or not supported with shortlists, where rows times labels
            are more than 67 million.
        KeyboardInterrupt
            If interrupted. The best setting so far is kept, if any, as the model of one fold, with
            the rough calibration by which settings are compared.

        Warns
        -----
        UserWarning
            If the best C is the smallest or the largest, and better than the next; if a label has
            fewer relevant rows than there are folds; if a classifier of the stack is left out for
            lack of time.
        ConvergenceWarning
            If the fit on all rows ends above `tol`.
        """
        began = time.monotonic()
        self._check_parameters()
        task = self._task(X, y, sample_weight, groups)
        self.shortlisted_ = needs_shortlists(task.targets)
        fit = (ShortlistFit if self.shortlisted_ else Fit)(self, task, began)
        self.n_splits_, self.empty_label_ = len(task.folds), task.empty_label
        self.scoring_ = fit.scoring
        try:
            fit.choose()
            fit.stack()
            in_time = fit.has_time
            self._keep(fit, *(fit.learned() if in_time else fit.rough()))
        except KeyboardInterrupt:
            if not fit.keep_the_best():
                raise
            self._keep(fit, *fit.rough())
            self.status_ = "interrupted"
            is_whole(self)
            raise
        if not in_time or any(member.search.out_of_time for member in fit.members):
            self.status_ = "time_limit"
        self._warn_of_edges(fit)
        return self

    def _task(self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None, groups: Any) -> Task:
        """Check the arguments, prepare the features, and choose the folds."""
        warn_of_other_order(X, y=y, sample_weight=sample_weight, groups=groups)
        given = counted(*self._checked(X, y, sample_weight), groups, self.cv)
        X, targets, weights, groups = given.X, given.targets, given.sample_weight, given.groups
        check_pairs(targets.indicator)
        shortlisted = needs_shortlists(targets)
        if shortlisted:
            check_for_shortlists(self, targets)
        check_threshold(self, targets, weights)
        views = views_of(self, dense=False if shortlisted else "auto")
        parts = views.fit_parts(X, checked_by=self)
        learned = with_empty(targets, calibration=self.calibration)
        seed = seed_of(self.random_state)
        folds, searched = chosen_folds(given.cv, X, targets, groups, parts, seed)
        check_folds(folds, learned.indicator)
        if searched is not folds:
            check_folds(searched, learned.indicator)
        warn_of_rare_labels(targets, len(folds))
        return Task(views, parts, targets, learned, weights, groups, folds, searched, seed)

    def _checked_features(self, X: MatrixLike, *, reset: bool) -> Any:
        # Transformers of views check their own input.
        own = prepares_features(self.views)
        return X if own else super()._checked_features(X, reset=reset)

    def _checked(
        self, X: MatrixLike, y: Any, sample_weight: ArrayLike | None
    ) -> tuple[Any, Targets, Matrix | None]:
        """Return checked features, targets and weights."""
        if y is None:
            validate_data(self, X, y)
        X = self._checked_features(X, reset=True)
        targets = read_targets(y, unknown="warn", keep_sparse=True)
        if sparse.issparse(targets.indicator) != needs_shortlists(targets):
            given: Any = targets.indicator
            held = given.toarray() if sparse.issparse(given) else sparse.csr_array(given)
            targets = replace(targets, indicator=held)
        check_as_many_rows(targets.indicator, X)
        weights = check_sample_weight(sample_weight, targets.indicator.shape[0])
        if weights is not None:
            # C is relative to the weights, and the values to try are not.
            weights = in_units_of_a_row(weights)
        return X, targets, weights

    def _check_parameters(self) -> None:
        for name in ("tol", "cv_tol"):
            check_real(name, getattr(self, name), above=0.0)
        for name in ("calibration", "at_least_one"):
            check_flag(name, getattr(self, name))
        stacked = not (self.stack is None or is_auto(self.stack))
        weighed = f"stack is {self.stack!r}" if stacked else ""
        several = len(named_views(self.views)) if prepares_features(self.views) else 1
        if several > 1:
            weighed = f"views has {several} views"
        self._check_names()
        if weighed and not self.calibration:
            raise ValueError(
                f"{weighed} with calibration=False; expected calibration=True, which weighs the "
                "classifiers of a stack and of views, or the default."
            )
        check_max_time(self.max_time)
        check_verbosity(self.verbose)
        if not callable(self.kernel):
            check_choice(
                "kernel", self.kernel, ("auto", *(k for k in KERNELS if k != "precomputed"))
            )
        check_auto("unit_length", self.unit_length)
        check_auto("scaling", self.scaling)
        threshold_of(self)
        scorer_of(WITHIN_ROWS if is_auto(self.scoring) else self.scoring)
        check_losses(self.loss)

    def _keep(self, fit: Fit, stack: Any, score: float) -> None:
        """Store the chosen models, and the report of the first ranker."""
        first, views = fit.members[0], fit.task.views
        self._store_targets(fit.task.targets)
        copy_names(views, self)
        self.best_score_, self.left_out_ = score, fit.left_out
        self.best_params_ = first.best.setting.parameters()
        in_order = sorted(fit.members, key=lambda member: member.search.place)
        tried = [one for member in in_order for one in member.search.tried]
        self.best_index_ = tried.index(first.best)
        self.cv_results_ = results_of(tried)
        self.kernel_, self.ranker_ = self.best_params_["kernel"], first.ranker
        self.rankers_ = {member.search.view: member.ranker for member in in_order}
        lifted = ("lift",) if getattr(stack, "lift", False) else ()
        self.blocks_ = (*(name for name, _ in stack.estimators_), *lifted)
        self.unit_length_ = views.unit_length_[first.search.place]
        self.scaled_ = views.ranges_[first.search.place] is not None
        self.best_estimator_ = Pipeline([("views", views), ("stack", stack)])
        for name in ("n_iter_", "objective_", "dual_objective_", "dual_gap_", "history_"):
            setattr(self, name, getattr(first.ranker, name))
        ends = (member.ranker.status_ for member in in_order)
        self.status_ = next((end for end in ends if end != "converged"), "converged")

    @property
    def calibration_(self) -> Calibration:
        """The calibration."""
        calibration: Calibration = self.best_estimator_[-1].calibration_
        return calibration

    @property
    def threshold_(self) -> Threshold:
        """The threshold of the logarithms of the odds."""
        threshold: Threshold | None = self.best_estimator_[-1].threshold_
        if threshold is None:
            raise AttributeError("threshold_")
        return threshold

    @property
    def base_rates_(self) -> NDArray[np.float64]:
        """Probabilities of labels that a model with shortlists does not list."""
        rates: NDArray[np.float64] = self.best_estimator_[-1].base_rates_
        return rates

    def _warn_of_edges(self, fit: Fit) -> None:
        members = fit.members
        if self.views == "auto":
            # Nobody asked for the other view, whose ranker is the weaker one.
            members = [max(members, key=lambda member: member.best.mean)]
        for search in (member.search for member in members):
            Cs, C = search.grid.Cs, self.rankers_[search.view].C
            if len(Cs) > 1 and C in (Cs[0], Cs[-1]) and search.beats_other_Cs():
                edge, others = ("largest", "larger") if Cs[-1] == C else ("smallest", "smaller")
                of = f" of the view {search.view!r}" if search.view else ""
                warn(f"The best C{of}, {C:g}, is the {edge} of Cs; {others} values may be better.")

    def score(self, X: MatrixLike, y: LabelsLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the measure `scoring`, by which the fit selected.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.
        y : array-like, sparse matrix or data frame of shape (n, q), or list of n lists of names
            Label indicator or classes, as in `fit`. A name that the model does not know is left
            out, with a warning.
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows; None gives each row the weight 1.

        Returns
        -------
        float
            Larger is better. With shortlists, precision at 5 among the listed labels.
        """
        check_is_fitted(self)
        warn_of_other_order(X, y=y, sample_weight=sample_weight)
        rows, stack = self._rows(X), self.best_estimator_[-1]
        labels = Labels.of(self)
        targets = read_targets(y, unknown="take", labels=labels, keep_sparse=self.shortlisted_)
        targets.warn_of_others()
        if self.shortlisted_:
            return float(stack.precision(rows, targets.indicator, sample_weight))
        scorer, indicator = scorer_of(self.scoring_), with_nan(targets.indicator)
        weights = check_sample_weight(sample_weight, len(indicator))
        odds, at = stack.label_scores(rows), rows_to_measure(indicator, scorer, weights)
        answers = Answers(odds[at], lambda: stack.head_.label_sets(odds, rows)[at])
        named = {} if weights is None else {"sample_weight": weights[at]}
        return float(scorer(answers, odds[at], as_measured(indicator[at]), **named))

    def _label_scores(self, X: Features) -> Matrix:
        views, stack = self.best_estimator_
        scores: Matrix = stack.label_scores(views.prepared(X))
        return scores

    @available_if(_scores_all_labels)  # type: ignore[untyped-decorator]
    def label_scores(self, X: MatrixLike) -> Matrix:
        """Return the logarithms of the odds of all labels, before the threshold.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            log(p / (1 - p)), or without calibration the scores of the ranker.
        """
        return super().label_scores(X)

    @available_if(lambda self: self.shortlisted_)  # type: ignore[untyped-decorator]
    def shortlists(self, X: MatrixLike) -> tuple[NDArray[np.intp], Matrix]:
        """Return the best labels of each row, for a model with shortlists.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Features.

        Returns
        -------
        labels : ndarray of shape (n, k)
            Numbers of labels, the best first by the ranker; q, where it is among them, says that
            the row has none.
        odds : ndarray of shape (n, k)
            The logarithms of their odds, -1e300 for q.
        """
        check_is_fitted(self)
        lists = self.best_estimator_[-1].shortlists(self._rows(X))
        return lists.numbers, lists.scores

    @available_if(_scores_all_labels)  # type: ignore[untyped-decorator]
    def decision_function(self, X: MatrixLike) -> Matrix:
        """Return the log odds minus the threshold, positive for predicted labels.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q), (n, n_classes) or (n,)
            log(p / (1 - p)) - t for labels; without a threshold for three or more classes;
            log(p_1 / p_0) for two.
        """
        decision: Matrix = self._asked("decision_function", X)
        return decision

    def predict(self, X: MatrixLike) -> NDArray[np.generic]:
        """Predict the relevant labels, or classes.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q) or (n,), or csr_array of shape (n, q)
            Label indicator of 0 and 1, or classes for one-dimensional targets; sparse with
            shortlists.
        """
        predicted: NDArray[Any] = self._asked("predict", X)
        return predicted

    @available_if(lambda self: bool(self.calibration))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: MatrixLike) -> Matrix:
        """Return the probability of each label, or class.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray or csr_array of shape (n, q)
            Probabilities: of labels each by itself; those of classes sum to 1. With shortlists a
            sparse matrix of those of listed labels; others have `base_rates_`.
        """
        probabilities: Matrix = self._asked("predict_proba", X)
        return probabilities

    @available_if(  # type: ignore[untyped-decorator]
        lambda self: _scores_all_labels(self) and self.calibration
    )
    def decision_and_probabilities(self, X: MatrixLike) -> tuple[Matrix, Matrix]:
        """Return `decision_function` and `predict_proba` of labels, scoring the rows once.

        Parameters
        ----------
        X : array-like, CSR matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        decision, probabilities : ndarray of shape (n, q)
            The same as from the two methods.
        """
        both: tuple[Matrix, Matrix] = self._asked("decision_and_probabilities", X)
        return both

    def _asked(self, method: str, X: MatrixLike) -> Any:
        check_is_fitted(self)
        return getattr(self.best_estimator_[-1], method)(self._rows(X))

    def _rows(self, X: MatrixLike) -> Any:
        """Return features in the form that the stack takes."""
        return self.best_estimator_[0].prepared(self._checked_features(X, reset=False))

"""Scorers for `scoring=` of scikit-learn, one for each measure."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer as scikit_learn_scorer

from multimargin.measures.label_scores import label_names_of
from multimargin.measures.registry import MEASURES, MORE_MEASURES, Measure, ranking_hamming
from multimargin.scikit_learn import ScikitLearnScorer
from multimargin.targets.given import recognise
from multimargin.targets.indicator import complete_rows, known_rows, with_nan
from multimargin.targets.reading import Labels, read_targets
from multimargin.typing import Features, Marks, Scoring, Vector

Scorer = Callable[..., float]

_FUNCTIONS = {m.function for m in (*MEASURES.values(), *MORE_MEASURES.values())}
_RESPONSES = {"scores": "decision_function", "label sets": "predict"}


def _in_order_of(estimator: Any, y: Any) -> Any:
    """Return labels with the columns in the order of a model, where both have names."""
    names = label_names_of(estimator)
    if names is None or (given := recognise(y)).names is None:
        return y
    of_model = Labels(np.arange(len(names)), label_names=names)
    return with_nan(read_targets(given, unknown="take", labels=of_model).indicator)


class _OfMeasure(ScikitLearnScorer):  # type: ignore[misc]
    """A scorer of scikit-learn that finds the columns of a data frame of labels by name."""

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **given: Any) -> Any:
        y_true = _in_order_of(estimator, y_true)
        return super()._score(method_caller, estimator, X, y_true, **given)


class _NegRankingHamming(_OfMeasure):
    """The scorer of a measure that takes both the label sets and the scores."""

    def __init__(self) -> None:
        super().__init__(ranking_hamming, -1, {}, "decision_function")

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **given: Any) -> Any:
        y_true = _in_order_of(estimator, y_true)
        answers = [method_caller(estimator, one, X) for one in ("predict", "decision_function")]
        return -ranking_hamming(y_true, *answers, **given)

    def __repr__(self) -> str:
        return "get_scorer('neg_ranking_hamming')"


def _scorer_name(measure: Measure) -> str:
    return measure.name if measure.larger_is_better else f"neg_{measure.name}"


def _scorer(measure: Measure) -> Scorer:
    sign = 1 if measure.larger_is_better else -1
    return _OfMeasure(measure.function, sign, {}, _RESPONSES[measure.needs])


SCORERS: dict[str, Scorer] = {
    **{_scorer_name(measure): _scorer(measure) for measure in MEASURES.values()},
    **{_scorer_name(measure): _scorer(measure) for measure in MORE_MEASURES.values()},
    "neg_ranking_hamming": _NegRankingHamming(),
}
"""Scorers for `scoring=` of scikit-learn: larger is better, so losses carry the prefix "neg_"."""


def measurable_rows(Y: Marks, scorer: Scorer) -> NDArray[np.bool_]:
    """Return which rows of an indicator with NaN a scorer can measure.

    Measures of this package leave unknown labels out; others need rows in which all are known.
    """
    own = isinstance(scorer, _NegRankingHamming)
    own |= getattr(scorer, "_score_func", None) in _FUNCTIONS
    return known_rows(Y) if own else complete_rows(Y)


def rows_to_measure(
    Y: Marks, scorer: Scorer, sample_weight: Vector | None = None
) -> NDArray[np.intp]:
    """Return the rows of an indicator with NaN that a scorer can measure and that count."""
    counted = measurable_rows(Y, scorer)
    if sample_weight is not None:
        counted &= sample_weight > 0.0
    if not counted.any():
        raise ValueError(
            "y has no row that the scorer can measure: measures of multimargin need a known "
            "label, other scorers rows in which all are known."
        )
    return np.flatnonzero(counted)


def as_measured(Y: Marks) -> Marks:
    """Return an indicator as integers, which scikit-learn's measures expect, if none is NaN."""
    return Y if np.isnan(Y).any() else Y.astype(np.int64)


def scorer_key(name: str) -> str:
    """Return the key of `SCORERS` that a name stands for, with or without "neg_"."""
    if isinstance(name, str):
        plain = name.replace("-", "_").removeprefix("neg_")
        for key in (plain, f"neg_{plain}"):
            if key in SCORERS:
                return key
    known = sorted(key.removeprefix("neg_") for key in SCORERS)
    raise ValueError(f"name is {name!r}; expected one of {', '.join(known)}.")


def get_scorer(name: str) -> Scorer:
    """Return a scorer for `cross_val_score`, `GridSearchCV` and the like.

    Parameters
    ----------
    name : str
        The name of a measure: a key of `SCORERS`, or one without the prefix ``"neg_"`` of losses,
        whose scores are negative: larger is better.
        "ranking_average_precision" ranks the labels of each row; scikit-learn's own
        ``scoring="average_precision"`` ranks the rows of each label.

    Returns
    -------
    callable
        A scorer with the signature ``scorer(estimator, X, y, sample_weight=None)``; ranking
        measures use the estimator's `decision_function`, the others its `predict`,
        "neg_ranking_hamming" both. Columns of a data frame `y` are found by name where the
        estimator has names of labels.
        Larger is better. A threshold of its own for each label changes the ranking of
        `decision_function`.
    """
    # A scorer has metadata requests that its owner may change.
    return deepcopy(SCORERS[scorer_key(name)])


def scorer_of(scoring: Scoring) -> Scorer:
    """Return the scorer that a parameter names, ours or scikit-learn's, or that it is."""
    if isinstance(scoring, str):
        if scoring in SCORERS:
            return get_scorer(scoring)
        try:
            return scikit_learn_scorer(scoring)  # type: ignore[no-any-return]
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"scoring is {scoring!r}; expected a key of multimargin.measures.SCORERS, a scorer "
                "of scikit-learn or 'auto'."
            ) from error
    if not callable(scoring):
        raise TypeError(f"scoring is {scoring!r}; expected a name or a scorer.")
    return scoring


class Answers(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A model's predictions for scorers: the ranking by odds, and label sets on demand.

    The ranking is that of the odds even if each label has its own threshold.
    """

    def __init__(
        self, odds: NDArray[np.float64], predicted: Callable[[], NDArray[np.intp]]
    ) -> None:
        self.odds = odds
        self.predicted = predicted

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[np.intp]:
        """The numbers of the labels."""
        return np.arange(self.odds.shape[1])

    def decision_function(self, X: Features) -> NDArray[np.float64]:
        """Return the logarithms of the odds."""
        return self.odds

    def predict_proba(self, X: Features) -> NDArray[np.float64]:
        """Return the probabilities."""
        return np.asarray(expit(self.odds))

    def predict(self, X: Features) -> NDArray[np.intp]:
        """Return the label sets."""
        return self.predicted()

"""Thresholds that guarantee a recall or a precision of the label sets of new rows."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, logit, rel_entr

from multimargin.checks.parameters import check_real
from multimargin.checks.weights import of_rows_that_count
from multimargin.notices import warn
from multimargin.targets.indicator import UNKNOWN
from multimargin.thresholds.base import CommonThreshold, Known, middle
from multimargin.typing import Scores, Vector

# Probabilities at which a precision is tested, as log odds, in descending order.
_CANDIDATES = logit(np.linspace(0.995, 0.005, 199))
# Of sums of shares such as 1/3.
_ROUNDING = 1e-9


class Guarantee(CommonThreshold):
    """Base of thresholds with a guarantee for rows like those that they are learned from."""

    exchangeable: ClassVar[bool] = True

    def check(
        self,
        *,
        n_labels: int | None = None,
        sample_weight: ArrayLike | None = None,
        at_least_one: bool = False,
        held_out: bool = True,
    ) -> None:
        super().check()
        if not held_out:
            raise ValueError(
                f"threshold is {self!r}, which cannot be guaranteed when it is learned from "
                "training rows; expected it in ThresholdedClassifier, CalibratedClassifier or "
                "LabelRankerCV, which learn it from held-out rows."
            )
        if sample_weight is None:
            return
        positive = np.asarray(sample_weight)[np.asarray(sample_weight) > 0.0]
        if positive.size and np.ptp(positive) > 0.0:
            raise ValueError(
                "sample_weight has different positive weights; expected 0 or one other value: a "
                "guarantee assumes exchangeable rows."
            )


@dataclass(repr=False, eq=False)
class RecallGuarantee(Guarantee):
    """The highest threshold with which new rows have a wanted recall, by conformal risk control.

    Parameters
    ----------
    recall : float, default=0.9
        Share of a row's relevant labels that are predicted, on average over rows with a relevant
        label, between 0 and 1.

    Attributes
    ----------
    value_ : float
        The threshold, the same for all rows and labels.
    n_rows_ : int
        Number n of rows with a relevant label that it was learned from.
    guaranteed_ : bool
        True if n is large enough: (n + 1) (1 - recall) >= 1 where all labels are known. If not,
        `value_` lies below every relevant label of these rows.

    Warns
    -----
    UserWarning
        If the rows are too few for the guarantee.

    Notes
    -----
    The threshold is the highest with ``(L_1 + ... + L_n + 1) / (n + 1) <= 1 - recall``, where L_i
    is the share of the relevant labels of row i that lie at or below it (Angelopoulos et al. 2022,
    "Conformal risk control", eq. (4)). If the n rows and a new one are exchangeable and the model
    has seen neither, the expected recall of the new row is at least `recall`, whatever the model
    and the distribution, and at most ``recall + 2 / (n + 1)`` where scores do not tie. The
    expectation is over both: for one fixed set of n rows the recall varies around it.

    In `ThresholdedClassifier` around `sklearn.frozen.FrozenEstimator`, fitted to rows that the
    frozen model has not seen, this holds exactly. Otherwise `CalibratedClassifier`,
    `ThresholdedClassifier` and `LabelRankerCV` learn the threshold from models of folds and apply
    it to one that was fitted to all rows, which the theorem does not cover.

    A row that several folds hold out counts once. With `groups`, rows of one group are alike, and
    one of each group, drawn at random, is learned from: the promise is for a row of a new group.
    Row weights must be 0 or equal: rows that count differently are not exchangeable. The methods by
    name, such as `RankSVM`, would learn the threshold from the rows of the fit, and refuse it.

    Unknown labels should be unknown at random. Of a row's relevant labels those that are known
    stand for all; but rows with few of them often have none that is known. To make up for these, a
    row with k known ones counts 1 - (-r)^k times, where r is the share of unknown labels over that
    of known ones in rows with a known label, at most 1: if half of the labels are known or more, a
    row counts once in expectation, however many relevant labels it has. With 60 % of the labels
    unknown, a recall of 0.8 was 0.796, with 80 % 0.75.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin.thresholds import RecallGuarantee
    >>> y = np.eye(3, dtype=int)[np.arange(99) % 3]
    >>> cut = RecallGuarantee(0.9).fit(y + np.arange(99)[:, None] / 99, y)
    >>> cut.n_rows_, cut.guaranteed_, round(cut.value_, 3)
    (99, True, 1.086)
    """

    recall: float = 0.9

    def _check_parameters(self) -> None:
        check_real("recall", self.recall, above=0.0, below=1.0)

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        share = 1.0 - self.recall
        _, scores, Y = of_rows_that_count(weights, scores, Y)
        relevant = Y == 1
        counts = np.count_nonzero(relevant, axis=1)
        self.n_rows_ = int(np.count_nonzero(counts))
        if self.n_rows_ == 0:
            raise ValueError("y has no relevant label; expected some.")
        times, most = _times_counted(counts, _share_of_known(Y))
        n = times.sum()
        rows, labels = np.nonzero(relevant)
        order = np.argsort(scores[rows, labels], kind="stable")
        found = scores[rows, labels][order].astype(np.float64)
        # Entry j: the j lowest relevant labels are missed.
        missed = np.r_[0.0, np.cumsum((times / np.maximum(counts, 1))[rows[order]])]
        lower, upper = np.r_[-np.inf, found], np.r_[found, np.inf]
        allowed = share * (n + most) - most
        possible = (missed <= allowed + _ROUNDING) & (lower < upper)
        self.guaranteed_ = bool(allowed >= -_ROUNDING)
        best = int(np.flatnonzero(possible)[-1]) if self.guaranteed_ else 0
        self.value_ = float(middle(lower[best], upper[best]))
        if not self.guaranteed_:
            least = int(np.ceil(most * (1.0 / share - 1.0) * self.n_rows_ / n - _ROUNDING))
            warn(
                f"a recall of {self.recall:g} needs {least} rows with a relevant label to learn "
                f"from; found {self.n_rows_}, so it is not guaranteed."
            )


@dataclass(repr=False, eq=False)
class PrecisionGuarantee(Guarantee):
    """The lowest threshold with which new rows have a wanted precision, by learning and testing.

    Parameters
    ----------
    precision : float, default=0.8
        One minus the share of a row's predicted labels that are wrong, on average over all rows;
        none is wrong where none is predicted. Between 0 and 1.
    confidence : float, default=0.9
        Probability, over the rows that it is learned from, that the threshold keeps the promise.

    Attributes
    ----------
    value_ : float
        The threshold, the same for all rows and labels.
    n_rows_ : int
        Number of rows that it was learned from.
    guaranteed_ : bool
        True if a threshold passed its test. If not, `value_` is the highest that was tried.

    Warns
    -----
    UserWarning
        If no threshold passed.

    Notes
    -----
    For scores that are logarithms of odds, as those of `CalibratedClassifier` and `LabelRankerCV`.
    The share of wrong labels is not monotone in the threshold, so it is tested: from the
    probability 0.995 down in steps of 0.005, as long as the hypothesis that the share is above
    1 - `precision` is rejected at level 1 - `confidence` (Angelopoulos et al. 2021, "Learn then
    test"; the p-values are those of Hoeffding and Bentkus, Bates et al. 2021). On rows like those
    that it was learned from, which the model has not seen, the expected precision is then at least
    `precision` with probability `confidence`. What `RecallGuarantee` says of folds, groups and
    weights holds here, too. Of a row's predicted labels the known ones count, which stand for all:
    labels should be unknown at random. `at_least_one` would break the promise and is
    refused.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin.thresholds import PrecisionGuarantee
    >>> y = np.eye(3, dtype=int)[np.arange(99) % 3]
    >>> cut = PrecisionGuarantee(0.8).fit(4.0 * y - 2.0, y)
    >>> cut.n_rows_, cut.guaranteed_, cut.value_ > -2.1
    (99, True, True)
    """

    precision: float = 0.8
    confidence: float = 0.9

    def check(
        self,
        *,
        n_labels: int | None = None,
        sample_weight: ArrayLike | None = None,
        at_least_one: bool = False,
        held_out: bool = True,
    ) -> None:
        super().check(sample_weight=sample_weight, held_out=held_out)
        if at_least_one:
            raise ValueError(
                "at_least_one is True; expected False with PrecisionGuarantee: the best label of a "
                "row that has none above the threshold is often wrong, which no threshold prevents."
            )

    def _check_parameters(self) -> None:
        check_real("precision", self.precision, above=0.0, below=1.0)
        check_real("confidence", self.confidence, above=0.0, below=1.0)

    def _learn(self, scores: Scores, Y: Known, weights: Vector | None, X: Any) -> None:
        share, level = 1.0 - self.precision, 1.0 - self.confidence
        _, scores, Y = of_rows_that_count(weights, scores, Y)
        has_known = (Y != UNKNOWN).any(axis=1)
        scores, Y = scores[has_known], Y[has_known]
        self.n_rows_ = len(scores)
        if self.n_rows_ == 0:
            raise ValueError("y has no known label in a row of positive weight; expected some.")
        self.value_, self.guaranteed_ = float(_CANDIDATES[0]), False
        for candidate in _CANDIDATES:
            risk, n_measured = _share_of_wrong(scores > candidate, Y)
            if _p_value(risk, share, n_measured) > level:
                break
            self.value_, self.guaranteed_ = float(candidate), True
        if not self.guaranteed_:
            warn(
                f"no threshold has a precision of {self.precision:g} with confidence "
                f"{self.confidence:g} on the {self.n_rows_} rows to learn from; the highest "
                "one tried is used, without a guarantee."
            )


def _share_of_known(indicator: NDArray[np.uint8]) -> float:
    """Return the probability that a label is known, by the rows of which one is.

    Rows without known labels may have been left out as such, not label by label: the mean number of
    known labels, given that there is one, is q p / (1 - (1 - p)^q).
    """
    q = indicator.shape[1]
    known = np.count_nonzero(indicator != UNKNOWN, axis=1)
    mean = float(known[known > 0].mean()) / q
    share: float = mean
    for _ in range(100):
        share = mean * (1.0 - (1.0 - share) ** q)
    return share


def _times_counted(counts: NDArray[np.intp], known: float) -> tuple[Vector, float]:
    """Return how often rows count by their known relevant labels (n,), and the most for any.

    Of a row with p relevant labels, each known with probability `known`, the expectation is 1 less
    the sum of the binomial terms of (-r)^k, (1 - known - r known)^p: 1 if r is not cut.
    """
    r = min(1.0, (1.0 - known) / known)
    return np.where(counts > 0, 1.0 - (-r) ** counts, 0.0), 1.0 + r


def _share_of_wrong(
    predicted: NDArray[np.bool_], indicator: NDArray[np.uint8]
) -> tuple[float, int]:
    """Return the mean share of wrong labels among those predicted, and the number of rows.

    Rows whose predicted labels are all unknown get the mean share of the other rows with
    predictions: they must not count as rows without errors.
    """
    has_some = predicted.any(axis=1)
    predicted = predicted & (indicator != UNKNOWN)
    n_predicted = np.count_nonzero(predicted, axis=1)
    wrong = np.count_nonzero(predicted & (indicator == 0), axis=1) / np.maximum(n_predicted, 1)
    n_with, n_seen = int(np.count_nonzero(has_some)), int(np.count_nonzero(n_predicted))
    share = float(wrong.mean()) * n_with / n_seen if n_seen else n_with / len(wrong)
    return share, len(wrong) - n_with + n_seen


def _p_value(risk: float, share: float, n: int) -> float:
    """Return the probability of a mean loss of at most `risk` if `share` is expected or more."""
    low = min(risk, share)
    divergence = rel_entr(low, share) + rel_entr(1.0 - low, 1.0 - share)
    bentkus = np.e * bdtr(np.ceil(n * risk - _ROUNDING), n, share)
    return float(min(np.exp(-n * divergence), bentkus, 1.0))

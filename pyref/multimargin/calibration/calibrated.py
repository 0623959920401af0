"""Any multi-label classifiers with a calibrated ranking, probabilities and label sets."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from multimargin.calibration.bend import BentCalibration, Calibration, bent, place_of_bend
from multimargin.calibration.head import Head
from multimargin.calibration.held_out import HeldOut, HeldOutClassifier, Named
from multimargin.calibration.lift import LabelLift, LiftedCalibration
from multimargin.calibration.pairs import Listed
from multimargin.calibration.pooled import PooledCalibration
from multimargin.checks.parameters import check_flag, check_real
from multimargin.notices import silenced, warn
from multimargin.targets.empty_rows import is_mostly_empty
from multimargin.targets.indicator import UNKNOWN, count_labels
from multimargin.targets.reading import Targets
from multimargin.thresholds.base import Threshold
from multimargin.thresholds.constant import ConstantThreshold
from multimargin.thresholds.expected import ExpectedF1Threshold
from multimargin.thresholds.f1 import AVERAGES, F1Threshold
from multimargin.thresholds.make import make_threshold
from multimargin.thresholds.shrunken import ShrunkenThreshold
from multimargin.typing import Folds, Indicator, Matrix, MatrixLike

# Number of parts into which a fold is cut if no other folds complement it.
_PIECES = 3
# If most rows have no label, the weight of a label's own threshold.
_OWN_OF_EXPECTED = {"micro": 0.25, "macro": 1.0}


@dataclass(repr=False, eq=False)
class CalibratedClassifier(HeldOutClassifier):
    """One or several multi-label classifiers with a better ranking, probabilities and label sets.

    The classifiers are fitted without each fold in turn and score the rows of the fold. From these
    scores one logistic regression for all labels learns probabilities
    (`multimargin.calibration.PooledCalibration`), and a threshold is chosen by F1.
    Then the classifiers are fitted on all rows.

    Parameters
    ----------
    estimator : estimator, list of estimators, or list of (str, estimator)
        Multi-label classifiers with `label_scores`, `decision_function` or `predict_proba`: those
        of this package, scikit-learn's, pipelines and searches. Several are stacked; the labels are
        ranked by the first one's scores where the calibration looks at ranks.
    threshold : {"micro", "macro", "samples"}, float or Threshold, default="micro"
        Threshold above which labels are predicted: "micro" and "samples", the one whose micro- or
        example-averaged F1 is largest on the held-out rows; "macro", one per
        label, shrunken towards the common one (`multimargin.thresholds.ShrunkenThreshold`). With
        `empty_label`, where most rows have no label, "micro" and "macro" are the thresholds with
        the best F1 by the probabilities (`multimargin.thresholds.ExpectedF1Threshold`), a quarter
        and wholly that of each label. A number between 0 and 1 is a probability; a `Threshold` is
        learned from the logarithms of the odds.
    at_least_one : bool, default=False
        If True, the best label of a row is always predicted.
    C : float, default=1.0
        Weight of the calibration's loss against its regularisation.
    lift : bool, default=False
        If True, a second calibration also weighs what the other labels of the row make likely, by
        how often pairs of labels occur together (`multimargin.calibration.LiftedCalibration`). It
        ranks better with many labels.
    empty_label : bool, default=False
        If True, the classifiers learn a further, last label, that a row has none, and the
        calibration uses its scores; where most rows have none, as features of the others alone,
        and with a bend of the first classifier's scores
        (`multimargin.calibration.BentCalibration`).
    cv : int, splitter or iterable of (train, test), default=3
        The folds; a number means `multimargin.tuning.MultilabelStratifiedKFold`, with `groups`
        scikit-learn's `GroupKFold`.
    response_method : {"auto", "label_scores", "decision_function", "predict_proba"}, default="auto"
        Scores to use, as in `ThresholdedClassifier`; probabilities are taken as logarithms of odds,
        those below 0.01 or above 0.99 as these.
    n_jobs : int, default=None
        Number of folds that are fitted at the same time; None means 1.

    Attributes
    ----------
    estimators_ : list of (str, estimator)
        The classifiers with their names, fitted on all rows.
    estimator_ : estimator
        The first of them.
    head_ : Head
        Calibration and threshold, which make odds and label sets of the classifiers' scores.
    calibration_ : PooledCalibration, LiftedCalibration or BentCalibration
        The calibration, learned from the held-out scores of all rows.
    threshold_ : Threshold
        The threshold of the logarithms of the odds.
    response_methods_ : list of str
        Source of the scores of each classifier: a value of `response_method`.
    response_method_ : str
        That of the first.
    classes_ : ndarray of shape (q,)
        Label numbers.
    label_names_in_ : ndarray of shape (q,)
        Column names of `y`, when it was a data frame with string names.
    n_features_in_ : int
        Number of features, if the classifier has it.

    Notes
    -----
    The threshold is chosen on probabilities that come from a calibration without the row itself:
    for the rows of each fold it is learned on the other folds. Rows count by their weights; of
    unknown labels nothing is learned. A label with one value only keeps a probability near what the
    other labels' scores are worth, moved by its shrunken correction.

    `decision_function` ranks by the probabilities and not by the scores of `estimator_`, which
    usually ranks better with many labels: scores of rare labels mean less.

    Examples
    --------
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from multimargin import CalibratedClassifier, RankSVM
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, y, y_test = load_digit_attributes().train_test()
    >>> models = [RankSVM(random_state=0), ExtraTreesClassifier(50, random_state=0)]
    >>> model = CalibratedClassifier(models).fit(X, y)
    >>> probabilities = model.predict_proba(X_test)
    >>> probabilities.shape == y_test.shape
    True
    """

    _of_odds = True

    estimator: Any
    threshold: str | float | Threshold = "micro"
    _: KW_ONLY
    at_least_one: bool = False
    C: float = 1.0
    lift: bool = False
    empty_label: bool = False
    cv: Folds = 3
    response_method: str = "auto"
    n_jobs: int | None = None

    @property
    def calibration_(self) -> Calibration:
        """The fitted calibration."""
        calibration: Calibration | None = self.head_.calibration
        if calibration is None:
            raise AttributeError("calibration_")
        return calibration

    def fit_held_out(
        self, estimators: Named, held_out: HeldOut, targets: Targets, X: MatrixLike
    ) -> Matrix:
        """Learn from given held-out scores of fitted classifiers; return their odds."""
        calibrated = calibrate(held_out, C=self.C, lift=self.lift)
        threshold, q = None, targets.indicator.shape[1]
        if targets.multilabel:
            threshold = self._new_threshold(q, mostly_empty=held_out.is_mostly_empty)
            threshold = held_out.learn(threshold, calibrated.odds, X, q)
        head = Head(calibrated.calibration, threshold, q, self.at_least_one)
        self.take(estimators, head, targets)
        return calibrated.odds

    def _new_threshold(self, n_labels: int, *, mostly_empty: bool = False) -> Threshold:
        check_real("C", self.C, above=0.0, at_most=1e6)
        check_flag("at_least_one", self.at_least_one)
        check_flag("lift", self.lift)
        check_flag("empty_label", self.empty_label)
        return make_odds_threshold(self.threshold, mostly_empty=mostly_empty)

    def _learned(self, indicator: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return with_empty_label(indicator) if self.empty_label else indicator

    def _n_learned(self, indicator: NDArray[np.uint8]) -> int | None:
        return n_learned_with_empty_label(indicator) if self.empty_label else None

    def shares(self, X: MatrixLike) -> dict[str, Matrix]:
        """Return the contribution of each classifier to the log odds.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        dict of str to ndarray of shape (n, q)
            By the name of the classifier, and "lift" with `lift`; with the intercepts of the
            calibration they sum to `label_scores`.
        """
        blocks = self._blocks(X)
        names = [name for name, _ in self.estimators_]
        q = self.classes_.size
        shares = self.calibration_.shares(blocks)
        if len(shares) > len(names):
            names.append("lift")
        return {name: share[:, :q] for name, share in zip(names, shares, strict=True)}

    def predict_proba(self, X: MatrixLike) -> Matrix:
        """Return the probability of each label.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, q)
            Probabilities that label k is relevant; they do not sum to 1.
        """
        blocks = self._blocks(X)
        probabilities = self.head_.predict_proba(blocks)
        if not self.multilabel_:
            probabilities /= probabilities.sum(axis=1, keepdims=True)
        return probabilities

    def decision_and_probabilities(self, X: MatrixLike) -> tuple[Matrix, Matrix]:
        """Return `decision_function` and `predict_proba` of labels, scoring the rows once.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Features.

        Returns
        -------
        decision, probabilities : ndarray of shape (n, q)
            The same as from the two methods.
        """
        if not self.multilabel_:
            return self.decision_function(X), self.predict_proba(X)
        blocks = self._blocks(X)
        return self.head_.decision_function(blocks, X), self.head_.predict_proba(blocks)


@dataclass(frozen=True)
class Calibrated:
    """A calibration, and the calibrated rows that it was learned from."""

    calibration: Calibration  # Learned from all held-out scores
    # (m, q): Log odds of the held-out rows, each from a calibration without this row
    odds: Matrix


def calibrate(
    held_out: HeldOut, *, C: float = 1.0, lift: bool = False, top_k: int | None = None
) -> Calibrated:
    """Learn a calibration from held-out scores, and calibrate each row without itself."""
    calibration, odds = _calibrated(held_out, C, lift, of_all=True, top_k=top_k)
    assert calibration is not None
    return Calibrated(calibration, odds)


def _calibrated(
    held_out: HeldOut, C: float, lift: bool, *, of_all: bool, top_k: int | None = None
) -> tuple[Calibration | None, Matrix]:
    """Return a calibration of all rows, if requested, and the odds of each row without itself."""
    if not held_out.is_mostly_empty:
        return _weighed(held_out, C, lift, of_all=of_all, top_k=top_k)
    first = held_out.blocks[0]
    at = place_of_bend(first[:, : held_out.n_learned], held_out.sample_weight)
    held_out = replace(held_out, blocks=[*held_out.blocks, bent(first, *at)])
    calibration, odds = _weighed(held_out, C, lift, of_all=of_all, top_k=top_k)
    return None if calibration is None else BentCalibration(calibration, *at), odds


def _weighed(
    held_out: HeldOut, C: float, lift: bool, *, of_all: bool, top_k: int | None = None
) -> tuple[PooledCalibration | LiftedCalibration | None, Matrix]:
    """Return a calibration of all blocks, and the odds of each row without itself."""
    indicator = held_out.indicator()
    weights, blocks = held_out.sample_weight, held_out.blocks
    folds = _parts(held_out, indicator)
    make = partial(PooledCalibration, C, top_k, per_label=held_out.per_label)
    pooled = partial(
        _pooled, indicator=indicator, weights=weights, folds=folds, make=make, of_all=of_all
    )
    first, odds = pooled(blocks, listed=held_out.listed)
    seen = sum(int(np.count_nonzero(own)) for own, others in folds if others is None)
    if seen:
        warn(
            f"cv holds out too few rows: for {seen} of {len(odds)} no calibration can be learned "
            "from other rows alone, so the threshold is chosen from odds that were learned with "
            "the labels of these rows. Expected more held-out rows."
        )
    if not lift:
        return first, odds
    lifted = np.empty(odds.shape)
    for own, others in folds:
        lifted[own] = (
            LabelLift().fit(indicator, weights if others is None else others).scores(odds[own])
        )
    del odds
    second, odds = pooled([*blocks, lifted])
    if first is None or second is None:
        return None, odds
    return LiftedCalibration(first, LabelLift().fit(indicator, weights), second), odds


def odds_within_folds(held_out: HeldOut, *, lift: bool = False) -> Matrix:
    """Return odds of held-out rows from calibrations of other rows of the same fold.

    Models of other folds were fitted to the rows of this one: a calibration of their scores has
    seen its labels, and would score above chance even if there were nothing to learn. A fold of
    which nothing is known keeps odds of zero.
    """
    odds = np.zeros(held_out.labels.shape)
    known = (held_out.indicator() != UNKNOWN).any(axis=1)
    for fold in np.unique(held_out.folds[known]):
        own = np.flatnonzero(held_out.folds == fold)
        part = held_out.at(own)
        # It warns of a fold with one row.
        with silenced(UserWarning):
            _, odds[own] = _calibrated(part, 1.0, lift, of_all=False)
    return odds


def with_empty_label(indicator: Indicator) -> Indicator:
    """Append a label of the rows that have none, unknown where they may have one."""
    relevant, irrelevant = count_labels(indicator, axis=1)
    known = np.where(irrelevant == indicator.shape[1], 1, UNKNOWN)
    empty = np.where(relevant > 0, 0, known).astype(np.uint8)
    if sparse.issparse(indicator):
        return sparse.hstack([indicator, sparse.csr_array(empty[:, None])], format="csr")
    return np.column_stack([indicator, empty])


def n_learned_with_empty_label(indicator: Indicator) -> int | None:
    """Return the number of labels a calibration learns from beside that of empty rows, if not all.

    If most rows are empty, that label has nearly all the evidence, and the weights that labels
    share would be its own.
    """
    return indicator.shape[1] if is_mostly_empty(indicator) else None


Part = tuple[NDArray[np.bool_], Matrix | None]


def _parts(held_out: HeldOut, indicator: NDArray[np.uint8]) -> list[Part]:
    """Return parts of the held-out rows: where each is, and weights of what it is calibrated by.

    The parts are the folds, each cut in three if it leaves no other rows. The weights are None if
    nothing is left to learn from.
    """
    found: list[Part] = []
    for fold in np.unique(held_out.folds):
        own = held_out.folds == fold
        others = _others(held_out, indicator, own)
        if others is not None:
            found.append((own, others))
            continue
        units = np.unique(held_out.units[own])
        drawn = np.random.RandomState(0).permutation(units)
        for piece in np.array_split(drawn, min(_PIECES, units.size)):
            of_piece = own & np.isin(held_out.units, piece)
            found.append((of_piece, _others(held_out, indicator, of_piece)))
    return found


def _others(
    held_out: HeldOut, indicator: NDArray[np.uint8], own: NDArray[np.bool_]
) -> Matrix | None:
    """Return weights of the rows that are not in a part, however often each is held out."""
    others = (~np.isin(held_out.units, held_out.units[own])).astype(float)
    if held_out.sample_weight is not None:
        others *= held_out.sample_weight
    return None if (indicator[others > 0.0] == UNKNOWN).all() else others


def _pooled(
    blocks: list[Matrix],
    *,
    indicator: NDArray[np.uint8],
    weights: Matrix | None,
    folds: list[Part],
    make: Callable[[], PooledCalibration],
    of_all: bool,
    listed: Listed | None = None,
) -> tuple[PooledCalibration | None, Matrix]:
    """Return a calibration of all rows, and the odds of each fold by one of the other folds."""
    pairs = make().pairs_of(blocks, indicator, listed)
    calibration = None
    if of_all or any(others is None for _, others in folds):
        calibration = make().fit_pairs(pairs, weights)
    odds = np.empty(indicator.shape)
    for own, others in folds:
        # Not started from the calibration of all rows, which has seen them.
        without = make().fit_pairs(pairs, others) if others is not None else calibration
        assert without is not None
        odds[own] = without.odds(blocks, np.flatnonzero(own), listed)
    return calibration, odds


def make_odds_threshold(
    threshold: str | float | Threshold, *, mostly_empty: bool = False
) -> Threshold:
    """Return the threshold of log odds that a parameter stands for."""
    if isinstance(threshold, Threshold):
        return make_threshold(threshold)
    if isinstance(threshold, str):
        if mostly_empty and threshold in _OWN_OF_EXPECTED:
            return ExpectedF1Threshold(_OWN_OF_EXPECTED[threshold])
        if threshold == "macro":
            return ShrunkenThreshold()
        if threshold in AVERAGES:
            return F1Threshold(threshold)
        names = ", ".join(repr(name) for name in AVERAGES)
        raise ValueError(
            f"threshold is {threshold!r}; expected {names}, a probability or a threshold object."
        )
    return ConstantThreshold(float(logit(check_real("threshold", threshold, above=0.0, below=1.0))))

"""Folds in which every label keeps its share of the rows."""

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.model_selection import BaseCrossValidator, GroupKFold, KFold, StratifiedKFold, check_cv

from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.names import quoted
from multimargin.checks.parameters import check_integer, random_state_of
from multimargin.targets.given import recognise
from multimargin.targets.indicator import count_labels, known_both
from multimargin.targets.reading import read_targets
from multimargin.tuning.stratification import parts_of_rows
from multimargin.typing import Folds, Indicator, LabelsLike, Marks, MatrixLike, Vector

Rows = NDArray[np.intp]
# Of more rows, those whose labels all have at least so many rows in a part are dealt out by chance.
_MANY_ROWS, _ENOUGH_BY_CHANCE = 20_000, 1000


class MultilabelStratifiedKFold(BaseCrossValidator):  # type: ignore[misc]
    """K folds in which every label has about the same share of relevant rows.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, at least 2.
    shuffle : bool, default=False
        If True, rows are shuffled first.
    random_state : int, RandomState instance or None, default=0
        Breaks ties between folds and shuffles. An int gives the same folds each time.

    Notes
    -----
    Iterative stratification (Sechidis et al. 2011, algorithm 1): the label with the fewest
    remaining rows is dealt out first, to the folds that lack most of it. A label with fewer than
    `n_splits` relevant rows is in as many folds as it has rows, unless these have rarer labels,
    too. Rows without labels are spread evenly; the sizes of the folds differ a little. Of more than
    20,000 rows, those whose labels all have 1000 rows or more in a fold are dealt out by chance.
    One-dimensional targets go to scikit-learn's `StratifiedKFold`.

    Examples
    --------
    >>> from multimargin.datasets import load_digit_attributes
    >>> from multimargin.tuning import MultilabelStratifiedKFold
    >>> X, _, Y, _ = load_digit_attributes().train_test()
    >>> [len(test) for _, test in MultilabelStratifiedKFold(3).split(X, Y)]
    [409, 393, 396]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_splits = check_integer("n_splits", n_splits, at_least=2)
        if not isinstance(shuffle, bool):
            raise TypeError(f"shuffle is {shuffle!r}; expected True or False.")
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(
        self,
        X: MatrixLike | None = None,
        y: LabelsLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Return the number of folds.

        Parameters
        ----------
        X, y, groups : object, default=None
            Ignored.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def split(
        self, X: MatrixLike, y: LabelsLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Rows, Rows]]:
        """Yield the rows of each fold.

        Parameters
        ----------
        X : array-like of length n
            Features; only their number of rows is used.
        y : array-like, sparse matrix or data frame of shape (n, q), n lists of label names, or \
                array-like of shape (n,)
            Label indicator of 0 and 1, names, or classes. An unknown label, NaN, counts as
            irrelevant.
        groups : object, default=None
            Ignored.

        Yields
        ------
        train, test : ndarray of int
            Numbers of the rows outside and inside of the fold.
        """
        if y is None:
            raise ValueError("y is None; expected the labels to stratify by.")
        given = recognise(y)
        check_as_many_rows(y, X)
        warn_of_other_order(X, y=y)
        rows = np.zeros((given.rows, 1))
        if given.kind == "classes" or given.is_column:
            classes = np.ravel(
                given.values.toarray() if sparse.issparse(given.values) else given.values
            )
            folds = StratifiedKFold(
                self.n_splits,
                shuffle=self.shuffle,
                random_state=self.random_state if self.shuffle else None,
            )
            yield from folds.split(rows, classes)
            return
        indicator = read_targets(given, unknown="take").indicator == 1
        n = indicator.shape[0]
        if n < self.n_splits:
            raise ValueError(f"n_splits is {self.n_splits}; expected at most the {n} rows of X.")
        random_state = random_state_of(self.random_state)
        fold_of = np.empty(n, dtype=np.intp)
        shares = np.full(self.n_splits, 1.0 / self.n_splits)
        order, left = rows_to_deal(indicator, shares)
        order = random_state.permutation(order) if self.shuffle else order
        if order.size:
            fold_of[order] = parts_of_rows(indicator[order], shares, random_state)
        fold_of[random_state.permutation(left)] = np.arange(left.size) % self.n_splits
        for fold in range(self.n_splits):
            yield np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_splits={self.n_splits}, shuffle={self.shuffle}, "
            f"random_state={self.random_state!r})"
        )


def rows_to_deal(relevant: Indicator, shares: Vector) -> tuple[Rows, Rows]:
    """Return the rows to be dealt out to parts of these shares by their labels, and those left.

    Of many rows, those of a label that is frequent in every part are spread well by chance.
    """
    n = relevant.shape[0]
    if n <= _MANY_ROWS:
        return np.arange(n), np.arange(0)
    rare = relevant.sum(axis=0) * shares.min() < _ENOUGH_BY_CHANCE
    dealt = relevant[:, rare].any(axis=1)
    return np.flatnonzero(dealt), np.flatnonzero(~dealt)


def folds_of(
    cv: Folds, X: MatrixLike, indicator: Marks, groups: ArrayLike | None = None
) -> list[tuple[Rows, Rows]]:
    """Return the folds that `cv` means.

    A number is `MultilabelStratifiedKFold`, with groups scikit-learn's `GroupKFold`; None is five
    folds; other values are as in scikit-learn, splitters or pairs of row numbers or masks of rows.
    The labels of a sparse indicator are too many to be spread evenly: a number deals rows out at
    random.
    """
    try:
        if cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool)):
            number = 5 if cv is None else int(cv)
            splitter: Any
            if groups is not None:
                splitter = GroupKFold(number)
            elif sparse.issparse(indicator):
                splitter = KFold(number, shuffle=True, random_state=0)
            else:
                splitter = MultilabelStratifiedKFold(number)
        else:
            splitter = check_cv(cv, indicator, classifier=True)
        n = indicator.shape[0]
        folds = [
            (_rows_of(train, n), _rows_of(test, n))
            for train, test in splitter.split(X, indicator, groups)
        ]
        if not folds:
            raise ValueError("it has no fold")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv is {quoted(cv)}; expected a number of folds of at least 2, a splitter or pairs of "
            f"row numbers or masks of rows: {error}"
        ) from error
    return folds


def check_held_out(folds: Sequence[tuple[Rows, Rows]], labels: Marks) -> None:
    """Refuse folds that hold out no row with a known label."""
    rows = np.unique(np.concatenate([test for _, test in folds]))
    relevant, irrelevant = count_labels(labels, axis=1)
    if not (relevant + irrelevant)[rows].any():
        raise ValueError(
            f"cv: none of the {rows.size} rows that its folds hold out has a known label; expected "
            "some to learn from."
        )


def check_folds(folds: Sequence[tuple[Rows, Rows]], labels: Marks) -> None:
    """Refuse folds that leave no rows to learn from, or hold out none that is known."""
    check_held_out(folds, labels)
    has_pair = known_both(labels, axis=1)
    for number, (train, _) in enumerate(folds, start=1):
        if not has_pair[train].any():
            raise ValueError(
                f"cv: of the {labels.shape[0]} rows, fold {number} of {len(folds)} leaves "
                f"{len(train)} to learn from, none of which has a relevant and an irrelevant "
                "label; expected more rows or fewer folds."
            )


def _rows_of(chosen: Any, n: int) -> Rows:
    """Return the numbers of rows that a part of a fold means."""
    rows = np.asarray(chosen)
    if rows.ndim == 1 and rows.dtype == bool and rows.size == n:
        rows = np.flatnonzero(rows)
    if rows.size == 0:
        raise ValueError("a part of a fold has no row")
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"a part of a fold is neither a list of row numbers nor a mask of {n} rows"
        )
    outside = rows[(rows < -n) | (rows >= n)]
    if outside.size:
        raise ValueError(f"a fold has row {outside[0]}, and there are {n}")
    return rows.astype(np.intp) % n

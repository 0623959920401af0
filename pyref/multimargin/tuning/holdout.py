"""Rows set aside for measuring, in which every label keeps its share."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupShuffleSplit
from sklearn.utils import indexable

from multimargin.checks.arrays import check_as_many_rows, warn_of_other_order
from multimargin.checks.parameters import check_integer, check_real, random_state_of
from multimargin.scikit_learn import safe_indexing
from multimargin.targets.reading import read_targets
from multimargin.tuning.folds import Rows, rows_to_deal
from multimargin.tuning.groups import check_groups
from multimargin.tuning.stratification import parts_of_rows
from multimargin.typing import Indicator, LabelsLike, MatrixLike


def stratified_train_test_split(
    X: MatrixLike,
    y: LabelsLike,
    *arrays: Any,
    test_size: float | int = 0.25,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> list[MatrixLike]:
    """Split rows into a training and a test part in which every label has about the same share.

    `sklearn.model_selection.train_test_split` stratifies by whole label sets, of which most occur
    once; this one stratifies by each label (Sechidis et al. 2011). Of more than 20,000 rows, those
    whose labels all have 1000 rows or more in each part are split by chance.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or sequence of n rows
        Features, or what a pipeline starts with.
    y : array-like, sparse matrix or data frame of shape (n, q), or n lists of label names
        Labels to stratify by, of which unknown ones, NaN, count as irrelevant.
    *arrays : array-like of length n
        Further ones to split, such as sample weights.
    test_size : float or int, default=0.25
        Share of the test rows, between 0 and 1, or about how many they are.
    groups : array-like of shape (n,), default=None
        Rows of one group stay in one part; the labels are then left to chance, as in
        `sklearn.model_selection.GroupShuffleSplit`.
    random_state : int, RandomState instance or None, default=0
        Breaks ties and draws groups. An int gives the same split each time.

    Returns
    -------
    list
        ``X_train, X_test, y_train, y_test`` and two of each further array, rows in their order.

    Raises
    ------
    TypeError, ValueError
        If a part has no row.

    Examples
    --------
    >>> from multimargin.datasets import load_debian_tags
    >>> from multimargin.tuning import stratified_train_test_split
    >>> data = load_debian_tags()
    >>> X, X_test, y, y_test = stratified_train_test_split(data.X, data.Y, test_size=0.2)
    >>> X.shape[0], X_test.shape[0]
    (1866, 469)
    """
    for name, one in (("y", y), *((f"arrays[{k}]", array) for k, array in enumerate(arrays))):
        check_as_many_rows(one, X, name)
    X, y, *arrays = indexable(X, y, *arrays)
    warn_of_other_order(X, y=y)
    train, test = held_out_rows(
        read_targets(y, unknown="take").indicator == 1, test_size, groups, random_state
    )
    return [safe_indexing(one, rows) for one in (X, y, *arrays) for rows in (train, test)]


def held_out_rows(
    relevant: Indicator,
    test_size: float | int,
    groups: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = 0,
) -> tuple[Rows, Rows]:
    """Return the rows of the training and of the test part, by a boolean indicator (n, q)."""
    n = relevant.shape[0]
    groups = check_groups(groups, n)
    if isinstance(test_size, Integral) and not isinstance(test_size, bool):
        share = check_integer("test_size", test_size, at_least=1, at_most=n - 1) / n
    else:
        share = check_real("test_size", test_size, above=0.0, below=1.0)
    draws = random_state_of(random_state)
    if groups is None:
        shares = np.array([1.0 - share, share])
        dealt, left = rows_to_deal(relevant, shares)
        tested = np.zeros(n, dtype=bool)
        if dealt.size:
            tested[dealt] = parts_of_rows(relevant[dealt], shares, draws) == 1
        tested[draws.permutation(left)[: round(share * left.size)]] = True
        train, test = np.flatnonzero(~tested), np.flatnonzero(tested)
    else:
        names, numbers = np.unique(groups, return_inverse=True)
        if np.ceil(share * names.size) >= names.size:
            raise ValueError(
                f"test_size is {test_size}, and groups has {names.size}; expected groups for both "
                "parts."
            )
        splitter = GroupShuffleSplit(1, test_size=share, random_state=draws)
        train, test = (np.sort(rows) for rows in next(splitter.split(relevant, groups=numbers)))
    if not (train.size and test.size):
        raise ValueError(
            f"test_size is {share:g}; expected one that leaves rows in both parts of {n}."
        )
    return train, test

"""Statistics of a multi-label data set, and signs that it is damaged."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import chdtrc
from sklearn.utils.sparsefuncs import min_max_axis

from multimargin.checks.names import first_of
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.row_hashes import row_hashes
from multimargin.datasets.tables import Table
from multimargin.targets.indicator import UNKNOWN, indicator_of
from multimargin.typing import Marks

# Correlation of frequencies below which they hardly rank the labels alike.
_LOW_CORRELATION = 0.5
# One-sided 99% limit of a normal variable: a warning should be rare by chance.
_NORMAL_LIMIT = 2.33
# Level at which a difference of frequencies counts as significant.
_CHANCE = 1e-3
# A correlation of fewer points is meaningless.
_MIN_LABELS = 5
_MOST_FREQUENT = 10


@dataclass(frozen=True)
class Description:
    """Statistics of a multi-label data set of n instances, d features and q labels.

    Parameters
    ----------
    name : str
        Name of the data set.
    n_samples, n_features, n_labels : int
        n, d and q.
    feature_density : float
        Share of the values of X that are not 0, in [0, 1].
    n_missing_values : int
        Values of X that are NaN.
    n_constant_features : int
        Features with one value in all rows.
    n_duplicate_rows : int
        Rows whose features and labels are those of an earlier row.
    label_cardinality : float
        Mean number of relevant labels of a row, in [0, q].
    label_density : float
        The cardinality divided by q, in [0, 1].
    n_label_sets : int
        Number of different label sets.
    label_set_proportion : float
        That number divided by n, in (0, 1].
    n_pairs : int
        Pairs of a relevant and an irrelevant label, summed over the rows.
    n_rows_without_labels, n_rows_with_all_labels : int
        Rows without a pair, of both kinds: no known label is relevant, or all are.
    n_unknown_labels : int
        Entries of Y that are NaN. They are relevant in no count above, and irrelevant in no pair.
    absent_labels : tuple of str
        Labels that are relevant in no row.
    frequent_labels : tuple of (str, int)
        The ten labels that are relevant in the most rows, and the number of these.
    splits : mapping of str to Description, default={}
        The same for each split of the data set.
    frequency_correlation : float or None, default=None
        Pearson correlation of the labels' frequencies in the splits "train" and "test", or, without
        these, in the first and the second half of the rows; None for fewer than five labels, or
        where one part has the same frequency for all labels.
    warnings : tuple of str, default=()
        Findings to look into before the data are used, in plain English.
    """

    name: str
    n_samples: int
    n_features: int
    n_labels: int
    feature_density: float
    n_missing_values: int
    n_constant_features: int
    n_duplicate_rows: int
    label_cardinality: float
    label_density: float
    n_label_sets: int
    label_set_proportion: float
    n_pairs: int
    n_rows_without_labels: int
    n_rows_with_all_labels: int
    n_unknown_labels: int
    absent_labels: tuple[str, ...]
    frequent_labels: tuple[tuple[str, int], ...]
    splits: Mapping[str, "Description"] = field(default_factory=dict)
    frequency_correlation: float | None = None
    warnings: tuple[str, ...] = ()


def describe(data: MultilabelData) -> Description:
    """Compute the statistics of a data set and of its splits.

    Parameters
    ----------
    data : MultilabelData
        The data set.

    Returns
    -------
    Description
        Its statistics, with those of the splits that have rows.

    Notes
    -----
    A warning is given when the labels' frequencies do not correlate between train and test (or,
    without these splits, between the two halves of the rows): the upper 99% limit of the
    correlation (Fisher's transformation) is below 0.5, and the frequencies differ by more than
    chance (chi-square, p < 0.001), as those of labels that are all alike do not. So label columns
    betray themselves that are not the same in all rows, as in the public merged file of rcv1
    (subset 1), whose second half sits one column too early.

    Examples
    --------
    >>> from multimargin.datasets import describe, load_digit_attributes
    >>> description = describe(load_digit_attributes())
    >>> round(description.label_cardinality, 2), description.n_label_sets
    (3.19, 10)
    """
    return _described(data, _incomplete(_missing(data), "feature"))


def describe_table(table: Table) -> Description:
    """Describe a table by its encoded features; its missing values are those of its columns."""
    counts = table.missing(np.arange(table.n_samples))
    found = _described(MultilabelData(**table.numbers()), _incomplete(counts.items(), "column"))
    splits = {
        name: replace(part, n_missing_values=sum(table.missing(table.splits[name]).values()))
        for name, part in found.splits.items()
    }
    return replace(found, n_missing_values=sum(counts.values()), splits=splits)


def _described(data: MultilabelData, incomplete: list[str]) -> Description:
    """Describe the data; `incomplete` are the warnings of missing values."""
    parts = {name: rows for name, rows in data.splits.items() if rows.size}
    marks = indicator_of(data.Y, "Y", unknown=True)
    splits = {
        name: _describe_rows(f"{data.name}, {name}", data, data.X[rows], marks[rows])
        for name, rows in parts.items()
    }
    whole = _describe_rows(data.name, data, data.X, marks)
    first_name, first, second_name, second = _two_parts(data)
    relevant = marks == 1
    correlation = _frequency_correlation(relevant[first], relevant[second])
    warnings = []
    low = correlation is not None and _is_low(correlation, data.n_labels)
    if low and _differ(relevant[first], relevant[second]):
        warnings.append(
            f"label frequencies of {first_name} and {second_name} do not correlate "
            f"({correlation:.2f}): are the label columns the same in all rows?"
        )
    warnings += of_one_value(data.Y, data.label_names) + incomplete
    warnings += [f"split {name!r} has no rows" for name in data.splits if name not in parts]
    return replace(
        whole, splits=splits, frequency_correlation=correlation, warnings=tuple(warnings)
    )


def of_one_value(Y: Marks, label_names: Sequence[str]) -> list[str]:
    """Report labels with nothing to learn: relevant for all rows, for none, or unknown."""
    found = []
    has_0, has_1 = (np.any(np.equal(Y, value), axis=0) for value in (0, 1))
    for labels, where in (
        (has_1 & ~has_0, "every row"),
        (has_0 & ~has_1, "no row"),
        (~has_0 & ~has_1, "rows that are not known"),
    ):
        names = [label_names[k] for k in np.flatnonzero(labels).tolist()]
        if names:
            many = "labels apply" if len(names) > 1 else "label applies"
            found.append(
                f"{len(names)} {many} to {where}, so nothing can be learned: {first_of(names)}"
            )
    return found


def _missing(data: MultilabelData) -> list[tuple[str, int]]:
    """Count the missing values of the features that have some."""
    X: Any = data.X
    # NaN alone differs from itself, in sparse matrices, too.
    missing = (X != X).sum(axis=0)
    return [(data.feature_names[j], int(missing[j])) for j in np.flatnonzero(missing).tolist()]


def _incomplete(missing: Iterable[tuple[str, int]], noun: str) -> list[str]:
    """Warn of missing values, by name, the most first."""
    named = [f"{name} ({count})" for name, count in sorted(missing, key=lambda entry: -entry[1])]
    if not named:
        return []
    many = f"{noun}s" if len(named) > 1 else noun
    return [f"values are missing of {len(named)} {many}: {first_of(named)}"]


def _describe_rows(name: str, data: MultilabelData, X: Any, Y: NDArray[np.uint8]) -> Description:
    """Describe some rows, their labels as an indicator."""
    n, q = Y.shape
    n_relevant, n_irrelevant = (np.count_nonzero(value == Y, axis=1) for value in (1, 0))
    label_sets = row_hashes(Y).tolist()
    # A column with missing values has NaN for both, which are unequal.
    lowest, highest = min_max_axis(X, 0) if sparse.issparse(X) else (X.min(axis=0), X.max(axis=0))
    values = X.data if sparse.issparse(X) else X
    counts = Counter(dict(zip(data.label_names, (Y == 1).sum(axis=0).tolist(), strict=True)))
    return Description(
        name=name,
        n_samples=n,
        n_features=data.n_features,
        n_labels=q,
        feature_density=float(np.count_nonzero(values) / (n * data.n_features)),
        n_missing_values=int(np.count_nonzero(np.isnan(values))),
        n_constant_features=int(np.count_nonzero(lowest == highest)),
        n_duplicate_rows=n - len(set(zip(row_hashes(X).tolist(), label_sets, strict=True))),
        label_cardinality=float(n_relevant.mean()),
        label_density=float(n_relevant.mean() / q),
        n_label_sets=len(set(label_sets)),
        label_set_proportion=len(set(label_sets)) / n,
        n_pairs=int((n_relevant * n_irrelevant).sum()),
        n_rows_without_labels=int(np.count_nonzero(n_relevant == 0)),
        n_rows_with_all_labels=int(np.count_nonzero(n_irrelevant == 0)),
        n_unknown_labels=int(np.count_nonzero(Y == UNKNOWN)),
        absent_labels=tuple(label for label, count in counts.items() if count == 0),
        frequent_labels=tuple(counts.most_common(_MOST_FREQUENT)),
    )


def _two_parts(data: MultilabelData) -> tuple[str, NDArray[np.intp], str, NDArray[np.intp]]:
    if all(data.splits.get(name, np.empty(0)).size for name in ("train", "test")):
        return "train", data.splits["train"], "test", data.splits["test"]
    first, second = np.array_split(np.arange(data.n_samples), 2)
    return "the first", first, "the second half of the rows", second


def _frequency_correlation(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float | None:
    """Return the correlation of the labels' frequencies in two parts."""
    if not (len(first) and len(second)):
        return None
    f, g = first.mean(axis=0), second.mean(axis=0)
    if f.size < _MIN_LABELS or np.ptp(f) == 0.0 or np.ptp(g) == 0.0:
        return None
    return float(np.corrcoef(f, g)[0, 1])


def _is_low(correlation: float, q: int) -> bool:
    """Decide whether the upper 99% limit of a correlation (Fisher's transformation) is low."""
    limit = np.tanh(np.arctanh(max(correlation, -1 + 1e-12)) + _NORMAL_LIMIT / np.sqrt(q - 3))
    return bool(limit < _LOW_CORRELATION)


def _differ(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> bool:
    """Decide whether the labels' frequencies in two parts differ by more than chance."""
    n, m = len(first), len(second)
    pooled = (first.sum(axis=0) + second.sum(axis=0)) / (n + m)
    varying = (pooled > 0.0) & (pooled < 1.0)
    difference = (first.mean(axis=0) - second.mean(axis=0))[varying]
    variance = (pooled * (1.0 - pooled))[varying] * (1.0 / n + 1.0 / m)
    statistic = float(np.sum(difference**2 / variance))
    return bool(chdtrc(int(varying.sum()), statistic) < _CHANCE)

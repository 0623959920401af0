"""Pairs of a row and a label with the features that a calibration uses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import EllipsisType
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from multimargin.targets.indicator import UNKNOWN
from multimargin.typing import Matrix, Scores, Vector

N_FEATURES = 5
"""Number of features of the first block; each further one has its scores."""
RANK = 3
"""The place of the logarithm of the rank among them."""
# Two scores of a row that differ by less than this share of its largest are equal.
ROUNDING = 1e-10
# Scores of a block in memory at a time.
_SCORES = 2**18


def features_of(blocks: Sequence[Scores]) -> list[Matrix]:
    """Return the features of each row and label, (n, q): five of the first block, the others."""
    f = blocks[0].astype(np.float64, copy=False)
    descending = np.argsort(-f, axis=1, kind="stable")
    ordered = np.take_along_axis(f, descending, axis=1)
    # Scores that are equal up to rounding have the rank of the first of them.
    rounding = ROUNDING * np.abs(f).max(axis=1, keepdims=True)
    falls = ordered[:, 1:] < ordered[:, :-1] - rounding
    places = np.zeros(f.shape, dtype=np.intp)
    places[:, 1:] = np.where(falls, np.arange(1, f.shape[1]), 0)
    places = np.maximum.accumulate(places, axis=1)
    rank = np.empty(f.shape)
    np.put_along_axis(rank, descending, np.log1p(places), axis=1)
    spread = np.broadcast_to(f.std(axis=1, keepdims=True), f.shape)
    top = ordered[:, :3].mean(axis=1, keepdims=True)
    return [f, f - ordered[:, :1], f - top, rank, spread, *blocks[1:]]


def in_chunks(n: int, q: int) -> Iterator[slice]:
    """Yield slices of rows that bound the memory of arrays of n rows and q labels."""
    step = max(_SCORES // q, 1)
    yield from gen_batches(n, step)


def by_features(
    blocks: Sequence[Scores],
    answer: Callable[[list[Matrix], NDArray[np.intp] | EllipsisType], Matrix],
    chosen: NDArray[np.intp] | None = None,
    listed: "Listed | None" = None,
) -> Matrix:
    """Return a function of the features of all or selected rows and labels, (m, q).

    It also takes the numbers of their labels, or an ellipsis where these are all.
    """
    n, q = blocks[0].shape
    found = np.empty((n if chosen is None else chosen.size, q))
    for chunk in in_chunks(*found.shape):
        rows = chunk if chosen is None else chosen[chunk]
        labels = ... if listed is None else listed.numbers[rows]
        found[chunk] = answer(features_of([block[rows] for block in blocks]), labels)
    return found


@dataclass(frozen=True, eq=False)
class Listed:
    """The best labels of each row out of many; matrices (n, k) have a column for each place."""

    numbers: NDArray[np.intp]  # (n, k): Numbers of the labels
    n_labels: int

    def at(self, rows: NDArray[np.intp]) -> "Listed":
        """Return those of some rows."""
        return replace(self, numbers=self.numbers[rows])


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a row and a label that is known, those of a label side by side."""

    features: Matrix  # (F, N)
    rows: NDArray[np.intp]  # (N,): The row of each pair
    relevant: NDArray[np.bool_]  # (N,)
    counts: NDArray[np.intp]  # (q,): Number of pairs of each label
    n_blocks: int

    @classmethod
    def of(
        cls,
        blocks: Sequence[Scores],
        indicator: NDArray[np.uint8],
        k: int,
        listed: Listed | None = None,
    ) -> Self:
        """Return the pairs whose label is among the best of its row by the first block."""
        n, q = indicator.shape
        labels, rows, relevant = [], [], []
        columns: list[list[Vector]] = [[] for _ in range(N_FEATURES + len(blocks) - 1)]
        for chunk in in_chunks(n, q):
            found = features_of([block[chunk] for block in blocks])
            learned = (found[RANK] < np.log(k + 0.5)) & (indicator[chunk] != UNKNOWN)
            at = np.nonzero(learned)
            rows.append(at[0] + chunk.start)
            labels.append(at[1] if listed is None else listed.numbers[chunk][at])
            relevant.append(indicator[chunk][at] == 1)
            for column, feature in zip(columns, found, strict=True):
                column.append(feature[at])
        label, row = np.concatenate(labels), np.concatenate(rows)
        # In the order of the labels: sums over the pairs of a label are sums over neighbours.
        order = np.argsort(label, kind="stable")
        label, row = label[order], row[order]
        features = np.empty((len(columns), order.size))
        for feature, column in zip(features, columns, strict=True):
            np.take(np.concatenate(column), order, out=feature)
            # They are the largest arrays of a calibration.
            column.clear()
        return cls(
            features,
            row,
            np.concatenate(relevant)[order],
            np.bincount(label, minlength=q if listed is None else listed.n_labels),
            len(blocks),
        )

    def of_rows(self, chosen: NDArray[np.bool_]) -> "Pairs":
        """Return the pairs of some rows."""
        kept = chosen[self.rows]
        if kept.all():
            return self
        starts = np.cumsum(self.counts) - self.counts
        counts = np.zeros_like(self.counts)
        present = np.flatnonzero(self.counts)
        counts[present] = np.add.reduceat(kept.astype(np.intp), starts[present])
        return Pairs(
            self.features[:, kept], self.rows[kept], self.relevant[kept], counts, self.n_blocks
        )

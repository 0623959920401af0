"""Measures of each label, from the counts of all splits together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.compare.results import Result


@dataclass(frozen=True, eq=False)
class LabelMeasures:
    """Measures of each label."""

    # (q,): "precision", "recall" and "f1" of each method, NaN where they are 0/0
    measures: dict[str, dict[str, NDArray[np.float64]]]
    support: NDArray[np.int64]  # (q,): Number of test rows that have the label
    label_names: list[str]


def label_measures(results: Sequence[Result], data: str) -> LabelMeasures:
    """Measure the labels of one data set for the methods that did not fail on any split."""
    of_data = [result for result in results if result.data == data]
    if not of_data:
        raise ValueError(f"data is {data!r}; expected a data set of the results.")
    names = of_data[0].label_names
    failed = {result.method for result in of_data if result.failed}
    counts: dict[str, NDArray[np.int64]] = {}
    for result in of_data:
        if result.method not in failed:
            added = np.array(result.label_counts, dtype=np.int64).T
            counts[result.method] = counts.get(result.method, 0) + added
    measures: dict[str, dict[str, Any]] = {}
    support = np.zeros(len(names), dtype=np.int64)
    for method, (_, false_positive, false_negative, true_positive) in counts.items():
        support = true_positive + false_negative
        predicted = true_positive + false_positive
        measures[method] = {
            "precision": _ratio(true_positive, predicted),
            "recall": _ratio(true_positive, support),
            "f1": _ratio(2 * true_positive, predicted + support),
        }
    return LabelMeasures(measures, support, names)


def _ratio(part: NDArray[np.int64], whole: NDArray[np.int64]) -> NDArray[np.float64]:
    undefined = np.full(whole.size, np.nan)
    return np.asarray(np.divide(part, whole, out=undefined, where=whole > 0))

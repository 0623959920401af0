"""Recall and precision of new rows, by thresholds that promise them.

    python benchmarks/guarantees.py

Ten random halves of each data set: `CalibratedClassifier` on one, measured on the other.
"""

import warnings

import numpy as np

from common import DATA, print_table, sized
from multimargin import CalibratedClassifier
from multimargin.blocks import LabelForest, LabelLogistic
from multimargin.datasets import load, load_debian_tags
from multimargin.thresholds import PrecisionGuarantee, RecallGuarantee

SETS = ("debian-tags", "yeast", "emotions")
PROMISES = (RecallGuarantee(0.9), PrecisionGuarantee(0.7))
HALVES = sized(10, 1)


def kept(promise: object, predicted: np.ndarray, y: np.ndarray) -> float:
    """Return the measure that a threshold promises."""
    hits, sizes = (predicted & y).sum(axis=1), predicted.sum(axis=1)
    if isinstance(promise, RecallGuarantee):
        rows = y.any(axis=1)
        return float(np.mean(hits[rows] / y[rows].sum(axis=1)))
    return 1.0 - float(np.mean((sizes - hits) / np.maximum(sizes, 1)))


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        text = name == "debian-tags"
        data = load_debian_tags() if text else load(DATA / name)
        model = LabelLogistic() if text else LabelForest(50, min_samples_leaf=2, random_state=0)
        for promise in PROMISES:
            values, sizes = [], []
            for seed in range(HALVES):
                order = np.random.default_rng(seed).permutation(data.n_samples)
                one, other = np.array_split(order, 2)
                calibrated = CalibratedClassifier(model, promise, cv=3)
                predicted = calibrated.fit(data.X[one], data.Y[one]).predict(data.X[other])
                values.append(kept(promise, predicted, data.Y[other]))
                sizes.append(predicted.sum(axis=1).mean())
            found = f"{np.mean(values):.3f} ± {np.std(values):.3f}"
            rows.append((name, repr(promise), found, f"{np.mean(sizes):.1f}"))
    print_table("Promises on new rows", ["data", "threshold", "kept", "labels a row"], rows)


if __name__ == "__main__":
    main()

"""How much the threshold decides: micro- and macro-F1 of one ranking, by how its sets are chosen.

    python benchmarks/thresholds.py [--sets emotions enron ...]

`RankSVM(C=10)` on the training parts of `race.py`, three label-stratified folds. Thresholds are
learned from the scores of the training rows, from those of held-out rows by
`ThresholdedClassifier(cv=3)`, and by `CalibratedClassifier`. Seconds are those of this process's
processor, over those of the plain fit.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from common import print_table
from multimargin import CalibratedClassifier, RankSVM, ThresholdedClassifier
from multimargin.measures import macro_f1, micro_f1
from multimargin.tuning import MultilabelStratifiedKFold
from race import KERNEL, LINEAR, ROWS, load


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=[*LINEAR, *KERNEL])
    sets = parser.parse_args().sets
    warnings.simplefilter("ignore")
    rows = []
    for name in sets:
        X, _, y, _ = load(name, ROWS.get(name))
        linear = {"kernel": "linear", "bias": "penalized"}
        ranker = RankSVM(random_state=0, **(linear if name in LINEAR else {}))
        models = {
            threshold: clone(ranker).set_params(threshold=threshold)
            for threshold in ("scores", "micro", "macro", "count")
        }
        for threshold in ("scores", "micro", "macro"):
            models[f"{threshold}, held out"] = ThresholdedClassifier(ranker, threshold, cv=3)
        models["calibrated"] = CalibratedClassifier(ranker)
        folds = list(MultilabelStratifiedKFold(3).split(X, y))
        plain = None
        for threshold, model in models.items():
            seconds, values = 0.0, []
            for train, test in folds:
                start = time.process_time()
                model.fit(X[train], y[train])
                seconds += time.process_time() - start
                chosen = model.predict(X[test])
                values.append((micro_f1(y[test], chosen), macro_f1(y[test], chosen)))
            plain = plain or seconds
            means = [f"{value:.3f}" for value in np.mean(values, axis=0)]
            rows.append([name, threshold, *means, f"{seconds / plain:.1f}"])
    header = ["data", "threshold", "micro-F1", "macro-F1", "time"]
    print_table("RankSVM(C=10), by how the threshold is learned", header, rows)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()

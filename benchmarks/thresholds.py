"""How much the threshold decides: micro- and macro-F1 of RankSVM on delicious and birds.

    python benchmarks/thresholds.py

The data of `race.py` (delicious: 400 training rows, linear, penalized bias; birds: rbf), C = 10 and
C = 100, on the official test parts. Thresholds are learned from the scores of the training rows in
each of the four ways, and from those of held-out rows by `ThresholdedClassifier`.
"""

import warnings

from common import print_table
from multimargin import RankSVM, ThresholdedClassifier
from multimargin.measures import macro_f1, micro_f1
from race import ROWS, load


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rows = []
    for name, options in (
        ("delicious", {"kernel": "linear", "bias": "penalized"}),
        ("birds", {"kernel": "rbf"}),
    ):
        X, X_test, Y, Y_test = load(name, ROWS.get(name))
        for C in (10.0, 100.0):
            ranker = RankSVM(C=C, random_state=0, **options)
            models = {
                threshold: RankSVM(C=C, threshold=threshold, random_state=0, **options)
                for threshold in ("scores", "features", "labels", "count")
            }
            for threshold in ("scores", "labels", "count"):
                held_out = ThresholdedClassifier(ranker, threshold=threshold)
                models[f"{threshold}, held out"] = held_out
            for threshold, model in models.items():
                sets = model.fit(X, Y).predict(X_test)
                values = f"{micro_f1(Y_test, sets):.4f}", f"{macro_f1(Y_test, sets):.4f}"
                rows.append([name, f"{C:g}", threshold, *values])
    header = ["data", "C", "threshold", "micro-F1", "macro-F1"]
    print_table("RankSVM, by how the threshold is learned", header, rows)


if __name__ == "__main__":
    main()

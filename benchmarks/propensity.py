"""Labels ranked by probability, and by probability over propensity, which rewards rare labels.

    python benchmarks/propensity.py [--sets debian-tags bibtex ...]

`LabelRankerCV` at its defaults on the training parts that `race.py` takes; propensities of Jain et
al. 2016 from the training labels.
"""

import argparse
import warnings

import race
from common import print_table
from multimargin import LabelRankerCV
from multimargin.measures import (
    label_propensities,
    precision_at_k,
    propensity_scored_precision_at_k,
)


def row_of(name: str) -> list[str]:
    """Fit a set, and return its line."""
    X, X_test, y, y_test = race.load(name, race.ROWS.get(name))
    probabilities = LabelRankerCV(random_state=0).fit(X, y).predict_proba(X_test)
    propensities = label_propensities(y)
    cells = [name, *map(str, y.shape)]
    for k in (1, 5):
        for rewarded in (True, False):
            for scores in (probabilities, probabilities / propensities):
                if rewarded:
                    value = propensity_scored_precision_at_k(y_test, scores, propensities, k=k)
                else:
                    value = precision_at_k(y_test, scores, k=k)
                cells.append(f"{value:.4f}")
    return cells


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="*", default=race.LINEAR, choices=race.LINEAR)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    measures = ("PSP@1", "P@1", "PSP@5", "P@5")
    header = ["set", "rows", "labels"]
    header += [f"{measure}{by}" for measure in measures for by in (" by p", " by p/propensity")]
    print_table("Ranked by probability and by propensity", header, map(row_of, chosen.sets))


if __name__ == "__main__":
    main()

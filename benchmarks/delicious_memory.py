"""Peak memory of a process that loads delicious and fits RankSVM on it (236,888,754 pairs).

python benchmarks/delicious_memory.py
"""

import resource

from sklearn.preprocessing import normalize

from common import DATA
from multimargin import RankSVM
from multimargin.datasets import load_arff


def main() -> None:
    """Fit once and print the peak."""
    data = load_arff(DATA / "delicious/delicious-train.arff", DATA / "delicious/delicious.xml")
    X, Y = data.X, data.Y
    model = RankSVM(C=1.0, kernel="linear", bias="penalized", random_state=0)
    model.fit(normalize(X), Y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"delicious: gap {model.dual_gap_:.1e}, peak memory of the process {peak:.0f} MB")


if __name__ == "__main__":
    main()

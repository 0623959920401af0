"""Peak memory of a process that loads delicious and fits a method on it (236,888,754 pairs).

python benchmarks/delicious_family_memory.py [RankCVM | MLODM | RankLSVM]
"""

import resource
import subprocess
import sys

from sklearn.preprocessing import normalize

import multimargin
from common import DATA
from multimargin.datasets import load_arff


def measure(method: str) -> None:
    """Fit once and print the peak."""
    data = load_arff(DATA / "delicious/delicious-train.arff", DATA / "delicious/delicious.xml")
    model = getattr(multimargin, method)(C=1.0, kernel="linear", random_state=0)
    model.fit(normalize(data.X), data.Y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"delicious, {method}: gap {model.dual_gap_:.1e}, peak memory of the process {peak:.0f} MB"
    )


def main() -> None:
    """Measure the chosen method, or one after the other in processes of their own."""
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    for method in ("RankCVM", "MLODM"):
        subprocess.run([sys.executable, __file__, method], check=True)


if __name__ == "__main__":
    main()

"""One number per method: our time in that of the peer, over data and C in {1, 10, 100}, and a plot.

    python benchmarks/summary.py [--repeats 3] [--figure figures/summary.png]

The grids are those of `hard_kernels.py` and `hard_linear.py`, where the settings and the peers are
described. `make bench` ends with it.
"""

import argparse
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

import hard_kernels
import hard_linear
from common import print_ratios, print_table, sized

GRIDS = {"rbf, against SVC": hard_kernels, "text, against LinearSVC": hard_linear}
COSTS = ("1", "10", "100")[: sized(3, 1)]


def draw(grids: dict[str, list[tuple[str, ...]]], path: Path) -> None:
    """Draw the ratios of each method, one mark per data set, from left to right by C."""
    figure, axes = plt.subplots(
        1, len(grids), figsize=(11, 4.5), sharey=True, layout="constrained", squeeze=False
    )
    for axis, (title, rows) in zip(axes[0], grids.items(), strict=True):
        methods = list(dict.fromkeys(row[2] for row in rows))
        for k, C in enumerate(COSTS):
            own = [row for row in rows if row[1] == C]
            places = [methods.index(row[2]) + 0.25 * (k - 1) for row in own]
            axis.scatter(places, [float(row[5]) for row in own], s=22, label=f"C = {C}")
        axis.axhline(1.0, color="0.4", linewidth=0.8)
        axis.set_yscale("log")
        axis.set_xticks(range(len(methods)), [name.replace(", ", ",\n") for name in methods])
        axis.set_title(title)
    axes[0, 0].set_ylabel("our seconds / the peer's")
    axes[0, 0].legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"  {path}")


def main() -> None:
    """Run both grids, print a table each and a number per method, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--figure", type=Path, default=Path("figures/summary.png"))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    grids = {}
    for title, grid in GRIDS.items():
        grids[title] = [
            row
            for name in grid.NAMES
            for C in COSTS
            for row in grid.cells(name, float(C), chosen.repeats)
        ]
        print_table(f"{title}: one thread, whole fit", grid.HEADER, grids[title])
    for title, rows in grids.items():
        print(f"\n{title}")
        print_ratios(rows)
    draw(grids, chosen.figure)


if __name__ == "__main__":
    main()

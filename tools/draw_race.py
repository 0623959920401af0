"""Draws the picture of docs/which_method.md from its table.

python tools/draw_race.py docs/images
"""

import re
import sys
from pathlib import Path

from matplotlib import pyplot
from matplotlib.figure import Figure

PAGE = Path(__file__).parents[1] / "docs" / "which_method.md"
# A value and its peer's, bold or not.
CELL = re.compile(r"^\**([\d.]+)\** / \**([\d.]+)\**$")


def read_race(page: str) -> tuple[list[str], dict[str, list[tuple[float, float]]]]:
    """Read the measures of the race, and for each data set both values of each measure."""
    lines = page[page.index("| | ranking loss") :].splitlines()
    measures = [head.strip() for head in lines[0].split("|")[2:-2]]
    sets = {}
    for line in lines[2:]:
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found = [match for cell in cells if (match := CELL.match(cell))]
        if len(found) != len(measures):
            break
        sets[name.split(" (")[0]] = [(float(match[1]), float(match[2])) for match in found]
    return measures, sets


def relative_gain(measure: str, ours: float, peer: float) -> float:
    """Return by how many percent of the peer's value ours is better."""
    smaller_is_better = measure in ("ranking loss", "one-error")
    return 100 * (peer - ours if smaller_is_better else ours - peer) / peer


def draw(measures: list[str], sets: dict[str, list[tuple[float, float]]]) -> Figure:
    figure, axes = pyplot.subplots(
        1, len(measures), figsize=(9.5, 3.4), sharey=True, layout="constrained"
    )
    names = list(sets)[::-1]
    for ax, measure, j in zip(axes, measures, range(len(measures)), strict=True):
        gains = [relative_gain(measure, *sets[name][j]) for name in names]
        ax.axvline(0.0, color="0.55", linewidth=0.8)
        ax.hlines(names, 0.0, gains, color="0.8")
        ax.scatter(
            gains, names, c=["#0b6bb0" if gain >= 0 else "#c85200" for gain in gains], zorder=2
        )
        ax.set_title(measure, fontsize="medium")
        ax.set(xlim=(-19, 19))
        ax.tick_params(length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
    figure.supxlabel(
        "percent by which LabelRankerCV is better than the best peer", fontsize="medium"
    )
    return figure


if __name__ == "__main__":
    figure = draw(*read_race(PAGE.read_text(encoding="utf-8")))
    figure.savefig(Path(sys.argv[1]) / "race.png", dpi=110, metadata={"Software": None})

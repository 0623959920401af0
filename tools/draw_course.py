"""Draws the pictures of docs/course.md: python tools/draw_course.py docs/images"""

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot
from matplotlib.figure import Figure
from numpy.typing import NDArray

from multimargin.reference import rank_svm

COURSE = Path(__file__).parents[1] / "docs" / "course.md"
BLUE, ORANGE, GREY = "#0b6bb0", "#c85200", "0.55"


def names_of_the_course() -> dict[str, Any]:
    """Run the course up to the step without pairs, and return its names."""
    blocks = re.findall(r"^```python\n(.*?)^```", COURSE.read_text(encoding="utf-8"), re.S | re.M)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
        if "def meet" in block:
            return names
    raise ValueError(f"{COURSE} does not define the step")


def draw_hinge(margins: NDArray[np.float64]) -> Figure:
    figure, axes = pyplot.subplots(figsize=(6, 2.8), layout="constrained")
    grid = np.linspace(-1.6, 2.6, 200)
    axes.plot(grid, np.maximum(0, 1 - grid), color=BLUE, label="hinge")
    axes.step([-1.6, 0, 2.6], [1, 0, 0], where="post", color=GREY, label="ranking loss")
    axes.plot(margins, np.maximum(0, 1 - margins), "o", color=ORANGE, label="the six pairs")
    axes.set(xlabel="margin: score of a label that applies less score of one that does not")
    axes.legend(frameon=False)
    return figure


def draw_certificate(names: dict[str, Any]) -> Figure:
    K, Y, C, B, optimum = (names[name] for name in ("K", "Y", "C", "solution", "optimum"))
    figure, axes = pyplot.subplots(figsize=(6, 2.8), layout="constrained")
    shares = np.linspace(0.0, 1.0, 101)
    zero = np.zeros(Y.shape[1])
    above = [rank_svm.objective_18(K, Y, C, share * B, zero) for share in shares]
    below = [names["dual_value"](share * B) for share in shares]
    axes.fill_between(shares, below, above, color="0.92")
    axes.plot(shares, above, color=BLUE, label="primal objective: too large")
    axes.plot(shares, below, color=ORANGE, label="dual objective: too small")
    axes.axhline(optimum, color="black", linewidth=1, linestyle=":", label="optimum")
    axes.set(xlabel="share of the solution", ylim=(-1, 40))
    axes.legend(frameon=False)
    return figure


def draw_proximal_step(meet, centres: NDArray, relevant: NDArray) -> Figure:
    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    weights = np.linspace(0.0, 0.6, 241)
    on, off = relevant == 1, relevant == 0
    paths = [meet(centres[on] - 1, centres[off], weight) for weight in weights]
    axes.plot(weights, [a for a, _ in paths], color=BLUE)
    axes.plot(weights, [b for _, b in paths], color=ORANGE, linestyle="--")
    axes.plot([], [], color=BLUE, label="labels that apply, less the margin")
    axes.plot([], [], color=ORANGE, linestyle="--", label="labels that do not")
    axes.set(xlabel="weight of the hinges", ylabel="score")
    axes.legend(frameon=False)
    return figure


def main(folder: Path) -> None:
    names = names_of_the_course()
    pictures = {
        "hinge": draw_hinge(names["margins"]),
        "certificate": draw_certificate(names),
        "proximal_step": draw_proximal_step(names["meet"], names["centres"], names["relevant"]),
    }
    for name, figure in pictures.items():
        figure.savefig(folder / f"course_{name}.png", dpi=110, metadata={"Software": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))

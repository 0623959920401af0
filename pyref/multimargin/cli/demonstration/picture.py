"""The picture of the demonstration."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from multimargin.cli.demonstration.race import Outcome
from multimargin.datasets import MultilabelData
from multimargin.files import replacing
from multimargin.plots.drawing import marker_style

_N_TAGS = 12
_HIT, _MISS = "#0072B2", "0.75"


def draw(
    outcomes: Mapping[str, Outcome], data: MultilabelData, model: Any, program: str, path: str
) -> None:
    """Draw ranking against choosing over the grid of C, and the best ranked tags of a program.

    `program` is one of the test part; the ending of `path` says the format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
    _draw_tradeoff(left, outcomes)
    _draw_program(right, data, model, program)
    with replacing(path, "wb") as stream:
        figure.savefig(stream, dpi=150, format=Path(path).suffix[1:].lower() or "png")


def _draw_tradeoff(ax: Any, outcomes: Mapping[str, Outcome]) -> None:
    for number, (name, outcome) in enumerate(outcomes.items()):
        x, y = outcome.curve["micro_f1"], outcome.curve["ranking_loss"]
        label = name if outcome.ours else f"one-vs-rest {name}"
        line_style = "-" if outcome.ours else "--"
        ax.plot(x, y, label=label, markersize=5, linestyle=line_style, **marker_style(number))
    ax.set_xlabel("micro F1 of the predicted sets, cross-validated")
    ax.set_ylabel("ranking loss, cross-validated")
    ax.set_title("Ranking and choosing, a point a C: best is down and right", fontsize=11)
    # Where C is far too small, no method ranks well: the range that matters is below.
    low = min(float(outcome.curve["ranking_loss"].min()) for outcome in outcomes.values())
    ax.set_ylim(0.95 * low, 1.6 * low)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=9)


def _draw_program(ax: Any, data: MultilabelData, model: Any, program: str) -> None:
    row = data.sample_names.index(program)
    scores = model.decision_function(data.X[[row]])[0]
    shown = np.argsort(-scores, kind="stable")[:_N_TAGS][::-1]
    colors = [_HIT if data.Y[row, k] else _MISS for k in shown]
    ax.barh(range(len(shown)), scores[shown], color=colors)
    ax.set_yticks(range(len(shown)), [data.label_names[k] for k in shown], fontsize=9)
    ax.axvline(0.0, color="black", linewidth=1)
    ax.set_xlabel("score minus threshold; above 0 it is predicted")
    ax.set_title(f"Tags of {program}, best ranked (blue: given by people)", fontsize=11)

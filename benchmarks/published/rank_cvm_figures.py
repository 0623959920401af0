"""Xu 2013 (Rank-CVM): figures 3 to 6, of emotions, scene, genbase, medical and yeast.

Figure 3: five measures of Rank-CVM over gamma at C = 1 and over C at gamma = 2^-1, on emotions, in
three folds. Figure 4: the curves of table 2. Figure 5: processor seconds of both published loops at
the parameters of table 2 (eps 1e-3, at most 50 epochs) over the number of variables, their ratio
and the fitted powers. Figure 6: the share of training rows that are support vectors, with the
W-test.
"""

import time
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from common import in_turn, print_note, print_table
from multimargin import RankCVM
from multimargin.compare.statistics.ranks import wilcoxon_tests
from published import rank_cvm
from published.comparison import chosen
from published.figures import axes, draw_line, save
from published.runs import all_of

Array = NDArray[np.float64]

PAIR = ("Rank-CVM", "Rank-SVM")
# Section 8.5.
MEAN_RATIO = 13.72
SUPPORT = {"Rank-CVM": 0.8550, "Rank-SVM": 0.9898}


def over_both() -> dict[str, dict[str, list[float]]]:
    """Return the measures over gamma and over C."""
    X, _, Y, _ = rank_cvm.split_of("emotions")
    make = partial(RankCVM, random_state=0)
    return {
        "gamma": rank_cvm.curve(X, Y, [make(gamma=gamma, C=1.0) for gamma in rank_cvm.GAMMAS]),
        "C": rank_cvm.curve(X, Y, [make(gamma=0.5, C=C) for C in rank_cvm.CS]),
    }


def figure_3() -> None:
    """Draw five measures over gamma and over C."""
    found = all_of({0: ("rank-cvm figure 3", over_both)})
    if not found:
        return
    drawn = axes(2, 5)
    values = {"gamma": rank_cvm.GAMMAS, "C": rank_cvm.CS}
    places = iter(drawn)
    for parameter, curves in found[0].items():
        for column in rank_cvm.COLUMNS:
            ax = next(places)
            draw_line(ax, values[parameter], curves[column.key], column.key)
            ax.set(xlabel=parameter, title=column.key)
    save(drawn[0].figure, "rank-cvm-figure-3")
    lines = [
        (parameter, column.title, f"2^{np.log2(_best(values[parameter], curves, column)):g}")
        for parameter, curves in found[0].items()
        for column in rank_cvm.COLUMNS
    ]
    print_table("Xu 2013, figure 3: the best values", ("parameter", "measure", "ours"), lines)


def figure_4() -> None:
    """Draw the criterion over gamma and over C, for both methods."""
    searches = all_of(rank_cvm.tuning_jobs())
    names = list(dict.fromkeys(name for name, _ in searches))
    if not names:
        return
    drawn = axes(len(names), 4).reshape(len(names), 4)
    for (name, method), search in searches.items():
        row, first = names.index(name), 2 * PAIR.index(method)
        for k, (parameter, values) in enumerate((("gamma", rank_cvm.GAMMAS), ("C", rank_cvm.CS))):
            ax = drawn[row, first + k]
            criterion = rank_cvm.criterion(search[f"over_{parameter}"])
            draw_line(ax, values, criterion, "ranking_hamming")
            ax.set(xlabel=parameter, title=f"{name}, {method}")
    save(drawn[0, 0].figure, "rank-cvm-figure-4")


def timed(name: str) -> dict[str, list[float]]:
    """Return seconds, steps and the share of support vectors of both published loops."""
    X, _, Y, _ = rank_cvm.split_of(name)
    jobs = [partial(rank_cvm.model_of(name, method).fit, X, Y) for method in PAIR]
    found = in_turn(*jobs, repeats=3, clock=time.process_time)
    return {
        method: [seconds, float(model.n_iter_), model.support_.size / len(Y)]
        for method, (seconds, model) in zip(PAIR, found, strict=True)
    }


def figures_5_and_6() -> None:
    """Draw times and support vectors, and print them."""
    jobs = {
        name: (f"rank-cvm seconds {name}", partial(timed, name))
        for name in chosen(rank_cvm.DATA_SETS)
    }
    found = all_of(jobs)
    if not found:
        return
    sizes = np.array([rank_cvm.TABLE_1[name][-1] for name in found])
    seconds, share = (
        {method: np.array([runs[method][k] for runs in found.values()]) for method in PAIR}
        for k in (0, 2)
    )
    _print_times(found, sizes, seconds, share)
    drawn = axes(1, 3)
    order = np.argsort(sizes)
    for k, method in enumerate(PAIR):
        look = {"label": method, "color": f"C{k}", "marker": "os"[k]}
        drawn[0].loglog(sizes[order], seconds[method][order], **look)
        drawn[2].plot(list(found), share[method], **{**look, "linestyle": "none"})
    drawn[1].bar(list(found), seconds["Rank-SVM"] / seconds["Rank-CVM"])
    for ax, title in zip(drawn, ("Seconds", "Rank-SVM / Rank-CVM", "Support vectors"), strict=True):
        ax.set_ylabel(title)
    drawn[0].set_xlabel("Variables")
    drawn[0].legend()
    drawn[2].legend()
    save(drawn[0].figure, "rank-cvm-figures-5-6")


def _print_times(
    found: Mapping[str, Mapping[str, Sequence[float]]],
    sizes: Array,
    seconds: Mapping[str, Array],
    share: Mapping[str, Array],
) -> None:
    """Print times, their ratios and powers, and the shares of support vectors with the W-test."""
    ratios = seconds["Rank-SVM"] / seconds["Rank-CVM"]
    lines = []
    for (name, runs), size, ratio in zip(found.items(), sizes, ratios, strict=True):
        cells = [f"{value:.3g}" for method in PAIR for value in runs[method]]
        lines.append((name, str(size), *cells, f"{ratio:.2f}"))
    columns = (f"{method}: {what}" for method in PAIR for what in ("s", "steps", "SV"))
    header = ("data", "variables", *columns, "ratio of s")
    print_table("Xu 2013, figures 5 and 6", header, lines)
    mean = float(np.mean(ratios))
    print_note(f"mean ratio of seconds: {mean:.2f} (published, nine data sets: {MEAN_RATIO})")
    for method in PAIR:
        mean = float(share[method].mean())
        text = f"{method}: support vectors {mean:.4f} (published {SUPPORT[method]})"
        if len(found) > 1:
            power, factor = np.polyfit(np.log(sizes), np.log(seconds[method]), 1)
            text += f"; seconds ~ {np.exp(factor):.2g} variables^{power:.2f}"
        print_note(text)
    if len(found) > 1:
        table = pd.DataFrame(share, index=list(found))
        tested = wilcoxon_tests(table, "Rank-CVM", larger_is_better=False).loc["Rank-SVM"]
        p = tested["p_value"]
        print_note(f"W-test of the support vectors: {tested['outcome']}, p = {p:.3f}")


def _best(values: list[float], curves: dict[str, list[float]], column: object) -> float:
    curve = np.array(curves[column.key])
    return values[int(curve.argmax() if column.larger_is_better else curve.argmin())]


PARTS = {
    "figure-3": figure_3,
    "figure-4": figure_4,
    "figures-5-6": figures_5_and_6,
}

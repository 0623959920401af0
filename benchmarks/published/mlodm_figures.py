"""Tan et al. 2019 (mlODM): figures 1 to 4.

Figure 1: ranking loss of mlODM on both parts over the epochs, on six data sets. Figures 2 and 3:
the margins of label pairs on the test part. In both C = 1 and gamma = 1/2 for all methods, as its
section 6.4 has it, and theta = mu = 0.5, of which it says nothing. Margins are divided by their
mean absolute value, because the methods differ in the scale of their scores. Figure 4: four
measures over theta and mu on the test part of emotions; gamma and C are those that table 2 chose
by the full grid here (2^-2 and 4), the paper does not print its own.
"""

from functools import cache, partial
from typing import Any

import numpy as np

from common import print_table
from multimargin import MLODM
from multimargin.measures import pair_margins, ranking_average_precision, ranking_loss
from published import mlodm
from published.comparison import chosen, values
from published.figures import axes, draw_grid, draw_line, save
from published.runs import all_of, stored_only

EPOCHS = (1, 2, 3, 5, 10, 20, 50)
UNIFORM: dict[str, Any] = {"C": 1.0, "gamma": 0.5, "random_state": 0}
FIGURE_1 = ("emotions", "scene", "yeast", "birds", "genbase", "medical")


def training(name: str) -> list[list[float]]:
    """Return the ranking loss on the training and on the test part after each number of epochs."""
    X, X_test, Y, Y_test = mlodm.labelled(name)
    rows = []
    for epochs in EPOCHS:
        model = MLODM(**UNIFORM, theta=0.5, mu=0.5, max_iter=epochs, tol=1e-9).fit(X, Y)
        rows.append(
            [
                ranking_loss(Y, model.label_scores(X)),
                ranking_loss(Y_test, model.label_scores(X_test)),
            ]
        )
    return rows


def figure_1() -> None:
    """Draw the training process."""
    jobs = {name: (f"mlodm figure 1 {name}", partial(training, name)) for name in chosen(FIGURE_1)}
    found = all_of(jobs)
    if not found:
        return
    drawn = axes(2, 3)
    for ax, (name, rows) in zip(drawn, found.items(), strict=False):
        for part, losses in zip(("training", "test"), np.array(rows).T, strict=True):
            draw_line(ax, EPOCHS, losses, part)
        ax.set_xlabel("Epochs")
        ax.legend()
        ax.set_title(f"{name}: ranking loss")
    save(drawn[0].figure, "mlodm-figure-1")
    lines = [
        (name, part, *(f"{row[k]:.4f}" for row in rows))
        for name, rows in found.items()
        for k, part in enumerate(("training", "test"))
    ]
    header = ("data", "part", *(f"{epochs} epochs" for epochs in EPOCHS))
    print_table("Tan et al. 2019, figure 1: ranking loss", header, lines)


@cache
def scored(name: str) -> tuple[Any, dict[str, Any]]:
    """Return the labels of the test part, and the scores of each method."""
    X, X_test, Y, Y_test = mlodm.labelled(name)
    models = {
        method: make(**UNIFORM, **({"theta": 0.5, "mu": 0.5} if method == "mlODM" else {}))
        for method, make in mlodm.METHODS.items()
    }
    return Y_test, {method: m.fit(X, Y).label_scores(X_test) for method, m in models.items()}


def spread(name: str) -> dict[str, list[float]]:
    """Return deviation and share below 0 of each method's margins, and average precision."""
    Y, scores = scored(name)
    found = {}
    for method, own in scores.items():
        margins = pair_margins(Y, own)
        deviation = float((margins / np.abs(margins).mean()).std())
        found[method] = [deviation, float((margins <= 0).mean()), ranking_average_precision(Y, own)]
    return found


def figures_2_and_3() -> None:
    """Draw the margins, and print their spread beside the average precision."""
    names = chosen(mlodm.DATA_SETS)
    found = all_of({name: (f"mlodm margins {name}", partial(spread, name)) for name in names})
    lines = [
        (name, method, f"{deviation:.3f}", f"{below:.3f}", f"{precision:.4f}")
        for name, methods in found.items()
        for method, (deviation, below, precision) in methods.items()
    ]
    header = ("data", "method", "deviation", "share below 0", "average precision")
    print_table("Tan et al. 2019, figures 2 and 3: margins of test pairs", header, lines)
    if stored_only():
        return
    drawn = axes((len(names) + 2) // 3, min(3, len(names)))
    for ax, name in zip(drawn, names, strict=False):
        Y, scores = scored(name)
        for method, own in scores.items():
            margins = pair_margins(Y, own)
            ax.ecdf(margins / np.abs(margins).mean(), label=method)
        ax.set_title(name)
        ax.legend(fontsize="small")
    save(drawn[0].figure, "mlodm-figures-2-3")


def over_theta_and_mu() -> list[list[float]]:
    """Return theta, mu and the four measures."""
    X, X_test, Y, Y_test = mlodm.labelled("emotions")
    rows = []
    for theta in mlodm.TENTHS:
        for mu in mlodm.TENTHS:
            model = MLODM(gamma=2.0**-2, C=4.0, theta=theta, mu=mu, random_state=0).fit(X, Y)
            rows.append([theta, mu, *values(mlodm.COLUMNS, model, X_test, Y_test)])
    return rows


def figure_4() -> None:
    """Draw four measures over theta and mu."""
    found = all_of({0: ("mlodm figure 4", over_theta_and_mu)})
    if not found:
        return
    table = np.array(found[0])
    drawn = axes(2, 2)
    lines = []
    for k, column in enumerate(mlodm.COLUMNS):
        curve = table[:, 2 + k]
        tenths = mlodm.TENTHS
        draw_grid(drawn[k], tenths, tenths, curve.reshape(len(tenths), len(tenths)))
        drawn[k].set(xlabel="mu", ylabel="theta", title=column.title)
        best = table[int(curve.argmax() if column.larger_is_better else curve.argmin())]
        at = f"theta {best[0]:g}, mu {best[1]:g}"
        lines.append((column.title, f"{curve.min():.4f}", f"{curve.max():.4f}", at))
    save(drawn[0].figure, "mlodm-figure-4")
    title = "Tan et al. 2019, figure 4: emotions over theta and mu"
    print_table(title, ("measure", "smallest", "largest", "best at"), lines)


PARTS = {"figure-1": figure_1, "figures-2-3": figures_2_and_3, "figure-4": figure_4}

"""Zhang & Yeung 2013 (MLRL): figure 1, the objective on emotions in both settings.

The published alternation, and the splitting that reaches the joint optimum; lambda = 1 / n for
MLRL, lambda1 = 1 / n and lambda2 = 0.01 / n with n labelled rows for SSMLRL.
"""

from common import print_note
from multimargin import MLRL, SSMLRL
from multimargin.plots import ConvergenceDisplay
from published.figures import axes, save
from published.mlrl import scaled
from published.mlrl_semi import hidden, split_of
from published.runs import stored_only


def figure_1() -> None:
    """Draw the objectives, and say after how many rounds they change by less than 1e-3."""
    if stored_only():
        return
    X, Y = scaled("emotions")
    _, _, labelled, others = split_of("emotions", 0)
    solvers = ("alternating", "splitting")
    n = labelled.size
    fits = {
        "supervised": {
            solver: MLRL(1.0 / len(X), gamma="mean_distance", solver=solver).fit(X, Y)
            for solver in solvers
        },
        "semi-supervised": {
            solver: SSMLRL(1.0 / n, 0.01 / n, gamma="mean_distance", solver=solver).fit(
                X, hidden(Y, others)
            )
            for solver in solvers
        },
    }
    drawn = axes(1, 2)
    for ax, (setting, models) in zip(drawn, fits.items(), strict=True):
        ConvergenceDisplay.from_estimator(models, quantity="objectives", ax=ax)
        ax.set_title(setting)
        for solver, model in models.items():
            primal = model.history_["primal"]
            change = abs(primal[1:] - primal[:-1]) / abs(primal[-1])
            level = next((k + 1 for k in range(change.size) if (change[k:] < 1e-3).all()), None)
            print_note(
                f"{setting}, {solver}: {primal.size} rounds, level after {level},"
                f" objective {primal[-1]:.5f}, gap {model.dual_gap_:.1e}"
            )
    save(drawn[0].figure, "mlrl-figure-1")


PARTS = {"figure-1": figure_1}

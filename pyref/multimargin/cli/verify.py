"""``multimargin verify``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from multimargin.cli import FAILED
from multimargin.cli.options import (
    MOST_SEED,
    Data,
    Json,
    MethodName,
    Scale,
    Settings,
    by_subject,
    check_settings,
    option,
)
from multimargin.cli.table_options import ColumnOptions

if TYPE_CHECKING:
    from multimargin.verification import Verification

# The exact solver has a variable for each pair of labels; this many take it seconds.
_MANY_PAIRS = 10_000


@dataclass(frozen=True)
class Draw:
    """Number of rows to verify, and tolerance."""

    rows: int = option(
        "--rows N",
        "Number of rows to draw: the exact solver is slow and needs much memory.",
        40,
        min=1,
    )
    seed: int = option("--seed N", "Seed of the draw.", 0, min=0, max=MOST_SEED)
    tolerance: float = option(
        "--tolerance X", "Largest relative difference at which the objectives agree.", 1e-6, min=0.0
    )


@by_subject
def command(
    source: Data,
    method_name: MethodName = "rank-svm",
    settings: Settings = None,
    *,
    draw: Draw,
    scale: Scale = "minmax",
    split: str | None = option("--split NAME", "Where the rows are drawn from: train, ..."),
    columns: ColumnOptions,
    as_json: Json = False,
) -> None:
    """Check a method against an exact solver.

    A few rows are fitted by the method, and their problem is solved by multimargin.reference: as
    the paper states it, with kernel and weights by their definitions, by an interior-point solver
    (needs the extra multimargin[exact]). Exit code 1 when the two do not agree. For ssmlrl every
    third row counts as unlabelled.

    \b
    Examples:
      multimargin verify digits
      multimargin verify emotions/ --method mlodm --set C=8 --rows 60
    """
    check_settings(method_name, settings)
    columns.check_names(source)
    from multimargin.cli.data import check_complete, choose_split, make_pipeline
    from multimargin.cli.options import make_named_method
    from multimargin.cli.output import counted, print_json, tell
    from multimargin.cli.table_options import load_table_or_data
    from multimargin.scikit_learn import safe_indexing
    from multimargin.verification import draw_rows, verify

    method, estimator = make_named_method(method_name, settings)
    data = load_table_or_data(source, columns.columns())
    split, chosen = choose_split(data, split, "train")
    drawn = chosen[draw_rows(data.Y[chosen], draw.rows, random_state=draw.seed)]
    X, Y = safe_indexing(data.X, drawn), data.Y[drawn]
    check_complete(data, drawn)
    scaler = make_pipeline(estimator, scale, data)[:-1]
    if len(scaler):
        X = scaler.fit_transform(X)
    pairs = int(((Y == 1).sum(axis=1) * (Y == 0).sum(axis=1)).sum())
    if pairs > _MANY_PAIRS:
        tell(f"{pairs:,} pairs of labels: the exact solver may take minutes; use fewer --rows")
    unlabelled = 0
    if method.name == "ssmlrl":
        Y = Y.astype(float)
        Y[2::3] = -1
        unlabelled = len(Y[2::3])
    try:
        found = verify(estimator, X, Y, tolerance=draw.tolerance)
    except RuntimeError as error:
        raise RuntimeError(
            f"the exact solver failed, so nothing is verified: {error}; expected an easier "
            "problem: try fewer --rows, or another --seed"
        ) from error
    if as_json:
        print_json(
            {"data": data.name, "split": split, "method": method.name, "rows": drawn}
            | {"agrees": found.agrees, "verification": found}
        )
    else:
        described = f"{data.name}: {counted(found.n_samples, 'row')} drawn from {split}"
        described += f", {unlabelled} as unlabelled" if unlabelled else ""
        _print(found, described, " ".join(repr(estimator).split()), draw.tolerance)
    if not found.agrees:
        raise typer.Exit(FAILED)


def _print(found: "Verification", described: str, method: str, tolerance: float) -> None:
    from multimargin.cli.output import console, pairs_table

    described = f"{described}, {found.n_features} features, {found.n_labels} labels"
    verdict = "agrees" if found.agrees else "DOES NOT AGREE"
    out = console()
    out.print(pairs_table([("data", described), ("method", method)]))
    out.print()
    out.print(
        pairs_table(
            [
                ("objective", f"{found.objective:.10g}", f"fitted; {found.status}"),
                ("", f"{found.exact_objective:.10g}", "exact"),
                ("difference", f"{found.objective_difference:.1e}", "relative"),
                ("gap", f"{found.gap:.1e}", "the fit's own bound of its distance"),
                ("scores", f"{found.score_difference:.1e}", "largest relative difference"),
                ("verdict", verdict, f"objectives and bound within {tolerance:g}"),
            ]
        )
    )

"""``multimargin tune``."""

from typing import Annotated, Any

import typer

from multimargin.cli.options import Data, Json, Labels, MethodName, Scale, TimeLimit
from multimargin.cli.table_options import Drop, Separator, TagsColumn, Text


def command(
    context: typer.Context,
    source: Data,
    method_name: MethodName = "rank-svm",
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="NAME=V1,V2,...",
            help="Values to try for a parameter, as in C=2^-1,1,8; repeat it for more parameters. "
            "Without it, the values of the method's paper (multimargin methods METHOD).",
        ),
    ] = None,
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy/--full",
            help="Tune one parameter after the other (default), or try all combinations.",
        ),
    ] = True,
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="How often --lazy goes through the parameters.")
    ] = 1,
    folds: Annotated[
        int, typer.Option("--cv", min=2, help="Number of folds, stratified by the labels.")
    ] = 3,
    score: Annotated[
        str,
        typer.Option(
            "--score",
            "--scoring",
            metavar="MEASURE",
            help="What to tune by: ranking_hamming (the mean of both losses), ranking_loss, "
            "hamming_loss, one_error, coverage, is_error, average_precision, precision_at_5, "
            "ndcg_at_5, auc_macro, auc_micro, exact_match, jaccard, example_f1, macro_f1 or "
            "micro_f1.",
        ),
    ] = "ranking_hamming",
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what was found as JSON."),
    ] = None,
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the scores over the one or two parameters that were tuned; with more, over "
            "those that --grid names first (.png, .svg or .pdf).",
        ),
    ] = None,
    scale: Scale = "minmax",
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="NAME",
            help="Rows to tune on: train where the data have it (default), test, or all.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Fits at the same time; -1 for one a processor.")
    ] = 1,
    time_limit: TimeLimit = None,
    labels: Labels = None,
    tags_column: TagsColumn = None,
    separator: Separator = None,
    drop: Drop = None,
    text: Text = None,
    as_json: Json = False,
) -> None:
    """Choose the parameters of a method by cross-validation.

    Parameters that are not tuned are further options: --kernel rbf. Values may be powers: 2^-3. The
    scaling is learned in each fold anew.

    \b
    Examples:
      multimargin tune emotions --method rank-svm
      multimargin tune digits -m mlodm --grid C=1,2,4 --grid gamma=2^-2,2^-1,1 --full -o best.json
      multimargin tune yeast -m rank-cvm --score average_precision --cv 5 --jobs 2
      multimargin tune digits -m rank-svm --grid C=2^-2,1,4,16 --plot curve.png
    """
    import sys
    from contextlib import nullcontext, redirect_stdout
    from time import perf_counter

    from multimargin.cli.options import (
        WrongUsage,
        check_complete,
        check_picture,
        choose_split,
        limit_time,
        make_named_method,
        make_pipeline,
        say_what_is_unknown,
        warn_of_one_value,
    )
    from multimargin.cli.output import console, print_json, said_once
    from multimargin.cli.table_options import load_table_or_data, rows_of, table_columns
    from multimargin.files import path_to_write
    from multimargin.tuning.last_step import LastStepSearch

    method, estimator = make_named_method(method_name, context.args)
    limit_time(method, estimator, time_limit)
    score, scorer, sign = _scorer(score)
    wanted = _grid(method, grid, context.args)
    if output is not None:
        path_to_write(output, "--output")
    if plot is not None:
        check_picture(plot, "--plot")
    if jobs == 0:
        raise WrongUsage("--jobs is 0; expected a number of fits, or -1")
    columns = table_columns(labels, tags_column, separator, drop, text)
    data = load_table_or_data(source, columns)
    split, rows = choose_split(data, split, "train")
    X, Y = rows_of(data.X, rows), data.Y[rows]
    if score == "precision_at_5" and data.n_labels <= 5:
        raise WrongUsage(
            f"--score is precision_at_5, which is the same for all models of {data.n_labels} "
            "labels; expected another measure, such as ranking_loss"
        )
    check_complete(data, rows)
    say_what_is_unknown(data, rows, "and such rows are not scored")
    warn_of_one_value(data, rows)
    if folds > rows.size:
        raise WrongUsage(
            f"--cv is {folds}; expected at most {rows.size}, the number of rows of {split}"
        )
    tuned = LastStepSearch(
        make_pipeline(estimator, scale, data),
        wanted,
        scoring=scorer,
        n_folds=folds,
        n_rounds=rounds if lazy else None,
        n_jobs=jobs,
    )
    errors = console(stderr=True)
    title = f"tuning {method.title}: up to {tuned.n_candidates} combinations"
    shown = errors.status(title) if errors.is_terminal else nullcontext()
    start = perf_counter()
    with shown, redirect_stdout(sys.stderr), said_once():
        tuned.search.fit(X, Y)
    found = {
        "data": data.name,
        "split": split,
        "n_rows": int(rows.size),
        "method": method.name,
        "scale": scale,
        "search": "lazy" if lazy else "full",
        "folds": folds,
        "score": score,
        "best": {
            "parameters": tuned.best_parameters,
            score: sign * float(tuned.search.best_score_),
        },
        "seconds": perf_counter() - start,
        "tried": [
            {"parameters": parameters, score: sign * mean, "std": deviation}
            for parameters, mean, deviation in tuned.tried()
        ],
    }
    if output is not None:
        _write(found, output)
    if plot is not None:
        _draw(tuned, f"{method.title} on {data.name}, {folds} folds", plot)
    if as_json:
        print_json(found)
    else:
        options = {"time-limit": None if time_limit is None else f"{time_limit:g}"}
        options |= {"labels": labels, "tags-column": tags_column, "separator": separator}
        options |= {"drop": drop, "text": text}
        chosen = split if data.splits and split != "train" else None
        _report(found, method, source, context.args, options, chosen, output)


def _scorer(name: str) -> tuple[str, Any, int]:
    """Return a measure's name, its scorer, and the sign that turns scores into the measure."""
    from multimargin.cli.options import WrongUsage
    from multimargin.measures import SCORERS, get_scorer

    plain = name.replace("-", "_").removeprefix("neg_")
    for key, sign in ((plain, 1), (f"neg_{plain}", -1)):
        if key in SCORERS:
            return plain, get_scorer(key), sign
    known = ", ".join(sorted(key.removeprefix("neg_") for key in SCORERS))
    raise WrongUsage(f"--score is {name!r}; expected one of {known}")


def _grid(method: Any, given: list[str] | None, fixed: list[str]) -> dict[str, list[Any]]:
    """Read the options ``--grid``, or take the method's own values for what is not fixed."""
    from multimargin.cli.options import WrongUsage, method_parameters
    from multimargin.methods import parse

    held = {method.parameter(name) for name in method_parameters(fixed)}
    if not given:
        # As in the Rank-CVM paper: the kernel first, C last.
        order = sorted(method.grid, key=lambda name: name == "C")
        grid = {name: list(method.grid[name]) for name in order if name not in held}
        if not grid:
            raise WrongUsage(
                f"nothing is left to tune of {', '.join(method.grid)}; expected --grid NAME=V1,V2"
            )
        return grid
    grid = {}
    for option in given:
        name, equals, text = option.partition("=")
        values = [value.strip() for value in text.split(",")]
        if not equals or not name or not all(values):
            raise WrongUsage(f"--grid is {option!r}; expected a form such as C=1,2,4")
        try:
            target = method.parameter(name.strip().replace("-", "_"))
        except ValueError as error:
            raise WrongUsage(str(error)) from error
        if target in grid or target in held:
            raise WrongUsage(f"{name} is given twice; expected a --grid or a value for it")
        default = method.make().get_params(deep=True)[target]
        grid[target] = list(dict.fromkeys(parse(value, default) for value in values))
    return grid


def _write(found: dict[str, Any], path: str) -> None:
    import json

    from multimargin.files import write_text

    write_text(path, json.dumps(found, indent=2) + "\n", streams=True)


def _draw(tuned: Any, title: str, path: str) -> None:
    """Write the picture of what was tuned, without touching the figures of the caller."""
    from pathlib import Path

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from multimargin.files import replacing
    from multimargin.plots import ParameterCurveDisplay

    several = [name for name, values in tuned.grid.items() if len(values) > 1]
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
    display = ParameterCurveDisplay.from_estimator(
        tuned.search, parameters=(several or list(tuned.grid))[:2], ax=figure.subplots()
    )
    display.ax_.set_title(title)
    with replacing(path, "wb") as stream:
        figure.savefig(stream, dpi=150, format=Path(path).suffix[1:].lower())


def _report(
    found: dict[str, Any],
    method: Any,
    source: str,
    options: list[str],
    columns: dict[str, str | None],
    split: str | None,
    output: str | None,
) -> None:
    import shlex

    from multimargin.cli.output import console, counted, pairs_table, plain_table

    score, best = found["score"], found["best"]
    short = {target: alias for alias, target in method.aliases.items()}
    table = plain_table("parameters", score, "std over folds")
    ordered = sorted(found["tried"], key=lambda one: abs(one[score] - best[score]))
    for one in ordered[:10]:
        named = ", ".join(f"{short.get(k, k)} {_value(v)}" for k, v in one["parameters"].items())
        table.add_row(named, f"{one[score]:.5f}", f"{one['std']:.5f}")
    out = console()
    out.print(
        f"{method.title} on {found['data']}, {found['split']}: {counted(found['n_rows'], 'row')}, "
        f"{found['folds']} folds, {len(found['tried'])} combinations, {found['seconds']:.1f} s\n",
        style="bold",
        markup=False,
    )
    out.print(table)
    if len(ordered) > 10:
        out.print(f"... and {len(ordered) - 10} that are worse", markup=False)
    chosen = [f"--{short.get(k, k)} {v!r}".replace("'", "") for k, v in best["parameters"].items()]
    fit = ["multimargin fit", shlex.quote(source), f"--method {found['method']}", *chosen]
    fit += [shlex.quote(option) for option in options]
    fit += [f"--{key} {shlex.quote(value)}" for key, value in columns.items() if value is not None]
    fit += [f"--scale {found['scale']}"] if found["scale"] != "minmax" else []
    fit += [f"--split {split}"] if split is not None else []
    out.print()
    if output:
        out.print(pairs_table([("written to", output)]))
    # On one line, however long: it is there to be copied.
    out.print(f"fit it with  {' '.join(fit)}", markup=False, soft_wrap=True)


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

"""``multimargin tune``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import Data, Json, MethodName, Scale, TimeLimit, by_subject
from multimargin.cli.table_options import ColumnOptions, PartsOfData

if TYPE_CHECKING:
    from multimargin.interrupts import Interrupts


@dataclass(frozen=True)
class Search:
    """What is tried, and how it is judged."""

    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="NAME=V1,V2,...",
            help="Values to try for a parameter, as in C=2^-1,1,8; repeat it for more parameters. "
            "Without it, the values of the method's paper (multimargin methods METHOD).",
        ),
    ] = None
    lazy: Annotated[
        bool,
        typer.Option(
            "--lazy/--full",
            help="Tune one parameter after the other (default), or try all combinations.",
        ),
    ] = True
    rounds: Annotated[
        int, typer.Option("--rounds", min=1, help="How often --lazy goes through the parameters.")
    ] = 1
    folds: Annotated[
        int, typer.Option("--cv", min=2, help="Number of folds, stratified by the labels.")
    ] = 3
    score: Annotated[
        str,
        typer.Option(
            "--score",
            "--scoring",
            metavar="MEASURE",
            help="What to tune by: ranking_average_precision, ranking_loss, one_error, coverage, "
            "is_error, precision_at_5, ndcg_at_5, auc_macro, auc_micro, hamming_loss, exact_match, "
            "jaccard, example_f1, macro_f1, micro_f1, or ranking_hamming, the mean of ranking loss "
            "and Hamming loss.",
        ),
    ] = "ranking_average_precision"


@dataclass(frozen=True)
class Files:
    """What is written beside the standard output."""

    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write what was found as JSON."),
    ] = None
    plot: Annotated[
        str | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw the scores over the one or two parameters that were tuned; with more, over "
            "those that --grid names first (.png, .svg or .pdf).",
        ),
    ] = None

    def check(self) -> None:
        """Refuse what cannot be written, before the fits."""
        from multimargin.cli.options import check_picture
        from multimargin.files import path_to_write

        if self.output is not None:
            path_to_write(self.output, "--output")
        if self.plot is not None:
            check_picture(self.plot, "--plot")


@by_subject
def command(
    context: typer.Context,
    source: Data,
    method_name: MethodName = "rank-svm",
    *,
    search: Search,
    files: Files,
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
    put_aside: PartsOfData,
    time_limit: TimeLimit = None,
    columns: ColumnOptions,
    as_json: Json = False,
) -> None:
    """Choose the parameters of a method by cross-validation.

    Parameters that are not tuned are further options: --kernel rbf. Values may be powers: 2^-3. The
    scaling is learned in each fold anew. Rows that --holdout puts aside are not looked at: fit
    measures on them.

    \b
    Examples:
      multimargin tune emotions --method rank-svm
      multimargin tune digits -m mlodm --grid C=1,2,4 --grid gamma=2^-2,2^-1,1 --full -o best.json
      multimargin tune yeast -m rank-cvm --score average_precision --cv 5 --jobs 2
      multimargin tune digits -m rank-svm --grid C=2^-2,1,4,16 --plot curve.png
    """
    from time import perf_counter

    from multimargin.cli.options import (
        WrongUsage,
        hint_at_linear,
        limit_time,
        make_named_method,
        make_pipeline,
        method_parameters,
    )
    from multimargin.cli.output import print_json
    from multimargin.cli.table_options import groups_of, rows_of
    from multimargin.interrupts import Interrupts
    from multimargin.tuning.last_step import LastStepSearch, Tried

    method, estimator = make_named_method(method_name, context.args)
    limit_time(method, estimator, time_limit)
    score, scorer, sign = _scorer(search.score)
    wanted = _grid(method, search.grid, context.args)
    files.check()
    if jobs == 0:
        raise WrongUsage("--jobs is 0; expected a number of fits, or -1")
    data, split, rows = _load(source, split, columns, put_aside, search.folds, score)
    hint_at_linear(estimator, {**wanted, **method_parameters(method, context.args)}, data)
    told: list[Tried] = []

    def report(tried: list[Tried]) -> None:
        told[:] = tried
        _say(tried, tuned.n_candidates, score, sign, perf_counter() - start)

    tuned = LastStepSearch(
        make_pipeline(estimator, scale, data),
        wanted,
        scoring=scorer,
        n_folds=search.folds,
        n_rounds=search.rounds if search.lazy else None,
        n_jobs=jobs,
        report=report,
    )
    start, interrupts = perf_counter(), Interrupts()
    with interrupts.held():
        X, Y, groups = rows_of(data.X, rows), data.Y[rows], groups_of(data, rows)
        interrupted = _searched(tuned, X, Y, groups, interrupts, told)
        tried = told if interrupted else tuned.tried()
        best = max(told, key=lambda one: one[1]) if interrupted else tuned.best()
        found = {
            "data": data.name,
            "split": split,
            "n_rows": int(rows.size),
            "method": method.name,
            "scale": scale,
            "search": "lazy" if search.lazy else "full",
            "interrupted": interrupted,
            "folds": search.folds,
            "score": score,
            "best": {"parameters": best[0], score: sign * best[1]},
            "seconds": perf_counter() - start,
            "tried": [
                {"parameters": parameters, score: sign * mean, "std": deviation}
                for parameters, mean, deviation in tried
            ],
        }
        if files.output is not None:
            _write(found, files.output)
        if not interrupted:
            if files.plot is not None:
                _draw(tuned, f"{method.title} on {data.name}, {search.folds} folds", files.plot)
            _warn_of_edges(tuned, method)
        if as_json:
            print_json(found)
        else:
            options = {"time-limit": time_limit, **vars(columns), **vars(put_aside)}
            chosen = split if data.splits and split != "train" else None
            _report(found, method, source, context.args, options, chosen, files.output)
        if interrupted:
            raise KeyboardInterrupt


def _load(
    source: str,
    split: str | None,
    columns: ColumnOptions,
    put_aside: PartsOfData,
    folds: int,
    score: str,
) -> tuple[Any, str, Any]:
    """Return the data, the split and its rows; raise WrongUsage where nothing can be tuned."""
    from multimargin.cli.options import (
        WrongUsage,
        check_complete,
        choose_split,
        say_what_is_unknown,
        warn_of_one_value,
    )
    from multimargin.cli.table_options import load_table_or_data

    chosen = columns.columns(put_aside.group)
    data = load_table_or_data(source, chosen, holdout=put_aside.holdout)
    split, rows = choose_split(data, split, "train")
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
    return data, split, rows


def _searched(
    tuned: Any, X: Any, Y: Any, groups: Any, interrupts: "Interrupts", told: list[Any]
) -> bool:
    """Search; return whether Ctrl-C ended it with something tried."""
    import sys
    from contextlib import redirect_stdout

    from multimargin.cli.output import said_once

    try:
        with interrupts.allowed(), redirect_stdout(sys.stderr), said_once():
            tuned.search.fit(X, Y, groups=groups)
    except KeyboardInterrupt:
        if not told:
            raise
        return True
    return False


def _scorer(name: str) -> tuple[str, Any, int]:
    """Return a measure's name, its scorer, and the sign that turns scores into the measure."""
    from multimargin.cli.options import WrongUsage
    from multimargin.measures import get_scorer
    from multimargin.measures.scorers import scorer_key

    try:
        key = scorer_key(name)
    except ValueError as error:
        raise WrongUsage(f"--score{str(error).removeprefix('name')}") from error
    return key.removeprefix("neg_"), get_scorer(key), -1 if key.startswith("neg_") else 1


def _say(
    tried: list[tuple[dict[str, Any], float, float]],
    most: int,
    score: str,
    sign: int,
    seconds: float,
) -> None:
    """Write a line on standard error: the latest setting, the best so far, the time left."""
    from multimargin.cli.output import tell
    from multimargin.durations import duration

    (latest, value, _), best = tried[-1], max(tried, key=lambda one: one[1])
    left = duration(seconds / len(tried) * max(most - len(tried), 0))
    others = f"; best {sign * best[1]:.4f} ({_named(best[0])})"
    tell(
        f"{len(tried)} of at most {most}: {_named(latest)}: {score} {sign * value:.4f}"
        f"{', the best so far' if best is tried[-1] else others}; {duration(seconds)}, "
        f"about {left} left"
    )


def _warn_of_edges(tuned: Any, method: Any) -> None:
    """Warn of best values beyond which nothing was tried."""
    import warnings

    short = {target: alias for alias, target in method.aliases.items()}
    for name, value, edge in tuned.edges():
        name, factor = short.get(name, name), 0.1 if edge == "smallest" else 10
        further = sorted((value, value * factor**0.5, value * factor))
        values = ",".join(f"{float(f'{one:.3g}'):g}" for one in further)
        hint = f": --grid {name}={values}" if isinstance(value, float) and value > 0 else ""
        warnings.warn(
            f"the best {name}, {_value(value)}, is the {edge} that was tried; others beyond it may "
            f"be better{hint}",
            UserWarning,
            stacklevel=2,
        )


def _grid(method: Any, given: list[str] | None, fixed: list[str]) -> dict[str, list[Any]]:
    """Read the options ``--grid``, or take the method's own values for what is not fixed."""
    from multimargin.cli.options import WrongUsage, method_parameters
    from multimargin.methods import parse

    parameters = method_parameters(method, fixed)
    held = {method.parameter(name) for name in parameters}
    if not given:
        if parameters.get("kernel") == "linear":
            # It has no width.
            held.add(method.aliases.get("gamma", "gamma"))
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
    columns: dict[str, Any],
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
        table.add_row(
            _named({short.get(k, k): v for k, v in one["parameters"].items()}),
            f"{one[score]:.5f}",
            f"{one['std']:.5f}",
        )
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
    given = {key.replace("_", "-"): _value(v) for key, v in columns.items() if v is not None}
    fit += [f"--{key} {shlex.quote(value)}" for key, value in given.items()]
    fit += [f"--scale {found['scale']}"] if found["scale"] != "minmax" else []
    fit += [f"--split {split}"] if split is not None else []
    out.print()
    if output:
        out.print(pairs_table([("written to", output)]))
    # On one line, however long: it is there to be copied.
    out.print(f"fit it with  {' '.join(fit)}", markup=False, soft_wrap=True)


def _named(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in parameters.items())


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

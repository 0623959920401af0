"""``multimargin compare``."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import Json, Labels, Scale, TimeLimit, WrongUsage
from multimargin.cli.table_options import Drop, Group, Holdout, Separator, TagsColumn, Text

if TYPE_CHECKING:
    from multimargin.compare import Result

# Help breaks lines at blanks only.
_SHOWN_MEASURES = "ranking_loss, one_error, average_precision, hamming_loss, macro_f1"


def command(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Data sets: files, folders or names, as for multimargin info.",
            show_default=False,
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-m",
            metavar="METHOD,...",
            help="Methods (multimargin methods lists them) and baselines: ovr-svc, ovr-linear-svc, "
            "classifier-chain, knn, random-forest, dummy. Parameters follow after colons: "
            "rank-svm:C=8:gamma=2^-3; with --tune, values to try: rank-svm:C=1/8/64.",
        ),
    ] = "rank-svm,mlodm,ovr-svc",
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Choose the parameters of every method, baselines too, anew in each split, on its "
            "training rows alone: one after the other, over the values of the method's paper "
            "(multimargin methods METHOD) or those given after colons.",
        ),
    ] = False,
    tune_folds: Annotated[
        int, typer.Option("--tune-folds", min=2, metavar="N", help="Folds of the training rows.")
    ] = 3,
    tune_score: Annotated[
        str,
        typer.Option(
            "--tune-score",
            metavar="MEASURE",
            help="What to tune by, as --score of multimargin tune.",
        ),
    ] = "ranking_average_precision",
    cv: Annotated[
        int | None,
        typer.Option(
            "--cv",
            metavar="FOLDS",
            help="Folds of a cross-validation that keeps the label frequencies; 10 by default.",
            show_default=False,
        ),
    ] = None,
    official_split: Annotated[
        bool, typer.Option("--official-split", help="Fit to train, measure on test, once.")
    ] = False,
    scale: Scale = "minmax",
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Seed of the folds and of the methods.")
    ] = 0,
    measures: Annotated[
        str,
        typer.Option("--measures", metavar="MEASURE,...|all", help="What tables and reports show."),
    ] = _SHOWN_MEASURES,
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="METHOD",
            help="Method whose wins, ties and losses are counted; the first by default.",
        ),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            "--test",
            metavar="corrected|paired|none",
            help="Paired t-test over the folds: with the correction for overlapping training "
            "parts, without it (as in many papers), or no test.",
        ),
    ] = "corrected",
    alpha: Annotated[
        float, typer.Option("--alpha", metavar="P", help="Level of all tests.")
    ] = 0.05,
    results_file: Annotated[
        str | None,
        typer.Option(
            "--results",
            metavar="FILE",
            help="Add each result to this file at once (.jsonl); those in it are not computed "
            "again, so that the same command goes on after an interruption.",
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            "--report", metavar="FILE", help="Write an HTML page with tables, tests and plots."
        ),
    ] = None,
    csv: Annotated[
        str | None, typer.Option("--csv", metavar="FILE", help="Write every result as a CSV row.")
    ] = None,
    markdown: Annotated[
        str | None, typer.Option("--markdown", metavar="FILE", help="Write the tables in Markdown.")
    ] = None,
    latex: Annotated[
        str | None, typer.Option("--latex", metavar="FILE", help="Write the tables in LaTeX.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            metavar="N",
            help="Fits at a time; -1 for one a processor. 1 by default.",
            show_default=False,
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            "--dask",
            metavar="ADDRESS",
            help="Fit on the dask cluster with this scheduler: tcp://host:8786.",
        ),
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Try again what failed in an earlier run.")
    ] = False,
    holdout: Holdout = None,
    group: Group = None,
    time_limit: TimeLimit = None,
    labels: Labels = None,
    tags_column: TagsColumn = None,
    separator: Separator = None,
    drop: Drop = None,
    text: Text = None,
    as_json: Json = False,
) -> None:
    """Compare methods on data sets: means, ranks, significance.

    The first sentence says who wins by the first of --measures, by how much, and whether it is
    significant. All methods get the same splits. With --results, the same command goes on where
    Ctrl-C stopped it. A method that fails is recorded and does not stop the others; the exit code
    is 1 if all failed.

    \b
    Examples:
      multimargin compare digits --methods rank-svm,mlodm,ovr-svc --cv 10 --report report.html
      multimargin compare emotions yeast --official-split --measures all --csv results.csv
      multimargin compare digits --methods rank-svm:C=1,rank-svm:C=10,knn -j 2
      multimargin compare digits -m rank-svm,mlodm,ovr-svc,ovr-linear-svc,ml-knn --tune --cv 3
    """
    from multimargin.cli import FAILED
    from multimargin.cli.table_options import table_columns
    from multimargin.compare import run_experiment

    estimators, grids = _estimators(methods, time_limit, tune=tune)
    if tune:
        tune_score = _check_score(tune_score)
    folds = _splits(cv, official_split, holdout, group)
    shown = _checked_choices(measures, reference, test, alpha, scale, seed, jobs, list(estimators))
    outputs = {"--report": report, "--csv": csv, "--markdown": markdown, "--latex": latex}
    _check_outputs(outputs)
    columns = table_columns(labels, tags_column, separator, drop, text, group)
    data = [_load(source, columns, holdout) for source in sources]

    with _cluster(dask), _told_how_to_go_on(results_file):
        results = run_experiment(
            data,
            estimators,
            tune=grids if tune else False,
            tune_folds=tune_folds,
            tune_score=tune_score,
            cv=folds,
            scaling=scale,
            seed=seed,
            results_file=results_file,
            n_jobs=-1 if dask is not None else jobs,
            retry_failed=retry_failed,
            progress=True,
        )
    options: dict[str, Any] = {"reference": reference, "test": test, "alpha": alpha}
    typed = shlex.join(["multimargin", *(context.obj or sys.argv[1:])])
    _write(results, shown, options, outputs, typed)
    if as_json:
        _print_json(results, shown, options, results_file, outputs)
    else:
        _print_tables(results, shown, options, results_file, outputs)
    if all(result.failed for result in results):
        raise typer.Exit(FAILED)


def _estimators(
    methods: str, time_limit: float | None, *, tune: bool
) -> tuple[dict[str, Any], dict[str, dict[str, list[Any]]]]:
    """Return the estimators by what was typed, and the values to try for their parameters."""
    from multimargin.cli.options import limit_time
    from multimargin.methods import find_method

    estimators: dict[str, Any] = {}
    grids: dict[str, dict[str, list[Any]]] = {}
    for text in (part.strip() for part in methods.split(",")):
        name, *assignments = text.split(":")
        if not name:
            raise WrongUsage(f"--methods is {methods!r}; expected names with commas between")
        if text in estimators:
            raise WrongUsage(f"--methods has {text!r} twice; expected different methods")
        fixed, tried = _assigned(text, assignments, tune=tune)
        try:
            method = find_method(name)
            estimators[text] = method.make(**fixed)
            grids[text] = _grid(method, fixed, tried)
        except ValueError as error:
            raise WrongUsage(f"--methods: {error}") from error
        if "max_time" in method.parameters:
            limit_time(method, estimators[text], time_limit)
    return estimators, grids


def _assigned(
    text: str, assignments: list[str], *, tune: bool
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Read what follows the name of a method: values, and lists of values to try."""
    fixed: dict[str, str] = {}
    tried: dict[str, list[str]] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (key and equals and value):
            raise WrongUsage(
                f"--methods has {assignment!r} in {text!r}; expected METHOD:NAME=VALUE"
            )
        values = value.split("/")
        if len(values) == 1:
            fixed[key.strip()] = value
        elif not tune:
            raise WrongUsage(f"--methods has several values in {assignment!r}; expected --tune")
        elif not all(values):
            raise WrongUsage(f"--methods has {assignment!r}; expected a form such as C=1/8/64")
        else:
            tried[key.strip()] = values
    return fixed, tried


def _grid(method: Any, fixed: dict[str, str], tried: dict[str, list[str]]) -> dict[str, list[Any]]:
    """Return the values to try: those that were typed, else the paper's, of what is not fixed."""
    from multimargin.methods import parse

    known = method.make().get_params(deep=True)
    typed = {
        target: [parse(value, known[target]) for value in values]
        for target, values in ((method.parameter(name), tried[name]) for name in tried)
    }
    held = {method.parameter(name) for name in fixed}
    # As in the Rank-CVM paper: the kernel first, C last.
    order = sorted(method.grid, key=lambda name: name == "C")
    papers = {name: list(method.grid[name]) for name in order if name not in held}
    return {**papers, **typed} if typed.keys() <= papers.keys() else {**typed, **papers}


def _check_score(score: str) -> str:
    """Return the name of a measure as the library has it."""
    from multimargin.compare.experiment.tuning import scorer_of

    name = score.replace("-", "_").removeprefix("neg_")
    try:
        scorer_of(name)
    except ValueError as error:
        raise WrongUsage(f"--{str(error).replace('_', '-', 1)}") from error
    return name


def _load(source: str, columns: Any, holdout: float | None) -> Any:
    """Load a data set; of a table, say what is filled in."""
    import numpy as np

    from multimargin.cli.options import say_what_is_missing, say_what_is_unknown
    from multimargin.cli.table_options import is_table, load_table_or_data

    data = load_table_or_data(source, columns, holdout=holdout)
    say_what_is_unknown(data, np.arange(data.n_samples), "and such rows are not measured")
    if is_table(data):
        say_what_is_missing(data, np.arange(data.n_samples))
    return data


def _splits(
    cv: int | None, official_split: bool, holdout: float | None, group: str | None
) -> int | str:
    given = {"--cv": cv is not None, "--official-split": official_split}
    given["--holdout"] = holdout is not None
    chosen = [option for option, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise WrongUsage(f"{' and '.join(chosen)} exclude each other; expected one of them")
    if group is not None and holdout is None:
        raise WrongUsage("--group is given without --holdout, whose parts it keeps apart")
    if official_split or holdout is not None:
        return "official"
    if cv is not None and cv < 2:
        raise WrongUsage(f"--cv is {cv}; expected at least 2 folds")
    return 10 if cv is None else cv


def _checked_choices(
    measures: str,
    reference: str | None,
    test: str,
    alpha: float,
    scale: str,
    seed: int,
    jobs: int | None,
    methods: list[str],
) -> list[str]:
    """Refuse before hours of computation what could be refused after them."""
    from multimargin.checks.parameters import check_choice, check_integer, check_real
    from multimargin.compare.measured import find_measured
    from multimargin.compare.statistics.win_tie_loss import TESTS
    from multimargin.scaling import SCALINGS

    try:
        wanted = measures if measures == "all" else [m.strip() for m in measures.split(",")]
        shown = [measured.name for measured in find_measured(wanted)]
        if reference is not None:
            check_choice("reference", reference, methods)
        check_choice("test", test, TESTS)
        check_choice("scale", scale, SCALINGS)
        check_real("alpha", alpha, above=0.0, below=1.0)
        check_integer("seed", seed, at_least=0)
    except ValueError as error:
        raise WrongUsage(f"--{error}") from error
    if jobs == 0:
        raise WrongUsage("--jobs is 0; expected a positive number, or -1 for one a processor")
    return shown


def _check_outputs(outputs: dict[str, str | None]) -> None:
    from multimargin.files import path_to_write

    for option, path in outputs.items():
        if path is not None:
            path_to_write(path, option, streams=option != "--report")


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    if address is None:
        yield
        return
    try:
        from dask.distributed import Client
    except ImportError as error:
        raise ImportError(
            "--dask needs dask, which is not installed: pip install 'multimargin[dask]'"
        ) from error
    from joblib import parallel_config

    client = Client(address)
    with client, parallel_config(backend="dask"):
        yield


@contextmanager
def _told_how_to_go_on(results_file: str | None) -> Iterator[None]:
    from multimargin.cli.output import tell

    try:
        yield
    except KeyboardInterrupt:
        if results_file is None:
            tell("stopped; nothing is kept: with --results FILE the same command would go on there")
        else:
            tell(f"stopped; results so far are in {results_file}, where the same command goes on")
        raise


def _write(
    results: "Sequence[Result]",
    measures: list[str],
    options: dict[str, Any],
    outputs: dict[str, str | None],
    typed: str,
) -> None:
    from multimargin.cli.spreadsheets import as_cell
    from multimargin.compare.report.table import to_latex, to_markdown
    from multimargin.compare.report.tables import results_frame
    from multimargin.files import replacing, write_text

    report, csv, markdown, latex = outputs.values()
    if csv is not None:
        with replacing(csv, streams=True, newline="") as stream:
            frame = results_frame(results).apply(lambda column: column.map(as_cell))
            frame.to_csv(stream, index=False)
    if markdown is not None or latex is not None:
        tables = _tables(results, measures, options)
        if markdown is not None:
            write_text(markdown, to_markdown(tables), streams=True)
        if latex is not None:
            write_text(latex, to_latex(tables), streams=True)
    if report is not None:
        _choose_file_backend()
        from multimargin.compare.report.html import write_report

        write_report(results, report, measures=measures, command=typed, **options)


def _choose_file_backend() -> None:
    """Draw into files alone: windows would need a screen."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("agg")


def _tables(results: "Sequence[Result]", measures: list[str], options: dict[str, Any]) -> list[Any]:
    from multimargin.compare.report.significance import rank_tests_table, win_tie_loss_table
    from multimargin.compare.report.tables import results_tables

    tables = results_tables(results, list(dict.fromkeys([*measures, "fit_seconds"])))
    if len({result.method for result in results}) > 1:
        tables.append(win_tie_loss_table(results, measures, **options))
        if len({result.data for result in results}) > 1:
            ranked = {key: options[key] for key in ("reference", "alpha")}
            tables += rank_tests_table(results, measures, **ranked)
    return tables


def _print_tables(
    results: "Sequence[Result]",
    measures: list[str],
    options: dict[str, Any],
    results_file: str | None,
    outputs: dict[str, str | None],
) -> None:
    from multimargin.cli.output import console
    from multimargin.compare.report.conditions import (
        certificates_table,
        failures_table,
        remarks_table,
        tuning_table,
    )
    from multimargin.compare.report.table import to_rich

    extra = (
        tuning_table(results),
        certificates_table(results),
        failures_table(results),
        remarks_table(results),
    )
    out = console()
    out.print(_verdict(results, measures, options), style="bold", markup=False, end="\n\n")
    tables = [
        part for table in _tables(results, measures, options) for part in table.within(out.width)
    ]
    for shown in (*tables, *extra):
        if shown is not None:
            out.print(to_rich(shown))
            out.print()
    written = [path for path in (results_file, *outputs.values()) if path is not None]
    if written:
        out.print(f"written: {', '.join(written)}", markup=False, soft_wrap=True)


def _verdict(results: "Sequence[Result]", measures: list[str], options: dict[str, Any]) -> str:
    from multimargin.compare import verdict

    return verdict(results, measures, test=options["test"], alpha=options["alpha"])


def _print_json(
    results: "Sequence[Result]",
    measures: list[str],
    options: dict[str, Any],
    results_file: str | None,
    outputs: dict[str, str | None],
) -> None:
    from multimargin.cli.output import print_json
    from multimargin.compare.report.tables import results_frame

    print_json(
        {
            "verdict": _verdict(results, measures, options),
            "results_file": results_file,
            "outputs": {option.removeprefix("--"): path for option, path in outputs.items()},
            "n_failed": sum(result.failed for result in results),
            "results": results_frame(results).to_dict(orient="records"),
        }
    )

"""``multimargin compare``."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import (
    MOST_SEED,
    Json,
    Scale,
    TimeLimit,
    WrongUsage,
    by_subject,
    existing,
    one_of,
    option,
)
from multimargin.cli.table_options import ColumnOptions, Group, Holdout

if TYPE_CHECKING:
    from multimargin.compare import Result
    from multimargin.compare.report.table import Table as ReportTable

# Those of the library, which takes a second to load.
MEASURES = (
    *("ranking_loss", "one_error", "coverage", "ranking_average_precision", "is_error"),
    *("hamming_loss", "exact_match", "jaccard", "example_f1", "macro_f1", "micro_f1"),
    *("precision_at_5", "ndcg_at_5", "auc_macro", "auc_micro", "macro_average_precision"),
    *("micro_average_precision", "fit_seconds", "predict_seconds"),
)
TUNE_SCORES = ("ranking_average_precision", "ranking_hamming", *MEASURES[:-2])


def _known_measures(measures: str) -> str:
    for name in measures.split(","):
        if name.strip() not in (*MEASURES, "all"):
            raise WrongUsage(
                f"--measures has {name.strip()!r}; expected some of {', '.join(MEASURES)}, or all"
            )
    return measures


def _known_score(score: str) -> str:
    name = score.replace("-", "_").removeprefix("neg_")
    if name not in TUNE_SCORES:
        raise WrongUsage(f"--tune-score is {score!r}; expected one of {', '.join(TUNE_SCORES)}")
    return name


# Help breaks lines at blanks only.
_SHOWN_MEASURES = "ranking_loss, one_error, ranking_average_precision, hamming_loss, macro_f1"


@dataclass(frozen=True)
class Tuning:
    """Options of tuning."""

    tune: bool = option(
        "--tune",
        "Choose the parameters of every method, baselines too, within each split, on its "
        "training rows alone: one after the other, over the values of the method's paper "
        "(multimargin methods METHOD) or those given after colons.",
        False,
    )
    tune_folds: int = option("--tune-folds N", "Folds of the training rows.", 3, min=2)
    tune_score: str = option(
        "--tune-score MEASURE",
        f"What to tune by: {', '.join(TUNE_SCORES)}; ranking_hamming is the mean of "
        "ranking loss and Hamming loss.",
        "ranking_average_precision",
        callback=_known_score,
    )

    def check(self) -> None:
        """Raise WrongUsage for options of a search that is not asked for."""
        if not self.tune and (self.tune_folds, self.tune_score) != (3, TUNE_SCORES[0]):
            raise WrongUsage("--tune-folds or --tune-score is given without --tune")


@dataclass(frozen=True)
class Splits:
    """The rows on which methods are fitted and measured."""

    cv: int | None = option(
        "--cv FOLDS", "Folds of a cross-validation that keeps the label frequencies; 10 by default."
    )
    official_split: bool = option("--official-split", "Fit to train, measure on test, once.", False)
    scale: Scale = "minmax"
    seed: int = option("--seed N", "Seed of the folds and of the methods.", 0, min=0, max=MOST_SEED)
    holdout: Holdout = None
    group: Group = None

    def folds(self) -> int | str:
        """Return the number of folds, or "official" for one split that the data have."""
        given: dict[str, Any] = {"--cv": self.cv}
        given |= {"--official-split": self.official_split or None, "--holdout": self.holdout}
        chosen = [option for option, value in given.items() if value is not None]
        if len(chosen) > 1:
            raise WrongUsage(f"{' and '.join(chosen)} exclude each other; expected one of them")
        if self.group is not None and self.holdout is None:
            raise WrongUsage("--group is given without --holdout, whose parts it keeps apart")
        if chosen and chosen != ["--cv"]:
            return "official"
        if self.cv is not None and self.cv < 2:
            raise WrongUsage(f"--cv is {self.cv}; expected at least 2 folds")
        return 10 if self.cv is None else self.cv


@dataclass(frozen=True)
class Shown:
    """Options of tables, reports and the verdict."""

    measures: str = option(
        "--measures MEASURE,...|all",
        "What tables and reports show.",
        _SHOWN_MEASURES,
        callback=_known_measures,
    )
    reference: str | None = option(
        "--reference METHOD",
        "Method whose wins, ties and losses are counted; the first by default.",
    )
    test: str = one_of(
        "--test corrected|paired|none",
        "Paired t-test over the folds: with the correction for overlapping training "
        "parts, without it (as in many papers), or no test.",
        "corrected",
    )
    alpha: float = option("--alpha P", "Level of all tests.", 0.05)

    def check(self) -> None:
        """Raise WrongUsage for a level that is none."""
        if not 0.0 < self.alpha < 1.0:
            raise WrongUsage(f"--alpha is {self.alpha:g}; expected a number between 0 and 1")

    @property
    def options(self) -> dict[str, Any]:
        """Return the arguments of tables of tests."""
        return {"reference": self.reference, "test": self.test, "alpha": self.alpha}

    def names(self) -> list[str]:
        """Return the names of the measures."""
        from multimargin.compare.measured import find_measured

        several = [measure.strip() for measure in self.measures.split(",")]
        return [m.name for m in find_measured("all" if self.measures == "all" else several)]

    def verdict(self, results: "Sequence[Result]") -> str:
        """Return the sentence about the best method."""
        from multimargin.compare import verdict

        return verdict(results, self.names(), test=self.test, alpha=self.alpha)

    def tables(self, results: "Sequence[Result]") -> "list[ReportTable]":
        """Return the tables of the results and of the tests."""
        from multimargin.compare.report.markdown import comparison_tables

        measures = list(dict.fromkeys([*self.names(), "fit_seconds"]))
        return comparison_tables(results, measures, **self.options)


@dataclass(frozen=True)
class Files:
    """Files written beside the standard output."""

    report: str | None = option("--report FILE", "Write tables, tests and conditions in Markdown.")
    csv: str | None = option("--csv FILE", "Write every result as a CSV row.")

    def write(self, results: "Sequence[Result]", shown: Shown, typed: str) -> None:
        """Write the files; `typed` is the command line."""
        from multimargin.cli.spreadsheets import as_cell
        from multimargin.compare import results_frame, write_report
        from multimargin.files import replacing

        if self.csv is not None:
            with replacing(self.csv, streams=True, newline="") as stream:
                frame = results_frame(results).apply(lambda column: column.map(as_cell))
                frame.to_csv(stream, index=False)
        if self.report is not None:
            measures = shown.names()
            write_report(results, self.report, measures=measures, command=typed, **shown.options)


@dataclass(frozen=True)
class Running:
    """Options of the runs."""

    results_file: str | None = option(
        "--results FILE",
        "Store each result in this file (.jsonl) at once; stored results are reused, so "
        "that the same command resumes after an interruption.",
    )
    jobs: int | None = option(
        "--jobs -j N", "Number of fits at a time; -1 for one per processor. 1 by default."
    )
    retry_failed: bool = option("--retry-failed", "Retry what failed in an earlier run.", False)
    time_limit: TimeLimit = None


@by_subject
def command(
    context: typer.Context,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            callback=existing,
            help="Data sets: files, folders or names, as for multimargin info.",
        ),
    ],
    methods: str = option(
        "--methods -m METHOD,...",
        "Methods (multimargin methods lists them) and baselines: ovr-svc, ovr-linear-svc, "
        "ovr-logistic, ovr-boosting, classifier-chain, knn, random-forest, dummy. "
        "Parameters follow after colons: rank-svm:C=8:gamma=2^-3; with --tune, values to try: "
        "rank-svm:C=1/8/64.",
        "label-ranker,rank-svm,mlodm,ovr-svc",
    ),
    *,
    tuning: Tuning,
    splits: Splits,
    shown: Shown,
    files: Files,
    running: Running,
    columns: ColumnOptions,
    as_json: Json = False,
) -> None:
    """Compare methods on data sets: means, ranks, significance.

    The first sentence says who wins by the first of --measures, and whether it is significant. All
    methods get the same splits. With --results, the same command continues where Ctrl-C stopped it.
    A method that fails is recorded and does not stop the others; the exit code is 1 if all failed.

    \b
    Examples:
      multimargin compare digits --methods rank-svm,mlodm,ovr-svc --cv 10 --report report.md
      multimargin compare emotions/ yeast/ --official-split --measures all --csv results.csv
      multimargin compare digits --methods rank-svm:C=1,rank-svm:C=10,knn -j 2
      multimargin compare digits -m rank-svm,mlodm,ovr-svc,ovr-linear-svc,ml-knn --tune --cv 3
    """
    from multimargin.cli import FAILED
    from multimargin.cli.output import check_ending, check_outputs

    folds = splits.folds()
    tuning.check()
    columns.check()
    shown.check()
    if running.jobs == 0:
        raise WrongUsage("--jobs is 0; expected a positive number, or -1 for one per processor")
    typed = _typed(methods, tune=tuning.tune)
    written = {"--results": running.results_file, "--report": files.report, "--csv": files.csv}
    check_outputs(written, sources, columns.labels)
    check_ending("--report", files.report, "Markdown")
    check_ending("--csv", files.csv, "CSV")
    estimators, grids = _estimators(typed, running.time_limit)
    _check_choices(shown, list(estimators))
    chosen = columns.columns(splits.group)
    data = [_load(source, chosen, splits.holdout) for source in sources]
    from multimargin.compare import run_experiment

    with _told_how_to_go_on(running.results_file):
        results = run_experiment(
            data,
            estimators,
            tune=grids if tuning.tune else False,
            tune_folds=tuning.tune_folds,
            tune_score=tuning.tune_score,
            cv=folds,
            scaling=splits.scale,
            seed=splits.seed,
            results_file=running.results_file,
            n_jobs=running.jobs,
            retry_failed=running.retry_failed,
            progress=True,
        )
    files.write(results, shown, shlex.join(["multimargin", *(context.obj or sys.argv[1:])]))
    tell_results = _print_json if as_json else _print_tables
    tell_results(results, shown, running.results_file, files)
    if all(result.failed for result in results):
        raise typer.Exit(FAILED)


@dataclass(frozen=True)
class _Typed:
    """A method as typed."""

    text: str
    method: Any
    fixed: dict[str, str]
    tried: dict[str, list[str]]


def _typed(methods: str, *, tune: bool) -> list[_Typed]:
    """Read the typed methods before any slow import."""
    from multimargin.methods import find_method

    found: list[_Typed] = []
    for text in (part.strip() for part in methods.split(",")):
        name, *assignments = text.split(":")
        if not name:
            raise WrongUsage(f"--methods is {methods!r}; expected names separated by commas")
        if text in [typed.text for typed in found]:
            raise WrongUsage(f"--methods has {text!r} twice; expected different methods")
        fixed, tried = _assigned(text, assignments, tune=tune)
        try:
            found.append(_Typed(text, find_method(name), fixed, tried))
        except ValueError as error:
            raise WrongUsage(f"--methods: {error}") from error
    return found


def _estimators(
    typed: list[_Typed], time_limit: float | None
) -> tuple[dict[str, Any], dict[str, dict[str, list[Any]]]]:
    """Return the estimators of typed methods, and the values to try for their parameters."""
    from multimargin.cli.options import limit_time

    estimators: dict[str, Any] = {}
    grids: dict[str, dict[str, list[Any]]] = {}
    for one in typed:
        try:
            estimators[one.text] = one.method.make(**one.fixed)
            grids[one.text] = _grid(one.method, one.fixed, one.tried)
        except ValueError as error:
            raise WrongUsage(f"--methods: {error}") from error
        if "max_time" in one.method.parameters:
            limit_time(one.method, estimators[one.text], time_limit)
    return estimators, grids


def _assigned(
    text: str, assignments: list[str], *, tune: bool
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Read the text after the name of a method: values, and lists of values to try."""
    fixed: dict[str, str] = {}
    tried: dict[str, list[str]] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (key and equals and value):
            raise WrongUsage(
                f"--methods has {assignment!r} in {text!r}; expected METHOD:NAME=VALUE"
            )
        if key.strip() in (*fixed, *tried):
            raise WrongUsage(f"--methods gives {key.strip()} twice in {text!r}; expected once")
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
    """Return the values to try for parameters that are not fixed: typed ones, or the paper's."""
    from multimargin.methods import parse

    known = method.make().get_params(deep=True)
    typed = {
        target: [parse(value, known[target]) for value in values]
        for target, values in ((method.parameter(name), tried[name]) for name in tried)
    }
    held = {method.parameter(name) for name in fixed}
    if len(held | typed.keys()) < len(fixed) + len(tried):
        raise ValueError(
            f"{method.name} is given a parameter twice, by two of its names; expected once."
        )
    # As in the Rank-CVM paper: the kernel first, C last.
    order = sorted(method.grid, key=lambda name: name == "C")
    papers = {name: list(method.grid[name]) for name in order if name not in held}
    return {**papers, **typed} if typed.keys() <= papers.keys() else {**typed, **papers}


def _load(source: str, columns: Any, holdout: float | None) -> Any:
    """Load a data set; for a table, report which values are filled in."""
    import numpy as np

    from multimargin.cli.data import say_what_is_missing, say_what_is_unknown
    from multimargin.cli.table_options import is_table, load_table_or_data

    data = load_table_or_data(source, columns, holdout=holdout)
    say_what_is_unknown(data, np.arange(data.n_samples), "and are not measured")
    if is_table(data):
        say_what_is_missing(data, np.arange(data.n_samples))
    return data


def _check_choices(shown: Shown, methods: list[str]) -> None:
    """Refuse wrong choices before hours of computation, not after."""
    from multimargin.checks.parameters import check_choice

    try:
        shown.names()
        if shown.reference is not None:
            check_choice("reference", shown.reference, methods)
    except ValueError as error:
        raise WrongUsage(f"--{error}") from error


@contextmanager
def _told_how_to_go_on(results_file: str | None) -> Iterator[None]:
    from multimargin.cli.output import tell

    try:
        yield
    except KeyboardInterrupt:
        if results_file is None:
            tell("stopped; no result is kept: with --results FILE the same command could resume")
        else:
            tell(
                f"stopped; results so far are in {results_file}, from which the same command "
                "resumes"
            )
        raise


def _print_tables(
    results: "Sequence[Result]", shown: Shown, results_file: str | None, files: Files
) -> None:
    from rich.markdown import Markdown

    from multimargin.cli.output import console
    from multimargin.compare import to_markdown
    from multimargin.compare.report.markdown import condition_tables

    out = console()
    out.print(shown.verdict(results), style="bold", end="\n\n")
    text = to_markdown([*shown.tables(results), *condition_tables(results)])
    fits = max(map(len, text.splitlines())) <= out.width
    if fits and out.is_terminal:
        out.print(Markdown(text))
    else:
        # Drawn as a table it would cut names.
        out.print(text, soft_wrap=True)
    written = [path for path in (results_file, *vars(files).values()) if path is not None]
    if written:
        out.print(f"written: {', '.join(written)}", soft_wrap=True)


def _print_json(
    results: "Sequence[Result]", shown: Shown, results_file: str | None, files: Files
) -> None:
    from multimargin.cli.output import print_json
    from multimargin.compare.report.tables import results_frame

    print_json(
        {
            "verdict": shown.verdict(results),
            "results_file": results_file,
            "outputs": vars(files),
            "n_failed": sum(result.failed for result in results),
            "results": results_frame(results).to_dict(orient="records"),
        }
    )

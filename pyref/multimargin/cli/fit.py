"""``multimargin fit``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from multimargin.cli import INTERRUPTED
from multimargin.cli.options import (
    Data,
    Json,
    MethodName,
    Scale,
    Settings,
    TimeLimit,
    WrongUsage,
    by_subject,
    check_settings,
    inside,
    option,
)
from multimargin.cli.table_options import ColumnOptions, PartsOfData
from multimargin.methods import find_method

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from multimargin.interrupts import Interrupts


@dataclass(frozen=True)
class Promise:
    """Recall or precision of the predicted label sets on new rows."""

    recall: float | None = inside(
        "--recall SHARE",
        "Predict as few labels as find this share of the relevant ones of a new row.",
        highest=1.0,
    )
    precision: float | None = inside(
        "--precision SHARE",
        "Predict as many labels as are right in this share of those of a new row.",
        highest=1.0,
    )

    def check(self, method_name: str, settings: list[str] | None) -> None:
        """Raise WrongUsage for an invalid guarantee."""
        if self.recall is None and self.precision is None:
            return
        if self.recall is not None and self.precision is not None:
            raise WrongUsage("--recall and --precision are both given; expected one of them")
        option = "--precision" if self.recall is None else "--recall"
        name = find_method(method_name).name
        if name != "label-ranker":
            raise WrongUsage(
                f"{option} is given, but {name} learns its threshold from rows that it was "
                "fitted to; expected label-ranker"
            )
        if any(setting.startswith("threshold=") for setting in settings or ()):
            raise WrongUsage(f"{option} and --set threshold are both given; expected one of them")

    def give(self, estimator: "BaseEstimator") -> None:
        """Set the threshold of an unfitted estimator."""
        from multimargin.thresholds import PrecisionGuarantee, RecallGuarantee

        if self.recall is not None:
            estimator.set_params(threshold=RecallGuarantee(self.recall))
        if self.precision is not None:
            estimator.set_params(threshold=PrecisionGuarantee(self.precision))


@by_subject
def command(
    source: Data,
    method_name: MethodName = "label-ranker",
    settings: Settings = None,
    output: str | None = option("--output -o FILE", "Keep the model in this file, for predict."),
    scale: Scale = "minmax",
    split: str | None = option(
        "--split NAME", "Rows to fit: train where the data have it (default), test, or all."
    ),
    meaning: bool = option(
        "--meaning",
        "For tables: learn from the meaning of texts as well as their words, through "
        "the word vectors of the package wordllama.",
        False,
    ),
    *,
    put_aside: PartsOfData,
    promise: Promise,
    time_limit: TimeLimit = None,
    columns: ColumnOptions,
    as_json: Json = False,
) -> None:
    """Fit a method, show how far it is from the optimum.

    Without --method it is label-ranker: selection by cross-validation, calibration, threshold.
    With --holdout the model is measured on the rows that were put aside; --recall and --precision
    are what its sets of labels have on new rows. Ctrl-C stops the fit, keeps what it has reached in
    the file of -o, with its certificate, and ends with exit code 130.

    \b
    Examples:
      multimargin fit digits -o digits.model
      multimargin fit digits --method mlodm --set C=8 -o digits.model
      multimargin fit songs.csv --tags-column genres --text lyrics --holdout 0.25 -o songs.model
      multimargin fit songs.csv --tags-column genres --text lyrics --recall 0.9 -o songs.model
      multimargin fit emotions/ -m rank-svm --set C=2 --set gamma=0.5 -o emotions.model
      multimargin fit text.svm -m rank-svm --scale unit --set kernel=linear
    """
    from multimargin.cli.output import check_ending, check_outputs

    if put_aside.holdout is not None and split not in (None, "train"):
        raise WrongUsage(
            f"--split is {split!r} with --holdout, whose rows put aside it would fit; expected "
            "train, or one of the two options"
        )
    promise.check(method_name, settings)
    check_settings(method_name, settings)
    _check_meaning(meaning, method_name, settings)
    columns.check()
    columns.check_names(source, put_aside.group)
    check_outputs({"--output": output}, [source], columns.labels, streams=False)
    check_ending("--output", output, "a model", "one such as tags.model")
    # Slow imports follow once the command line is known to be valid.
    from multimargin.cli.data import (
        check_complete,
        check_room_for_scores,
        choose_split,
        hint_at_linear,
        make_pipeline,
        say_what_is_unknown,
        warn_of_one_value,
    )
    from multimargin.cli.options import limit_time, make_named_method, method_parameters
    from multimargin.cli.output import counted
    from multimargin.cli.table_options import groups_of, load_table_or_data
    from multimargin.interrupts import Interrupts
    from multimargin.model_files import save_model
    from multimargin.scikit_learn import safe_indexing

    method, estimator = make_named_method(method_name, settings)
    promise.give(estimator)
    limit_time(method, estimator, time_limit)
    data = load_table_or_data(source, columns.columns(put_aside.group), put_aside.holdout)
    split, rows = choose_split(data, split, "train")
    X, Y = safe_indexing(data.X, rows), data.Y[rows]
    check_complete(data, rows)
    say_what_is_unknown(data, rows, "and their loss is left out")
    warn_of_one_value(data, rows)
    check_room_for_scores(method.name, Y)
    hint_at_linear(estimator, method_parameters(method, settings), data)
    pipeline = make_pipeline(estimator, scale, data, meaning=meaning)
    groups = groups_of(data, rows)
    # Folds of its own, if the method has some, keep groups together.
    own = {} if groups is None or method.name != "label-ranker" else {"method__groups": groups}
    interrupts = Interrupts()
    with interrupts.held():
        interrupted, seconds = _run(interrupts, method, pipeline, lambda: pipeline.fit(X, Y, **own))
        info = _info(method.name, data, split, X)
        if output is not None:
            save_model(pipeline, output, info=info)
            _warn_of_refused(method.name, output)
        size: dict[str, Any] = {"n_rows": rows.size}
        if put_aside.holdout is not None:
            size |= _held_out_measures(pipeline, data)
        described = f"{data.name}: {counted(rows.size, 'row')} ({split})"
        told = {"scale": scale, "seconds": seconds, "model": output}
        _report(pipeline, info, described, size, told, as_json=as_json)
        _end(interrupted, output)


def _check_meaning(meaning: bool, method_name: str, settings: list[str] | None) -> None:
    """Raise WrongUsage if the meaning of texts cannot be a view."""
    from importlib.util import find_spec

    if not meaning:
        return
    name = find_method(method_name).name
    if name != "label-ranker":
        raise WrongUsage(f"--meaning is given, but {name} has no views; expected label-ranker")
    if any(setting.startswith("views=") for setting in settings or ()):
        raise WrongUsage("--meaning and --set views are both given; expected one of them")
    if find_spec("wordllama") is None:
        raise WrongUsage(
            "--meaning needs wordllama, which is not installed: pip install 'multimargin[meaning]'"
        )


def _warn_of_refused(method_name: str, output: str) -> None:
    """Warn of the model of a baseline that other commands refuse: some hold trees."""
    from multimargin.methods import BASELINES
    from multimargin.model_files import load_model
    from multimargin.notices import warn

    if method_name in BASELINES:
        try:
            load_model(output)
        except ValueError as error:
            warn(f"predict and evaluate refuse {output}: {str(error).removeprefix('path: ')}")


def _run(
    interrupts: "Interrupts", method: Any, pipeline: Any, fit: Callable[[], Any]
) -> tuple[bool, float]:
    """Fit with progress; return whether Ctrl-C ended it with a model, and the seconds."""
    from time import perf_counter

    from multimargin.cli.progress import shown_fit

    estimator = pipeline[-1]
    start = perf_counter()
    try:
        with interrupts.allowed(), shown_fit(method, estimator):
            fit()
    except KeyboardInterrupt:
        # A fit interrupted before its first epoch, or between two of its parts, has no model.
        if getattr(estimator, "status_", None) is None:
            raise
        return True, perf_counter() - start
    return False, perf_counter() - start


def _end(interrupted: bool, output: str | None) -> None:
    from multimargin.cli.output import tell

    if not interrupted:
        return
    if output is not None:
        tell(f"stopped; the model reached so far, with the gap above, is in {output}")
    raise typer.Exit(INTERRUPTED)


def _held_out_measures(pipeline: Any, data: Any) -> dict[str, Any]:
    """Return the number of rows put aside, and the measures there."""
    from multimargin.cli.measuring import measurable_rows, measured_on
    from multimargin.scikit_learn import safe_indexing

    rows = measurable_rows(data, data.Y, data.splits["test"])
    measures = measured_on(pipeline.decision_function(safe_indexing(data.X, rows)), data.Y[rows])
    return {"n_held_out": rows.size, "measures": measures}


def _info(method: str, data: Any, split: str, X: Any) -> Any:
    from importlib.metadata import version

    from scipy import sparse

    from multimargin.cli.table_options import is_table
    from multimargin.datasets.row_hashes import smallest_hashes
    from multimargin.model_files import ModelInfo

    return ModelInfo(
        method=method,
        feature_names=tuple(data.feature_names),
        label_names=tuple(data.label_names),
        sparse=sparse.issparse(data.X),
        data_name=data.name,
        split=split,
        version=version("multimargin"),
        table=data.columns if is_table(data) else None,
        row_hashes=smallest_hashes(X),
    )


def _not_for_onnx(method_name: str, pipeline: Any) -> str:
    """Report if `multimargin export` does not support the method, or a model of this size."""
    from multimargin.methods import METHODS
    from multimargin.onnx.graph import MOST_BYTES
    from multimargin.onnx.size import dense_bytes

    method = METHODS.get(method_name)
    if method is None or method.abilities is None or not method.abilities.onnx:
        return f"not for multimargin export: ONNX files do not hold {method_name}"
    size = dense_bytes(pipeline)
    if size > MOST_BYTES:
        return f"not for multimargin export: {size / 1e9:.1f} GB, beyond what an ONNX file holds"
    return ""


def _report(
    pipeline: Any,
    info: Any,
    described: str,
    size: dict[str, Any],
    told: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from multimargin.cli.measuring import measures_table
    from multimargin.cli.output import console, counted, pairs_table, print_json
    from multimargin.estimators.fitting.certificate import certificate_of

    estimator = pipeline[-1]
    found = certificate_of(estimator)
    n_columns, n_labels = len(info.feature_names), len(info.label_names)
    # A column of text or names becomes many features.
    is_table = info.table is not None and "table" in pipeline.named_steps
    n_features = len(pipeline[0].get_feature_names_out()) if is_table else n_columns
    if as_json:
        parameters = estimator.get_params(deep=True).items()
        print_json(
            {
                "data": info.data_name,
                "split": info.split,
                **size,
                "n_features": n_features,
                **({"n_columns": n_columns} if is_table else {}),
                "n_labels": n_labels,
                "method": info.method,
                "parameters": {k: v for k, v in parameters if not hasattr(v, "get_params")},
                "certificate": found,
                **told,
            }
        )
        return
    features = counted(n_features, "feature")
    if is_table and n_columns != n_features:
        features += f" of {counted(n_columns, 'column')}"
    head = [
        ("data", f"{described}, {features}, {counted(n_labels, 'label')}"),
        ("method", _described(estimator)),
        ("scale", told["scale"]),
    ]
    out = console()
    out.print(pairs_table(head))
    if "measures" in size:
        out.print(f"\nOn {counted(size['n_held_out'], 'row')} that were put aside")
        out.print(measures_table(size["measures"]))
    rest: list[tuple[str, ...]] = []
    if found is None:
        rest.append(("fitted in", f"{told['seconds']:.2f} s"))
    else:
        of_llsf = " of the feature selection (LLSF)" if hasattr(estimator, "selector_") else ""
        out.print(f"\nCertificate{of_llsf}")
        out.print(pairs_table(_certificate_rows(found, told["seconds"])))
    out.print()
    kept = told["model"] or "not kept; give -o FILE to keep it"
    out.print(pairs_table([*rest, ("model", kept, _not_for_onnx(info.method, pipeline))]))


def _described(estimator: Any) -> str:
    """Return an estimator as a call, without the transformers of its views."""
    from sklearn.base import clone

    from multimargin.features.views import prepares_features

    views: Any = getattr(estimator, "views", None)
    if not prepares_features(views):
        return " ".join(repr(estimator).split())
    alone = repr(clone(estimator).set_params(views=None))
    return f"{' '.join(alone.split())}, views: {', '.join(name for name, _, _ in views)}"


def _certificate_rows(found: dict[str, Any], seconds: float) -> list[tuple[str, ...]]:
    from multimargin.estimators.fitting.certificate import gap_text

    proved = found["status"] != "indefinite_kernel"
    bound = "no model costs less than this" if proved else "proves nothing here"
    stops = f"relative; stops at tol = {found['tol']:g}"
    ended = f"after {found['n_iter']} epochs, {seconds:.2f} s"
    return [
        ("objective", f"{found['objective']:.8g}", "what this model costs"),
        ("lower bound", f"{found['dual_objective']:.8g}", bound),
        ("gap", gap_text(found["gap"]), stops),
        ("status", found["status"], ended),
    ]

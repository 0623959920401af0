"""``multimargin fit``."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli import INTERRUPTED
from multimargin.cli.many_machines import (
    Checkpoint,
    Dask,
    FeatureCount,
    LabelCount,
    PartOptions,
    ZeroBased,
)
from multimargin.cli.options import Data, Json, Labels, MethodName, Scale, TimeLimit
from multimargin.cli.table_options import Drop, Group, Holdout, Separator, TagsColumn, Text

if TYPE_CHECKING:
    from multimargin.datasets.tables import TableColumns
    from multimargin.interrupts import Interrupts


def command(
    context: typer.Context,
    source: Data,
    method_name: MethodName = "label-ranker",
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Keep the model in this file, for predict."
        ),
    ] = None,
    scale: Scale = "minmax",
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="NAME",
            help="Rows to fit: train where the data have it (default), test, or all.",
        ),
    ] = None,
    holdout: Holdout = None,
    group: Group = None,
    time_limit: TimeLimit = None,
    labels: Labels = None,
    tags_column: TagsColumn = None,
    separator: Separator = None,
    drop: Drop = None,
    text: Text = None,
    dask: Dask = None,
    checkpoint: Checkpoint = None,
    n_features: FeatureCount = None,
    n_labels: LabelCount = None,
    zero_based: ZeroBased = None,
    as_json: Json = False,
) -> None:
    """Fit a method, show how far it is from the optimum.

    Without --method it is label-ranker, which chooses by cross-validation, calibrates and cuts
    (with --dask rank-svm, as it does not take parts).
    Parameters of the method are further options: multimargin fit -m METHOD --help. Values may be
    powers: --C 2^-3. With --holdout the model is measured on the rows that were put aside. Ctrl-C
    stops the fit, keeps what it has reached in the file of -o, with its certificate, and ends with
    exit code 130.

    \b
    Examples:
      multimargin fit digits -o digits.model
      multimargin fit digits --method mlodm --C 8 -o digits.model
      multimargin fit songs.csv --tags-column genres --text lyrics --holdout 0.25 -o songs.model
      multimargin fit emotions/ -m rank-svm --C 2 --gamma 0.5 -o emotions.model
      multimargin fit text.svm -m rank-svm --scale unit --kernel linear --bias penalized
      multimargin fit parts/ --dask -o parts.model
      multimargin fit parts.svm/ --dask tcp://host:8786 --n-features 47236 --n-labels 101

    """
    from multimargin.cli.options import (
        WrongUsage,
        check_complete,
        choose_split,
        limit_time,
        make_named_method,
        make_pipeline,
        say_what_is_unknown,
        warn_of_one_value,
    )
    from multimargin.cli.output import counted
    from multimargin.cli.table_options import (
        groups_of,
        load_table_or_data,
        rows_of,
        table_columns,
    )
    from multimargin.files import path_to_write

    columns = table_columns(labels, tags_column, separator, drop, text, group)
    options = PartOptions(checkpoint, n_features, n_labels, zero_based)
    if dask is not None:
        if holdout is not None or group is not None:
            raise WrongUsage("--holdout and --group are given with --dask; expected parts as is")
        source_of_scale = context.get_parameter_source("scale")
        given = source_of_scale is not None and source_of_scale.name != "DEFAULT"
        chosen = scale if given else None
        source_of_method = context.get_parameter_source("method_name")
        if source_of_method is None or source_of_method.name == "DEFAULT":
            # Parts are for a single method.
            method_name = "rank-svm"
        _fit_parts(
            source,
            method_name,
            context.args,
            time_limit,
            dask,
            chosen,
            split,
            columns,
            options,
            output,
            as_json,
        )
        return
    options.check_unused()
    method, estimator = make_named_method(method_name, context.args)
    limit_time(method, estimator, time_limit)
    if output is not None:
        path_to_write(output, "--output")
    data = load_table_or_data(source, columns, holdout=holdout)
    split, rows = choose_split(data, split, "train")
    X, Y = rows_of(data.X, rows), data.Y[rows]
    check_complete(data, rows)
    say_what_is_unknown(data, rows, "and their loss is left out")
    warn_of_one_value(data, rows)
    pipeline = make_pipeline(estimator, scale, data)
    from multimargin.interrupts import Interrupts

    groups = groups_of(data, rows)
    # Folds of its own, if the method has some, keep groups together.
    own = {} if groups is None or method.name != "label-ranker" else {"method__groups": groups}
    interrupts = Interrupts()
    with interrupts.held():
        interrupted, seconds = _run(
            interrupts,
            pipeline,
            lambda: pipeline.fit(X, Y, **own),
            f"fitting {method.title}",
        )
        info = _info(method.name, data, split, columns, X)
        _keep(pipeline, info, output)
        described = f"{data.name}: {counted(rows.size, 'row')} ({split})"
        size: dict[str, Any] = {"n_rows": rows.size}
        if holdout is not None:
            size |= _held_out_measures(pipeline, data)
        _report(pipeline, info, described, size, scale, seconds, output, as_json)
        _end(interrupted, output)


def _fit_parts(
    source: str,
    method_name: str,
    arguments: list[str],
    time_limit: float | None,
    address: str,
    scale: str | None,
    split: str | None,
    columns: "TableColumns",
    options: PartOptions,
    output: str | None,
    as_json: bool,
) -> None:
    """Fit a folder of parts on a dask cluster."""
    from multimargin.cli.many_machines import client_of, find_parts, linear_parameters
    from multimargin.cli.options import limit_time, make_named_method
    from multimargin.cli.output import counted
    from multimargin.dask import fit
    from multimargin.dask.fitting import check_estimator
    from multimargin.files import path_to_write
    from multimargin.interrupts import Interrupts
    from multimargin.scaling import with_scaler

    arguments = linear_parameters(method_name, scale, address, arguments)
    method, estimator = make_named_method(method_name, arguments)
    limit_time(method, estimator, time_limit)
    if output is not None:
        path_to_write(output, "--output")
    parts = find_parts(source, method.name, split, columns, options)
    # Before any worker starts.
    check_estimator(estimator)
    pipeline = with_scaler(estimator, "none")
    interrupts = Interrupts()
    with client_of(address) as client, interrupts.held():
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        where = f"{counted(parts.count, 'part')} on {counted(workers, 'worker')}"
        interrupted, seconds = _run(
            interrupts,
            pipeline,
            lambda: fit(
                estimator,
                parts.path,
                parts.labels,
                client,
                checkpoint=options.checkpoint,
                read_options=parts.read_options,
            ),
            f"fitting {method.title} to {where}",
        )
        parts.check_names(estimator)
        _keep(pipeline, parts.info, output)
    size = {"n_rows": None, "n_parts": parts.count, "n_workers": workers}
    described = f"{parts.info.data_name}: {where}"
    _report(pipeline, parts.info, described, size, "none", seconds, output, as_json, "rounds")
    _end(interrupted, output)


def _run(
    interrupts: "Interrupts", pipeline: Any, fit: Callable[[], Any], title: str
) -> tuple[bool, float]:
    """Fit under a display; return whether Ctrl-C ended it with a model, and the seconds."""
    import sys
    from contextlib import redirect_stdout
    from time import perf_counter

    from multimargin.cli.output import console
    from multimargin.cli.progress import new_progress, shown_fit

    estimator = pipeline[-1]
    start = perf_counter()
    try:
        with (
            interrupts.allowed(),
            # What a method prints of its progress is no result.
            redirect_stdout(sys.stderr),
            new_progress(console(stderr=True), transient=True) as progress,
            shown_fit(progress, title, estimator),
        ):
            fit()
    except KeyboardInterrupt:
        # A fit that Ctrl-C meets before its first epoch, or between two of its parts, has no model.
        if getattr(estimator, "status_", None) is None:
            raise
        return True, perf_counter() - start
    return False, perf_counter() - start


def _keep(pipeline: Any, info: Any, output: str | None) -> None:
    from multimargin.model_files import save_model

    if output is not None:
        save_model(pipeline, output, info=info)


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
    from multimargin.cli.table_options import rows_of

    rows = measurable_rows(data, data.Y, data.splits["test"])
    measures = measured_on(pipeline, rows_of(data.X, rows), data.Y[rows].astype(int))
    return {"n_held_out": rows.size, "measures": measures}


def _info(method: str, data: Any, split: str, columns: Any, X: Any) -> Any:
    from importlib.metadata import version

    from scipy import sparse

    from multimargin.cli.table_options import table_of_model
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
        table=table_of_model(data, columns),
        row_hashes=smallest_hashes(X),
    )


def _not_for_onnx(info: Any) -> str:
    """Say which columns `multimargin export` cannot make numbers of."""
    kinds = {} if info.table is None else info.table["kinds"]
    others = [column for column, kind in kinds.items() if kind != "number"]
    if not others:
        return ""
    shown = ", ".join(others[:4]) + (", ..." if len(others) > 4 else "")
    return f"not for multimargin export: ONNX files take numbers, not {shown}"


def _report(
    pipeline: Any,
    info: Any,
    described: str,
    size: dict[str, Any],
    scale: str,
    seconds: float,
    output: str | None,
    as_json: bool,
    iterations: str = "epochs",
) -> None:
    from multimargin.cli.certificate import certificate
    from multimargin.cli.measuring import measures_table
    from multimargin.cli.output import console, counted, pairs_table, print_json
    from multimargin.estimators.shared.certificate import gap_text

    found = certificate(pipeline)
    estimator = pipeline[-1]
    n_columns, n_labels = len(info.feature_names), len(info.label_names)
    # A column of text or names becomes many features.
    is_table = info.table is not None and "table" in pipeline.named_steps
    n_features = len(pipeline[0].get_feature_names_out()) if is_table else n_columns
    if as_json:
        print_json(
            {
                "data": info.data_name,
                "split": info.split,
                **size,
                "n_features": n_features,
                **({"n_columns": n_columns} if is_table else {}),
                "n_labels": n_labels,
                "method": info.method,
                "parameters": {
                    key: value
                    for key, value in estimator.get_params(deep=True).items()
                    if not hasattr(value, "get_params")
                },
                "scale": scale,
                "seconds": seconds,
                "certificate": found,
                "model": output,
            }
        )
        return
    features = counted(n_features, "feature")
    if is_table and n_columns != n_features:
        features += f" of {counted(n_columns, 'column')}"
    head = [
        ("data", f"{described}, {features}, {counted(n_labels, 'label')}"),
        ("method", " ".join(repr(estimator).split())),
        ("scale", scale),
    ]
    kept = ("model", output or "not kept; give -o FILE to keep it", _not_for_onnx(info))
    out = console()
    out.print(pairs_table(head))
    if "measures" in size:
        out.print(f"\nOn {counted(size['n_held_out'], 'row')} that were put aside")
        out.print(measures_table(size["measures"]))
    if found is None:
        out.print()
        out.print(pairs_table([("fitted in", f"{seconds:.2f} s"), kept]))
        return
    proved = found["status"] != "indefinite_kernel"
    rows = [
        ("objective", f"{found['objective']:.8g}", "what this model costs"),
        (
            "lower bound",
            f"{found['dual_objective']:.8g}",
            "no model costs less than this" if proved else "proves nothing here",
        ),
        ("gap", gap_text(found["dual_gap"]), f"relative; stops at tol = {found['tol']:g}"),
        ("status", found["status"], f"after {found['n_iter']} {iterations}, {seconds:.2f} s"),
    ]
    if hasattr(estimator, "selector_"):
        out.print("\nCertificate of the feature selection (LLSF)")
    else:
        out.print("\nCertificate")
    out.print(pairs_table(rows))
    out.print()
    out.print(pairs_table([kept]))

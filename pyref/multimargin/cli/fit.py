"""``multimargin fit``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli import INTERRUPTED
from multimargin.cli.options import Data, Json, Labels, MethodName, Scale
from multimargin.cli.table_options import Drop, Separator, TagsColumn, Text

if TYPE_CHECKING:
    pass


def command(
    context: typer.Context,
    source: Data,
    method_name: MethodName = "rank-svm",
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
    labels: Labels = None,
    tags_column: TagsColumn = None,
    separator: Separator = None,
    drop: Drop = None,
    text: Text = None,
    as_json: Json = False,
) -> None:
    """Fit a method, show how far it is from the optimum.

    Parameters of the method are further options: multimargin fit -m METHOD --help. Values may be
    powers: --C 2^-3. Ctrl-C stops the fit, keeps what it has reached in the file of -o, with its
    certificate, and ends with exit code 130.

    \b
    Examples:
      multimargin fit digits --method mlodm --C 8 -o digits.model
      multimargin fit emotions/ -m rank-svm --C 2 --gamma 0.5 -o emotions.model
      multimargin fit text.svm --scale unit --kernel linear --bias penalized

    """
    import sys
    from contextlib import nullcontext, redirect_stdout
    from time import perf_counter

    from multimargin.cli.options import (
        check_complete,
        choose_split,
        make_named_method,
        make_pipeline,
        warn_of_one_value,
    )
    from multimargin.cli.output import console
    from multimargin.cli.progress import new_progress, shown_fit
    from multimargin.cli.table_options import load_table_or_data, rows_of, table_columns
    from multimargin.files.writing import path_to_write
    from multimargin.model_files import save_model

    method, estimator = make_named_method(method_name, context.args)
    if output is not None:
        path_to_write(output, "--output")
    columns = table_columns(labels, tags_column, separator, drop, text)
    data = load_table_or_data(source, columns)
    split, rows = choose_split(data, split, "train")
    X, Y = rows_of(data.X, rows), data.Y[rows]
    check_complete(data, rows)
    warn_of_one_value(data, rows)
    pipeline = make_pipeline(estimator, scale, data)
    errors = console(stderr=True)
    title = f"fitting {method.title}"
    with new_progress(errors, transient=True) as progress, shown_fit(progress, title, estimator):
        start = perf_counter()
        # With --json, what the method prints with --verbose 1 must not be between the braces.
        with redirect_stdout(sys.stderr) if as_json else nullcontext():
            interrupted = _fit(pipeline, X, Y)
        seconds = perf_counter() - start
    if output is not None:
        save_model(pipeline, _info(method.name, data, split, columns), output)
    _report(method, pipeline, data, split, rows.size, scale, seconds, output, as_json)
    if interrupted:
        if output is not None:
            errors.print(
                f"stopped; the model reached so far, with the gap above, is in {output}",
                markup=False,
                soft_wrap=True,
            )
        raise typer.Exit(INTERRUPTED)


def _fit(pipeline: Any, X: Any, Y: Any) -> bool:
    """Fit, and return whether Ctrl-C ended it with a model that has a certificate."""
    try:
        pipeline.fit(X, Y)
    except KeyboardInterrupt:
        # A fit that Ctrl-C meets before its first epoch, or between two of its parts, has no model.
        if getattr(pipeline[-1], "status_", None) != "interrupted":
            raise
        return True
    return False


def _info(method: str, data: Any, split: str, columns: Any) -> Any:
    from importlib.metadata import version

    from scipy import sparse

    from multimargin.cli.table_options import table_of_model
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
    )


def _report(
    method: Any,
    pipeline: Any,
    data: Any,
    split: str,
    n_rows: int,
    scale: str,
    seconds: float,
    output: str | None,
    as_json: bool,
) -> None:
    from multimargin.cli.certificate import certificate
    from multimargin.cli.output import console, counted, pairs_table, print_json

    found = certificate(pipeline)
    estimator = pipeline[-1]
    if as_json:
        print_json(
            {
                "data": data.name,
                "split": split,
                "n_rows": n_rows,
                "n_features": data.n_features,
                "n_labels": data.n_labels,
                "method": method.name,
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
    described = [
        (
            "data",
            f"{data.name}: {counted(n_rows, 'row')} ({split}), "
            f"{counted(data.n_features, 'feature')}, {counted(data.n_labels, 'label')}",
        ),
        ("method", " ".join(repr(estimator).split())),
        ("scale", scale),
    ]
    kept = ("model", output or "not kept; give -o FILE to keep it")
    out = console()
    out.print(pairs_table(described))
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
        ("gap", f"{found['dual_gap']:.2e}", f"relative; stops at tol = {found['tol']:g}"),
        ("status", found["status"], f"after {found['n_iter']} epochs, {seconds:.2f} s"),
    ]
    if hasattr(estimator, "selector_"):
        out.print("\nCertificate of the feature selection (LLSF)")
    else:
        out.print("\nCertificate")
    out.print(pairs_table(rows))
    out.print()
    out.print(pairs_table([kept]))

"""``multimargin export``."""

from typing import Annotated

import typer

from multimargin.cli.options import Json
from multimargin.cli.predict import ModelFile


def command(
    model_file: ModelFile,
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE.onnx", help="The ONNX file.", show_default=False
        ),
    ],
    as_json: Json = False,
) -> None:
    """Write a model as an ONNX file, for other runtimes.

    Its input X is float64, a row of features in the order of the fit; its outputs are the scores
    and the labels, 0 or 1. Text and names cannot be exported, which fit says of its model: in
    Python, multimargin.onnx.export(model[-1], FILE) writes what comes after they are numbers.

    \b
    Example:
      multimargin export digits.model -o digits.onnx
    """
    from multimargin.cli.output import check_outputs, console, pairs_table, print_json
    from multimargin.model_files import read_model
    from multimargin.onnx import export

    check_outputs({"--output": output}, [], model_file, streams=False)
    model, info = read_model(model_file)
    export(model, output, feature_names=info.feature_names, label_names=info.label_names)
    n_features, n_labels = len(info.feature_names), len(info.label_names)
    if as_json:
        print_json(
            {
                "model": model_file,
                "method": info.method,
                "n_features": n_features,
                "n_labels": n_labels,
                "onnx": output,
            }
        )
        return
    rows = [
        ("model", f"{info.method}, {model_file}"),
        ("input", f"X (n, {n_features}), float64"),
        ("outputs", f"scores (n, {n_labels}), float64; labels (n, {n_labels}), int64"),
        ("file", output),
    ]
    console().print(pairs_table(rows))

"""``multimargin export``."""

from typing import Any

from multimargin.cli.options import Json, option
from multimargin.cli.predict import ModelFile


def command(
    model_file: ModelFile,
    output: str = option("--output -o FILE.onnx", "The ONNX file.", ...),
    float32: bool = option(
        "--float32", "Take input in single precision; compute in double.", False
    ),
    as_json: Json = False,
) -> None:
    """Write a model as an ONNX file, for other runtimes.

    Its input X is float64, a row of features in the order of the fit. Of a table with names or text
    X has the columns of numbers, the inputs categories and texts have the others. The outputs are
    scores, labels, 0 or 1, and of calibrated models probabilities. fit says of a model if it cannot
    be exported.

    \b
    Examples:
      multimargin export digits.model -o digits.onnx
      multimargin export songs.model -o songs.onnx --float32
    """
    from multimargin.cli.output import check_ending, check_outputs, console, pairs_table, print_json
    from multimargin.model_files import read_model
    from multimargin.onnx import export

    check_outputs({"--output": output}, [], model_file, streams=False)
    check_ending("--output", output, "ONNX")
    model, info = read_model(model_file)
    export(
        model,
        output,
        feature_names=info.feature_names,
        label_names=info.label_names,
        float32=float32,
    )
    n_features, n_labels = len(info.feature_names), len(info.label_names)
    inputs, outputs = _tensors(output)
    if as_json:
        print_json(
            {
                "model": model_file,
                "method": info.method,
                "n_features": n_features,
                "n_labels": n_labels,
                "inputs": inputs,
                "outputs": outputs,
                "onnx": output,
            }
        )
        return
    rows = [
        ("model", f"{info.method}, {model_file}"),
        ("inputs", _told(inputs)),
        ("outputs", _told(outputs)),
        ("file", output),
    ]
    console().print(pairs_table(rows))


def _tensors(file: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return type and number of columns of the inputs and outputs of a file, by name."""
    import onnx

    def described(tensors: Any) -> dict[str, Any]:
        types = {tensor.name: tensor.type.tensor_type for tensor in tensors}
        kind = onnx.TensorProto.DataType.Name
        return {
            name: [kind(of.elem_type).lower(), of.shape.dim[1].dim_value]
            for name, of in types.items()
        }

    graph = onnx.load(file).graph
    return described(graph.input), described(graph.output)


def _told(tensors: dict[str, Any]) -> str:
    names = {"double": "float64", "float": "float32"}
    return "; ".join(
        f"{name} (n, {width}), {names.get(kind, kind)}" for name, (kind, width) in tensors.items()
    )

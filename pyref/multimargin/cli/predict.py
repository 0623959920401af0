"""``multimargin predict``."""

from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import Data, Json

if TYPE_CHECKING:
    from multimargin.model_files import ModelInfo

ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A file that multimargin fit wrote.",
        show_default=False,
    ),
]
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle",
        help="Load a model that is stored as a pickle, which runs what its writer put into it.",
    ),
]


def command(
    model_file: ModelFile,
    source: Data,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The CSV file; standard output by default."
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option("--split", metavar="NAME", help="Rows to predict: train, test or all."),
    ] = None,
    allow_pickle: AllowPickle = False,
    as_json: Json = False,
) -> None:
    """Predict labels and their scores with a model.

    Writes CSV. The first column is the row of DATA, counted from 0. Then one column a label, 0 or
    1, and one column "score: LABEL": the larger, the likelier; positive where the label is
    predicted. Features are found by their names; labels in DATA are not looked at, and an ARFF file
    needs none. By default all rows of a file are predicted, of data with parts the test part.

    \b
    Examples:
      multimargin predict emotions.model emotions/ -o out.csv
      multimargin predict emotions.model new.arff
    """
    from multimargin.cli.output import console, counted, print_json
    from multimargin.files.writing import path_to_write, replacing
    from multimargin.model_files import load_model

    if output is not None:
        path_to_write(output, "--output", streams=True)
    model, info = load_model(model_file, allow_pickle=allow_pickle)
    rows, X = _rows_and_features(info, source, split)
    scores = model.decision_function(X)
    predicted = (scores > 0).astype(int)
    if as_json:
        content = _as_json(info, rows, predicted, scores)
        if output is None:
            print_json(content)
            return
    if output is None:
        import sys

        _write_csv(info, rows, predicted, scores, sys.stdout)
        return
    if as_json:
        import json

        with replacing(output, streams=True) as stream:
            json.dump(content, stream, ensure_ascii=False)
        print_json({"output": output, "n_rows": len(rows)})
        return
    with replacing(output, streams=True, newline="") as stream:
        _write_csv(info, rows, predicted, scores, stream)
    console().print(
        f"{counted(len(rows), 'row')}, {predicted.sum(axis=1).mean():.2f} labels per row, "
        f"written to {output}",
        markup=False,
        soft_wrap=True,
    )


def svmlight_options(info: "ModelInfo") -> dict[str, Any]:
    """Return how to read svmlight files, which name nothing, as those that the model was fitted to.

    Parameters
    ----------
    info : ModelInfo
        The model.

    Returns
    -------
    dict of str to object
        Arguments of `multimargin.datasets.load_svmlight`.
    """
    names = {"zero_based": info.feature_names, "labels_zero_based": info.label_names}
    counts = {"n_features": len(info.feature_names), "n_labels": len(info.label_names)}
    bases = {
        option: of_kind[0] == "0" for option, of_kind in names.items() if of_kind[0] in ("0", "1")
    }
    return counts | bases


def _rows_and_features(info: "ModelInfo", source: str, split: str | None) -> tuple[Any, Any]:
    from pathlib import Path

    import numpy as np

    from multimargin.cli.options import EVERYTHING, check_complete, choose_split, load_data
    from multimargin.datasets import MultilabelData, load_arff_features

    if Path(source).is_file() and Path(source).suffix.lower() == ".arff":
        X = load_arff_features(source, info.feature_names)
        # The labels are made up: they may be missing in the file.
        nothing = np.zeros((X.shape[0], 1), dtype=np.uint8)
        data = MultilabelData(X, nothing, info.feature_names, name=Path(source).name)
    else:
        data = load_data(source, None, **svmlight_options(info))
    _, rows = choose_split(data, split, "test" if "test" in data.splits else EVERYTHING)
    X = info.features_of(data)[rows]
    check_complete(data, X)
    return rows, X


def _as_json(info: "ModelInfo", rows: Any, predicted: Any, scores: Any) -> dict[str, Any]:
    return {
        "labels": list(info.label_names),
        "rows": [
            {
                "row": int(row),
                "labels": [n for n, y in zip(info.label_names, labels, strict=True) if y],
                "scores": dict(zip(info.label_names, values.tolist(), strict=True)),
            }
            for row, labels, values in zip(rows, predicted, scores, strict=True)
        ],
    }


def _write_csv(info: "ModelInfo", rows: Any, predicted: Any, scores: Any, stream: IO[str]) -> None:
    import csv

    from multimargin.files.spreadsheets import as_cell

    writer = csv.writer(stream, lineterminator="\n")
    heads = [*info.label_names, *(f"score: {name}" for name in info.label_names)]
    writer.writerow(["row", *map(as_cell, heads)])
    for row, labels, values in zip(rows, predicted, scores, strict=True):
        writer.writerow([int(row), *labels.tolist(), *values.tolist()])

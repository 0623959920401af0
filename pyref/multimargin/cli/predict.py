"""``multimargin predict``."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.checks.names import quoted
from multimargin.cli.data import check_all_scored
from multimargin.cli.options import (
    Data,
    Json,
    WrongUsage,
    by_subject,
    existing_model,
    one_of,
    option,
)
from multimargin.cli.table_options import check_names

if TYPE_CHECKING:
    from multimargin.cli.predictions import Predictions
    from multimargin.model_files import ModelInfo

ModelFile = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", callback=existing_model, help="A file that multimargin fit wrote."
    ),
]


@dataclass(frozen=True)
class Form:
    """Contents of a row of the CSV file."""

    form: str | None = one_of(
        "--format all|labels|tags",
        "Content of each row of the CSV file: 0 or 1 and a score for each label; 0 or 1 "
        "only; or the names of the predicted labels, the best first, and their scores. By "
        "default tags where the model learned from a column of tags, else all.",
    )
    top: int | None = option(
        "--top K",
        "Write the K best labels of each row, predicted or not (implies --format tags).",
        min=1,
    )
    probabilities: bool = option(
        "--probabilities",
        "Write probabilities instead of scores (calibrated models, such as "
        "label-ranker). With --top this is the default where the model has them.",
        False,
    )
    as_is: bool = option(
        "--as-is",
        "Write cells unchanged, even those that begin like formulas (=, +, -, @). "
        "Otherwise these get a leading apostrophe, so that no spreadsheet executes "
        "them.",
        False,
    )
    why: int | None = option(
        "--why N",
        "For linear models: name the N features, such as words, that contribute most "
        "for or against each label of the row (implies --format tags).",
        min=1,
    )

    def check(self) -> None:
        """Raise WrongUsage for a format that another option rules out."""
        implying = "--top" if self.top is not None else "--why" if self.why is not None else None
        if implying is not None and self.form not in (None, "tags"):
            raise WrongUsage(
                f"--format is {self.form!r} with {implying}, which writes tags; expected tags, or "
                "one of the two options"
            )
        if self.probabilities and self.form == "labels":
            raise WrongUsage(
                "--format is 'labels' with --probabilities, which it does not write; expected all "
                "or tags"
            )


@by_subject
def command(
    model_file: ModelFile,
    source: Data,
    output: str | None = option(
        "--output -o FILE", "Output file: CSV, or JSON with --json; standard output by default."
    ),
    split: str | None = option("--split NAME", "Rows to predict: train, test or all."),
    *,
    form: Form,
    keep: str | None = option("--keep COLUMN,...", "Columns of a table to copy, such as an id."),
    as_json: Json = False,
) -> None:
    """Predict labels and their scores with a model.

    Writes CSV. The first column is the row of DATA, counted from 0. Then the tags and their scores,
    or per label one column of 0 or 1 and one column "score: LABEL": larger is more probable;
    positive where the label is predicted. Features are found by their names; labels in DATA are
    ignored, and an ARFF file or a table needs none. By default all rows of a file are predicted, of
    data with parts the test part.

    \b
    Examples:
      multimargin predict emotions.model emotions/ -o out.csv
      multimargin predict emotions.model new.arff
      multimargin predict tags.model new.csv --top 5 --keep id
      multimargin predict tags.model new.csv --top 3 --why 4
      multimargin predict tags.model new.csv --probabilities -o out.csv
    """
    from multimargin.cli.output import check_ending, check_outputs, console, counted, print_json

    form.check()
    output = None if output == "-" else output
    check_outputs({"--output": output}, [source], model_file)
    if as_json:
        check_ending("--output", output, "JSON", "another name, or the command without --json")
    else:
        check_ending("--output", output, "CSV", "a name such as out.csv, or --json")
    check_names(source, {"keep": keep})
    from multimargin.cli.predictions import Predictions
    from multimargin.model_files import read_model

    model, info = read_model(model_file)
    check_all_scored(model)
    rows, X, kept = _rows_and_features(info, source, split, keep)
    if not (form.as_is or as_json):
        _tell_of_formulas(kept)
    wanted = form.probabilities or (form.top is not None and hasattr(model, "predict_proba"))
    scores, probabilities = _scores_of(model, X, wanted)
    listed = info.table is not None and info.table.tags_column is not None
    kind = form.form or ("tags" if listed else "all")
    kind = "tags" if form.top or form.why else kind
    between = info.table.separator if listed and info.table is not None else ","
    found = Predictions(
        info.label_names,
        rows,
        scores,
        kept,
        kind,
        form.top,
        separator=between,
        probabilities=probabilities,
        as_is=form.as_is,
    )
    if form.why is not None:
        found = replace(found, reasons=found.reasons_of(model, X, form.why))
    _write(found, output, as_json)
    if output is None:
        return
    if as_json:
        print_json({"output": output, "n_rows": len(rows)})
        return
    if form.top is None:
        labels = f"{(scores > 0).sum(axis=1).mean():.2f} labels per row"
    else:
        labels = f"the best {counted(min(form.top, scores.shape[1]), 'label')} of each"
    told = f"{counted(len(rows), 'row')}, {labels}, written to {output}"
    console().print(told, soft_wrap=True)


def _tell_of_formulas(kept: dict[str, list[str]]) -> None:
    from multimargin.cli.output import counted, tell
    from multimargin.cli.spreadsheets import is_formula

    found = [cell for cells in kept.values() for cell in cells if is_formula(cell)]
    if found:
        tell(
            f"{counted(len(found), 'cell')} of --keep, such as {quoted(found[0])}, would be "
            "executed by a spreadsheet and get a leading apostrophe; --as-is leaves them "
            "unchanged"
        )


def _scores_of(model: Any, X: Any, with_probabilities: bool) -> tuple[Any, Any]:
    """Return decision values, and probabilities if requested."""
    from multimargin.inspection.names import decision_and_ranking

    if not with_probabilities:
        return model.decision_function(X), None
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            "the model has no probabilities; expected a calibrated one, such as multimargin fit "
            "--method label-ranker writes"
        )
    decision, probabilities = decision_and_ranking(model, X)
    return decision, probabilities


def _write(found: "Predictions", path: str | None, as_json: bool) -> None:
    import json
    import sys
    from contextlib import nullcontext

    from multimargin.cli.output import print_json
    from multimargin.files import replacing

    newline = None if as_json else ""
    to = replacing(path, streams=True, newline=newline) if path else nullcontext(sys.stdout)
    with to as stream:
        if not as_json:
            found.write_csv(stream)
        elif path:
            json.dump(found.as_json(), stream, ensure_ascii=False)
        else:
            print_json(found.as_json())


def _rows_and_features(
    info: "ModelInfo", source: str, split: str | None, keep: str | None
) -> tuple[Any, Any, dict[str, Any]]:
    """Return row numbers, features, and the columns to copy."""
    from pathlib import Path

    import numpy as np

    from multimargin.cli.data import check_complete, choose_split
    from multimargin.cli.model_data import features_of
    from multimargin.cli.options import EVERYTHING
    from multimargin.cli.table_options import load_for_model
    from multimargin.datasets import MultilabelData
    from multimargin.datasets.arff import load_arff_features
    from multimargin.scikit_learn import safe_indexing

    kept: dict[str, Any] = {}
    if info.table is not None:
        data, kept = _unlabelled_table(info, source, keep)
    elif keep is not None:
        raise WrongUsage("--keep is for models that were fitted to a table")
    elif Path(source).is_file() and Path(source).suffix.lower() == ".arff":
        X = load_arff_features(source, info.feature_names)
        # The labels are made up: they may be missing in the file.
        nothing = np.zeros((X.shape[0], 1), dtype=np.uint8)
        data = MultilabelData(X, nothing, info.feature_names, name=Path(source).name)
    else:
        data = load_for_model(source, info, None)
    _, rows = choose_split(data, split, "test" if "test" in data.splits else EVERYTHING)
    check_complete(data, rows)
    chosen = {column: [values[row] for row in rows] for column, values in kept.items()}
    return rows, safe_indexing(features_of(info, data), rows), chosen


def _unlabelled_table(
    info: "ModelInfo", source: str, keep: str | None
) -> tuple[Any, dict[str, Any]]:
    """Read the features of a table, which may have no labels, and the columns to copy."""
    from pathlib import Path

    import numpy as np

    from multimargin.datasets.sources import table_files
    from multimargin.datasets.table_cells import as_text_column
    from multimargin.datasets.table_columns import chosen_columns
    from multimargin.datasets.tables import Table, features_of, naming_parts, read_parts

    parts = table_files(source)
    if parts is None:
        if not Path(source).exists():
            raise FileNotFoundError(f"there is no file or folder {source!r}")
        raise ValueError(f"{source} is not a table; expected one, as the model was fitted to one")
    assert info.table is not None
    name = Path(source).name
    with naming_parts(parts):
        # A row for each line.
        frame, splits = read_parts(parts, blank_rows=True)
        X = features_of(frame, info.table, name)
        names = chosen_columns(frame, keep, "keep")
    # The labels are made up: they may be missing in the file.
    nothing = np.zeros((len(frame), 1), dtype=np.int64)
    kept = {name: as_text_column(frame[name]) for name in names}
    return Table(X, nothing, ("",), info.table, name, splits), kept

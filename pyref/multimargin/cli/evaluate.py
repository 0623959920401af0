"""``multimargin evaluate``."""

from typing import Annotated

import typer

from multimargin.cli.options import Data, Json, Labels
from multimargin.cli.predict import AllowPickle, ModelFile


def command(
    model_file: ModelFile,
    source: Data,
    split: Annotated[
        str | None,
        typer.Option(
            "--split",
            metavar="NAME",
            help="Rows to evaluate on: test where the data have it (default), train, or all.",
        ),
    ] = None,
    labels: Labels = None,
    allow_pickle: AllowPickle = False,
    as_json: Json = False,
) -> None:
    """Measure how well a model predicts labels that are known.

    Ranking measures leave out rows to which all labels apply, or none.

    \b
    Examples:
      multimargin evaluate emotions.model emotions/
      multimargin evaluate emotions.model emotions-test.arff --labels emotions.xml --json
    """
    from multimargin.checks.labels import complete_rows
    from multimargin.cli.options import check_complete, choose_split, say_what_is_unknown
    from multimargin.cli.output import console, counted, plain_table, print_json
    from multimargin.cli.table_options import load_for_model, rows_of
    from multimargin.measures import MEASURES, MORE_MEASURES, all_measures, more_measures
    from multimargin.model_files import load_model, read_info

    info = read_info(model_file)
    model = load_model(model_file, allow_pickle=allow_pickle)
    data = load_for_model(source, info, labels)
    split, rows = choose_split(data, split, "test")
    labels_known = info.labels_of(data)
    say_what_is_unknown(data, rows, "and such rows are not measured")
    rows = rows[complete_rows(labels_known[rows])]
    if not rows.size:
        raise ValueError(
            f"{data.name} has an unknown label in each row; expected rows in which all are known"
        )
    X, Y = rows_of(info.features_of(data), rows), labels_known[rows].astype(int)
    check_complete(data, rows)
    scores = model.decision_function(X)
    measures = all_measures(Y, (scores > 0).astype(int), scores) | more_measures(Y, scores)
    seen = (data.name, split) == (info.data_name, info.split)
    if as_json:
        print_json(
            {
                "data": data.name,
                "split": split,
                "n_rows": rows.size,
                "method": info.method,
                "fitted_to_these_rows": seen,
                "measures": measures,
            }
        )
        return
    table = plain_table("measure", "value", "better is")
    known = {**MEASURES, **MORE_MEASURES}
    for name, value in measures.items():
        table.add_row(known[name].title, f"{value:.4f}", known[name].better)
    out = console()
    title = f"{info.method} on {data.name}, {split}: {counted(rows.size, 'row')}\n"
    out.print(title, style="bold", markup=False)
    out.print(table)
    if seen:
        out.print("\nwarning: the model was fitted to these rows", style="yellow")

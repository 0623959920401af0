"""``multimargin evaluate``."""

from multimargin.cli.data import check_all_scored
from multimargin.cli.options import Data, Json, Labels, option
from multimargin.cli.predict import ModelFile


def command(
    model_file: ModelFile,
    source: Data,
    split: str | None = option(
        "--split NAME", "Rows to evaluate on: test where the data have it (default), train, or all."
    ),
    labels: Labels = None,
    per_label: bool = option(
        "--per-label",
        "Show support, errors, precision, recall, F1 and AUC of the labels with most "
        "errors; of all labels with --json.",
        False,
    ),
    per_row: bool = option(
        "--per-row",
        "Show the rows with most errors: which labels are missed, which are predicted "
        "wrongly; all rows with --json.",
        False,
    ),
    shown: int = option("--show K", "Number of labels and rows to show.", 30, min=1),
    as_json: Json = False,
) -> None:
    """Measure how well a model predicts labels that are known.

    Ranking measures leave out rows to which all labels apply, or none. The output says
    how many rows the model was fitted to; multimargin fit --holdout measures on rows put aside.

    \b
    Examples:
      multimargin evaluate emotions.model emotions/
      multimargin evaluate emotions.model emotions-test.arff --labels emotions.xml --json
      multimargin evaluate tags.model new.csv --per-label --per-row --show 10
    """
    from multimargin.checks.names import listed
    from multimargin.cli import measuring
    from multimargin.cli.data import check_complete, choose_split, say_what_is_unknown
    from multimargin.cli.model_data import features_of, labels_of
    from multimargin.cli.output import console, counted, print_json, tell
    from multimargin.cli.table_options import is_table, load_for_model
    from multimargin.datasets.row_hashes import share_among
    from multimargin.model_files import read_model
    from multimargin.scikit_learn import safe_indexing

    model, info = read_model(model_file)
    check_all_scored(model)
    data = load_for_model(source, info, labels)
    if is_table(data) and data.unknown_tags:
        counts = [f"{tag} ({count})" for tag, count in sorted(data.unknown_tags.items())]
        tell(
            f"warning: {data.name} has {counted(len(counts), 'tag')} that the model does not "
            f"know, with the number of rows: {listed(counts)}; they are not measured",
            "yellow",
        )
    split, rows = choose_split(data, split, "test")
    labels_known = labels_of(info, data)
    say_what_is_unknown(data, rows, "and are not measured")
    rows = measuring.measurable_rows(data, labels_known, rows)
    X, Y = safe_indexing(features_of(info, data), rows), labels_known[rows]
    check_complete(data, rows)
    scores = model.decision_function(X)
    measures = measuring.measured_on(scores, Y)
    by_label = measuring.measured_by_label(scores, Y, info.label_names) if per_label else None
    by_row = measuring.measured_by_row(scores, Y, rows, info.label_names) if per_row else None
    seen = share_among(info.row_hashes, X)
    if seen is None:
        seen = float((data.name, split) == (info.data_name, info.split))
    if as_json:
        print_json(
            {
                "data": data.name,
                "split": split,
                "n_rows": rows.size,
                "method": info.method,
                "share_fitted_to": seen,
                "measures": measures,
                **({} if by_label is None else {"labels": by_label}),
                **({} if by_row is None else {"rows": by_row}),
            }
        )
        return
    out = console()
    title = f"{info.method} on {data.name}, {split}: {counted(rows.size, 'row')}\n"
    out.print(title, style="bold")
    out.print(measuring.measures_table(measures))
    if by_label is not None:
        out.print()
        out.print(measuring.labels_table(by_label, shown))
    if by_row is not None:
        out.print()
        out.print(measuring.rows_table(by_row, shown))
    if seen:
        share = "all" if seen == 1.0 else f"{max(seen, 0.01):.0%}"
        tell(
            f"warning: the model was fitted to {share} of these rows, so the measures are "
            "optimistic; fit --holdout 0.25 puts rows aside to measure on",
            "yellow",
        )

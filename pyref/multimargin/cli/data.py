"""Data of a command line: splits, scales, and notes on their rows."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from multimargin.checks.names import first_of
from multimargin.cli.options import EVERYTHING, WrongUsage
from multimargin.cli.table_options import is_table
from multimargin.notices import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sklearn.base import BaseEstimator
    from sklearn.pipeline import Pipeline

    from multimargin.cli.table_options import Data
    from multimargin.datasets.tables import Table
    from multimargin.typing import Marks


def choose_split(data: "Data", wanted: str | None, default: str) -> "tuple[str, NDArray[np.intp]]":
    """Return the split of a command line, or "all", and its rows.

    None takes the split `default` where the data have it, else all rows.
    """
    import numpy as np

    if wanted is None:
        wanted = default if default in data.splits else EVERYTHING
    if wanted in data.splits:
        rows = data.splits[wanted]
    elif wanted == EVERYTHING:
        rows = np.arange(data.n_samples)
    else:
        expected = ", ".join((*data.splits, EVERYTHING))
        raise WrongUsage(f"--split is {wanted!r}; expected one of {expected} for {data.name}")
    if rows.size == 0:
        raise WrongUsage(f"--split {wanted} of {data.name} has no rows; expected some")
    return wanted, rows


def make_pipeline(
    estimator: "BaseEstimator", scale: str, data: "Data", *, meaning: bool = False
) -> "Pipeline":
    """Put the scaler of a command line before an estimator, and for a table an encoder as well."""
    from scipy import sparse

    from multimargin.datasets.table_encoder import with_encoder
    from multimargin.scaling import with_scaler

    texts = is_table(data) and {"text", "characters"} & set(data.kinds.values())
    if meaning and not texts:
        raise WrongUsage("--meaning is given, but the data have no column of text")
    try:
        if is_table(data):
            return with_encoder(
                estimator, data.kinds, scale, n_rows=data.n_samples, meaning=meaning
            )
        return with_scaler(estimator, scale, sparse=sparse.issparse(data.X))
    except ValueError as error:
        raise WrongUsage(f"--{error}") from error


def hint_at_linear(estimator: "BaseEstimator", chosen: Collection[str], data: "Data") -> None:
    """Suggest a linear kernel for text unless the kernel is among the parameters `chosen`."""
    from multimargin.cli.output import tell

    text = is_table(data) and "text" in data.kinds.values()
    if text and "kernel" not in chosen and getattr(estimator, "kernel", None) == "rbf":
        better = "--set kernel=linear --scale unit"
        tell(f"the kernel is rbf; text is usually learned better with {better}")


def check_room_for_scores(method: str, Y: "Marks") -> None:
    """Refuse too many rows and labels to measure the scores of all."""
    from multimargin.estimators.label_ranker import shortlists

    if method == "label-ranker" and Y.size > shortlists.MOST_SCORES:
        raise ValueError(
            f"the data have {Y.shape[0]} rows x {Y.shape[1]} labels; expected at most "
            f"{shortlists.MOST_SCORES} pairs of a row and a label: for more, LabelRankerCV and "
            "predict_names in Python list the best labels of each row"
        )


def check_all_scored(model: "BaseEstimator") -> None:
    """Refuse a model that lists the best labels of each row."""
    from multimargin.inspection.names import base_rates_of

    if base_rates_of(model) is not None:
        raise ValueError(
            "the model lists the best labels of each row; expected one that scores all: in Python, "
            "predict_names and predict_sparse answer for it"
        )


def check_complete(data: "Data", rows: "NDArray[np.intp]") -> None:
    """Refuse missing values before a method does, which has neither rows nor names to report.

    Those of a table are filled in; it is said how. Raises ValueError if a value is missing.
    """
    import numpy as np
    from scipy import sparse

    if is_table(data):
        say_what_is_missing(data, rows)
        return
    X: Any = data.X[rows]
    missing = np.isnan(X.data if sparse.issparse(X) else X)
    if not missing.any():
        return
    columns = X.indices[missing] if sparse.issparse(X) else np.nonzero(missing)[1]
    raise ValueError(
        f"{data.name} has missing values, {np.count_nonzero(missing)} in all, for example of the "
        f"feature {data.feature_names[columns[0]]!r}; expected none: fill them in first, with "
        "sklearn.impute.SimpleImputer for example"
    )


def say_what_is_missing(table: "Table", rows: "NDArray[np.intp]") -> None:
    """Report on standard error which missing values of the rows are filled in, and how."""
    from multimargin.checks.names import option
    from multimargin.cli.output import counted, tell

    ways = {
        "number": "filled in by the median of the column",
        "nominal": "a value of its own",
        "text": "read as no words",
        "characters": "read as no characters",
    }
    for column, count in table.missing(rows).items():
        way = ways[table.columns.kinds[column].of_features]
        if count == len(rows):
            advice = option("--drop", [column])
            tell(f"{column}: no values, {way}; a fit can leave the column out ({advice})")
        else:
            tell(f"{column}: {counted(count, 'missing value')}, {way}")


def say_what_is_unknown(data: "Data", rows: "NDArray[np.intp]", consequence: str) -> None:
    """Report on standard error which labels of the rows are unknown, and the consequences."""
    import numpy as np

    from multimargin.cli.output import tell

    unknown = np.count_nonzero(np.isnan(data.Y[rows]), axis=0)
    order = np.argsort(-unknown, kind="stable")[: np.count_nonzero(unknown)]
    if not order.size:
        return
    named = first_of([f"{data.label_names[k]} ({unknown[k]})" for k in order])
    tell(
        f"{unknown.sum()} of {rows.size * unknown.size} labels are unknown, {consequence}: {named}"
    )


def warn_of_one_value(data: "Data", rows: "NDArray[np.intp]") -> None:
    """Warn once, by name, of labels that apply to all of the rows or to none."""

    from multimargin.datasets.description import of_one_value

    for found in of_one_value(data.Y[rows], data.label_names):
        warn(found)

"""The transformer that makes numbers of the columns of a table."""

from collections.abc import Mapping
from typing import Any

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from multimargin.scaling import make_scaler

MISSING = "(missing)"
"""The name that a missing name gets."""
# With fewer rows, a word that occurs once may be all there is.
_MANY_ROWS = 100


def make_encoder(
    kinds: Mapping[str, str], *, scaling: str, n_rows: int, impute: bool = True
) -> ColumnTransformer:
    """Return an unfitted transformer of the columns of a table.

    Parameters
    ----------
    kinds : mapping of str to str
        The columns, each "number", "nominal" or "text".
    scaling : {"minmax", "standard", "unit", "none"}
        How numbers are scaled, see `multimargin.scaling.make_scaler`; "unit" leaves them here.
    n_rows : int
        Number of rows, n: from 100 on, words must occur in two texts.
    impute : bool, default=True
        Whether missing numbers are filled in by the median of their column.

    Returns
    -------
    sklearn.compose.ColumnTransformer
        The transformer: numbers are filled in and scaled, names become a column of 0 and 1 each
        (new ones zeros), text becomes tf-idf weights of its words, rows of length 1.
    """
    columns: dict[str, list[str]] = {"number": [], "nominal": [], "text": []}
    for column, kind in kinds.items():
        columns[kind].append(column)
    parts: list[tuple[str, Any, Any]] = []
    if columns["number"]:
        scaler = None if scaling == "unit" else make_scaler(scaling)
        filler = SimpleImputer(strategy="median", keep_empty_features=True) if impute else None
        steps = [step for step in (filler, scaler) if step is not None]
        parts.append(
            ("numbers", make_pipeline(*steps) if steps else "passthrough", columns["number"])
        )
    if columns["nominal"]:
        names = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=MISSING),
            OneHotEncoder(handle_unknown="ignore"),
        )
        parts.append(("names", names, columns["nominal"]))
    min_df = 2 if n_rows >= _MANY_ROWS else 1
    parts += [
        # Not a list of one column: the vectorizer takes a sequence of texts.
        (f"text: {column}", TfidfVectorizer(sublinear_tf=True, min_df=min_df), column)
        for column in columns["text"]
    ]
    return ColumnTransformer(parts, verbose_feature_names_out=bool(columns["text"]))


def with_encoder(
    classifier: Any, kinds: Mapping[str, str], scaling: str, *, n_rows: int
) -> Pipeline:
    """Return an unfitted pipeline from the columns of a table to labels.

    Parameters
    ----------
    classifier : estimator
        The unfitted classifier; its step is named "method".
    kinds : mapping of str to str
        The columns, each "number", "nominal" or "text".
    scaling : {"minmax", "standard", "unit", "none"}
        Scaling of the numbers; "unit" is of whole rows.
    n_rows : int
        Number of rows.

    Returns
    -------
    sklearn.pipeline.Pipeline
        The pipeline, with the steps "table", for "unit" "scale", and "method".

    Raises
    ------
    ValueError
        If there is no such scaling.
    """
    rows = make_scaler(scaling) if scaling == "unit" else None
    steps = [("table", make_encoder(kinds, scaling=scaling, n_rows=n_rows))]
    steps += [("scale", rows)] if rows is not None else []
    return Pipeline([*steps, ("method", classifier)])

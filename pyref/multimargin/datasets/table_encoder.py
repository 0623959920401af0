"""The transformer of the columns of a table to numbers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

from multimargin.checks.names import listed, option, places_of, quoted
from multimargin.datasets.table_dates import DATE_PARTS
from multimargin.datasets.table_kinds import KINDS
from multimargin.embeddings import StaticEmbedding
from multimargin.notices import warn
from multimargin.scaling import make_scaler
from multimargin.typing import Features, Frame

MISSING = "(missing)"
"""The name that a missing name gets."""
_NUMBERS, _NAMES, _TEXT = "numbers", "names", "text "
# What scikit-learn puts before the names of columns.
_INDICATOR = "missingindicator_"
# With fewer rows, a word that occurs once may be all there is.
_MANY_ROWS = 100
# With fewer, new numbers may well be far from all others.
_SOME_ROWS = 20


class TableEncoder(ColumnTransformer):  # type: ignore[misc]
    """A transformer of the columns of a table that names its features by them.

    It is `sklearn.compose.ColumnTransformer`, but for `get_feature_names_out` and what it tells.
    """

    # Of the columns of numbers; NaN as long as nothing is known of them
    lowest_: Any = np.nan
    highest_: Any = np.nan

    def fit_transform(self, X: Frame, y: Any = None, **params: Any) -> Features:
        """Fit to a table and return its numbers; an error about text names the column."""
        try:
            features: Features = super().fit_transform(X, y, **params)
        except ValueError as error:
            for name, vectorizer, column in self.transformers:
                if name.startswith(_TEXT) and _has_no_terms(vectorizer, X[column]):
                    raise ValueError(
                        f"no word of the column {column!r} occurs in as many of the {len(X)} rows "
                        f"as are needed ({vectorizer.min_df}), so that nothing is learned from it; "
                        "expected text, or analyzer='char' (--analyzer char) for runs of "
                        f"characters, or drop it ({option('--drop', [column])})"
                    ) from error
            raise
        numbers = self._numbers_of(X if len(X) >= _SOME_ROWS else X[:0])
        self.lowest_, self.highest_ = numbers.min().to_numpy(), numbers.max().to_numpy()
        return features

    def _numbers_of(self, X: Frame) -> Frame:
        """Return the columns of numbers of a table that are no parts of dates."""
        places = [of for name, _, of in self.transformers_ if name == _NUMBERS]
        names = self.feature_names_in_[places[0]].tolist() if places else []
        return X[[name for name in names if name.rpartition(": ")[2] not in DATE_PARTS]]

    def transform(self, X: Frame, **params: Any) -> Features:
        """Return the numbers of a table; warn of columns most of whose names or words are new."""
        features = super().transform(X, **params)
        self.warn_of_new(X, features)
        return features

    def warn_of_new(self, X: Frame, features: Any) -> None:
        """Warn of columns of a table most of whose cells are unlike those of the fitted rows.

        `features` are its numbers, which tell of words.
        """
        self._warn_of_far_numbers(self._numbers_of(X))
        for name, parts, places in self.transformers_:
            if name != _NAMES:
                continue
            columns = self.feature_names_in_[places]
            for column, known in zip(columns, parts[-1].categories_, strict=True):
                cells = X[column].dropna()
                new = cells[~cells.isin(known)]
                if 2 * len(new) > len(cells):
                    warn(
                        f"the column {column!r} has names that the fitted rows do not have in "
                        f"{len(new)} of {len(X)} rows, such as {quoted(str(new.iloc[0]))}, which "
                        f"are ignored; known are {listed(known.tolist())}"
                    )
        for name, _, column in self.transformers_:
            if name.startswith(_TEXT):
                block = sparse.csr_array(features[:, self.output_indices_[name]])
                filled = np.array([bool(text.strip()) for text in X[column]], dtype=bool)
                new = np.count_nonzero(filled & (np.diff(block.indptr) == 0))
                if 2 * new > np.count_nonzero(filled):
                    warn(
                        f"the column {column!r} has no word of the fitted rows in {new} of "
                        f"{len(X)} rows; the model knows nothing about the text there"
                    )

    def _warn_of_far_numbers(self, numbers: Frame) -> None:
        """Warn of columns of numbers of which most, or one again and again, are far from known."""
        values, low, high = numbers.to_numpy(), self.lowest_, self.highest_
        far = (values > 2.0 * high - low) | (values < 2.0 * low - high)
        # In thousands, say.
        far |= (low > 0.0) & (values < low / 10.0)
        n_known, n_far = np.count_nonzero(values == values, axis=0), np.count_nonzero(far, axis=0)
        n_different = [len({*of[k].tolist()}) for of, k in zip(values.T, far.T, strict=True)]
        recur = (n_far > 1) & (2 * np.array(n_different, dtype=int) <= n_far)
        places = np.flatnonzero((low < high) & (recur | (2 * n_far > n_known)))
        if places.size:
            k = places[0]
            warn(
                "many numbers are far from those of the fitted rows in "
                f"{listed(numbers.columns[places].tolist())}, such as {values[far[:, k], k][0]:g} "
                f"where these have {low[k]:g} to {high[k]:g}; is the unit the same?"
            )

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the features."""
        full = super().get_feature_names_out(input_features)
        texts = {name: column for name, _, column in self.transformers if name.startswith(_TEXT)}
        parts = (name.partition("__") for name in full)
        short = [_short(own, texts.get(part)) for part, _, own in parts]
        repeated = {name for name, count in Counter(short).items() if count > 1}
        chosen = [name if name not in repeated else full[k] for k, name in enumerate(short)]
        return np.array(chosen, dtype=object)


def _short(name: str, text: str | None) -> str:
    """Return the name of a feature, of the column of a text or of another."""
    if text is not None:
        return f"{text}: {name}"
    column = name.removeprefix(_INDICATOR)
    return name if column == name else f"{column}: missing"


def _has_no_terms(vectorizer: TfidfVectorizer, texts: Any) -> bool:
    try:
        clone(vectorizer).fit(texts)
    except ValueError:
        return True
    return False


@dataclass(frozen=True)
class Places:
    """Finds columns of a table by name, as a part of a `TableEncoder`.

    scikit-learn searches all columns for each name, which takes long if there are many of both.
    """

    names: Sequence[str]

    def __call__(self, table: Any) -> list[int]:
        """Return the numbers of the columns."""
        return places_of(self.names, table.columns, "the table", "columns")


def _vectorizer(kind: str, min_df: int) -> TfidfVectorizer:
    runs = {"analyzer": "char", "ngram_range": (1, 3)} if kind == "characters" else {}
    return TfidfVectorizer(sublinear_tf=True, min_df=min_df, **runs)


def make_encoder(
    kinds: Mapping[str, str], *, scaling: str, n_rows: int, impute: bool = True
) -> TableEncoder:
    """Return an unfitted transformer of the columns of a table.

    By "unit" rows get length 1 afterwards. Numbers beside text or names are put on [0, 1] before,
    for a size in bytes would be all that is left of its row.
    """
    columns: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for column, kind in kinds.items():
        columns[kind].append(column)
    parts: list[tuple[str, Any, Any]] = []
    if columns["number"]:
        mixed = len(columns["number"]) < len(kinds)
        scaling = ("minmax" if mixed else "none") if scaling == "unit" else scaling
        scaler = make_scaler(scaling)
        # A number that is missing may well tell of labels.
        filler = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        steps = [step for step in (filler if impute else None, scaler) if step is not None]
        numbers = make_pipeline(*steps) if steps else "passthrough"
        parts.append((_NUMBERS, numbers, Places(columns["number"])))
    if columns["nominal"]:
        names = make_pipeline(
            SimpleImputer(strategy="constant", fill_value=MISSING),
            OneHotEncoder(handle_unknown="ignore"),
        )
        parts.append((_NAMES, names, Places(columns["nominal"])))
    min_df = 2 if n_rows >= _MANY_ROWS else 1
    parts += [
        # Not a list of one column: the vectorizer takes a sequence of texts.
        # Not by the name of the column, which may have two underscores side by side.
        (f"{_TEXT}{number}", _vectorizer(kinds[column], min_df), column)
        for number, column in enumerate([*columns["text"], *columns["characters"]])
    ]
    return TableEncoder(parts)


def with_encoder(
    classifier: BaseEstimator,
    kinds: Mapping[str, str],
    scaling: str,
    *,
    n_rows: int,
    meaning: bool = False,
) -> Pipeline:
    """Return an unfitted pipeline from the columns of a table to labels.

    With `meaning`, the meaning of the texts is an additional view of a `LabelRankerCV`.
    """
    if meaning:
        views = _views(kinds, scaling, n_rows)
        return Pipeline([("method", clone(classifier).set_params(views=views))])
    rows = make_scaler(scaling) if scaling == "unit" else None
    steps = [("table", make_encoder(kinds, scaling=scaling, n_rows=n_rows))]
    steps += [("scale", rows)] if rows is not None else []
    return Pipeline([*steps, ("method", classifier)])


def _views(kinds: Mapping[str, str], scaling: str, n_rows: int) -> list[tuple[str, Any, Any]]:
    """Return views of a table: its columns as without views, and what its texts mean."""
    texts = [column for column, kind in kinds.items() if kind in ("text", "characters")]
    embeddings = [
        (f"{_TEXT}{number}", StaticEmbedding(), column) for number, column in enumerate(texts)
    ]
    columns = make_encoder(kinds, scaling=scaling, n_rows=n_rows)
    return [
        ("columns", columns, Places(list(kinds))),
        ("meaning", TableEncoder(embeddings), Places(texts)),
    ]

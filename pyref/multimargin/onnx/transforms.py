"""Scalers, imputers, vectorizers and tables as operators of a graph."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)

from multimargin.datasets.table_encoder import TableEncoder
from multimargin.features.scales import Ranges
from multimargin.features.views import OneView, Views
from multimargin.onnx.graph import DOUBLE, Given, Graph, Node, Rows
from multimargin.onnx.inputs import CATEGORIES, NUMBERS, TEXTS, Strings
from multimargin.onnx.labels import columns
from multimargin.onnx.words import add_counts, add_one_hot, add_tfidf, add_unit_length, add_weights

_REMEDY = (
    "Export what comes after it, export(model[-1], path), and hand model[:-1].transform(X) to the "
    "file as its X."
)


def add_transformer(graph: Graph, transformer: BaseEstimator, X: Rows) -> Rows:
    """Append a fitted transformer, one of `KNOWN` or a pipeline of such, and return its output."""
    if transformer is None or transformer == "passthrough":
        return X
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            X = add_transformer(graph, step, X)
        return X
    for known, add in KNOWN.items():
        # A class that derives from one may do something else.
        if type(transformer) is known:
            added: Node = add(graph, transformer, X)
            return added
    raise ValueError(
        f"model transforms features by a {type(transformer).__name__}; expected "
        f"{', '.join(known.__name__ for known in KNOWN)}. {_REMEDY}"
    )


def _standard(graph: Graph, scaler: Any, X: Node) -> Node:
    if scaler.with_mean:
        X = graph.add("Sub", X, scaler.mean_)
    return graph.add("Div", X, scaler.scale_) if scaler.with_std else X


def _minmax(graph: Graph, scaler: Any, X: Node) -> Node:
    scaled = graph.add("Add", graph.add("Mul", X, scaler.scale_), scaler.min_)
    if not scaler.clip:
        return scaled
    low, high = (float(bound) for bound in scaler.feature_range)
    return graph.add("Min", graph.add("Max", scaled, low), high)


def _max_abs(graph: Graph, scaler: Any, X: Node) -> Node:
    scaled = graph.add("Div", X, scaler.scale_)
    if not getattr(scaler, "clip", False):
        return scaled
    return graph.add("Min", graph.add("Max", scaled, -1.0), 1.0)


def _unit(graph: Graph, scaler: Any, X: Node) -> Node:
    return add_unit_length(graph, scaler.norm, X)


def _filled(graph: Graph, imputer: Any, X: Any) -> Any:
    if isinstance(X, Given) and _kind_of(imputer) == CATEGORIES:
        X = Strings(X.take(graph, CATEGORIES, range(X.width)))
    fill = np.asarray(imputer.statistics_)
    if isinstance(X, Strings) and not imputer.add_indicator:
        return replace(X, fills=tuple(fill))
    missing = imputer.missing_values
    unusual = not (isinstance(missing, float) and np.isnan(missing))
    # Columns without any value are left out by the imputer.
    if unusual or fill.dtype.kind != "f" or np.isnan(fill).any():
        raise ValueError(
            f"model fills in missing values by {imputer!r}; expected one of numbers that are NaN, "
            "with keep_empty_features=True."
        )
    gaps = graph.add("IsNaN", X)
    filled = graph.add("Where", gaps, fill, X)
    if not imputer.add_indicator or not imputer.indicator_.features_.size:
        return filled
    told = graph.add("Gather", gaps, imputer.indicator_.features_.astype(np.int64), axis=1)
    return graph.add("Concat", filled, graph.add("Cast", told, to=DOUBLE), axis=1)


def _table(graph: Graph, table: Any, X: Rows) -> Rows:
    found = [(of, _places(table, columns)) for _, of, columns in table.transformers_]
    used = [(of, places) for of, places in found if of != "drop" and places.size]
    return _side_by_side(graph, _of_columns(graph, used, X))


def _of_columns(graph: Graph, used: list[tuple[Any, Any]], X: Rows) -> list[Rows]:
    """Append transformers, each of some columns; return the output of each."""
    of_numbers = all(_kind_of(of) == NUMBERS for of, _ in used)
    parts: list[Rows] = []
    for transformer, places in used:
        part: Any
        if of_numbers or not isinstance(X, Given):
            part = graph.add("Gather", X, places, axis=1)
        else:
            kind = _kind_of(transformer)
            part = X.take(graph, kind, places)
            part = part if kind == NUMBERS else Strings(part)
        parts.append(add_transformer(graph, transformer, part))
    return parts


def _side_by_side(graph: Graph, parts: list[Rows]) -> Rows:
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _kind_of(transformer: Any) -> str:
    """Return which input a transformer takes, by its first step."""
    steps = transformer.steps if isinstance(transformer, Pipeline) else [("", transformer)]
    first = next((step for _, step in steps if step not in (None, "passthrough")), None)
    if isinstance(first, CountVectorizer):
        return TEXTS
    if isinstance(first, OneHotEncoder):
        names = any(known.dtype.kind in "OUS" for known in first.categories_)
    else:
        names = isinstance(first, SimpleImputer) and first.statistics_.dtype.kind in "OUS"
    return CATEGORIES if names else NUMBERS


def _places(table: Any, columns: Any) -> Any:
    """Return the numbers of the columns of a part of a table, in its order."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice) or np.asarray(columns).dtype == bool:
        return np.arange(table.n_features_in_)[columns].astype(np.int64)
    names = list(getattr(table, "feature_names_in_", ()))
    places = [names.index(column) if isinstance(column, str) else column for column in columns]
    return np.asarray(places, dtype=np.int64)


def _same(graph: Graph, transformer: Any, X: Node) -> Node:
    # What a table makes of "passthrough".
    if transformer.func is not None:
        raise ValueError(
            f"model transforms features by the function {transformer.func!r}, which ONNX cannot "
            f"hold; expected {', '.join(known.__name__ for known in KNOWN)}. {_REMEDY}"
        )
    return X


def _views(graph: Graph, views: Views, X: Rows) -> Rows:
    parts: list[Any] = [X]
    if views.columns_ is not None:
        used = []
        for own in views.columns_:
            _, transformer, columns_of_view = own.transformers_[0]
            used.append((transformer, _places(own, columns_of_view)))
        parts = _of_columns(graph, used, X)
    of_views = zip(parts, views.ranges_, views.unit_length_, strict=True)
    return _side_by_side(graph, [_in_form(graph, *of_view) for of_view in of_views])


def _in_form(graph: Graph, part: Any, ranges: Ranges | None, unit: bool) -> Any:
    if ranges is not None:
        low, inverse = ranges
        part = graph.add("Mul", graph.add("Sub", part, low), 0.5 * inverse)
    return add_unit_length(graph, "l2", part) if unit else part


def _one_view(graph: Graph, view: OneView, X: Node) -> Node:
    return graph.add("Slice", X, *columns(view.start, view.stop))


KNOWN: dict[type, Callable[[Graph, Any, Any], Any]] = {
    StandardScaler: _standard,
    MinMaxScaler: _minmax,
    MaxAbsScaler: _max_abs,
    Normalizer: _unit,
    SimpleImputer: _filled,
    OneHotEncoder: add_one_hot,
    CountVectorizer: add_counts,
    TfidfTransformer: add_weights,
    TfidfVectorizer: add_tfidf,
    FunctionTransformer: _same,
    ColumnTransformer: _table,
    TableEncoder: _table,
    Views: _views,
    OneView: _one_view,
}
"""The transformers that can be exported."""

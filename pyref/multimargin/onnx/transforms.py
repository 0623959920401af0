"""Scalers, imputers and tables of numbers as operators of a graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    StandardScaler,
)

from multimargin.datasets.table_encoder import TableEncoder
from multimargin.onnx.graph import Graph, Node

_REMEDY = (
    "Export what comes after it, export(model[-1], path), and hand model[:-1].transform(X) to the "
    "file as its X."
)


def add_transformer(graph: Graph, transformer: Any, X: Node) -> Node:
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
            return add(graph, transformer, X)
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
    if scaler.norm == "max":
        norm = graph.add("ReduceMax", graph.add("Abs", X), axes=[1])
    else:
        norm = graph.add({"l1": "ReduceL1", "l2": "ReduceL2"}[scaler.norm], X, axes=[1])
    # A row of zeros stays one.
    is_zero = graph.add("Equal", norm, 0.0)
    return graph.add("Div", X, graph.add("Where", is_zero, 1.0, norm))


def _filled(graph: Graph, imputer: Any, X: Node) -> Node:
    fill = np.asarray(imputer.statistics_)
    missing = imputer.missing_values
    unusual = imputer.add_indicator or not (isinstance(missing, float) and np.isnan(missing))
    # Columns without any value are left out by the imputer.
    if unusual or fill.dtype.kind != "f" or np.isnan(fill).any():
        raise ValueError(
            f"model fills in missing values by {imputer!r}; expected one of numbers that are NaN, "
            "without indicators, with keep_empty_features=True."
        )
    return graph.add("Where", graph.add("IsNaN", X), fill, X)


def _table(graph: Graph, table: Any, X: Node) -> Node:
    parts = []
    for name, transformer, columns in table.transformers_:
        if transformer == "drop":
            continue
        places = _places(table, columns)
        if places.size == 0:
            continue
        if isinstance(transformer, Pipeline):
            steps = [step for _, step in transformer.steps]
        else:
            steps = [transformer]
        if any(not isinstance(step, str) and type(step) not in KNOWN for step in steps):
            raise ValueError(
                f"model has columns that are no numbers ({name!r}: {_shown(table, places)}); "
                f"expected a table of numbers. {_REMEDY}"
            )
        parts.append(add_transformer(graph, transformer, graph.add("Gather", X, places, axis=1)))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _places(table: Any, columns: Any) -> Any:
    """Return the numbers of the columns of a part of a table, in its order."""
    if isinstance(columns, str):
        columns = [columns]
    if isinstance(columns, slice) or np.asarray(columns).dtype == bool:
        return np.arange(table.n_features_in_)[columns].astype(np.int64)
    names = list(getattr(table, "feature_names_in_", ()))
    places = [names.index(column) if isinstance(column, str) else column for column in columns]
    return np.asarray(places, dtype=np.int64)


def _shown(table: Any, places: Any) -> str:
    names = getattr(table, "feature_names_in_", None)
    shown = [str(place if names is None else names[place]) for place in places[:5]]
    return ", ".join(shown) + (", ..." if len(places) > 5 else "")


def _same(graph: Graph, transformer: Any, X: Node) -> Node:
    # What a table makes of "passthrough".
    if transformer.func is not None:
        raise ValueError(
            f"model transforms features by the function {transformer.func!r}, which ONNX cannot "
            f"hold; expected {', '.join(known.__name__ for known in KNOWN)}. {_REMEDY}"
        )
    return X


KNOWN: dict[type, Callable[[Graph, Any, Node], Node]] = {
    StandardScaler: _standard,
    MinMaxScaler: _minmax,
    MaxAbsScaler: _max_abs,
    Normalizer: _unit,
    SimpleImputer: _filled,
    FunctionTransformer: _same,
    ColumnTransformer: _table,
    TableEncoder: _table,
}
"""The transformers that can be exported."""

"""Scores and predictions of rows on many machines, part by part."""

from collections.abc import Callable
from typing import Any

import numpy as np
from dask import delayed

from multimargin.dask.inputs import FileSource, _are_paths, _blocks, _files
from multimargin.dask.parts import Pairs


def label_scores(
    model: Any, X: Any, *, read_options: dict[str, Any] | None = None, y: Any = None
) -> Any:
    """Return the scores of all labels, lazily.

    Parameters
    ----------
    model : estimator
        A fitted estimator with `label_scores`.
    X : dask array or data frame, list of delayed or futures, or paths
        Features, as for `fit`.
    read_options : dict or None, default=None
        As for `fit`.
    y : list of str or None, default=None
        Label columns of parquet files, which are left out of the features.

    Returns
    -------
    dask array of shape (n, q), or list of delayed
        The scores: a dask array for a dask array or data frame, else one delayed array a part.
    """
    return _mapped(model, X, "label_scores", np.float64, read_options, y)


def predict(
    model: Any, X: Any, *, read_options: dict[str, Any] | None = None, y: Any = None
) -> Any:
    """Predict the relevant labels, lazily.

    Parameters
    ----------
    model : estimator
        A fitted estimator with `predict`.
    X : dask array or data frame, list of delayed or futures, or paths
        Features, as for `fit`.
    read_options : dict or None, default=None
        As for `fit`.
    y : list of str or None, default=None
        Label columns of parquet files, which are left out of the features.

    Returns
    -------
    dask array of shape (n, q), or list of delayed
        Label indicator: a dask array for a dask array or data frame, else one delayed array a part.
    """
    return _mapped(model, X, "predict", np.int64, read_options, y)


def _mapped(
    model: Any, X: Any, method: str, dtype: Any, read_options: dict[str, Any] | None, y: Any
) -> Any:
    import dask.array as da

    shared = delayed(model, pure=True, traverse=False)
    if _are_paths(X):
        sources = _files(X, y, Pairs(), read_options or {}).sources
        return [delayed(_of_file)(shared, method, source) for source in sources]
    blocks = [delayed(_of_rows)(shared, method, block) for block in _blocks("X", X)]
    if isinstance(X, list | tuple):
        return blocks
    q = len(model.classes_)
    chunks = getattr(X, "chunks", None)
    rows = chunks[0] if chunks is not None else [np.nan] * len(blocks)
    arrays = [
        da.from_delayed(block, shape=(n, q), dtype=dtype)
        for block, n in zip(blocks, rows, strict=True)
    ]
    return da.concatenate(arrays, axis=0, allow_unknown_chunksizes=True)


def _of_rows(model: Any, method: str, X: Any) -> Any:
    ask: Callable[[Any], Any] = getattr(model, method)
    return ask(X)


def _of_file(model: Any, method: str, source: FileSource) -> Any:
    return _of_rows(model, method, source.rows()[0])

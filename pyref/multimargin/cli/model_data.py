"""Data in the order and storage of the model of a file."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from multimargin.checks.names import listed, places_of
from multimargin.cli.table_options import is_table

if TYPE_CHECKING:
    from multimargin.model_files import ModelInfo


def features_of(info: "ModelInfo", data: Any) -> Any:
    """Return the model's features among those of a data set, or of a table for one fitted to it."""
    if not info.data_name:
        raise ValueError(
            "the model was saved in Python, without a word about the data that it takes; "
            "expected one that multimargin fit wrote: use this one in Python, by load_model"
        )
    if (info.table is not None) != is_table(data):
        found, expected = ("another kind of file", "a table, as the model was fitted to one")
        if info.table is None:
            found, expected = ("a table", "the kind of file that the model was fitted to")
        raise ValueError(f"{data.name} is {found}; expected {expected}")
    if info.table is not None:
        return data.X[list(info.feature_names)]
    X = _columns("features", info.feature_names, data.feature_names, data.X, data.name)
    # Some scalers take only the kind of storage that they were fitted to.
    if info.sparse:
        return sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X


def labels_of(info: "ModelInfo", data: Any) -> Any:
    """Return the labels of a data set in the order of the model."""
    unknown = sorted(set(data.label_names) - set(info.label_names))
    if unknown:
        raise ValueError(
            f"{data.name} has {len(unknown)} label(s) that the model does not know: "
            f"{listed(unknown)}"
        )
    return _columns("labels", info.label_names, data.label_names, data.Y, data.name)


def _columns(
    kind: str, wanted: Sequence[str], found: Sequence[str], matrix: Any, source: str
) -> Any:
    """Return the columns with the names that are wanted, in their order."""
    if tuple(wanted) == tuple(found):
        return matrix
    return matrix[:, np.array(places_of(wanted, found, source, f"{kind} of the model"), np.intp)]

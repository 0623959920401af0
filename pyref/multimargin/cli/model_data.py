"""Data in the order and storage of the model of a file."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from multimargin.checks.names import places_of
from multimargin.cli.table_options import check_kind, is_table
from multimargin.targets.given import Given, column_of
from multimargin.targets.indicator import with_nan
from multimargin.targets.reading import Labels, read_targets

if TYPE_CHECKING:
    from multimargin.cli.table_options import Data
    from multimargin.model_files import ModelInfo
    from multimargin.typing import Features, Frame, Marks


def features_of(info: "ModelInfo", data: "Data") -> "Features | Frame":
    """Return the model's features among those of a data set, or of a table for one fitted to it."""
    check_kind(info, data.name, table=is_table(data))
    X: Any = data.X
    if info.table is not None:
        return X[list(info.feature_names)]
    if tuple(info.feature_names) != tuple(data.feature_names):
        places = places_of(
            info.feature_names, data.feature_names, data.name, "features of the model"
        )
        X = X[:, np.array(places, np.intp)]
    # Some scalers accept only the kind of storage that they were fitted to.
    if info.sparse:
        return sparse.csr_array(X)
    return X.toarray() if sparse.issparse(X) else X


def labels_of(info: "ModelInfo", data: "Data") -> "Marks":
    """Return the labels of a data set in the order of the model."""
    given = Given("indicator", data.Y, names=column_of(data.label_names))
    names = column_of(info.label_names)
    labels = Labels(np.arange(names.size), label_names=names)
    return with_nan(
        read_targets(given, unknown="take", labels=labels, name=data.name).indicator
    ).astype(data.Y.dtype)

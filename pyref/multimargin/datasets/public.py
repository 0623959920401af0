"""Public data sets by name: from a local folder, else from OpenML."""

import os
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_openml

from multimargin.datasets._nominal import Attribute, feature_matrix
from multimargin.datasets.files import load_folder
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.public_names import (
    FOLDER_VARIABLE,
    OPENML,
    local_folder,
    unknown_name,
)
from multimargin.datasets.table_cells import label_value


def fetch(name: str, *, data_home: str | os.PathLike[str] | None = None) -> MultilabelData:
    """Return a public data set, from a local folder or by download from OpenML."""
    key = str(name).strip()
    folder = local_folder(key)
    if folder is not None:
        return load_folder(folder, name=key)
    entry = OPENML.get(key.lower())
    if entry is None:
        raise ValueError(unknown_name(key))
    try:
        with warnings.catch_warnings():
            # The result of the second try says whether it helped.
            warnings.filterwarnings("ignore", message="A network error occurred")
            bunch = fetch_openml(
                data_id=entry[0],
                as_frame=False,
                parser="liac-arff",
                data_home=None if data_home is None else str(data_home),
                n_retries=1,
            )
    except OSError as error:
        raise ConnectionError(
            f"data set {key!r} is not in the folder that {FOLDER_VARIABLE} names "
            f"({os.environ.get(FOLDER_VARIABLE)}) and cannot be downloaded from OpenML (data set "
            f"{entry[0]}): {error}. Without a network, put MULAN's files into its folder {key!r}"
        ) from error
    return _as_data(bunch, key.lower(), entry)


def _as_data(bunch: Any, name: str, entry: tuple[int, int, int]) -> MultilabelData:
    number, n_samples, n_labels = entry
    target = bunch.target.toarray() if sparse.issparse(bunch.target) else np.asarray(bunch.target)
    if target.shape != (n_samples, n_labels):
        raise ValueError(
            f"data set {number} of OpenML has labels of shape {target.shape}; expected "
            f"{n_samples} rows and {n_labels} labels as in {name}"
        )
    written, codes = np.unique(target.astype(str), return_inverse=True)
    meant = [label_value(text) for text in written.tolist()]
    strange = [text for text, value in zip(written, meant, strict=True) if value not in (0.0, 1.0)]
    if strange:
        raise ValueError(
            f"data set {number} of OpenML has labels with the value {str(strange[0])!r}, "
            "expected TRUE, FALSE"
        )
    Y = np.array(meant, dtype=np.int64)[codes].reshape(target.shape)
    categories = bunch.categories or {}
    attributes = [
        Attribute(feature, tuple(categories[feature]) if feature in categories else None)
        for feature in bunch.feature_names
    ]
    values = bunch.data.tocsc() if sparse.issparse(bunch.data) else bunch.data
    X, feature_names = feature_matrix(values, attributes)
    return MultilabelData(
        X=X, Y=Y, feature_names=feature_names, label_names=bunch.target_names, name=name
    )

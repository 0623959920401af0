"""Public data sets by name: from a local folder, else from OpenML."""

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_openml

from multimargin.checks.names import did_you_mean
from multimargin.datasets._nominal import Attribute, feature_matrix
from multimargin.datasets.files import load_folder
from multimargin.datasets.multilabel_data import MultilabelData

FOLDER_VARIABLE = "MULTIMARGIN_DATA"
"""Environment variable with the folder that is looked into first."""


# The MULAN data sets that the benchmark of the R package mlr put on OpenML: number, rows, labels.
_OPENML = {
    "birds": (40588, 645, 19),
    "emotions": (40589, 593, 6),
    "enron": (40590, 1702, 53),
    "genbase": (40591, 662, 27),
    "image": (40592, 2000, 5),
    "langlog": (40593, 1460, 75),
    "reuters": (40594, 2000, 7),
    "scene": (40595, 2407, 6),
    "slashdot": (40596, 3782, 22),
    "yeast": (40597, 2417, 14),
}


def fetch(name: str, *, data_home: str | os.PathLike[str] | None = None) -> MultilabelData:
    """Return a public data set, from a local folder or by download from OpenML."""
    key = str(name).strip()
    folder = local_folder(key)
    if folder is not None:
        return load_folder(folder, name=key)
    entry = _OPENML.get(key.lower())
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


def available() -> tuple[str, ...]:
    """Return the names of public data sets that `load` accepts.

    Returns
    -------
    tuple of str
        Sorted: the folders in the one that ``MULTIMARGIN_DATA`` names, and what OpenML has.
    """
    home = os.environ.get(FOLDER_VARIABLE)
    local = (
        {folder.name for folder in Path(home).iterdir() if folder.is_dir()}
        if home and Path(home).is_dir()
        else set()
    )
    return tuple(sorted(local | set(_OPENML)))


def unknown_name(name: str, others: tuple[str, ...] = ()) -> str:
    """Say that there is no data set of a name, with the nearest one and all there are."""
    names = (*others, *available())
    hint = did_you_mean(name, names)
    return f"there is no data set or file {name!r}{hint}; expected one of {', '.join(names)}"


def local_folder(name: str) -> Path | None:
    """Return the folder of a data set in the one that ``MULTIMARGIN_DATA`` names."""
    home = os.environ.get(FOLDER_VARIABLE)
    if not home or Path(name).name != name or name in ("", ".."):
        return None
    folder = Path(home) / name
    return folder if folder.is_dir() else None


def _as_data(bunch: Any, name: str, entry: tuple[int, int, int]) -> MultilabelData:
    number, n_samples, n_labels = entry
    target = bunch.target.toarray() if sparse.issparse(bunch.target) else np.asarray(bunch.target)
    if target.shape != (n_samples, n_labels):
        raise ValueError(
            f"data set {number} of OpenML has labels of shape {target.shape}; expected "
            f"{n_samples} rows and {n_labels} labels as in {name}"
        )
    texts = np.char.upper(target.astype(str))
    relevant = np.isin(texts, ("TRUE", "1", "1.0"))
    strange = ~(relevant | np.isin(texts, ("FALSE", "0", "0.0")))
    if strange.any():
        raise ValueError(
            f"data set {number} of OpenML has labels with the value {str(target[strange][0])!r}, "
            "expected TRUE, FALSE"
        )
    categories = bunch.categories or {}
    attributes = [
        Attribute(feature, tuple(categories[feature]) if feature in categories else None)
        for feature in bunch.feature_names
    ]
    values = bunch.data.tocsc() if sparse.issparse(bunch.data) else bunch.data
    X, feature_names = feature_matrix(values, attributes)
    Y = relevant.astype(np.int64)
    return MultilabelData(
        X=X, Y=Y, feature_names=feature_names, label_names=bunch.target_names, name=name
    )

"""Public data sets by name: from a local folder, else from OpenML."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import fetch_openml

from multimargin.checks.names import did_you_mean
from multimargin.datasets._nominal import Attribute, feature_matrix
from multimargin.datasets.files import load_folder
from multimargin.datasets.multilabel_data import MultilabelData

FOLDER_VARIABLE = "MULTIMARGIN_DATA"
"""Environment variable with the folder that is looked into first."""


@dataclass(frozen=True)
class _OpenMLEntry:
    """What is at OpenML under a number, and what the collection says it should be."""

    data_id: int
    n_samples: int
    n_labels: int


# The MULAN data sets that the benchmark of the R package mlr put on OpenML.
_OPENML = {
    "birds": _OpenMLEntry(40588, 645, 19),
    "emotions": _OpenMLEntry(40589, 593, 6),
    "enron": _OpenMLEntry(40590, 1702, 53),
    "genbase": _OpenMLEntry(40591, 662, 27),
    "image": _OpenMLEntry(40592, 2000, 5),
    "langlog": _OpenMLEntry(40593, 1460, 75),
    "reuters": _OpenMLEntry(40594, 2000, 7),
    "scene": _OpenMLEntry(40595, 2407, 6),
    "slashdot": _OpenMLEntry(40596, 3782, 22),
    "yeast": _OpenMLEntry(40597, 2417, 14),
}

_TRUE, _FALSE = ("TRUE", "True", "true", "1", "1.0"), ("FALSE", "False", "false", "0", "0.0")


def fetch(name: str, *, data_home: str | os.PathLike[str] | None = None) -> MultilabelData:
    """Return a public data set, from a local folder or by download from OpenML.

    Parameters
    ----------
    name : str
        A folder of that name in the folder that the environment variable ``MULTIMARGIN_DATA``
        names, read by `load`; else one of those that `available` lists, from OpenML.
    data_home : str, path-like or None, default=None
        Where downloads are kept; None is scikit-learn's folder, ``~/scikit_learn_data``.

    Returns
    -------
    MultilabelData
        The data set. From OpenML it has no splits: these files are not the official train and test
        parts.

    Raises
    ------
    ConnectionError
        If the data set is not in the local folder and cannot be downloaded.
    ValueError
        If there is no data set of that name, or the download is damaged or not what it should be.

    Notes
    -----
    A download is made once. Its checksum is compared by `sklearn.datasets.fetch_openml`, its number
    of rows and labels with those that the collection publishes.
    """
    key = str(name).strip()
    folder = _local_folder(key)
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
                data_id=entry.data_id,
                as_frame=False,
                parser="liac-arff",
                data_home=None if data_home is None else str(data_home),
                n_retries=1,
            )
    except OSError as error:
        raise ConnectionError(
            f"data set {key!r} is not in the local folder ({_local_description()}) and cannot be "
            f"downloaded from OpenML (data set {entry.data_id}): {error}. Without a network, put "
            f"MULAN's files into a folder {key!r} and set {FOLDER_VARIABLE} to the folder above it"
        ) from error
    return _as_data(bunch, key.lower(), entry)


def available() -> tuple[str, ...]:
    """Return the names that `fetch` accepts.

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


def _local_folder(name: str) -> Path | None:
    home = os.environ.get(FOLDER_VARIABLE)
    if not home or Path(name).name != name or name in ("", ".."):
        return None
    folder = Path(home) / name
    return folder if folder.is_dir() else None


def _local_description() -> str:
    home = os.environ.get(FOLDER_VARIABLE)
    return f"{FOLDER_VARIABLE}={home}" if home else f"{FOLDER_VARIABLE} is not set"


def _as_data(bunch: Any, name: str, entry: _OpenMLEntry) -> MultilabelData:
    source = f"data set {entry.data_id} of OpenML"
    Y = _indicator(bunch.target, source).astype(np.int64)
    if Y.shape != (entry.n_samples, entry.n_labels):
        raise ValueError(
            f"{source} has {Y.shape[0]} rows and {Y.shape[1]} labels, expected {entry.n_samples} "
            f"and {entry.n_labels} as in {name}"
        )
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


def _indicator(target: Any, source: str) -> NDArray[np.uint8]:
    values = target.toarray() if sparse.issparse(target) else np.asarray(target)
    if values.ndim != 2:
        raise ValueError(f"{source} has one target, expected one column a label")
    texts = values.astype(str)
    relevant, irrelevant = np.isin(texts, _TRUE), np.isin(texts, _FALSE)
    strange = ~(relevant | irrelevant)
    if strange.any():
        raise ValueError(
            f"{source} has labels with the value {str(texts[strange][0])!r}, expected TRUE, FALSE"
        )
    return np.ascontiguousarray(relevant, dtype=np.uint8)

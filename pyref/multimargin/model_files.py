"""Fitted models in files, with the names of their features and labels."""

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO

import joblib
import numpy as np
from scipy import sparse

from multimargin.datasets import MultilabelData
from multimargin.datasets._paths import existing_file, path_to_write

_MAGIC = b"multimargin model\n"
_FORMAT = 1
# A header of more is none of ours; one line for each of a million names would fit.
_MAX_HEADER = 2**28


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says about its model, readable without loading it.

    Parameters
    ----------
    method : str
        Name of the method, see `multimargin.methods`.
    feature_names, label_names : tuple of str
        Names of the d features and q labels, in the order of the model.
    sparse : bool
        Whether the features of the training rows were stored sparse.
    data_name, split : str
        What it was fitted to.
    version : str
        Version of multimargin that wrote the file.
    """

    method: str
    feature_names: tuple[str, ...]
    label_names: tuple[str, ...]
    sparse: bool
    data_name: str
    split: str
    version: str

    def features_of(self, data: MultilabelData) -> Any:
        """Return the features of a data set in the order and storage of the model.

        Parameters
        ----------
        data : MultilabelData
            Data with the model's features among its own, in any order.

        Returns
        -------
        {ndarray, csr_array} of shape (n, d)
            The features.

        Raises
        ------
        ValueError
            If a feature is missing.
        """
        columns = _places("features", self.feature_names, data.feature_names, data.name)
        return self.stored(data.X if columns is None else data.X[:, columns])

    def labels_of(self, data: MultilabelData) -> Any:
        """Return the labels of a data set in the order of the model.

        Parameters
        ----------
        data : MultilabelData
            Data with the model's labels, in any order.

        Returns
        -------
        ndarray of shape (n, q)
            The label indicator.

        Raises
        ------
        ValueError
            If a label is missing, or one is none of the model's.
        """
        unknown = sorted(set(data.label_names) - set(self.label_names))
        if unknown:
            raise ValueError(
                f"{data.name} has {len(unknown)} label(s) that the model does not know: "
                f"{_first_names(unknown)}"
            )
        columns = _places("labels", self.label_names, data.label_names, data.name)
        return data.Y if columns is None else data.Y[:, columns]

    def stored(self, X: Any) -> Any:
        """Return features as they were stored in training, since some scalers take only one kind.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            Features.

        Returns
        -------
        {ndarray, csr_array} of shape (n, d)
            CSR if the model was fitted to sparse features.
        """
        if self.sparse:
            return sparse.csr_array(X)
        return X.toarray() if sparse.issparse(X) else X


def save_model(model: Any, info: ModelInfo, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        The fitted estimator or pipeline, which joblib can pickle.
    info : ModelInfo
        What it is.
    path : str or path-like
        The file, which is replaced where it exists.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    """
    file = path_to_write(path, "path")
    header = {"format": _FORMAT, "scikit-learn": version("scikit-learn")} | asdict(info)
    # A file cut short by an error would look like a model.
    unfinished = file.with_name(f".{file.name}.unfinished")
    try:
        with unfinished.open("wb") as stream:
            stream.write(_MAGIC)
            stream.write(json.dumps(header).encode() + b"\n")
            joblib.dump(model, stream)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def load_model(path: str | os.PathLike[str]) -> tuple[Any, ModelInfo]:
    """Read a fitted model from a file.

    Parameters
    ----------
    path : str or path-like
        A file that `save_model` wrote. **Load only files that you trust**: the model in it is a
        pickle, and a file made for the purpose runs any code when it is loaded. Files of other
        origin are refused before they are unpickled, but this does not protect from forged ones.

    Returns
    -------
    model : estimator
        The fitted estimator or pipeline.
    info : ModelInfo
        What it is.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it is no model, is damaged, or is of a format that this version does not know.

    Warns
    -----
    UserWarning
        If it was written by another version of multimargin or scikit-learn.
    """
    file = existing_file(path, "path")
    with file.open("rb") as stream:
        info = _read_info(stream, file)
        try:
            model = joblib.load(stream)
        except Exception as error:  # unpickling can raise anything
            raise ValueError(
                f"path: the model in {file} cannot be loaded; it is damaged, or was written by "
                f"multimargin {info.version} with versions of libraries that do not fit those "
                f"here: {type(error).__name__}: {error}"
            ) from error
    return model, info


def _read_info(stream: BinaryIO, file: Path) -> ModelInfo:
    if stream.read(len(_MAGIC)) != _MAGIC:
        raise ValueError(
            f"path: {file} is no model of multimargin, expected a file that multimargin fit wrote"
        )
    try:
        header = json.loads(stream.readline(_MAX_HEADER))
        found = header["format"]
        if found == _FORMAT:
            values: dict[str, Any] = {field.name: header[field.name] for field in fields(ModelInfo)}
            for kind in ("feature_names", "label_names"):
                values[kind] = tuple(values[kind])
            info = ModelInfo(**values)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"path: the header of {file} is damaged or cut short") from error
    if found != _FORMAT:
        raise ValueError(
            f"path: {file} has format {found}, expected {_FORMAT}: it was written by multimargin "
            f"{header.get('version')}, this is {version('multimargin')}"
        )
    if info.version != version("multimargin"):
        warnings.warn(
            f"{file} was written by multimargin {info.version}, this is {version('multimargin')}",
            UserWarning,
            stacklevel=3,
        )
    return info


def _places(
    kind: str, wanted: Sequence[str], found: Sequence[str], source: str
) -> np.ndarray[Any, np.dtype[np.intp]] | None:
    """Return the columns to take, None for all as they are."""
    if tuple(wanted) == tuple(found):
        return None
    place = {name: column for column, name in enumerate(found)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise ValueError(
            f"{source} lacks {len(missing)} of the {len(wanted)} {kind} of the model: "
            f"{_first_names(missing)}"
        )
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _first_names(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")

"""Reader of multi-label data sets in NumPy's .npz files."""

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from multimargin.datasets._paths import existing_file
from multimargin.datasets.multilabel_data import MultilabelData

_CSR = ("data", "indices", "indptr", "shape")


def load_npz(path: str | os.PathLike[str], *, name: str | None = None) -> MultilabelData:
    """Load a multi-label data set from a NumPy archive.

    Parameters
    ----------
    path : str or path-like
        The file, see Notes.
    name : str or None, default=None
        Name of the data set; None takes the file's name.

    Returns
    -------
    MultilabelData
        Sparse if the features are stored as CSR.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is no archive of NumPy, arrays are missing, or they do not fit together.

    Notes
    -----
    The archive holds ``Y``, of shape (n, q), and either ``X``, of shape (n, d), or its CSR arrays
    ``data``, ``indices``, ``indptr`` and ``shape``, named as in `scipy.sparse.save_npz`. It may
    hold ``feature_names`` and ``label_names``, and row numbers from 0 of splits: ``train_idx``,
    ``test_idx`` and any other that ends in ``_idx``. Arrays of Python objects are refused, since
    reading them can run code.
    """
    file = existing_file(path, "path")
    arrays = _read_arrays(file)
    try:
        return MultilabelData(
            X=_features(arrays),
            Y=arrays["Y"],
            feature_names=arrays.get("feature_names", ()),
            label_names=arrays.get("label_names", ()),
            name=file.stem if name is None else name,
            splits={
                key.removesuffix("_idx"): rows
                for key, rows in arrays.items()
                if key.endswith("_idx")
            },
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"path: {file}: {error}") from error


def _read_arrays(file: Path) -> dict[str, Any]:
    # Anything else NumPy takes for a pickle, and says so.
    if not zipfile.is_zipfile(file):
        raise ValueError(f"path: {file} is not .npz, an archive of NumPy arrays, or is cut short")
    try:
        with np.load(file, allow_pickle=False) as content:
            arrays = dict(content)
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"path: {file} cannot be read as .npz: {error}") from error
    if "Y" not in arrays or not ("X" in arrays or all(key in arrays for key in _CSR)):
        raise ValueError(
            f"path: {file} has the arrays {sorted(arrays)}, expected Y and either X or "
            f"{', '.join(_CSR)}"
        )
    return arrays


def _features(arrays: dict[str, Any]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    data, indices, indptr, shape = (arrays[key] for key in _CSR)
    X = sparse.csr_array((data, indices, indptr), shape=tuple(map(int, shape)))
    X.check_format(full_check=True)
    return X

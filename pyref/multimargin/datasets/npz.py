"""Reader of multi-label data sets in NumPy's .npz files."""

import os
import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import MAX_FEATURES, check_width, reading
from multimargin.datasets.multilabel_data import MultilabelData

_CSR = ("data", "indices", "indptr", "shape")
# Maximum expansion of a byte by deflate, the compression of these archives.
_DEFLATE_RATIO = 1032


def load_npz(
    path: str | os.PathLike[str], *, name: str | None = None, max_features: int = MAX_FEATURES
) -> MultilabelData:
    """Load a multi-label data set from a NumPy archive.

    Parameters
    ----------
    path : str or path-like
        The file, see Notes.
    name : str or None, default=None
        Name of the data set; None takes the file's name.
    max_features : int, default=10_000_000
        Files that claim more features are refused as damaged.

    Returns
    -------
    MultilabelData
        Sparse if the features are stored as CSR.

    Raises
    ------
    ValueError
        If the file is not a NumPy archive, is damaged or claims more than `max_features`, arrays
        are missing, or they do not fit together.

    Notes
    -----
    The archive holds ``Y``, of shape (n, q), and either ``X``, of shape (n, d), or its CSR arrays
    ``data``, ``indices``, ``indptr`` and ``shape``, named as in `scipy.sparse.save_npz`. It may
    hold ``feature_names``, ``label_names`` and ``sample_names``, and row numbers from 0 of splits:
    ``train_idx``, ``test_idx`` and any other that ends in ``_idx``. Arrays of Python objects are
    refused, since reading them can run code.
    """
    file = existing_file(path, "path")
    with reading(file, "path"):
        arrays = _read_arrays(file)
        X = _features(arrays)
        check_width(X.shape[-1], file, "path", "max_features", max_features)
        return MultilabelData(
            X=X,
            Y=arrays["Y"],
            feature_names=arrays.get("feature_names", ()),
            label_names=arrays.get("label_names", ()),
            sample_names=arrays.get("sample_names", ()),
            name=file.stem if name is None else name,
            splits={
                key.removesuffix("_idx"): rows
                for key, rows in arrays.items()
                if key.endswith("_idx")
            },
        )


def _read_arrays(file: Path) -> dict[str, Any]:
    # NumPy treats anything else as a pickle, and its error says so.
    with file.open("rb") as stream:
        is_archive = zipfile.is_zipfile(stream)
    if not is_archive:
        raise ValueError(f"path: {file} is not .npz, an archive of NumPy arrays, or is cut short")
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            check_size_of_array(archive, member)
    with np.load(file, allow_pickle=False) as content:
        arrays = dict(content)
    if "Y" not in arrays or not ("X" in arrays or all(key in arrays for key in _CSR)):
        raise ValueError(
            f"path: {file} has the arrays {sorted(arrays)}; expected Y and either X or "
            f"{', '.join(_CSR)}"
        )
    return arrays


def check_size_of_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, kinds: str = "buifUS"
) -> None:
    """Check that an array is as large as its header claims, before NumPy makes room for it.

    `kinds` are those of its dtype that may be.
    """
    if member.file_size > _DEFLATE_RATIO * (member.compress_size + 1):
        raise ValueError(
            f"{member.filename} claims {member.file_size:,} bytes in {member.compress_size:,} "
            "compressed ones"
        )
    with archive.open(member) as stream:
        try:
            major, _ = np.lib.format.read_magic(stream)
            read_header = getattr(np.lib.format, f"read_array_header_{major}_0")
            shape, _, dtype = read_header(stream)
        except Exception as error:
            # NumPy evaluates the header as a literal, which raises nearly anything.
            raise ValueError(f"{member.filename} has a header that is not NumPy's") from error
        if dtype.kind not in kinds:
            raise ValueError(f"{member.filename} has dtype {dtype}; expected numbers or text")
        size = prod(shape) * dtype.itemsize
        if min(shape, default=0) < 0 or stream.tell() + size != member.file_size:
            raise ValueError(
                f"{member.filename} has {member.file_size - stream.tell():,} bytes; expected "
                f"{size:,} for the shape {shape}"
            )


def _features(arrays: dict[str, Any]) -> Any:
    if "X" in arrays:
        if arrays["X"].ndim != 2:
            raise ValueError(f"X has {arrays['X'].ndim} dimension(s); expected 2")
        return arrays["X"]
    data, indices, indptr, shape = (arrays[key] for key in _CSR)
    if indices.ndim != 1 or indptr.ndim != 1 or not indptr.dtype.kind == indices.dtype.kind == "i":
        raise ValueError("indices and indptr: expected one dimension of integers each")
    X = sparse.csr_array((data, indices, indptr), shape=tuple(map(int, shape)))
    X.check_format(full_check=True)
    return X

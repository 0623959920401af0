"""Reader of multi-label data sets in MATLAB files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from multimargin.checks.paths import existing_file
from multimargin.datasets._matlab import HDF5Error, NotNumeric, read_matlab
from multimargin.datasets._reading import (
    MAX_FEATURES,
    check_label_cells,
    check_width,
    reading,
)
from multimargin.datasets.multilabel_data import MultilabelData

# Names in use, in lower case and without underscores, once "train" or "test" is taken off.
_FEATURE_NAMES = frozenset({"x", "data", "features", "feature", "fea", "instances"})
_LABEL_NAMES = frozenset({"y", "target", "targets", "labels", "label"})


def load_mat(
    path: str | os.PathLike[str],
    X: str | None = None,
    Y: str | None = None,
    *,
    X_test: str | None = None,
    Y_test: str | None = None,
    name: str | None = None,
    max_features: int = MAX_FEATURES,
) -> MultilabelData:
    """Load a multi-label data set from a MATLAB file of version 4, 5, 6 or 7.

    Parameters
    ----------
    path : str or path-like
        The file.
    X, Y : str or None, default=None
        Names of the variables with features (n x d) and labels (n x q or q x n). None for both
        looks for usual names, see Notes.
    X_test, Y_test : str or None, default=None
        Names of the variables with a test part; only together with `X` and `Y`, which are then the
        training part.
    name : str or None, default=None
        Name of the data set; None takes the file's name.
    max_features : int, default=100_000_000
        Files that claim more features are refused as damaged.

    Returns
    -------
    MultilabelData
        Sparse if the features are stored sparse. With a "train" split, and a "test" split, when the
        file holds such parts.

    Raises
    ------
    ValueError
        If the file is damaged or of version 7.3, variables are missing or ambiguous, shapes do not
        agree, or labels are neither {0, 1} nor {-1, +1}.

    Notes
    -----
    Usual names are, in any case and with or without underscores, ``X``, ``data``, ``features``,
    ``fea`` or ``instances`` for features and ``Y``, ``target(s)`` or ``label(s)`` for labels, by
    themselves or with ``train`` or ``test`` before or after them: ``train_data`` and
    ``train_target``, ``X_test`` and ``Y_test``.

    Labels are turned so that they have n rows; for a square label matrix this cannot be decided and
    is refused. Labels in {-1, +1} become {0, 1}.
    """
    file = existing_file(path, "path")
    variables = _read_variables(file)
    named = {"X": X, "Y": Y, "X_test": X_test, "Y_test": Y_test}
    if any(variable is not None for variable in named.values()):
        pairs = _named_pairs(named, variables)
    else:
        pairs = _usual_pairs(variables, file)
    if name is None:
        name = file.stem
    parts = {}
    with reading(file, "path"):
        for split, (features, labels) in pairs.items():
            matrix = _numeric_matrix(variables[features], features)
            check_width(matrix.shape[1], file, "path", "max_features", max_features)
            indicator = _label_matrix(variables[labels], labels, matrix.shape[0], file)
            parts[split] = MultilabelData(X=matrix, Y=indicator, name=name)
        if "" in parts:
            return parts[""]
        return MultilabelData.concatenate(parts, name=name)


def _read_variables(file: Path) -> dict[str, Any]:
    with reading(file, "path"):
        try:
            return read_matlab(file)
        except HDF5Error as error:
            raise ValueError(
                f"path: {file} is a MATLAB file of version 7.3 (HDF5), expected version 7 or "
                "older; in MATLAB, load it and save it with the option '-v7'"
            ) from error
        except Exception as error:
            if isinstance(error, OSError):
                raise
            raise ValueError(
                f"path: {file} is not a MATLAB file, or is damaged: {error}"
            ) from error


def _named_pairs(
    named: Mapping[str, str | None], variables: Mapping[str, Any]
) -> dict[str, tuple[str, str]]:
    for argument, variable in named.items():
        if variable is not None and variable not in variables:
            raise ValueError(
                f"{argument}: found {variable!r}, expected one of the file's variables "
                f"{sorted(variables)}"
            )
    features, labels = named["X"], named["Y"]
    features_test, labels_test = named["X_test"], named["Y_test"]
    if features is None or labels is None:
        raise ValueError(f"X, Y: found {features!r} and {labels!r}, expected two variables' names")
    if features_test is None and labels_test is None:
        return {"": (features, labels)}
    if features_test is None or labels_test is None:
        raise ValueError(
            f"X_test, Y_test: found {features_test!r} and {labels_test!r}, "
            "expected two variables' names, or None for both"
        )
    return {"train": (features, labels), "test": (features_test, labels_test)}


def _usual_pairs(variables: Mapping[str, Any], file: Path) -> dict[str, tuple[str, str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for variable in variables:
        part = variable.lower().replace("_", "")
        split = next((split for split in ("train", "test") if split in part), "")
        part = part.removeprefix(split).removesuffix(split)
        for role, usual in (("X", _FEATURE_NAMES), ("Y", _LABEL_NAMES)):
            if part in usual:
                found.setdefault((split, role), []).append(variable)
    splits = {split for split, _ in found}
    ambiguous = "" in splits and len(splits) > 1
    if ambiguous or any(len(candidates) > 1 for candidates in found.values()):
        candidates = sorted(variable for group in found.values() for variable in group)
        raise ValueError(
            f"path: several variables of {file} could be features or labels, found {candidates}; "
            "name them with X and Y (and X_test and Y_test)"
        )
    pairs = {
        split: (found[split, "X"][0], found[split, "Y"][0])
        for split in ("", "train", "test")
        if (split, "X") in found and (split, "Y") in found
    }
    if splits - set(pairs) or not ("" in pairs or "train" in pairs):
        raise ValueError(
            f"path: {file} has the variables {sorted(variables)}, expected features and labels "
            "under usual names such as data and target, or train_data and train_target; name them "
            "with X and Y"
        )
    return pairs


def _label_matrix(matrix: Any, variable: str, n_samples: int, file: Path) -> Any:
    labels = _numeric_matrix(matrix, variable)
    if labels.shape == (n_samples, n_samples):
        raise ValueError(
            f"Y: {variable!r} is square, {n_samples} x {n_samples}, so that rows cannot be told "
            "from labels; read the file with scipy.io.loadmat and build MultilabelData from it"
        )
    if labels.shape[1] == n_samples:
        labels = labels.T
    elif labels.shape[0] != n_samples:
        raise ValueError(
            f"Y: {variable!r} is {labels.shape[0]} x {labels.shape[1]}, expected one side to be "
            f"{n_samples}, the number of rows of the features"
        )
    if sparse.issparse(labels):
        remedy = "read it with scipy.io.loadmat and build MultilabelData from it"
        check_label_cells(n_samples, labels.shape[1], labels.nnz, file, "path", remedy)
        labels = labels.toarray()
    values = np.unique(labels)
    if not (np.isin(values, (0, 1)).all() or np.isin(values, (-1, 1)).all()):
        raise ValueError(
            f"Y: {variable!r} has the values {values[:5].tolist()}, expected {{0, 1}} or {{-1, +1}}"
        )
    return np.ascontiguousarray(labels > 0, dtype=np.uint8)


def _numeric_matrix(matrix: Any, variable: str) -> Any:
    if isinstance(matrix, NotNumeric) or matrix.ndim != 2:
        found = matrix.kind if isinstance(matrix, NotNumeric) else f"{matrix.ndim}-dimensional"
        raise ValueError(f"path: the variable {variable!r} is {found}, expected a numeric matrix")
    return matrix

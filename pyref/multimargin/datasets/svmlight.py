"""Reader of multi-label files in svmlight / LIBSVM format."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import MAX_FEATURES, check_label_cells, check_width, reading
from multimargin.datasets.multilabel_data import MultilabelData


def load_svmlight(
    path: str | os.PathLike[str],
    n_features: int | None = None,
    *,
    n_labels: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    labels_zero_based: bool | Literal["auto"] = "auto",
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> MultilabelData:
    """Load a multi-label svmlight / LIBSVM file, with lines such as ``1,5,7 3:0.5 12:1``.

    Parameters
    ----------
    path : str or path-like
        The file.
    n_features : int or None, default=None
        Number of features d; None takes the largest index that occurs, up to 10,000,000.
    n_labels : int or None, default=None
        Number of labels q; None takes the largest label that occurs, unless so many labels are
        hardly ever relevant.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0. "auto" says yes when an index 0 occurs.
    labels_zero_based : bool or "auto", default="auto"
        Whether labels start at 0. "auto" says yes when a label 0 occurs. Labels and features are
        told apart because many files count labels from 0 and features from 1.
    test : str, path-like or None, default=None
        The file of the official test part. The two files are then read as one, and the result has
        the splits "train" and "test". Counts and "auto" go by both files together.
    name : str or None, default=None
        Name of the data set; None takes the file's name.

    Returns
    -------
    MultilabelData
        With sparse features; the numbers of features and labels in the file are their names.

    Raises
    ------
    ValueError
        If a file is not in this format or damaged, a label is not an integer in range, a feature
        index is out of range, or the number of features or labels is implausible and not given.

    Notes
    -----
    An instance without labels is a line that starts with its first feature. A line with neither is
    blank and, as in every reader of the format, no instance.
    """
    for argument, count in (("n_features", n_features), ("n_labels", n_labels)):
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            raise TypeError(f"{argument}: found {count!r}, expected an integer or None")
        if count is not None and count < 1:
            raise ValueError(f"{argument}: found {count}, expected at least 1")
    for argument, choice in (("zero_based", zero_based), ("labels_zero_based", labels_zero_based)):
        if choice != "auto" and not isinstance(choice, bool):
            raise ValueError(f"{argument}: found {choice!r}, expected True, False or 'auto'")
    files = {"path": existing_file(path, "path")}
    if test is not None:
        files["test"] = existing_file(test, "test")
    loaded = [_load(argument, file) for argument, file in files.items()]
    stored = [X.indices for X, _ in loaded if X.nnz]
    lowest = min((int(indices.min()) for indices in stored), default=1)
    highest = max((int(indices.max()) for indices in stored), default=0)
    first_feature, d = _numbering("features", lowest, highest, n_features, zero_based, files)
    if n_features is None:
        check_width(d, files["path"], "path", "n_features", MAX_FEATURES)
    label_sets = [sets for _, sets in loaded]
    labels = [
        checked_labels(sets, argument, file)
        for sets, (argument, file) in zip(label_sets, files.items(), strict=True)
    ]
    numbers = np.concatenate(labels)
    if numbers.size == 0 and n_labels is None:
        raise ValueError("n_labels: found None, expected a number as no line has a label")
    lowest, highest = (int(numbers.min()), int(numbers.max())) if numbers.size else (1, 0)
    first_label, q = _numbering("labels", lowest, highest, n_labels, labels_zero_based, files)
    if n_labels is None:
        n_rows = sum(map(len, label_sets))
        check_label_cells(n_rows, q, len(numbers), files["path"], "path", "give n_labels")
    names: dict[str, Any] = {
        "feature_names": [str(first_feature + k) for k in range(d)],
        "label_names": [str(first_label + k) for k in range(q)],
    }
    if name is None:
        name = files["path"].stem
    parts = []
    for (read, sets), own, (argument, file) in zip(loaded, labels, files.items(), strict=True):
        with reading(file, argument):
            X = sparse.csr_array(read[:, first_feature:])
            X.resize((X.shape[0], d))
            Y = np.zeros((X.shape[0], q), dtype=np.uint8)
            Y[np.repeat(np.arange(len(sets)), [len(s) for s in sets]), own - first_label] = 1
            parts.append(MultilabelData(X=X, Y=Y, name=name, **names))
    if test is None:
        return parts[0]
    return MultilabelData.concatenate({"train": parts[0], "test": parts[1]}, name=name)


def _load(argument: str, file: Path) -> Any:
    """Read a file by scikit-learn, as features and label sets."""
    with reading(file, argument):
        try:
            # Columns are then numbered as in the file, which tells whether one is numbered 0.
            return load_svmlight_file(str(file), multilabel=True, zero_based=True)
        except ValueError as error:
            raise ValueError(f"expected lines such as '1,5,7 3:0.5 12:1': {error}") from error


def _numbering(
    what: str,
    lowest: int,
    highest: int,
    count: int | None,
    zero_based: bool | str,
    files: Mapping[str, Path],
) -> tuple[int, int]:
    """Return the first number of the features or labels, and how many there are."""
    first = 0 if (lowest == 0 if zero_based == "auto" else zero_based) else 1
    n = max(highest - first + 1, 1) if count is None else count
    if lowest < first or highest >= first + n:
        listed = " and ".join(map(str, files.values()))
        option = "zero_based" if what == "features" else "labels_zero_based"
        raise ValueError(
            f"path: found {what} {lowest}..{highest} in {listed}, expected {first}.."
            f"{first + n - 1} (n_{what}={count}, {option}={zero_based})"
        )
    return first, n


def checked_labels(
    label_sets: Sequence[Sequence[float]],
    argument: str,
    file: Path,
    *,
    # Beyond it numbers with a fraction cannot be told from integers.
    below: int = 2**53,
    expected: str = "integers from 0 or 1",
) -> NDArray[np.intp]:
    """Return the labels of all rows, one after the other."""
    labels = np.array([label for labels in label_sets for label in labels], dtype=np.float64)
    wrong = ~((labels >= 0) & (labels < below) & (labels == np.floor(labels)))
    if wrong.any():
        raise ValueError(
            f"{argument}: found the label {labels[wrong][0]:g} in {file}, expected {expected}"
        )
    return labels.astype(np.intp)

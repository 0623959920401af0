"""Readers of multi-label files in svmlight / LIBSVM format, and of those with its rows."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from multimargin.checks.names import quoted
from multimargin.checks.parameters import check_integer
from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import (
    MAX_FEATURES,
    check_label_cells,
    check_width,
    opened,
    reading,
    uncompressed,
)
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.notices import warn

_COMMAS = re.compile(rb"\s*,[\s,]*")
# Labels, and the number of the first feature after a blank.
_LABELS = re.compile(rb"(.*)\s([^\s,]+)", re.DOTALL)
# The longest first line that is read in search of three numbers.
_LONGEST_HEAD = 200


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
        The file; one that ends in .gz, .bz2 or .xz is decompressed.
    n_features : int or None, default=None
        Number of features d; None takes the largest index that occurs, up to 10,000,000.
    n_labels : int or None, default=None
        Number of labels q; None takes the largest label that occurs, unless so many labels are
        hardly ever relevant.
    zero_based : bool or "auto", default="auto"
        True if feature indices start at 0. "auto" decides by whether an index 0 occurs.
    labels_zero_based : bool or "auto", default="auto"
        True if labels start at 0. "auto" decides by whether a label 0 occurs. Labels and features
        are told apart because many files count labels from 0 and features from 1.
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
    Blanks after the commas between labels, and a comma after the last, are read past. An instance
    without labels is a line that starts with its first feature. A line with neither is
    blank and, as in every reader of the format, no instance.
    """
    for argument, count in (("n_features", n_features), ("n_labels", n_labels)):
        if count is not None:
            check_integer(argument, count, at_least=1)
    for argument, choice in (("zero_based", zero_based), ("labels_zero_based", labels_zero_based)):
        if choice != "auto" and not isinstance(choice, bool):
            raise ValueError(f"{argument} is {choice!r}; expected True, False or 'auto'")
    files = {"path": existing_file(path, "path")}
    if test is not None:
        files["test"] = existing_file(test, "test")
    features, sets, ends = [], list[Any](), [0]
    for argument, file in files.items():
        with reading(file, argument), opened(file) as stream:
            # Columns are then numbered as in the file, which tells whether one is numbered 0.
            X, labels = read_lines(Lines(stream))
            checked_labels(labels, argument, file)
        features.append(X)
        sets += labels
        ends.append(len(sets))
    stored = np.concatenate([X.indices for X in features])
    first_feature, d = _numbering("features", stored, n_features, zero_based, files)
    if n_features is None:
        check_width(d, files["path"], "path", "n_features", MAX_FEATURES)
    numbers = checked_labels(sets, "path", files["path"])
    if numbers.size == 0 and n_labels is None:
        raise ValueError("n_labels is None; expected a number, as no line has a label")
    first_label, q = _numbering("labels", numbers, n_labels, labels_zero_based, files)
    if n_labels is None:
        check_label_cells(len(sets), q, len(numbers), files["path"], "path", "give n_labels")
    with reading(files["path"], "path"):
        for X in features:
            X.resize((X.shape[0], first_feature + d))
        Y = np.zeros((len(sets), q), dtype=np.uint8)
        Y[np.repeat(np.arange(len(sets)), [len(own) for own in sets]), numbers - first_label] = 1
        parts = {} if test is None else {"train": ends[:2], "test": ends[1:]}
        return MultilabelData(
            X=sparse.csr_array(sparse.vstack(features, format="csr")[:, first_feature:]),
            Y=Y,
            feature_names=[str(first_feature + k) for k in range(d)],
            label_names=[str(first_label + k) for k in range(q)],
            name=uncompressed(files["path"]).stem if name is None else name,
            splits={part: np.arange(*rows) for part, rows in parts.items()},
        )


def load_extreme(path: str | os.PathLike[str]) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Load a file of the Extreme Classification Repository, with thousands of labels.

    Parameters
    ----------
    path : str or path-like
        The file; one that ends in .gz, .bz2 or .xz is decompressed. Its first line is ``n d q``,
        the numbers of rows, features and labels; each of the n lines that follow has the numbers of
        a row's labels and its features, such as ``3,17 0:0.5 12:1``, both counted from 0. A row
        without labels starts with its first feature; one without either is a blank line.

    Returns
    -------
    X : csr_array of shape (n, d)
        Features.
    Y : csr_array of shape (n, q)
        Label indicator, uint8. It is sparse, unlike that of a `MultilabelData`: all methods fit to
        it as it is.

    Raises
    ------
    ValueError
        If the file is not in this format, or has other numbers of rows, features or labels than its
        first line.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> from multimargin.datasets import load_extreme
    >>> with NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("2 3 4\\n0,2 0:1.5 2:1\\n 1:0.5\\n")
    ...     file.flush()
    ...     X, Y = load_extreme(file.name)
    >>> X.toarray().tolist(), Y.toarray().tolist()
    ([[1.5, 0.0, 1.0], [0.0, 0.5, 0.0]], [[1, 0, 1, 0], [0, 0, 0, 0]])
    """
    file = existing_file(path, "path")
    with reading(file, "path"), opened(file) as stream:
        n, d, q = _head(stream.readline(_LONGEST_HEAD), file)
        X, sets = read_lines(Lines(stream, first=2, rows=n), n_features=d)
        if X.shape[0] != n:
            raise ValueError(
                f"path: {file} has {X.shape[0]} rows; expected {n} as in its first line"
            )
        expected = f"integers from 0 to {q - 1}, by its first line"
        labels = checked_labels(sets, "path", file, below=q, expected=expected)
        rows = np.repeat(np.arange(n), [len(labels) for labels in sets])
        ones = np.ones(labels.size, dtype=np.uint8)
        Y = sparse.csr_array((ones, (rows, labels)), shape=(n, q))
        # A label that is listed twice is relevant once.
        Y.data[:] = 1
        # Of rows without features.
        X.eliminate_zeros()
        return sparse.csr_array(X), Y


class Lines:
    """The lines of a stream for scikit-learn's reader, with labels without blanks."""

    def __init__(self, stream: Iterable[bytes], *, first: int = 1, rows: int | None = None) -> None:
        self.number = first - 1  # Of the line that was read last, counted from 1
        self._stream = stream
        # How many lines are rows, also blank ones; None where blank ones are none
        self._rows = rows

    def read(self) -> bytes:
        """Unused, but objects with this method are treated as streams, and iterated."""
        return b""

    def close(self) -> None:
        """Leave the stream to whoever opened it."""

    def __iter__(self) -> Iterator[bytes]:
        has_groups = False
        for number, line in enumerate(self._stream, start=self.number + 1):
            self.number = number
            has_groups = has_groups or b" qid:" in line
            line = _joined(line) if b"," in line else line
            if self._rows is not None and self._rows > 0:
                self._rows -= 1
                # A stored zero, so that the line is a row.
                line = line if line.strip() else b"0:0\n"
            yield line
        if has_groups:
            warn("qid, which marks rows that belong together, is left out; fit takes it as groups")


def _joined(line: bytes) -> bytes:
    """Return a line without blanks around the commas between labels, nor a comma at their end."""
    content, mark, comment = line.partition(b"#")
    head, colon, values = content.partition(b":")
    found = _LABELS.fullmatch(head) if colon else None
    if colon and found is None:
        return line
    labels, index = (head, b"") if found is None else (found[1], found[2])
    joined = _COMMAS.sub(b",", labels).strip(b", \t\r\n")
    return joined + b" " + index + colon + values + mark + comment


def read_lines(lines: Lines, n_features: int | None = None) -> sparse.csr_array:
    """Read lines with scikit-learn, as features and label sets; errors name the line."""
    try:
        return load_svmlight_file(lines, n_features=n_features, multilabel=True, zero_based=True)
    except ValueError as error:
        raise ValueError(
            f"line {lines.number}: expected lines such as '1,5,7 3:0.5 12:1': {error}"
        ) from error


def _numbering(
    what: str,
    numbers: NDArray[Any],
    count: int | None,
    zero_based: bool | str,
    files: Mapping[str, Path],
) -> tuple[int, int]:
    """Return the first number of the features or labels, and how many there are."""
    lowest, highest = (int(numbers.min()), int(numbers.max())) if numbers.size else (1, 0)
    first = 0 if (lowest == 0 if zero_based == "auto" else zero_based) else 1
    n = max(highest - first + 1, 1) if count is None else count
    if lowest < first or highest >= first + n:
        listed = " and ".join(map(str, files.values()))
        option = "zero_based" if what == "features" else "labels_zero_based"
        raise ValueError(
            f"path: {listed} has {what} {lowest}..{highest}; expected {first}.."
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
            f"{argument}: {file} has the label {labels[wrong][0]:g}; expected {expected}"
        )
    return labels.astype(np.intp)


def _head(line: bytes, file: Path) -> tuple[int, int, int]:
    """Return the three numbers of the first line."""
    words = line.split()
    if len(words) != 3 or not all(word.isdigit() and int(word) > 0 for word in words):
        raise ValueError(
            f"path: {file} starts with {quoted(line)}; expected three positive numbers 'n d q': of "
            "rows, features and labels"
        )
    n, d, q = map(int, words)
    return n, d, q

"""Reader of the format of the Extreme Classification Repository."""

import os
from pathlib import Path

import numpy as np
from scipy import sparse

from multimargin.checks.names import quoted
from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import opened, reading
from multimargin.datasets.svmlight import Lines, checked_labels, read_lines

# The longest first line that is read in search of three numbers.
_LONGEST_HEAD = 200


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

"""Reader of fastText's files of labelled texts."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from multimargin.checks.paths import existing_file
from multimargin.datasets._reading import opened, reading, uncompressed
from multimargin.datasets.multilabel_data import MultilabelData

_PREFIX = "__label__"


def load_fasttext(
    path: str | os.PathLike[str],
    *,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
) -> MultilabelData:
    """Load a file of fastText, with lines such as ``__label__sport __label__news some words``.

    Parameters
    ----------
    path : str or path-like
        The file, in UTF-8; one that ends in .gz, .bz2 or .xz is decompressed. Each line is a text,
        with its labels anywhere in it.
    test : str, path-like or None, default=None
        The file of the test part. The result then has the splits "train" and "test".
    name : str or None, default=None
        Name of the data set; None takes the file's name.

    Returns
    -------
    MultilabelData
        The features are tf-idf weights of the words, those of all rows counted.

    Raises
    ------
    ValueError
        If no line has a label, or there are less than two labels or no words.

    Examples
    --------
    >>> from tempfile import NamedTemporaryFile
    >>> from multimargin.datasets import load_fasttext
    >>> with NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("__label__a plays sound\\n__label__a __label__b edits sound\\n")
    ...     file.flush()
    ...     data = load_fasttext(file.name)
    >>> data.label_names, data.Y.tolist()
    (('a', 'b'), [[1, 0], [1, 1]])
    """
    files = {"path": existing_file(path, "path")}
    if test is not None:
        files["test"] = existing_file(test, "test")
    texts, labels, parts = list[str](), list[list[str]](), list[int]()
    for argument, file in files.items():
        for line in _lines(file, argument):
            words = line.split()
            labels.append([w.removeprefix(_PREFIX) for w in words if w.startswith(_PREFIX)])
            texts.append(" ".join(word for word in words if not word.startswith(_PREFIX)))
        parts.append(len(texts))
    with reading(files["path"], "path"):
        data = MultilabelData.from_frame(
            {"text": texts, "labels": labels},
            tags_column="labels",
            text="text",
            name=uncompressed(files["path"]).stem if name is None else name,
        )
    if test is None:
        return data
    splits = {"train": range(parts[0]), "test": range(parts[0], parts[1])}
    return replace(data, splits={part: np.array(rows) for part, rows in splits.items()})


def starts_with_label(file: Path) -> bool:
    """Return whether the first line of a file has a label of fastText."""
    with reading(file, "path"), opened(file) as stream:
        return _PREFIX.encode() in stream.readline(2**16)


def _lines(file: Path, argument: str) -> list[str]:
    with reading(file, argument), opened(file, encoding="utf-8-sig") as stream:
        lines = [line for line in stream if line.strip()]
    if not any(_PREFIX in line for line in lines):
        raise ValueError(
            f"{argument}: {file} has no line with a label such as __label__sport; expected a file "
            "of fastText"
        )
    return lines

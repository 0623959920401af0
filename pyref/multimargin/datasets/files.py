"""Data sets from a file of any known kind, or from a folder of files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from multimargin.datasets.arff import load_arff, names_labels_in_header
from multimargin.datasets.mat import load_mat
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.npz import load_npz
from multimargin.datasets.svmlight import load_svmlight
from multimargin.datasets.tables import TABLE_KINDS, load_table

Labels = str | os.PathLike[str] | int | None

_PARTS = ("train", "test")


def load_file(
    file: Path,
    *,
    labels: Labels = None,
    test: Path | None = None,
    name: str | None = None,
    **options: Any,
) -> MultilabelData:
    """Load a data file by the kind that its name ends in."""
    kind = file.suffix.lower()
    if kind not in _READERS:
        raise ValueError(
            f"path: {file} ends in {kind!r}, expected one of {', '.join(_READERS)}, or a folder"
        )
    for argument, read in (("path", file), ("test", test)):
        if read is not None and read.stat().st_size == 0:
            raise ValueError(f"{argument}: the file {str(read)!r} is empty")
    if labels is not None and kind not in (".arff", *TABLE_KINDS):
        raise ValueError(
            f"labels: found {labels!r} for {file}, expected it for ARFF files and tables only"
        )
    return _READERS[kind](file, labels, test, name, options)


def load_folder(
    folder: Path, *, labels: Labels = None, name: str | None = None, **options: Any
) -> MultilabelData:
    """Load the data set in a folder."""
    files = sorted(
        file for file in folder.iterdir() if file.suffix.lower() in _READERS and file.is_file()
    )
    name = folder.resolve().name if name is None else name
    parts = {part: [file for file in files if file.stem.lower().endswith(part)] for part in _PARTS}
    if all(len(found) == 1 for found in parts.values()):
        train, test = (parts[part][0] for part in _PARTS)
        return load_file(train, labels=labels, test=test, name=name, **options)
    candidates = [file for file in files if file.stem == folder.resolve().name] or files
    if len(candidates) != 1:
        found = ", ".join(file.name for file in candidates) if candidates else "no such file"
        raise ValueError(
            f"path: expected the folder {folder} to hold NAME-train and NAME-test, or one file, "
            f"that end in {', '.join(_READERS)}; found {found}"
        )
    return load_file(candidates[0], labels=labels, name=name, **options)


def label_file(file: Path) -> Path | None:
    """Find the XML file that names the labels of an ARFF file, if there is one beside it.

    It has the same name, with or without "-train" and "-test"; else, unless the header of the ARFF
    file names the labels itself, it is the only XML file there is.
    """
    stem = file.stem
    for part in _PARTS:
        stem = stem.removesuffix(f"-{part}").removesuffix(f"_{part}")
    for same in (file.stem, stem):
        found = file.with_name(f"{same}.xml")
        if found.is_file():
            return found
    if names_labels_in_header(file):
        return None
    every = sorted(found for found in file.parent.glob("*.xml") if found.is_file())
    return every[0] if len(every) == 1 else None


def _read_arff(
    file: Path, labels: Labels, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    found = label_file(file) if labels is None else labels
    return load_arff(file, found, test=test, name=name)


def _read_table(
    file: Path, labels: Labels, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    chosen: Any = labels
    return load_table(file, labels=chosen, test=test, name=name, **options)


def _read_svmlight(
    file: Path, labels: Labels, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    return load_svmlight(file, test=test, name=name, **options)


def _read_mat(
    file: Path, labels: Labels, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    return _with_test(load_mat, file, test, name)


def _read_npz(
    file: Path, labels: Labels, test: Path | None, name: str | None, options: dict[str, Any]
) -> MultilabelData:
    return _with_test(load_npz, file, test, name)


def _with_test(
    reader: Callable[..., MultilabelData], file: Path, test: Path | None, name: str | None
) -> MultilabelData:
    data = reader(file, name=name)
    if test is None:
        return data
    return MultilabelData.concatenate({"train": data, "test": reader(test)}, name=data.name)


_READERS: dict[str, Callable[..., MultilabelData]] = {
    ".arff": _read_arff,
    ".mat": _read_mat,
    ".npz": _read_npz,
    ".svm": _read_svmlight,
    ".svmlight": _read_svmlight,
    ".libsvm": _read_svmlight,
    **dict.fromkeys(TABLE_KINDS, _read_table),
}

"""One function that loads every data set."""

import os
from pathlib import Path
from typing import Any

from multimargin.checks.paths import existing_file
from multimargin.datasets.debian import load_debian_tags
from multimargin.datasets.digits import load_digit_attributes
from multimargin.datasets.files import Labels, load_parts
from multimargin.datasets.multilabel_data import MultilabelData
from multimargin.datasets.sources import OWN, check_source, own_name, parts_of

_LOADERS = dict(zip(OWN, (load_debian_tags, load_digit_attributes), strict=True))


def load(
    source: str | os.PathLike[str],
    *,
    labels: Labels = None,
    test: str | os.PathLike[str] | None = None,
    name: str | None = None,
    **options: Any,
) -> MultilabelData:
    """Load a data set by its path or its name.

    Parameters
    ----------
    source : str or path-like
        A table, see `load_table`; a file that ends in .arff, .npz, .svm, .svmlight, .libsvm or .txt
        (of the Extreme Classification Repository), the texts also compressed; a folder, see Notes;
        or "debian-tags" or "digits", which need no file.
    labels : str, path-like, int or None, default=None
        Attributes of an ARFF file that are labels, see `load_arff`. None looks for an XML file
        beside it: one of the same name, with or without "-train" and "-test"; the header of the
        file (MEKA); the only XML file there is. Which columns of a table are, see `load_table`.
    test : str, path-like or None, default=None
        The file of the test part, of the same kind. The result then has the splits "train" and
        "test".
    name : str or None, default=None
        Name of the data set; None takes that of the file, the folder or the source.
    **options
        Further arguments of `load_arff`, `load_svmlight` or `load_table`; other kinds of files do
        not need them.

    Returns
    -------
    MultilabelData
        The data.

    Raises
    ------
    FileNotFoundError
        If there is no such file, folder or data set.
    TypeError, ValueError
        If it is not clear which files or labels to take.

    Notes
    -----
    A folder holds two files whose names end in "train" and "test", as MULAN's do, or one data file,
    or several of which one is named like the folder, or the numbered parts of one table.

    Examples
    --------
    >>> from multimargin.datasets import load
    >>> load("digits").n_labels
    7
    """
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"source is a {type(source).__name__}; expected a path or a name")
    check_source(source)
    path = Path(source)
    own = None if path.exists() else own_name(source)
    if test is not None and (own is not None or path.is_dir()):
        raise ValueError(f"test is {str(test)!r} for {str(source)!r}; expected it for a file")
    if labels is not None and own is not None:
        raise ValueError(
            f"labels is {labels!r} for {own!r}; expected it for ARFF files and tables only"
        )
    if own is not None:
        return _LOADERS[own]()
    parts = parts_of(source)
    if test is not None:
        parts["test"] = existing_file(test, "test")
    if path.is_dir() and name is None:
        name = path.resolve().name
    return load_parts(parts, labels=labels, name=name, **options)

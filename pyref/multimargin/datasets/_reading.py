"""What all readers make of a file that is damaged: one kind of error, which names the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from errno import EINVAL
from pathlib import Path

MAX_FEATURES = 100_000_000
"""The widest matrix of features that a reader takes unasked: public data have up to 55 million."""
MIN_LABEL_CELLS = 2**25
"""Label indicators of fewer entries are always taken."""


@contextmanager
def reading(file: Path, argument: str) -> Iterator[None]:
    """Turn whatever a parser raises for a damaged file into a ValueError that names the file.

    Parameters
    ----------
    file : pathlib.Path
        The file that is read inside.
    argument : str
        The caller's name for it.

    Yields
    ------
    None

    Raises
    ------
    ImportError, OSError
        As they are, if a package is missing or the file system fails.
    MemoryError
        If the content does not fit in memory; it names the file.
    ValueError
        For anything else. A message that names the file is kept.
    """
    try:
        yield
    except ImportError:
        raise
    except MemoryError as error:
        raise MemoryError(f"{argument}: {file} does not fit in memory: {error}") from error
    except Exception as error:
        # Parsers also use OSError for content, and seek to places that do not exist; the other
        # errors of the system have a number.
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        if type(error) is ValueError and str(file) in str(error):
            raise
        if isinstance(error, ValueError | TypeError):
            reason = str(error)
        else:
            reason = f"the file is damaged ({type(error).__name__}: {error})"
        raise ValueError(f"{argument}: {file}: {reason}") from error


def check_width(n_features: int, file: Path, argument: str, remedy: str, limit: int) -> None:
    """Refuse a number of features that is more likely damage than data.

    Parameters
    ----------
    n_features : int
        The number that the file claims.
    file : pathlib.Path
        The file.
    argument : str
        The caller's name for it.
    remedy : str
        The argument that lets one go on.
    limit : int
        The largest number that is taken.

    Raises
    ------
    ValueError
        If it is larger.
    """
    if n_features > limit:
        raise ValueError(
            f"{argument}: {file} claims {n_features:,} features, expected at most {limit:,}; if "
            f"that is no damage, give {remedy}"
        )


def check_label_cells(
    n_samples: int, n_labels: int, n_relevant: int, file: Path, argument: str, remedy: str
) -> None:
    """Refuse a number of labels that is more likely damage than data.

    Parameters
    ----------
    n_samples, n_labels : int
        Shape of the label indicator.
    n_relevant : int
        How many of its entries are 1.
    file : pathlib.Path
        The file.
    argument : str
        The caller's name for it.
    remedy : str
        What lets one go on.

    Raises
    ------
    ValueError
        If there are at least `MIN_LABEL_CELLS` entries, and less than one in 10,000 is 1.
    """
    cells = n_samples * n_labels
    if cells > MIN_LABEL_CELLS and cells > 10_000 * n_relevant:
        raise ValueError(
            f"{argument}: {file} claims {n_labels:,} labels of which {n_samples:,} rows have "
            f"{n_relevant:,} in all, expected more of so many; if that is no damage, {remedy}"
        )

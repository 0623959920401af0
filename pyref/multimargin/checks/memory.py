"""Checks of free memory before calls that would abort without it."""

import mmap
import os

# OpenBLAS maps buffers of 32 MB for matrix products, and exits if it cannot. SciPy has its own
# OpenBLAS.
_BUFFERS = 128 * 2**20


def check_room_for_products() -> None:
    """Raise MemoryError if there is no memory for matrix products."""
    # Asked for and given back at once, so that OpenBLAS finds it.
    try:
        mmap.mmap(-1, _BUFFERS).close()
    except OSError as error:
        raise MemoryError(
            f"less than {_BUFFERS // 10**6} MB of memory is free; expected room for products of "
            "matrices: try fewer rows, or free memory first"
        ) from error


def check_file_fits(file: object, size: int) -> None:
    """Raise MemoryError for a file that is too large, unpacked, for its table."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # pragma: no cover - not on Windows
        return
    if 2 * size > memory:
        raise MemoryError(
            f"path: {file} has {size / 1e9:.1f} GB, more than half of the {memory / 1e9:.1f} GB of "
            "memory; expected a smaller table: some of its rows, or a larger machine"
        )

"""Room for what ends the process where it finds none."""

import mmap

# OpenBLAS maps buffers of 32 MB for products of matrices, and exits where it cannot. SciPy has an
# OpenBLAS of its own.
_BUFFERS = 128 * 2**20


def check_room_for_products() -> None:
    """Raise MemoryError where there is no room for products of matrices."""
    # Asked for and given back at once, so that OpenBLAS finds it.
    try:
        mmap.mmap(-1, _BUFFERS).close()
    except OSError as error:
        raise MemoryError(
            f"less than {_BUFFERS // 10**6} MB of memory are free; expected room for products of "
            "matrices: try fewer rows, or free memory first"
        ) from error

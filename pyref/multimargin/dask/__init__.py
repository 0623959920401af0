"""One fit over many machines, on an existing engine: dask.distributed.

Rows are divided into parts, and only the weights of the linear model are sent. The estimators, the
optimum and the certificate are those of one machine. Needs the extra ``multimargin[dask]``.
"""

try:
    import distributed as _distributed  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError(
        "multimargin.dask needs dask and distributed: pip install 'multimargin[dask]'"
    ) from error

from multimargin.dask.fitting import fit

__all__ = ["fit"]

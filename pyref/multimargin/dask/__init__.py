"""One fit over many machines, on an existing engine: dask.distributed.

The rows are dealt to parts, and only the weights of the linear model travel. The estimators, the
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

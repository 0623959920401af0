"""The package `multimargin.dask`; a package itself, so that it has fixtures of its own."""

"""The public name of `multimargin.measures.margins`."""

from multimargin.measures.margins import pair_margins

__all__ = ["pair_margins"]

"""Inputs of a graph: what a model takes, as numbers, names of categories, and texts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from multimargin.onnx.graph import Graph

NUMBERS, CATEGORIES, TEXTS = "X", "categories", "texts"
"""The names of the inputs."""

# onnx.TensorProto.DOUBLE, without the import.
_DOUBLE = 11


@dataclass
class Given:
    """Rows as they are given: their columns become inputs when a part of the model asks for them.

    As numbers, where nothing else is asked for.
    """

    width: int  # Number of columns
    single: bool = False  # Whether numbers come in single precision
    # Columns of each input, in its order
    columns: dict[str, list[int]] = field(default_factory=dict)

    def take(self, graph: "Graph", kind: str, places: Iterable[int]) -> str:
        """Append the choice of some columns from the input of a kind; return its output."""
        known = self.columns.setdefault(kind, [])
        places = [int(place) for place in places]
        known += [place for place in places if place not in known]
        chosen = np.array([known.index(place) for place in places], dtype=np.int64)
        return graph.add("Gather", self._input(graph, kind), chosen, axis=1)

    def numbers(self, graph: "Graph") -> str:
        """Return all columns, which are numbers."""
        everything = list(range(self.width))
        if self.columns.setdefault(NUMBERS, everything) != everything:
            raise ValueError(
                "model takes the columns of a table in one of its parts, and all as numbers in "
                "another; expected the same in all."
            )
        return self._input(graph, NUMBERS)

    def inputs(self) -> dict[str, tuple[Any, int]]:
        """Return type and width of each input by its name."""
        numbers = np.dtype(np.float32 if self.single else np.float64)
        return {
            name: (numbers if name == NUMBERS else np.dtype(object), len(columns))
            for name, columns in sorted(self.columns.items())
        }

    def _input(self, graph: "Graph", kind: str) -> str:
        if kind == NUMBERS and self.single:
            return graph.add("Cast", kind, to=_DOUBLE)
        return kind


@dataclass(frozen=True)
class Strings:
    """Columns of texts or of names, each with what stands for an empty one."""

    node: str  # (n, m)
    fills: tuple[Any, ...] | None = None  # (m,)

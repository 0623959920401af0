"""An ONNX graph that grows operator by operator."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multimargin.onnx.inputs import NUMBERS

if TYPE_CHECKING:
    from onnx import ModelProto

# Runtimes since 2022 know them, and all that a model needs is in them.
_OPSET, _IR_VERSION = 17, 8
# Trees and look-ups; what splits texts, which ONNX Runtime has beyond the standard.
_FURTHER = {"ai.onnx.ml": 3, "com.microsoft": 1}
MOST_BYTES = 2**31 - 2**20
"""Protocol buffers hold no more."""

Node = str
"""The name of a tensor of the graph."""

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

    def inputs(self) -> dict[str, tuple[np.dtype[Any], int]]:
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


Rows = Node | Given
"""A tensor of numbers, or the rows as they are given."""


def require_onnx() -> ModuleType:
    """Return the module onnx; raise ImportError if it is not installed."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "the export needs onnx, which is not installed: pip install 'multimargin[onnx]'",
            name="onnx",
        ) from error
    return onnx


class Graph:
    """A graph from the columns of `given` rows, of any number."""

    def __init__(self, given: Given) -> None:
        self._onnx = require_onnx()
        self._given = given
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._bytes = 0

    def add(self, operator: str, *inputs: Rows | NDArray[Any] | float, **attributes: Any) -> Node:
        """Append an operator, by its name in ONNX, and return its (first) output.

        Inputs are tensors of the graph, the given rows as numbers, or constants; a float is one of
        float64.
        """
        names = [self._named(value) for value in inputs]
        name = f"{operator}_{len(self._nodes)}"
        # The second output of TopK is not needed, yet has to have a name.
        outputs = [name, f"{name}_more"] if operator == "TopK" else [name]
        self._nodes.append(self._onnx.helper.make_node(operator, names, outputs, **attributes))
        return name

    def model(
        self,
        outputs: Mapping[str, tuple[Node, np.dtype[Any], int]],
        metadata: Mapping[str, str],
    ) -> "ModelProto":
        """Return the checked model.

        `outputs` are a tensor, a type and a number of columns each; `metadata` is what the file
        says about itself, "multimargin" the version.
        """
        helper = self._onnx.helper
        for name, (node, _, _) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [node], [name]))
        graph = helper.make_graph(
            self._nodes,
            "multimargin",
            [self._tensor(name, *kind) for name, kind in self._given.inputs().items()],
            [self._tensor(name, dtype, width) for name, (_, dtype, width) in outputs.items()],
            initializer=self._constants,
        )
        model: ModelProto = helper.make_model(
            graph,
            producer_name="multimargin",
            producer_version=metadata["multimargin"],
            ir_version=_IR_VERSION,
            opset_imports=[
                helper.make_opsetid(domain, version)
                for domain, version in {"": _OPSET, **_FURTHER}.items()
                if domain in {"", "ai.onnx.ml", *(node.domain for node in self._nodes)}
            ],
        )
        helper.set_model_props(model, dict(metadata))
        self._onnx.checker.check_model(model)
        return model

    def _named(self, value: Rows | NDArray[Any] | float) -> Node:
        if isinstance(value, Given):
            return value.numbers(self)
        return value if isinstance(value, str) else self._constant(value)

    def _tensor(self, name: str, dtype: Any, width: int) -> Any:
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self._onnx.helper.make_tensor_value_info(name, kind, ["n", width])

    def _constant(self, value: NDArray[Any] | float) -> Node:
        array = np.ascontiguousarray(value)
        # ascontiguousarray makes a vector of a number.
        array = array.reshape(np.shape(value))
        self._bytes += array.nbytes
        if self._bytes > MOST_BYTES:
            raise ValueError(
                f"model takes more than {MOST_BYTES / 1e9:.1f} GB as dense arrays, which no ONNX "
                "file holds; expected a smaller one: a linear kernel, or fewer training rows."
            )
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

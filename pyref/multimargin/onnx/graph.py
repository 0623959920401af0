"""An ONNX graph that grows operator by operator."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from multimargin.onnx.inputs import NUMBERS

if TYPE_CHECKING:
    from onnx import ModelProto

# Supported by runtimes since 2022, and sufficient for all models.
_OPSET, _IR_VERSION = 17, 8
# Trees and look-ups; operators of ONNX Runtime beyond the standard that split texts.
_FURTHER = {"ai.onnx.ml": 3, "com.microsoft": 1}
MOST_BYTES = 2**31 - 2**20
"""Of all constants, held dense as a runtime holds them: protocol buffers have no more."""
# Smaller constants are written as they are.
_FEWEST_ENTRIES = 2**10

# Operators, and the number with which runtimes leave them out.
_LEFT_OUT = {"Add": 0.0, "Sub": 0.0, "Mul": 1.0, "Div": 1.0}
# Those that hand features on in their units.
_AS_THEY_ARE = ("Gather", "Slice", "Where", "Concat", "Sub")

Node = str
"""The name of a tensor of the graph."""

INT64, DOUBLE = 7, 11
"""Types of tensors, without the import of onnx."""


@dataclass
class Given:
    """Input rows, whose columns become inputs when a part of the model uses them.

    They are numbers by default.
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
            return graph.of_single(graph.add("Cast", kind, to=DOUBLE))
        return kind


Rows = Node | Given
"""A tensor of numbers, or the rows as they are given."""
Constant: TypeAlias = NDArray[Any] | sparse.sparray | float
"""What a graph holds; of a sparse one, which is dense in the graph, the file has the entries."""


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
        self._count = 0  # Of operators, which are named by it
        self._single: set[Node] = set()  # Tensors of numbers as they come in single precision

    def add(self, operator: str, *inputs: Rows | Constant, **attributes: Any) -> Node:
        """Append an operator, by its name in ONNX, and return its (first) output.

        Inputs are tensors of the graph, the given rows as numbers, or constants; a float is one of
        float64.
        """
        if operator in _LEFT_OUT:
            kept = self._kept(operator, inputs)
            if kept is not None:
                return kept
        names = [self._named(value) for value in inputs]
        if not self._single.isdisjoint(names):
            _check_single(operator, inputs)
        name = self._new_name(operator)
        # The second output of TopK is not needed, but must have a name.
        outputs = [name, f"{name}_more"] if operator == "TopK" else [name]
        self._nodes.append(self._onnx.helper.make_node(operator, names, outputs, **attributes))
        if operator in _AS_THEY_ARE and not self._single.isdisjoint(names):
            self.of_single(name)
        return name

    def each_row(self, X: Rows, width: int, of_row: Callable[[Node], Node], size: int) -> Node:
        """Append what a function appends for a row, for each of X; return the results (n, size)."""
        rows = self._named(X)
        more = self.with_further_row(rows)
        outer, self._nodes = self._nodes, []
        name, row = self._new_name("Scan"), self._new_name("row")
        if rows in self._single:
            self.of_single(row)
        result = of_row(row)
        helper, kind = self._onnx.helper, self._onnx.TensorProto.DOUBLE
        ends = [
            helper.make_tensor_value_info(tensor, kind, [length])
            for tensor, length in ((row, width), (result, size))
        ]
        body = helper.make_graph(self._nodes, "row", ends[:1], ends[1:])
        self._nodes = outer
        node = helper.make_node("Scan", [more], [name], body=body, num_scan_inputs=1)
        self._nodes.append(node)
        return self.without_last_row(name)

    def with_further_row(self, X: Node) -> Node:
        """Append a row of zeros to rows, as not all operators take none.

        ONNX Runtime scans no empty tensor; up to 1.26, TopK of no rows divides by 0, and ends the
        process.
        """
        return self.add("Pad", X, np.array([0, 0, 1, 0], dtype=np.int64), 0.0)

    def without_last_row(self, X: Node) -> Node:
        """Append the choice of all rows but the last."""
        return self.add("Slice", X, *(np.array([to], dtype=np.int64) for to in (0, -1, 0)))

    def _new_name(self, operator: str) -> Node:
        self._count += 1
        return f"{operator}_{self._count}"

    def of_single(self, name: Node) -> Node:
        """Note that a tensor has numbers as they come in single precision, and return it."""
        self._single.add(name)
        return name

    def _kept(self, operator: str, inputs: tuple[Rows | Constant, ...]) -> Node | None:
        """Append a sum or a product in a way that runtimes keep, if they would leave it out.

        They leave out terms of 0 and factors of 1, as which they take a single number that is one
        in single precision.
        """
        X, constant = inputs
        if isinstance(constant, str | Given) or sparse.issparse(constant):
            return None
        number: Any = np.asarray(constant)
        if number.size != 1 or number.dtype != np.float64:
            return None
        with np.errstate(over="ignore", under="ignore"):
            single = number.astype(np.float32).item()
        if single != _LEFT_OUT[operator] or single == number.item():
            return None
        if operator in ("Mul", "Div"):
            return self.add(operator, self.add(operator, X, 2.0 * number), 0.5)
        return self.add("Sum", X, number if operator == "Add" else -number)

    def model(
        self, outputs: Mapping[str, tuple[Node, np.dtype[Any], int]], metadata: Mapping[str, str]
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

    def _named(self, value: Rows | Constant) -> Node:
        if isinstance(value, Given):
            return value.numbers(self)
        return value if isinstance(value, str) else self._constant(value)

    def _tensor(self, name: str, dtype: Any, width: int) -> Any:
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self._onnx.helper.make_tensor_value_info(name, kind, ["n", width])

    def _constant(self, value: Constant) -> Node:
        held: Any = value if sparse.issparse(value) else np.asarray(value)
        size = prod(held.shape)
        self._bytes += size * held.dtype.itemsize
        if self._bytes > MOST_BYTES:
            raise ValueError(
                f"model takes more than {MOST_BYTES / 1e9:.1f} GB as dense arrays, which no ONNX "
                "file holds; expected a smaller one: a linear kernel, or fewer training rows."
            )
        if size >= _FEWEST_ENTRIES and held.dtype.kind != "O":
            entries, places = _entries_of(held)
            gaps = np.diff(places, prepend=0)
            gaps = gaps.astype(np.min_scalar_type(gaps.max(initial=0)))
            if 2 * (entries.nbytes + gaps.nbytes) <= size * held.dtype.itemsize:
                return self._scattered(entries, gaps, held.shape)
        return self._dense(held.toarray() if sparse.issparse(held) else held)

    def _dense(self, array: NDArray[Any]) -> Node:
        """Append a constant as it is."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def _scattered(self, entries: NDArray[Any], gaps: NDArray[Any], shape: tuple[int, ...]) -> Node:
        """Append a constant by its entries and the gaps between their places; others are 0.

        Runtimes compute it once, as they load the file.
        """
        zero = self._onnx.numpy_helper.from_array(np.zeros(1, entries.dtype))
        size = np.array([prod(shape)], dtype=np.int64)
        zeros = self.add("ConstantOfShape", size, value=zero)
        places = self.add("Cast", self._dense(gaps), to=INT64)
        places = self.add("CumSum", places, np.array(0, dtype=np.int64))
        flat = self.add("ScatterElements", zeros, places, self._dense(entries), axis=0)
        return self.add("Reshape", flat, np.array(shape, dtype=np.int64))


def _check_single(operator: str, constants: Iterable[Rows | Constant]) -> None:
    """Refuse numbers that features in single precision cannot meet: theirs were beyond it."""
    limits = np.finfo(np.float32)
    for constant in constants:
        if isinstance(constant, str | Given) or np.asarray(constant).dtype.kind not in "fO":
            continue
        numbers: Any = abs(constant)
        # The weights, or the numbers, of each feature.
        numbers = numbers.max(axis=1) if operator == "MatMul" else np.asarray(numbers)
        numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
        beyond = numbers > limits.max
        if operator in ("MatMul", "Mul", "Div"):
            beyond |= (numbers > 0.0) & (numbers < limits.smallest_subnormal)
        if beyond.any():
            raise ValueError(
                "float32 is True, but the model was fitted to features near or beyond the limits "
                f"of single precision, {limits.tiny:.2g} and {limits.max:.2g}: {operator} has "
                f"{numbers[beyond][0]:.2g} for one; expected False, or features in other units."
            )


def _entries_of(value: NDArray[Any] | sparse.sparray) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the entries that are not 0, and their places row by row, increasing."""
    if not sparse.issparse(value):
        places = np.flatnonzero(value)
        return value.ravel()[places], places
    rows = sparse.csr_array(value, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    first = np.repeat(np.arange(rows.shape[0]) * rows.shape[1], np.diff(rows.indptr))
    return rows.data, first + rows.indices

"""An ONNX graph that grows operator by operator."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Runtimes since 2022 know them, and all that a model needs is in them.
_OPSET, _IR_VERSION = 17, 8
_TREES = "ai.onnx.ml", 3
MOST_BYTES = 2**31 - 2**20
"""Protocol buffers hold no more."""

Node = str
"""The name of a tensor of the graph."""


def require_onnx() -> Any:
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
    """A graph from the tensor "X" of float64 features, (n, d) with any n."""

    INPUT: Node = "X"

    def __init__(self, n_features: int) -> None:
        self._onnx = require_onnx()
        self._n_features = n_features
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._bytes = 0

    def add(self, operator: str, *inputs: Node | NDArray[Any] | float, **attributes: Any) -> Node:
        """Append an operator, by its name in ONNX, and return its (first) output.

        Inputs are tensors of the graph or constants; a float is one of float64.
        """
        name = f"{operator}_{len(self._nodes)}"
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        # The second output of TopK is not needed, yet has to have a name.
        outputs = [name, f"{name}_more"] if operator == "TopK" else [name]
        self._nodes.append(self._onnx.helper.make_node(operator, names, outputs, **attributes))
        return name

    def model(
        self, outputs: Mapping[str, tuple[Node, Any, int]], metadata: Mapping[str, str]
    ) -> Any:
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
            [self._tensor(self.INPUT, np.float64, self._n_features)],
            [self._tensor(name, dtype, width) for name, (_, dtype, width) in outputs.items()],
            initializer=self._constants,
        )
        model = helper.make_model(
            graph,
            producer_name="multimargin",
            producer_version=metadata["multimargin"],
            ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid(*_TREES)],
        )
        helper.set_model_props(model, dict(metadata))
        self._onnx.checker.check_model(model)
        return model

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

"""Constants of a graph come back as they are, and those of few entries take little room."""

import numpy as np
import onnxruntime
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from multimargin import LabelRankerCV
from multimargin.datasets import load_debian_tags
from multimargin.model_files import save_model
from multimargin.onnx import export
from multimargin.onnx.graph import Given, Graph

LEVELS = onnxruntime.GraphOptimizationLevel


def of_few_entries(dtype, shape=(60, 70)):
    rng = np.random.default_rng(0)
    value = np.where(rng.random(shape) < 0.05, 100 * rng.normal(size=shape), 0.0)
    return np.abs(value).astype(dtype) if np.dtype(dtype).kind == "u" else value.astype(dtype)


def far_apart():
    value = np.zeros((300, 400))
    value[[0, 200, 299], [1, 0, 399]] = [np.inf, -1e-300, np.nan]
    return value


def unordered():
    """Entries out of order, one of two parts, one of 0."""
    places = ([0, 5, 5, 0, 99], [90, 1, 1, 3, 99])
    value = sparse.coo_array(([1.0, 2.0, 3.0, 0.0, -4.0], places), shape=(100, 100))
    rows = sparse.csr_array(value)
    rows.indices[rows.indptr[0] : rows.indptr[1]] = [90, 3]
    return rows


CONSTANTS = {
    **{dtype: of_few_entries(dtype) for dtype in ("f2", "f4", "f8", "u1", "i8")},
    "three axes": of_few_entries("f8", (10, 20, 30)),
    "transposed": of_few_entries("f8").T,
    "full": np.arange(5000.0).reshape(50, 100) + 1.0,
    "zeros": np.zeros((50, 60)),
    "no rows": np.zeros((0, 5000)),
    "far apart": far_apart(),
    "sparse": sparse.csr_array(of_few_entries("f4")),
    "sparse by columns": sparse.csc_array(of_few_entries("f4")),
    "sparse, without entries": sparse.csr_array((200, 300)),
    "sparse and full": sparse.csr_array(np.arange(4900.0).reshape(70, 70) + 1.0),
    "unordered": unordered(),
    "small": np.array([[0.0, 1.0]]),
    "small and sparse": sparse.csr_array([[0.0, 1.0]]),
}


def dense_of(value):
    return value.toarray() if sparse.issparse(value) else value


@pytest.mark.parametrize("level", [LEVELS.ORT_ENABLE_ALL, LEVELS.ORT_DISABLE_ALL])
@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_come_back(name, level):
    value = CONSTANTS[name]
    expected = dense_of(value.copy())
    given = Given(1)
    graph = Graph(given)
    given.numbers(graph)
    constant = graph.add("Identity", value)
    model = graph.model({"value": (constant, expected.dtype, 1)}, {"multimargin": "0"})
    # Of any shape.
    model.graph.output[0].type.tensor_type.ClearField("shape")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    (found,) = session.run(None, {"X": np.zeros((1, 1))})
    assert found.dtype == expected.dtype
    assert_array_equal(found, expected)
    # What was given is not put in order.
    assert_array_equal(dense_of(value), expected)


def test_rows_of_words_and_leaves_take_as_much_room_as_in_a_model_file(tmp_path):
    X, _, y, _ = load_debian_tags().train_test()
    X = TfidfTransformer().fit_transform(X[:300])
    model = LabelRankerCV([1.0], loss="hinge", class_weight=None, top_k=None, random_state=0)
    model.fit(X, y[:300])
    assert {"neighbours", "forest", "linear"} <= set(model.blocks_)
    export(model, tmp_path / "model.onnx")
    save_model(model, tmp_path / "model")
    sizes = [(tmp_path / name).stat().st_size for name in ("model.onnx", "model")]
    assert sizes[0] < 2 * sizes[1]


@pytest.mark.parametrize("level", [LEVELS.ORT_DISABLE_ALL, LEVELS.ORT_ENABLE_ALL])
@pytest.mark.parametrize("operator", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_single_number_counts_however_near_it_is_to_none(operator, shape, level):
    # Runtimes leave out what is 0 or 1 in single precision.
    numbers = [-1e-50, 3e-300, 5e-324, 1.0 + 1e-9, 1.0 - 2.0**-52, 0.0, 1.0, 1e300]
    x = np.array([[1e-50], [2e-300], [1.0 + 1e-9]])
    given = Given(1)
    graph = Graph(given)
    # The runtime keeps what meets an input.
    rows = graph.add("Neg", graph.add("Neg", given))
    numbers = numbers if operator != "Div" else [number for number in numbers if number]
    found = [graph.add(operator, rows, np.full(shape, number)) for number in numbers]
    model = graph.model(
        {f"y{place}": (node, np.float64, 1) for place, node in enumerate(found)},
        {"multimargin": "0"},
    )
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    function = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[operator]
    for number, answer in zip(numbers, session.run(None, {"X": x}), strict=True):
        with np.errstate(over="ignore", under="ignore"):
            assert_array_equal(answer, function(x, number), err_msg=str(number))

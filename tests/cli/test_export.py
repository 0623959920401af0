import json
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.testing import assert_array_equal

from multimargin.model_files import load_model
from multimargin.onnx import graph


def test_the_model_of_fit(command, model, small, tmp_path):
    file = tmp_path / "m.onnx"
    answer = command("export", model, "-o", file)
    assert (answer.code, answer.err) == (0, "")
    assert "X (n, 32), float64" in answer.out
    session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
    (labels,) = session.run(["labels"], {"X": np.asarray(small.X, dtype=float)})
    assert_array_equal(labels, load_model(model).predict(small.X))
    said = session.get_modelmeta().custom_metadata_map
    assert json.loads(said["label_names"]) == list(small.label_names)
    assert json.loads(said["feature_names"]) == list(small.feature_names)
    found = command("export", model, "-o", file, "--json").json
    named = {"model": str(model), "method": "mlodm", "onnx": str(file)}
    tensors = {
        "inputs": {"X": ["double", 32]},
        "outputs": {"scores": ["double", 7], "labels": ["int64", 7]},
    }
    assert found == {**named, "n_features": 32, "n_labels": 7, **tensors}
    found = command("export", model, "-o", file, "--float32", "--json").json
    assert found["inputs"] == {"X": ["float", 32]}
    answer = command("export", model, "-o", tmp_path / "no" / "m.onnx")
    assert answer.code == 1
    assert "no" in answer.err
    assert answer.err.count("\n") == 1


def test_a_table_with_text_and_names(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    size, colour = random.integers(1, 9, 240), random.choice(["red", "blue", ""], 240)
    words = ["Sad", "slow", "LOUD", "fast", "piano"]
    text = [" ".join(random.choice(words, 4)) for _ in range(240)]
    tags = [("calm;" if "slow" in t else "") + ("big" if s > 4 else "small")
            for t, s in zip(text, size, strict=True)]  # fmt: skip
    rows = [",".join(map(str, row)) for row in zip(text, size, colour, tags, strict=True)]
    Path("t.csv").write_text("\n".join(["lyrics,size,colour,tags", *rows[:180]]))
    Path("new.csv").write_text("\n".join(["lyrics,size,colour,tags", *rows[180:]]))
    options = ["--set", "cv=2", "--set", "stack=None", "-o", "t.model"]
    answer = command("fit", "t.csv", "--text", "lyrics", "--tags-column", "tags", *options)
    assert answer.code == 0
    assert "not for multimargin export" not in answer.out
    answer = command("export", "t.model", "-o", "t.onnx")
    assert (answer.code, answer.err) == (0, "")
    told = " ".join(answer.out.split())
    assert "X (n, 1), float64; categories (n, 1), string; texts (n, 1), string" in told
    assert "probabilities (n, 3), float64" in told
    session = onnxruntime.InferenceSession("t.onnx", providers=["CPUExecutionProvider"])
    columns = {"X": size.astype(float), "categories": colour, "texts": np.array(text)}
    given = {
        name: np.asarray(of[180:], dtype=float if name == "X" else object).reshape(-1, 1)
        for name, of in columns.items()
    }
    (found,) = session.run(["probabilities"], given)
    expected = command("predict", "t.model", "new.csv", "--probabilities", "--json").json
    named = json.loads(session.get_modelmeta().custom_metadata_map["label_names"])
    for row, one in zip(found.tolist(), expected["rows"], strict=True):
        for name, p in one["probabilities"].items():
            assert abs(row[named.index(name)] - p) < 1e-6
    pipeline = load_model("t.model")
    inputs = json.loads(session.get_modelmeta().custom_metadata_map["inputs"])
    assert inputs == {"X": ["size"], "categories": ["colour"], "texts": ["lyrics"]}
    assert list(pipeline.feature_names_in_) == ["lyrics", "size", "colour"]


def test_fit_says_which_methods_no_file_holds(command, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for method in ("ml-knn", "llsf-bsvm"):
        answer = command("fit", folder, "-m", method, "-o", "a.model")
        assert answer.code == 0
        told = " ".join(answer.out.split())
        assert f"not for multimargin export: ONNX files do not hold {method}" in told
        assert command("export", "a.model", "-o", "a.onnx").code == 1


def test_fit_says_which_models_are_too_large(command, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "MOST_BYTES", 100)
    answer = command("fit", folder, "-m", "llsf")
    assert "not for multimargin export: 0.0 GB, beyond what an ONNX file holds" in " ".join(
        answer.out.split()
    )

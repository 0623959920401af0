import json
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.testing import assert_array_equal

from multimargin.model_files import load_model


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
    assert found == {**named, "n_features": 32, "n_labels": 7}
    answer = command("export", model, "-o", tmp_path / "no" / "m.onnx")
    assert answer.code == 1
    assert "no" in answer.err
    assert answer.err.count("\n") == 1


def test_a_table_with_text(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7},{'red' if i % 2 else 'blue'},{i % 2},{i % 3 // 2}" for i in range(30)]
    Path("t.csv").write_text("\n".join(["size,colour,tag:a,tag:b", *rows]))
    assert command("fit", "t.csv", "--labels", "tag:*", "-o", "t.model").code == 0
    answer = command("export", "t.model", "-o", "t.onnx")
    assert answer.code == 1
    assert "columns that are no numbers ('names': colour)" in answer.err
    assert not Path("t.onnx").exists()

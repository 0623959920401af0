"""Data sets written to files, as other programs write them."""

import hashlib
import json
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from multimargin.datasets import MultilabelData


def write_arff(data: MultilabelData, path: Path, split: str | None = None) -> Path:
    """Write an ARFF file in MULAN's layout, of all rows or of a split; return its XML file."""
    X, Y = (data.X, data.Y) if split is None else data.split(split)
    rows = np.hstack([X.toarray() if sparse.issparse(X) else X, Y]).tolist()

    def quoted(name: str) -> str:
        return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"

    lines = [f"@relation {quoted(data.name)}"]
    lines += [f"@attribute {quoted(name)} numeric" for name in data.feature_names]
    lines += [f"@attribute {quoted(name)} {{0,1}}" for name in data.label_names]
    lines += ["@data"]
    for row in rows:
        labels = ["?" if value != value else f"{value:.0f}" for value in row[-data.n_labels :]]
        features = ["?" if value != value else repr(value) for value in row[: -data.n_labels]]
        lines.append(",".join([*features, *labels]))
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    xml = path.with_name(f"{path.stem.removesuffix('-train').removesuffix('-test')}.xml")
    labels = [f"<label name={quoteattr(name)}/>" for name in data.label_names]
    text = "\n".join(
        ['<labels xmlns="http://mulan.sourceforge.net/labels">', *labels, "</labels>", ""]
    )
    xml.write_text(text, encoding="utf-8")
    return xml


def write_svmlight(
    data: MultilabelData, path: Path, *, zero_based: bool = False, labels_zero_based: bool = False
) -> None:
    """Write an svmlight file; scikit-learn counts labels from 0."""
    Y = data.Y if labels_zero_based else np.pad(data.Y, ((0, 0), (1, 0)))
    dump_svmlight_file(data.X, Y, str(path), zero_based=zero_based, multilabel=True)


def signed(model: bytes) -> bytes:
    """Give what was made of a model file the digest that one written so would have."""
    magic, line, content = model.split(b"\n", 2)
    header = json.loads(line)
    header.pop("sha256", None)
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode() + content).hexdigest()
    return b"\n".join([magic, json.dumps({**header, "sha256": digest}).encode(), content])

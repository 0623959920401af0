"""Writes the golden model files of this version: python tests/golden/make.py [METHOD].

Later versions must read them and compute the same scores. Never replace an archive: add one for a
version whose files differ, or for a method that came later.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

from multimargin import ThresholdedClassifier, __version__
from multimargin.methods import METHODS
from multimargin.model_files import ModelInfo, save_model
from multimargin.scaling import with_scaler

N, D, Q = 24, 4, 3


def models() -> Iterator[tuple[str, Any, str, bool]]:
    """Yield a name, an unfitted estimator, a scaling and whether the features are sparse."""
    for name, method in METHODS.items():
        yield name, method.make(), "minmax", False
    for name in ("rank-svm", "mlodm", "mlrl", "llsf"):
        yield f"{name} sparse", METHODS[name].make(), "unit", True
    for threshold in ("features", "labels", "count", 0.5):
        estimator = METHODS["rank-svm"].make(kernel="linear", threshold=threshold)
        yield f"threshold {threshold}", estimator, "standard", False
    neighbours = ThresholdedClassifier(KNeighborsClassifier(3), cv=2)
    yield "neighbours", neighbours, "none", False


def main() -> None:
    """Write the archive of this version."""
    random = np.random.default_rng(0)
    X = random.random((N, D)).round(3)
    Y = (X @ random.standard_normal((D, Q)) > 0.2).astype(int)
    X_test = random.random((5, D)).round(3)
    expected: dict[str, Any] = {"X": X_test.tolist(), "scores": {}}
    added = sys.argv[1:2]
    archive = Path(__file__).with_name("-".join(["models", __version__, *added]) + ".zip")
    if archive.exists():
        sys.exit(f"{archive} exists already")
    with TemporaryDirectory() as folder, ZipFile(archive, "w", ZIP_DEFLATED) as kept:
        for name, estimator, scaling, is_sparse in models():
            if added not in ([], [name]):
                continue
            rows, test = (sparse.csr_array(part) if is_sparse else part for part in (X, X_test))
            model = with_scaler(estimator, scaling, sparse=is_sparse).fit(rows, Y)
            names = [tuple(f"x{k}" for k in range(D)), tuple(f"y{k}" for k in range(Q))]
            info = ModelInfo(name.split()[0], names[1], names[0], is_sparse, "golden", "train")
            file = Path(folder) / f"{name}.model"
            save_model(model, file, info=info)
            kept.write(file, file.name)
            expected["scores"][name] = model.decision_function(test).tolist()
        kept.writestr("expected.json", json.dumps(expected))


if __name__ == "__main__":
    main()

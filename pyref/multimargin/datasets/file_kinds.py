"""Endings of files of data, known without NumPy or scikit-learn."""

from pathlib import Path

from multimargin.datasets._reading import uncompressed
from multimargin.datasets.public_names import local_folder

DELIMITERS = {".csv": ",;\t|", ".tsv": "\t,;|", ".tab": "\t,;|", ".txt": "\t|;,", ".psv": "|\t;,"}
"""What may stand between the cells of a text, by the ending of its name; the most common first."""
TEXTS = tuple(DELIMITERS)
LINES = (".jsonl", ".ndjson")
OBJECTS = (".json", *LINES)
TABLE_KINDS = (*TEXTS, *OBJECTS, ".parquet", ".xlsx")
"""Tables, all of which may be compressed. A .txt may be of fastText, too."""
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
KINDS = (".arff", ".npz", *SVMLIGHT, *(kind for kind in TABLE_KINDS if kind != ".txt"))
"""What is data wherever it lies."""


def files_of(source: str) -> list[Path]:
    """Return the files that `load` may read for a path or a name, XML files beside them too."""
    path = Path(source)
    if not path.exists():
        path = local_folder(source) or path
    if path.is_dir():
        kinds = (*KINDS, ".txt", ".xml")
        return [file for file in path.iterdir() if uncompressed(file).suffix.lower() in kinds]
    if not path.exists():
        return [file for file in path.parent.glob(path.name or "*") if file.is_file()]
    return [path, *path.parent.glob("*.xml")]

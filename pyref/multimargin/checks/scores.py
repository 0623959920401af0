"""Checks of label scores f(x)."""

import numpy as np
from sklearn.utils import check_array

from multimargin.checks.arrays import check_readable, is_sound, naming
from multimargin.typing import MatrixLike, Scores


def check_scores(
    scores: MatrixLike,
    *,
    n_rows: int | None = None,
    n_labels: int | None = None,
    name: str = "scores",
) -> Scores:
    """Return label scores as a dense array of finite floats."""
    check_readable(scores, name)
    checked: Scores
    types = [np.float64, np.float32]
    if is_sound(scores):
        checked = np.asarray(scores)
    else:
        with naming(name, "an array of finite real numbers, one for each row and label"):
            checked = check_array(
                scores, dtype=types, ensure_2d=False, allow_nd=True, input_name=name
            )
    shape = checked.shape
    if len(shape) != 2 or n_rows not in (None, shape[0]) or n_labels not in (None, shape[1]):
        rows = "n" if n_rows is None else n_rows
        labels = "q" if n_labels is None else n_labels
        raise ValueError(
            f"{name} has shape {shape}; expected ({rows}, {labels}), one score for each "
            "row and label."
        )
    return checked

"""What the docstrings of measures have in common."""

from inspect import signature
from typing import Any, TypeVar

from multimargin.docstrings import filled_from

Measure = TypeVar("Measure")

_PARAMETERS = {
    "Y_true": """
Y_true : array-like, sparse matrix or data frame of shape (n, q)
    Indicator of the relevant labels, 0 and 1; NaN where a label is unknown, which is left out.""",
    "Y_pred": """
Y_pred : array-like, sparse matrix or data frame of shape (n, q)
    Indicator of the predicted labels, 0 and 1; q >= 2.""",
    "scores": """
scores : array-like of shape (n, q)
    Finite scores f_k(x); a larger score ranks the label higher.""",
    "propensities": """
propensities : array-like of shape (q,)
    In (0, 1], of the training rows: `label_propensities`.""",
    "k": """
k : int, default=5
    How many labels, at least 1; all of them if there are fewer.""",
    "degenerate_rows": """
degenerate_rows : {"ignore", "count"}, default="ignore"
    What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
    count each as perfectly ranked. It is a ValueError to leave out all rows.""",
    "zero_division": """
zero_division : {0.0, 1.0}, default=1.0
    Value of a Jaccard similarity or F1 where no label is relevant or predicted: 1, because
    the prediction is perfect.""",
    "sample_weight": """
sample_weight : array-like of shape (n,), default=None
    How often each row counts; None counts each once.""",
}


def _returns(best: int) -> str:
    return f"Returns\n-------\nfloat\n    In [0, 1]; {best} is best."


def documented(measure: Measure) -> Measure:
    """Write the parameters of a measure into its docstring, and what it returns."""
    parameters: Any = signature(measure).parameters  # type: ignore[arg-type]
    paragraphs = {
        "Parameters": "Parameters\n----------" + "".join(_PARAMETERS[name] for name in parameters),
        "Returns : float in [0, 1], 0 is best": _returns(0),
        "Returns : float in [0, 1], 1 is best": _returns(1),
    }
    return filled_from(paragraphs)(measure)

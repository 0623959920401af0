"""What the docstrings of measures have in common."""

from multimargin.docstrings import filled_from

documented = filled_from(
    {
        "scores": """
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
""",
        "label sets": """
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
""",
        "k": """
    k : int, default=5
        How many labels, at least 1; all of them if there are fewer.
""",
        "degenerate_rows": """
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each as perfectly ranked. It is a ValueError to leave out all rows.
""",
        "sample_weight": """
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.
""",
        "0 is best": """
    Returns
    -------
    float
        In [0, 1]; 0 is best.
""",
        "1 is best": """
    Returns
    -------
    float
        In [0, 1]; 1 is best.
""",
    }
)

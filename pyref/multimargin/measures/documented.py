"""What the docstrings of measures have in common."""

from multimargin.docstrings import filled_from

documented = filled_from(
    {
        "Y_true, scores : arrays of shape (n, q)": """
    Y_true : array-like, sparse matrix or data frame of shape (n, q)
        Indicator of the relevant labels, 0 and 1.
    scores : array-like of shape (n, q)
        Finite scores f_k(x); a larger score ranks the label higher.
""",
        "Y_true, Y_pred : arrays of shape (n, q)": """
    Y_true, Y_pred : array-like, sparse matrix or data frame of shape (n, q)
        True and predicted indicator of the relevant labels, 0 and 1, q >= 2.
""",
        "k : int, default=5": """
    k : int, default=5
        How many labels, at least 1; all of them if there are fewer.
""",
        'degenerate_rows : {"ignore", "count"}, default="ignore"': """
    degenerate_rows : {"ignore", "count"}, default="ignore"
        What to do with rows whose labels are all relevant or all irrelevant: leave them out, or
        count each as perfectly ranked. It is a ValueError to leave out all rows.
""",
        "sample_weight : array-like of shape (n,), default=None": """
    sample_weight : array-like of shape (n,), default=None
        How often each row counts; None counts each once.
""",
        "Returns : float in [0, 1], 0 is best": """
    Returns
    -------
    float
        In [0, 1]; 0 is best.
""",
        "Returns : float in [0, 1], 1 is best": """
    Returns
    -------
    float
        In [0, 1]; 1 is best.
""",
    }
)

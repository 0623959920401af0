"""Predictions as sparse matrices and as data frames."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator

from multimargin.checks.parameters import check_choice
from multimargin.inspection.names import (
    base_rates_of,
    blocks_of_rows,
    check_multilabel,
    check_rows,
    label_names_of_model,
)
from multimargin.measures.label_scores import answer_of
from multimargin.typing import Frame, MatrixLike

_RESPONSES = ("predict", "predict_proba", "decision_function", "label_scores")


def predict_sparse(model: BaseEstimator, X: MatrixLike) -> sparse.csr_array:
    """Return the predicted labels as a sparse matrix, by blocks of rows.

    No array of all rows and labels is made, of scores or of predictions.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package, alone or at the end of a pipeline or of a search; or another
        library's multi-label classifier, such as a chain or a forest.
    X : array-like, sparse matrix, data frame or sequence of n rows
        Input of the model: features, or the columns or texts that the pipeline starts with.

    Returns
    -------
    csr_array of shape (n, q)
        1 where `predict` has 1, of type uint8; scikit-learn's metrics and those of
        `multimargin.measures` take it.

    Raises
    ------
    ValueError
        If the model predicts one class per row, or `X` is malformed.

    Examples
    --------
    >>> from multimargin import RankSVM, predict_sparse
    >>> from multimargin.datasets import load_digit_attributes
    >>> X, X_test, Y, Y_test = load_digit_attributes().train_test()
    >>> model = RankSVM(random_state=0).fit(X, Y)
    >>> predicted = predict_sparse(model, X_test)
    >>> bool((predicted.toarray() == model.predict(X_test)).all())
    True
    """
    method = "decision_function" if hasattr(model, "decision_function") else "predict"
    blocks = [
        sparse.csr_array(answer_of(model, method, rows) > 0, dtype=np.uint8)
        for rows in blocks_of_rows(model, X)
    ]
    predicted = sparse.vstack(blocks, format="csr")
    check_rows(X, predicted.shape[0])
    return predicted


def predict_frame(
    model: BaseEstimator, X: MatrixLike, *, response: str = "predict", library: str = "pandas"
) -> Frame:
    """Return predictions, probabilities or scores as a data frame with the names of the labels.

    Parameters
    ----------
    model : estimator, Pipeline or search
        A fitted model of this package, alone or at the end of a pipeline or of a search; or another
        library's multi-label classifier, such as a chain or a forest.
    X : array-like, sparse matrix, data frame or sequence of n rows
        Input of the model: features, or the columns or texts that the pipeline starts with.
    response : {"predict", "predict_proba", "decision_function", "label_scores"}, default="predict"
        The method whose output is returned.
    library : {"pandas", "polars"}, default="pandas"
        The library of the data frame.

    Returns
    -------
    DataFrame of shape (n, q)
        A column for each label, named as the labels are, by numbers where they have no names (texts
        in polars); in pandas with the index of `X`, where it has one.

    Raises
    ------
    TypeError
        If the model has no such method.
    ValueError
        If the model predicts one class per row, or an argument is malformed.

    Examples
    --------
    >>> import numpy as np
    >>> from multimargin import RankSVM, predict_frame
    >>> X = np.array([[0.0, 1.0], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0]])
    >>> model = RankSVM(random_state=0).fit(X, [["calm"], ["calm", "slow"], ["fast"], ["fast"]])
    >>> predict_frame(model, X[:1])
       calm  fast  slow
    0     1     0     0
    """
    check_choice("response", response, _RESPONSES)
    check_choice("library", library, ("pandas", "polars"))
    check_multilabel(model, X)
    if base_rates_of(model) is not None:
        raise ValueError(
            f"model scores only the best of its {label_names_of_model(model).size} labels for each "
            "row; expected one that scores all: predict_names and predict_top name the best "
            "labels, predict_sparse the predicted ones."
        )
    values = answer_of(model, response, X)
    check_rows(X, values.shape[0])
    names = label_names_of_model(model).tolist()
    if library == "polars":
        import polars

        return polars.DataFrame(values, schema=[str(name) for name in names])
    import pandas

    index = X.index if isinstance(X, pandas.DataFrame | pandas.Series) else None
    return pandas.DataFrame(values, index=index, columns=names)

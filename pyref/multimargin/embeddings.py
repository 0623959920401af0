"""Vectors of texts, for views of their meaning in addition to their words."""

import hashlib
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from multimargin.checks.names import quoted
from multimargin.targets.given import is_missing
from multimargin.typing import LabelsLike, MatrixLike

__all__ = ["StaticEmbedding"]


class StaticEmbedding(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Vectors of texts, near each other for texts of similar meaning.

    The vector of a text is the mean of vectors of its tokens, which were trained on other texts:
    those of *wordllama* in its default size, 256 numbers per text. They come with its package
    (``pip install 'multimargin[meaning]'``): nothing is downloaded. As a view of `LabelRankerCV`,
    next to one of the words, they help most with few rows and labels that depend on meaning.

    Parameters
    ----------
    unit_length : bool, default=True
        If True, vectors are divided by their Euclidean norm. A text without any known token has a
        vector of zeros.

    Attributes
    ----------
    digest_ : str
        SHA-256 of the file of vectors that it was fitted with.
    n_features_out_ : int
        Length of a vector.

    Notes
    -----
    Pickles and model files hold `digest_` and not the vectors: a loaded model does not transform
    with another version of wordllama.

    wordllama's code has the MIT licence. Its vectors were trained from the token embeddings of
    Llama 2, whose community licence may bind those who distribute them. Any other transformer from
    texts to vectors can take the place of this one, ``FunctionTransformer(model.encode)`` of
    model2vec or sentence-transformers, say.

    Examples
    --------
    >>> from multimargin.embeddings import StaticEmbedding
    >>> texts = ["edits sound", "an audio editor", "draws maps"]
    >>> vectors = StaticEmbedding().fit_transform(texts)  # doctest: +SKIP
    >>> vectors @ vectors[0]  # doctest: +SKIP
    array([1.   , 0.605, 0.086])
    """

    def __init__(self, *, unit_length: bool = True) -> None:
        self.unit_length = unit_length

    def fit(self, X: MatrixLike, y: LabelsLike | None = None) -> Self:
        """Load the vectors: nothing is learned.

        Parameters
        ----------
        X : sequence of n str
            Texts; not used.
        y : object, default=None
            Not used.

        Raises
        ------
        ImportError
            If wordllama is not installed.
        """
        _texts(X)
        model, self.digest_ = _loaded()
        self.n_features_out_ = int(model.embedding.shape[1])
        return self

    def transform(self, X: MatrixLike) -> NDArray[np.float32]:
        """Return the vectors of texts.

        Parameters
        ----------
        X : sequence of n str
            Texts. A missing one is an empty one.

        Returns
        -------
        ndarray of shape (n, n_features_out_)
            A vector for each text.

        Raises
        ------
        ImportError
            If wordllama is not installed.
        ValueError
            If its vectors are not those of the fit.
        """
        check_is_fitted(self)
        texts = _texts(X)
        model, digest = _loaded()
        if digest != self.digest_:
            raise ValueError(
                f"the vectors of the installed wordllama have the SHA-256 {digest[:12]}...; "
                f"expected {self.digest_[:12]}..., as in fit: install the version of the fit, or "
                "fit again."
            )
        found: NDArray[np.float32] = model.embed(texts)
        if self.unit_length:
            norms = np.linalg.norm(found, axis=1, keepdims=True)
            np.divide(found, norms, out=found, where=norms > 0.0)
        return found

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        ndarray of shape (n_features_out_,)
            "meaning 0", "meaning 1", ...
        """
        check_is_fitted(self)
        return np.array([f"meaning {k}" for k in range(self.n_features_out_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _texts(X: Any) -> list[str]:
    """Return texts as a list; a missing one is empty."""
    if isinstance(X, str | Mapping | Set) or not np.iterable(X):
        raise TypeError(f"X is {quoted(X)}; expected a sequence of texts.")
    shape = getattr(X, "shape", ())
    if len(shape) > 1:
        if shape[1:] != (1,):
            raise ValueError(f"X has shape {shape}; expected one column of texts.")
        X = np.asarray(X, dtype=object)[:, 0]
    texts = list(X)
    for row, text in enumerate(texts):
        if is_missing(text):
            texts[row] = ""
        elif not isinstance(text, str):
            raise TypeError(f"X has {text!r} in row {row}; expected a text.")
    return texts


_KEPT: list[tuple[Any, str]] = []


def _loaded() -> tuple[Any, str]:
    """Return the vectors and their digest, loaded once a process."""
    if not _KEPT:
        try:
            import wordllama
        except ImportError as error:
            raise ImportError(
                "StaticEmbedding needs wordllama, which is not installed: "
                "pip install 'multimargin[meaning]'",
                name="wordllama",
            ) from error
        folder = Path(wordllama.__file__).parent
        # Both files are in the package; without the folder it looks for one of them on the net.
        model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        files = sorted((folder / "weights").glob("*_256.safetensors"))
        digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
        _KEPT.append((model, digest))
    return _KEPT[0]

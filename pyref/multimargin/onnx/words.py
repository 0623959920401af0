"""Texts and names of categories as operators of a graph."""

import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer

from multimargin.onnx.graph import DOUBLE, Given, Graph, Node
from multimargin.onnx.inputs import CATEGORIES, TEXTS, Strings
from multimargin.onnx.labels import integers
from multimargin.targets.given import is_missing

# The mark of an empty place between characters, which occurs in no text.
_PAD = "\x02"
# Numbers of characters: what separates words, and what no term has.
_BETWEEN, _OTHER = 0, 1
# The classes of Python's regular expressions, as ONNX Runtime writes them.
_NO_LETTER = r"[^\p{L}\p{N}_]"
_SPACE = (
    r"[\t-\r\x1c-\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}]"
)
_PATTERN = r"(?u)\b\w\w+\b"


def add_one_hot(graph: Graph, encoder: BaseEstimator, X: Given | Strings | Node) -> Node:
    """Append columns of 0 and 1, one a category."""
    if encoder.drop is not None or encoder._infrequent_enabled:
        raise ValueError(
            f"model encodes names by {encoder!r}; expected one without drop, min_frequency and "
            "max_categories."
        )
    if isinstance(X, Given) and any(known.dtype.kind in "OUS" for known in encoder.categories_):
        X = Strings(X.take(graph, CATEGORIES, range(X.width)))
    columns = []
    for place, known in enumerate(encoder.categories_):
        at = integers([place])
        if isinstance(X, Strings):
            fill = None if X.fills is None else X.fills[place]
            column = graph.add("Gather", X.node, at, axis=1)
            numbers = _numbers_of_names(known, fill)
            found = _looked_up(graph, column, numbers, -1)
            same = graph.add("Equal", found, integers([range(known.size)]))
        else:
            if any(map(is_missing, known)):
                raise ValueError("model has missing numbers as a category; expected numbers only.")
            column = graph.add("Gather", X, at, axis=1)
            same = graph.add("Equal", column, np.asarray(known, dtype=np.float64)[None, :])
        columns.append(graph.add("Cast", same, to=DOUBLE))
    return columns[0] if len(columns) == 1 else graph.add("Concat", *columns, axis=1)


def _numbers_of_names(known: Iterable[Any], fill: Any) -> dict[str, int]:
    """Return the number of each category by its name; an empty name is a missing one."""
    numbers = {}
    for number, name in enumerate(known):
        numbers["" if is_missing(name) else str(name)] = number
    if fill is not None and str(fill) in numbers:
        numbers.setdefault("", numbers[str(fill)])
    return numbers


def add_counts(graph: Graph, vectorizer: CountVectorizer, X: Strings) -> Node:
    """Append the counts of terms in texts, (n, number of terms)."""
    _check_vectorizer(vectorizer)
    if isinstance(X, Given):
        X = Strings(X.take(graph, TEXTS, [0]))
    of_words = vectorizer.analyzer == "word"
    terms = sorted(vectorizer.vocabulary_, key=lambda term: (len(term), term))
    used = sorted({one for term in terms for one in term})
    numbers = {one: number for number, one in enumerate(used, start=_OTHER + 1)}
    text = graph.add("Squeeze", X.node, integers([1]))
    # A further text, in which everything matches: without matches the runtime drops an axis.
    text = graph.add("Concat", text, np.array(["a  "], dtype=object), axis=0)
    if of_words:
        # A word is a run of letters between two other characters.
        pieces = _matches(graph, text, "(?s:.)")
        marked, mark = _matches(graph, pieces, _NO_LETTER), _BETWEEN
        grams = [[_BETWEEN, *(numbers[one] for one in term), _BETWEEN] for term in terms]
    else:
        # Several blanks are one.
        pieces = _matches(graph, text, rf"{_SPACE}{{2,}}|(?s:.)")
        marked, mark = _matches(graph, pieces, rf"{_SPACE}{{2,}}"), numbers.get(" ", _OTHER)
        grams = [[numbers[one] for one in term] for term in terms]
    flags = graph.add("ReduceMax", _looked_up(graph, marked, {_PAD: 0}, 1), axes=[2], keepdims=0)
    read = _in_either_case(numbers) if vectorizer.lowercase else numbers
    found = _looked_up(graph, pieces, {**read, _PAD: _BETWEEN}, _OTHER)
    found = graph.add("Where", graph.add("Equal", flags, integers(1)), integers(mark), found)
    found = graph.add("Pad", found, integers([0, 1, 0, 1]), integers(_BETWEEN))
    counts = graph.add("TfIdfVectorizer", found, **_pool(grams, terms, vectorizer.vocabulary_))
    counts = graph.add("Slice", counts, *(integers([one]) for one in (0, -1, 0)))
    counts = graph.add("Cast", counts, to=DOUBLE)
    return graph.add("Min", counts, 1.0) if vectorizer.binary else counts


def add_tfidf(graph: Graph, vectorizer: TfidfVectorizer, X: Strings) -> Node:
    """Append the weights of terms in texts."""
    return add_weights(graph, vectorizer._tfidf, add_counts(graph, vectorizer, X))


def add_weights(graph: Graph, transformer: TfidfTransformer, X: Node) -> Node:
    """Append the weights of terms by their counts."""
    if transformer.sublinear_tf:
        logarithm = graph.add("Add", graph.add("Log", graph.add("Max", X, 1.0)), 1.0)
        X = graph.add("Where", graph.add("Greater", X, 0.0), logarithm, 0.0)
    if transformer.use_idf:
        X = graph.add("Mul", X, transformer.idf_)
    return X if transformer.norm is None else add_unit_length(graph, transformer.norm, X)


def add_unit_length(graph: Graph, norm: str, X: Node) -> Node:
    """Append rows of norm 1; a row of zeros stays one."""
    if norm == "max":
        length = graph.add("ReduceMax", graph.add("Abs", X), axes=[1])
    else:
        length = graph.add({"l1": "ReduceL1", "l2": "ReduceL2"}[norm], X, axes=[1])
    is_zero = graph.add("Equal", length, 0.0)
    return graph.add("Div", X, graph.add("Where", is_zero, 1.0, length))


def _check_vectorizer(vectorizer: CountVectorizer) -> None:
    plain = (
        vectorizer.analyzer in ("word", "char")
        and vectorizer.preprocessor is None
        and vectorizer.tokenizer is None
        and vectorizer.strip_accents is None
    )
    if plain and vectorizer.analyzer == "word":
        plain = vectorizer.token_pattern == _PATTERN and tuple(vectorizer.ngram_range) == (1, 1)
    if not plain:
        raise ValueError(
            f"model reads texts by {vectorizer!r}; expected analyzer='word' with single words and "
            "the default token_pattern, or analyzer='char', without preprocessor, tokenizer and "
            "strip_accents."
        )


def _matches(graph: Graph, text: Node, expression: str) -> Node:
    """Append the parts of texts that match an expression, along a new last axis."""
    return graph.add(
        "Tokenizer",
        text,
        domain="com.microsoft",
        mark=0,
        mincharnum=1,
        pad_value=_PAD,
        tokenexp=expression,
    )


def _looked_up(graph: Graph, names: Node, numbers: Mapping[str, int], default: int) -> Node:
    """Append the numbers that names stand for."""
    return graph.add(
        "LabelEncoder",
        names,
        domain="ai.onnx.ml",
        keys_strings=list(numbers),
        values_int64s=list(numbers.values()),
        default_int64=default,
    )


def _in_either_case(numbers: Mapping[str, int]) -> dict[str, int]:
    """Return the numbers of characters, and of those that `str.lower` makes them of."""
    small = {one: number for one, number in numbers.items() if one.lower() == one}
    return small | {one: numbers[low] for one, low in _capitals().items() if low in numbers}


@cache
def _capitals() -> dict[str, str]:
    """Return the characters that `str.lower` makes another one of, and that."""
    pairs = ((one, one.lower()) for one in map(chr, range(sys.maxunicode + 1)))
    return {one: small for one, small in pairs if one != small and len(small) == 1}


def _pool(
    grams: list[list[int]], terms: list[str], vocabulary: Mapping[str, int]
) -> dict[str, Any]:
    """Return the attributes that count runs of numbers, the shorter ones first."""
    lengths = [len(gram) for gram in grams]
    sizes = range(1, max(lengths) + 1)
    return {
        "mode": "TF",
        "min_gram_length": min(lengths),
        "max_gram_length": max(lengths),
        "max_skip_count": 0,
        # Where the runs of each length begin.
        "ngram_counts": [sum(k for k in lengths if k < size) for size in sizes],
        "ngram_indexes": [int(vocabulary[term]) for term in terms],
        "pool_int64s": [number for gram in grams for number in gram],
    }

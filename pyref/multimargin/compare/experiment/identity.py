"""Identity of jobs: descriptions of estimators, and fingerprints of arrays."""

import json
from collections.abc import Mapping
from hashlib import sha256
from math import isfinite
from numbers import Integral, Real
from pickle import PicklingError
from types import CodeType, FunctionType
from typing import Any

import joblib
import numpy as np
from pandas.util import hash_pandas_object
from scipy import sparse


def describe(value: object) -> Any:
    """Describe a parameter in JSON: classes, parameters, fingerprints of content."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if isfinite(number) else str(number)
    if hasattr(value, "get_params") and not isinstance(value, type):
        parameters = value.get_params(deep=False)
        return {
            "class": type(value).__name__,
            "parameters": {name: describe(parameters[name]) for name in sorted(parameters)},
        }
    if isinstance(value, Mapping):
        return {str(key): describe(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [describe(entry) for entry in value]
    if isinstance(value, FunctionType):
        # A name would not reveal that a function was edited, and a lambda cannot be pickled.
        return f"{value.__qualname__} {joblib.hash(_code(value.__code__))}"
    try:
        content = joblib.hash(value)
    except (PicklingError, TypeError) as error:
        raise TypeError(
            f"a parameter is {value!r}, which cannot be pickled; expected parameters that can, so "
            "that a result can be told from that of other parameters."
        ) from error
    return f"{getattr(value, '__qualname__', type(value).__name__)} {content}"


def fingerprint(*arrays: Any) -> str:
    """Return a hash of arrays: their shape, type, storage and content, and the names of columns."""
    digest = sha256()
    for array in arrays:
        if sparse.issparse(array):
            digest.update(f"csr {array.shape}".encode())
            parts = [array.data, array.indices, array.indptr]
        elif hasattr(array, "columns"):
            digest.update(f"frame {list(array.columns)}".encode())
            parts = [hash_pandas_object(array[name], index=False).to_numpy() for name in array]
        else:
            parts = [array]
        for part in parts:
            digest.update(f"{part.dtype.str} {part.shape}".encode())
            digest.update(np.ascontiguousarray(part).data)
    return digest.hexdigest()[:32]


def identity(description: Mapping[str, object]) -> str:
    """Return a hash of a description that JSON can hold; the order of its keys does not matter."""
    text = json.dumps(description, sort_keys=True, allow_nan=False)
    return sha256(text.encode()).hexdigest()[:32]


def _code(code: CodeType) -> list[Any]:
    constants = [
        _code(constant) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return [code.co_code, code.co_names, constants]

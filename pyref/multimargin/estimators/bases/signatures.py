"""The order of the parameters of an estimator."""

import inspect
from typing import Any, TypeVar

_Kind = TypeVar("_Kind", bound=type)


def own_first(kind: _Kind) -> _Kind:
    """Put a data class's own parameters before those that it inherits.

    They are passed by name, so that their order only matters to readers.
    """
    init: Any = kind.__init__  # type: ignore[misc]
    signature, own = inspect.signature(init), [*vars(kind)["__annotations__"]]
    by_place = [p for p in signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    by_name = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    by_name.sort(key=lambda p: own.index(p.name) if p.name in own else len(own))
    init.__signature__ = signature.replace(parameters=[*by_place, *by_name])
    return kind

"""Multi-label data: readers of the usual file formats, and two data sets that need none.

All readers return a `MultilabelData`: features ``X``, a 0/1 label indicator ``Y``, the names of
both, and named splits such as the official "train" and "test" parts. `load` finds the reader.
`load_extreme` alone, for thousands of labels, returns ``X`` and ``Y`` as sparse arrays.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multimargin.datasets.arff import load_arff
    from multimargin.datasets.debian import load_debian_tags
    from multimargin.datasets.description import Description, describe
    from multimargin.datasets.digits import load_digit_attributes
    from multimargin.datasets.loading import load, load_table
    from multimargin.datasets.multilabel_data import MultilabelData
    from multimargin.datasets.npz import load_npz
    from multimargin.datasets.svmlight import load_extreme, load_svmlight

__all__ = [
    "Description",
    "MultilabelData",
    "describe",
    "load",
    "load_arff",
    "load_debian_tags",
    "load_digit_attributes",
    "load_extreme",
    "load_npz",
    "load_svmlight",
    "load_table",
]

# Where they are, unless they load what the module is called.
_MODULES = {
    "load_debian_tags": "debian",
    "Description": "description",
    "describe": "description",
    "load_digit_attributes": "digits",
    "load_extreme": "svmlight",
    "load": "loading",
    "load_table": "loading",
    "MultilabelData": "multilabel_data",
}


def __getattr__(name: str) -> Any:
    # Only when asked for: names of columns are checked without loading scikit-learn.
    if name in __all__:
        module = import_module(
            f"multimargin.datasets.{_MODULES.get(name, name.removeprefix('load_'))}"
        )
        return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

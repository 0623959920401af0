"""Large-margin multi-label learning with certified solvers."""
# ruff: noqa: F403, F405 (the names in `__all__` are those of two rooms)

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multimargin.estimators import *
    from multimargin.inspection import *
    from multimargin.model_files import load_model, save_model

__version__ = version("multimargin")

__all__ = [
    "LLSF",
    "MLODM",
    "MLRL",
    "SSMLRL",
    "CalibratedClassifier",
    "EmptyRowsWarning",
    "LabelRankerCV",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "RankSVMz",
    "Reasons",
    "ThresholdedClassifier",
    "UnknownLabelsWarning",
    "__version__",
    "explain",
    "load_model",
    "predict_frame",
    "predict_names",
    "predict_sparse",
    "predict_top",
    "save_model",
]


_ELSEWHERE = {
    **dict.fromkeys(("load_model", "save_model"), "model_files"),
    **dict.fromkeys(
        ("Reasons", "explain", "predict_frame", "predict_names", "predict_sparse", "predict_top"),
        "inspection",
    ),
}


def __getattr__(name: str) -> Any:
    # Only when asked for, so that the command line shows its help without loading scikit-learn.
    if name in __all__:
        module = _ELSEWHERE.get(name, "estimators")
        return getattr(import_module(f"multimargin.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

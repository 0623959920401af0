"""Large-margin multi-label learning with certified solvers."""
# ruff: noqa: F403, F405 (the names in `__all__` are those of `multimargin.estimators`)

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multimargin.estimators import *
    from multimargin.model_files import load_model, save_model

__version__ = version("multimargin")

__all__ = [
    "LLSF",
    "MLODM",
    "MLRL",
    "SSMLRL",
    "CalibratedClassifier",
    "EmptyRowsWarning",
    "FrankWolfeOptions",
    "LabelRankerCV",
    "LabelSpecificBinaryRelevance",
    "LabelSpecificClassifierChain",
    "RankCVM",
    "RankHLapSVM",
    "RankLSVM",
    "RankSVM",
    "RankSVMz",
    "Reasons",
    "RelationshipOptions",
    "ThresholdedClassifier",
    "UnknownLabelsWarning",
    "__version__",
    "beta_max",
    "explain",
    "load_model",
    "predict_frame",
    "predict_names",
    "predict_sparse",
    "predict_top",
    "save_model",
]


def __getattr__(name: str) -> Any:
    # Only when asked for, so that the command line shows its help without loading scikit-learn.
    if name in __all__:
        module = "model_files" if name in ("load_model", "save_model") else "estimators"
        return getattr(import_module(f"multimargin.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

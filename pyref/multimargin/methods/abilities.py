"""The abilities of the methods: facts that signatures do not tell, and the table of all."""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multimargin.methods.method import Method


@dataclass(frozen=True)
class Abilities:
    """Abilities of a method that its signature does not tell.

    Parameters
    ----------
    loss : str
        Its loss, in a few words.
    biases : tuple of str
        Values of the parameter ``bias``, or the one bias of a method without that parameter.
    kernels : tuple of str
        Kernels by name, of `ALL_KERNELS`; or one phrase.
    unknown_labels : bool, default=True
        `y` may have NaN.
    dask : bool, default=False
        `multimargin.dask.fit` takes it.
    onnx : bool, default=True
        `multimargin.onnx.export` takes it.
    explain : bool, default=True
        `multimargin.explain` takes it, with a linear kernel.
    """

    loss: str
    biases: tuple[str, ...]
    kernels: tuple[str, ...]
    unknown_labels: bool = True
    dask: bool = False
    onnx: bool = True
    explain: bool = True


ALL_KERNELS = ("linear", "rbf", "poly", "sigmoid", "precomputed", "callable")
"""Names of kernels; "callable" stands for a function of two matrices."""

_HEADS = (
    "method",
    "loss",
    "bias",
    "kernel",
    "label weights",
    "`top_k`",
    "sample weights",
    "unknown labels",
    "dask",
    "ONNX",
    "`explain`",
    "probabilities",
)


def abilities_table(methods: Mapping[str, "Method"]) -> str:
    """Return the table of abilities in Markdown.

    Parameters
    ----------
    methods : mapping of str to Method
        Methods by name; those without abilities are left out.

    Returns
    -------
    str
        A line for each method.
    """
    rows = [_HEADS, ("---",) * len(_HEADS)]
    rows += [_row(method, method.abilities) for method in methods.values() if method.abilities]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(method: "Method", abilities: Abilities) -> tuple[str, ...]:
    """Return the cells of a method."""
    parameters = method.parameters
    estimator: Any = method.estimator
    without = set(ALL_KERNELS) - set(abilities.kernels)
    kernels = "all" if not without else ", ".join(abilities.kernels)
    if 0 < len(without) < 3:
        kernels = f"all but {', '.join(sorted(without))}"
    return (
        f"`{estimator.__name__}`",
        abilities.loss,
        ", ".join(abilities.biases),
        kernels,
        *map(
            _mark,
            (
                "class_weight" in parameters,
                "top_k" in parameters,
                "sample_weight" in signature(estimator.fit).parameters,
                abilities.unknown_labels,
                abilities.dask,
                abilities.onnx,
                abilities.explain,
                hasattr(estimator, "predict_proba"),
            ),
        ),
    )


def _mark(able: bool) -> str:
    return "yes" if able else "no"

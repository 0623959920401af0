"""Writes the table of abilities into its page.

python tools/write_abilities.py docs/abilities.md
"""

import re
import sys
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from multimargin.methods import METHODS
from multimargin.methods.method import ALL_KERNELS, Abilities, Method

TABLE = re.compile(r"^\| method \| loss .*?(?=^$|\Z)", re.MULTILINE | re.DOTALL)

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


def abilities_table(methods: Mapping[str, Method]) -> str:
    """Return the table of the abilities of methods in Markdown."""
    rows = [_HEADS, ("---",) * len(_HEADS)]
    rows += [_row(method, method.abilities) for method in methods.values() if method.abilities]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _row(method: Method, abilities: Abilities) -> tuple[str, ...]:
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


if __name__ == "__main__":
    page = Path(sys.argv[1])
    text, found = TABLE.subn(f"{abilities_table(METHODS)}\n", page.read_text(encoding="utf-8"))
    if found != 1:
        raise SystemExit(f"{page} has {found} tables of abilities; expected one.")
    page.write_text(text, encoding="utf-8")

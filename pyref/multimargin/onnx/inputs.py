"""Inputs of a graph: numbers, names of categories, and texts."""

from dataclasses import dataclass
from typing import Any

NUMBERS, CATEGORIES, TEXTS = "X", "categories", "texts"
"""The names of the inputs."""


@dataclass(frozen=True)
class Strings:
    """Columns of texts or of names, each with what stands for an empty one."""

    node: str  # (n, m)
    fills: tuple[Any, ...] | None = None  # (m,)

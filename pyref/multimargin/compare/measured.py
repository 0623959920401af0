"""The quantities that are compared: their titles, and which direction is better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from multimargin.measures import MEASURES, MORE_MEASURES


@dataclass(frozen=True)
class Measured:
    """A quantity that every result has."""

    name: str  # Its name, that of the function in `multimargin.measures`
    title: str  # Its name in print
    larger_is_better: bool

    @property
    def arrow(self) -> str:
        """An arrow in the direction that is better."""
        return "↑" if self.larger_is_better else "↓"


MEASURED: Mapping[str, Measured] = MappingProxyType(
    {
        measure.name: Measured(measure.name, measure.title, measure.larger_is_better)
        for measure in (*MEASURES.values(), *MORE_MEASURES.values())
    }
    | {
        "fit_seconds": Measured("fit_seconds", "fit, seconds", False),
        "predict_seconds": Measured("predict_seconds", "prediction, seconds", False),
    }
)
"""All quantities by name: the measures, then the seconds."""

RANKING = tuple(name for name, measure in MEASURES.items() if measure.needs == "scores")
"""The measures that need scores and rows with both relevant and irrelevant labels."""

DEFAULT = ("ranking_loss", "one_error", "ranking_average_precision", "hamming_loss", "macro_f1")
"""Measures that reports show by default."""


def find_measured(names: str | Sequence[str]) -> list[Measured]:
    """Look up quantities, keys of `MEASURED` or "all", in the order asked for."""
    if names == "all":
        return list(MEASURED.values())
    listed = [names] if isinstance(names, str) else list(names)
    if not listed:
        raise ValueError(f"measures is empty; expected some of {', '.join(MEASURED)}, or all.")
    for name in listed:
        if name not in MEASURED:
            raise ValueError(
                f"measures has {name!r}; expected some of {', '.join(MEASURED)}, or all."
            )
    return [MEASURED[name] for name in dict.fromkeys(listed)]

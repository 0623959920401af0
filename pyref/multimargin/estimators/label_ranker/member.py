"""The ranker of one view, that is searched for, and the stack beside it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.estimators.label_ranker.search import Search, Tried
from multimargin.estimators.label_ranker.settings import Grid
from multimargin.estimators.label_ranker.stack import Stack
from multimargin.estimators.label_ranker.views import Views
from multimargin.targets.reading import Targets
from multimargin.thresholds.held_out import Named

Matrix = NDArray[np.float64]


@dataclass(eq=False)
class Member:
    """The ranker and the stack of one view."""

    place: int  # Of the view among all
    rows: Any  # (n, d): Its features
    grid: Grid
    search: Search
    stack: Stack
    planned: Named  # Blocks of the stack
    ranker: Any = None

    @property
    def best(self) -> Tried:
        """The best setting of the ranker."""
        assert self.search.best is not None
        return self.search.best

    def fit_ranker(self, targets: Targets, weights: Matrix | None, options: dict[str, Any]) -> None:
        """Fit the ranker of the best setting to all rows."""
        self.ranker = self.best.setting.make(**options)
        self.ranker.fit(self.rows, targets, sample_weight=weights)

    def fitted(self, views: Views) -> Named:
        """Return ranker and stack by name, as classifiers of the features of all views."""
        own = [("ranker", self.ranker), *self.stack.fitted]
        return [views.on_its_view(self.place, *one) for one in own]

    @property
    def scores(self) -> list[Matrix]:
        """The held-out scores of ranker and stack."""
        return [self.search.scores, *self.stack.blocks]

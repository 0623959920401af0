"""The ranker of one view, that is searched for, and the blocks stacked with it."""

from dataclasses import dataclass
from typing import Any

from multimargin.blocks.stack import Stack
from multimargin.calibration.held_out import Named
from multimargin.estimators.label_ranker.search import Search, Tried
from multimargin.estimators.label_ranker.settings import Grid
from multimargin.estimators.label_ranker.task import Task
from multimargin.features.views import Views
from multimargin.typing import Matrix


@dataclass(eq=False)
class Member:
    """The ranker and the blocks of one view."""

    place: int  # Of the view among all
    grid: Grid
    search: Search
    stack: Stack
    planned: Named  # The blocks that are to be fitted
    ranker: Any = None

    @property
    def best(self) -> Tried:
        """The best setting of the ranker."""
        assert self.search.best is not None
        return self.search.best

    def fit_ranker(self, task: Task, options: dict[str, Any]) -> None:
        """Fit the ranker of the best setting to all rows."""
        self.ranker = self.best.setting.make(**options)
        self.ranker.fit(task.parts[self.place], task.learned, sample_weight=task.sample_weight)

    def fitted(self, views: Views) -> Named:
        """Return ranker and blocks by name, as classifiers of the features of all views."""
        own = [("ranker", self.ranker), *self.stack.fitted]
        return [views.on_its_view(self.place, *one) for one in own]

    @property
    def scores(self) -> list[Matrix]:
        """The held-out scores of ranker and blocks."""
        return [self.search.scores, *self.stack.blocks]

"""The steps of a fit before the calibration: rankers are chosen, and others stacked with them."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

from multimargin.blocks.stack import Effort
from multimargin.calibration.held_out import HeldOut, Named
from multimargin.estimators.label_ranker.member import Member
from multimargin.estimators.label_ranker.plan import Plan
from multimargin.estimators.label_ranker.search import Search
from multimargin.estimators.label_ranker.task import Clock, Task

# What the fit on all rows may take of the time that the search leaves to it and a stack.
_SHARE_OF_FIT = 0.5


@dataclass(eq=False)
class Fit:
    """A fit on its way."""

    plan: Plan
    clock: Clock
    judge: Any  # `Judge` or `ShortlistJudge` of the rows that the folds hold out
    search_judge: Any  # Of those on which settings are compared
    # One for each view; when they are chosen, the best first
    members: list[Member] = field(default_factory=list)
    lifted: bool = False  # Whether the calibration has a lift
    left_out: dict[str, str] = field(default_factory=dict)
    price: float = 0.0  # Seconds that a calibration will take

    @property
    def task(self) -> Task:
        """Rows, labels and folds."""
        return self.plan.task

    def leave_out(self, member: Member, left_out: dict[str, str]) -> None:
        """Note which blocks of a view are left out, and why."""
        name = partial(self.task.views.full_name, member.place)
        self.left_out |= {name(block): reason for block, reason in left_out.items()}

    @property
    def held_out(self) -> HeldOut:
        """Held-out scores of all rankers and blocks."""
        scores = [one for member in self.members for one in member.scores]
        found: HeldOut = self.judge.with_blocks(scores)
        return found

    @property
    def fitted(self) -> Named:
        """All rankers and blocks, fitted to all rows."""
        return [one for member in self.members for one in member.fitted(self.task.views)]

    @property
    def has_time(self) -> bool:
        """True if the calibration can be learned: there is time, or a stack needs it."""
        alone = len(self.members) == 1 and not self.members[0].stack.fitted
        return not alone or self.clock.left >= self.price

    def keep_the_best(self) -> bool:
        """Leave the best ranker so far alone, and return whether there is one."""
        tried = [member for member in self.members if member.search.best is not None]
        if not tried:
            return False
        best = max(tried, key=lambda member: member.best.mean)
        if getattr(best.ranker, "status_", "interrupted") == "interrupted":
            best.ranker = best.search.lean_model()
        self.members = [best]
        return True


def begun(plan: Plan, clock: Clock) -> Fit:
    """Return a fit of which nothing is done but that settings and blocks are named."""
    model, task = plan.model, plan.task
    judge = plan.judge(task.folds)
    search_judge = plan.judge(task.searched) if task.sampled else judge
    fit = Fit(plan, clock, judge, search_judge)
    options = {"tol": model.cv_tol, "random_state": task.seed}
    for place, X in enumerate(task.parts):
        end = clock.of_search(place, len(task.parts))
        effort = Effort(end, model.n_jobs, model.verbose)
        search = Search(task, place, search_judge, effort, options)
        planned, left_out = plan.blocks(X)
        blocks = plan.stack(X, search, Effort(clock.end, model.n_jobs, model.verbose))
        member = Member(place, plan.grid(X), search, blocks, planned)
        fit.members.append(member)
        fit.leave_out(member, left_out)
    fit.lifted, left_out = plan.lift()
    fit.left_out |= left_out
    return fit


def choose(fit: Fit) -> None:
    """Choose the ranker of each view, score the rows that are held out, and fit it to all rows."""
    task, members = fit.task, fit.members
    options = {"tol": fit.plan.model.tol, "random_state": task.seed}
    for member in members:
        member.search.run(member.grid)
    # The calibration looks at the ranks of the first.
    members.sort(key=lambda member: -member.best.mean)
    share = _SHARE_OF_FIT if any(member.planned for member in members) else 1.0
    for turn, member in enumerate(members):
        left = None
        if fit.clock.end is not None:
            left = max(share * fit.clock.left / (len(members) - turn), 1e-3)
        if task.sampled:
            left = None if left is None else left / 2.0
            member.search.hold_out(task.folds, left, fit.judge)
            # It may have taken longer.
            left = None if left is None else max(min(left, fit.clock.left), 1e-3)
        member.fit_ranker(task, options | {"max_time": left})


def stack(fit: Fit) -> None:
    """Fit the blocks of each view, as far as there is time for them and the calibration."""
    if fit.plan.model.calibration:
        fit.price = fit.search_judge.price_of_calibration(fit.judge)
    for member in fit.members:
        left_out = member.stack.fit(member.planned, reserve=fit.price * (1 + fit.lifted))
        fit.leave_out(member, left_out)
    if fit.lifted and fit.clock.left < 2.0 * fit.price:
        fit.lifted, fit.left_out["lift"] = False, "no time left of max_time"

"""The blocks of all stacks, in the time that is left."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multimargin.blocks.by_name import with_fewer_trees
from multimargin.blocks.pricing import Effort
from multimargin.blocks.stack import Stack
from multimargin.durations import duration
from multimargin.notices import warn

# Whether a block of a stack may be changed: one that was named, not given
Changeable = Callable[[str], bool]
# Tunes a block of a stack, given its name and the time to spare
Tuned = Callable[[Stack, str, Any, float], Any]


def fit_in_time(
    stacks: Sequence[Stack],
    effort: Effort,
    *,
    reserve: float,
    is_named: Changeable,
    tuned: Tuned,
    listed: NDArray[np.intp] | None = None,
) -> dict[str, str]:
    """Fit the blocks of stacks; return the full names of those left out, and why.

    The time left, but for a reserve, is shared evenly; what one does not need is for the others.
    Ensembles that need more have fewer trees; others are left out if there is no time at all. A
    block is tuned first if its share is twice the time that it takes. It scores the labels listed
    for each held-out row, or all labels.
    """
    planned = [
        (price, stack, *one)
        for stack in stacks
        for price, one in zip(stack.prices, stack.planned, strict=True)
    ]
    planned.sort(key=lambda one: one[0])
    left_out, fewer = dict[str, str](), list[str]()
    for turn, (needed, stack, name, block) in enumerate(planned):
        full_name = stack.full_name(name)
        left = effort.left - reserve
        share = left / (len(planned) - turn)
        if needed > share and is_named(name):
            smaller = with_fewer_trees(block, share / needed)
            if smaller is not None:
                trees = f"{smaller.n_estimators} of {block.n_estimators} trees"
                fewer.append(f"{trees} of {full_name}")
                block, needed = smaller, share
        if needed > left:
            left_out[full_name] = f"{duration(max(left, 0.0))} left of max_time"
            continue
        if is_named(name) and share >= 2.0 * needed:
            block = tuned(stack, name, block, share - needed)
        stack.fit(name, block, listed)
    _warn([*left_out], fewer)
    return left_out


def _warn(left_out: Sequence[str], fewer: Sequence[str]) -> None:
    """Warn of blocks that are left out, and of those with fewer trees."""
    told = [f"leaves out {', '.join(left_out)}"] if left_out else []
    told += [f"grows {', '.join(fewer)}"] if fewer else []
    if told:
        warn(f"stack {' and '.join(told)} for lack of time: increase max_time, or use stack=None.")

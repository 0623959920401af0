"""Classifiers of a stack, from its name and the size of the data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from scipy import sparse
from sklearn.base import BaseEstimator, clone

from multimargin.blocks.boosting import LabelBoosting
from multimargin.blocks.discriminant import LabelDiscriminant
from multimargin.blocks.forest import LabelForest
from multimargin.blocks.kernel_ridge import LabelKernelRidge
from multimargin.blocks.logistic import LabelLogistic
from multimargin.blocks.neighbours import LabelNeighbours
from multimargin.calibration.held_out import Named, named_estimators
from multimargin.typing import Features

# With more features a linear model is used, not trees.
MOST_FEATURES = 500
# Trees of a forest for few columns, for few columns and many labels, and for many columns.
_TREES, _TREES_OF_LABELS, _TREES_OF_MANY = 100, 50, 32
# Boosted trees and their learning rate, twice and half as much where more are worth their time.
_BOOSTED, _RATE = 200, 0.1
# With fewer for lack of time, their largest rate; and the least share of an ensemble's trees.
_HIGHEST_RATE, _LEAST_OF_TREES = 0.3, 0.1
# Numbers of rows that each of them is grown on, and of rows to a leaf.
_FEWEST_DRAWN, _MOST_DRAWN, _ROWS_TO_LEAF = 2500, 20_000, 80
# Number of rows from which boosted trees are as good without a forest as beside it.
_ENOUGH_FOR_BOOSTING = 1000
# Of the labels, on which trees of many columns or labels grow, and how many labels are many.
_PROJECTIONS, _MANY_LABELS = 8, 24
# Maximum number of pairs of a row and a label for a forest, whose leaves hold all labels.
_MOST_PAIRS = 2**20
# Number of rows with many columns beyond which other blocks are as good and much cheaper.
_MOST_ROWS_OF_MANY = 6000
# Rows beyond which distances of all of them take longer than all else, and where labels are listed.
_MOST_NEAR, _MOST_NEAR_LISTED = 40_000, 100_000
# Rows beyond which kernel ridge regressions gain little and take long.
_MOST_IN_KERNEL = 2000
# Labels of which all pairs are counted.
_MOST_LIFTED = 2000
# Entries of all leaves of a forest.
_MOST_ENTRIES = 2**25

OF_LISTS = "only the best labels of each row are scored"
"""The reason why a block is left out that looks at all labels."""

# Names of blocks, classifiers, or pairs of both.
Blocks: TypeAlias = str | Sequence[str | BaseEstimator | tuple[str, BaseEstimator]] | None


@dataclass(frozen=True)
class Data:
    """Sizes that decide which blocks are worth their time."""

    X: Any  # (n, d)
    n_labels: int
    seed: int
    full: bool  # Whether more trees are worth their time
    mostly_empty: bool = False  # Whether most rows have no label
    listed: bool = False  # Whether only the best labels of each row are scored


def blocks_of(stack: Blocks, data: Data) -> tuple[Named, dict[str, str]]:
    """Return the blocks of a parameter by name, and those left out with the reason."""
    if stack is None:
        return [], {}
    if isinstance(stack, str):
        if stack not in ("auto", "full"):
            raise ValueError(f"stack is {stack!r}; expected None, 'auto', 'full' or a list.")
        names = _names(stack, data)
        return _worth_it(names, data)
    if not isinstance(stack, list | tuple):
        raise TypeError(f"stack is {stack!r}; expected None, 'auto', 'full' or a list.")
    stack = [one for one in stack if not _is_lift(one)]
    named = {
        place: one for place, one in enumerate(stack) if isinstance(one, str) and one in BLOCKS
    }
    unknown = [one for one in stack if isinstance(one, str) and one not in BLOCKS]
    if unknown:
        known = ", ".join(map(repr, (*BLOCKS, "lift")))
        raise ValueError(f"stack has {unknown[0]!r}; expected some of {known}, or estimators.")
    others = [one for place, one in enumerate(stack) if place not in named]
    blocks = [(name, BLOCKS[name](data)) for name in named.values()]
    if others:
        blocks += named_estimators(others, "stack")
    found = [name for name, _ in blocks]
    if len(set(found)) < len(found) or {"ranker", "lift"} & set(found):
        raise ValueError(
            f"stack has {found}; expected unique names, and no classifier 'ranker' or 'lift'."
        )
    return blocks, {}


def lifts(stack: Blocks, n_labels: int, *, listed: bool) -> tuple[bool, dict[str, str]]:
    """Return whether a parameter includes the lift of labels, and why it is left out."""
    wanted = (
        stack in ("auto", "full") if isinstance(stack, str) else any(map(_is_lift, stack or ()))
    )
    if wanted and listed:
        return False, {"lift": OF_LISTS}
    if wanted and n_labels > _MOST_LIFTED:
        return False, {"lift": f"{n_labels} labels are more than {_MOST_LIFTED}"}
    return wanted, {}


def _is_lift(one: Any) -> bool:
    return isinstance(one, str) and one == "lift"


def few_columns(X: Features) -> bool:
    """Return whether features are dense and few, like those of sensors, not words."""
    return not sparse.issparse(X) and X.shape[1] <= MOST_FEATURES


def _names(stack: str, data: Data) -> tuple[str, ...]:
    if few_columns(data.X):
        # Where most rows have no label, logistic regressions compare them with others
        few = data.X.shape[0] * data.n_labels <= _MOST_PAIRS
        linear = "linear" if data.mostly_empty and few else "discriminant"
        ridge = ("kernel_ridge",) if data.X.shape[0] <= _MOST_IN_KERNEL else ()
        enough = stack == "auto" and data.X.shape[0] >= _ENOUGH_FOR_BOOSTING
        return linear, *ridge, "boosting", "neighbours", *(() if enough else ("forest",))
    balanced = ("balanced",) if stack == "full" else ()
    return "linear", *balanced, "neighbours", "forest"


def _worth_it(names: tuple[str, ...], data: Data) -> tuple[Named, dict[str, str]]:
    blocks, left_out = [], {}
    n, q = data.X.shape[0], data.n_labels
    most_near = _MOST_NEAR_LISTED if data.listed else _MOST_NEAR
    for name in names:
        if name != "neighbours" and data.listed:
            left_out[name] = OF_LISTS
        elif name == "neighbours" and q > n and not data.listed:
            left_out[name] = "labels outnumber rows"
        elif name == "neighbours" and n > most_near:
            left_out[name] = f"{n} rows are more than {most_near}"
        elif name == "forest" and n * q > _MOST_PAIRS:
            left_out[name] = f"{n} rows x {q} labels are more than {_MOST_PAIRS}"
        elif name == "forest" and not few_columns(data.X) and n > _MOST_ROWS_OF_MANY:
            left_out[name] = f"{n} rows of many columns are more than {_MOST_ROWS_OF_MANY}"
        else:
            blocks.append((name, BLOCKS[name](data)))
    return blocks, left_out


def _neighbours(data: Data) -> Any:
    return LabelNeighbours(metric="cosine" if sparse.issparse(data.X) else "euclidean")


def _forest(data: Data) -> Any:
    # Two rows per leaf are as good as one, and take less time and memory.
    leaf, trees, options = 2, _TREES, {}
    if not few_columns(data.X):
        leaf, trees, options = 3, _TREES_OF_MANY, {"n_projections": _PROJECTIONS}
    elif data.n_labels >= _MANY_LABELS:
        trees, options = _TREES_OF_LABELS, {"n_projections": _PROJECTIONS}
    if data.full:
        trees *= 3
    # The leaves have the shares of all labels.
    entries = 2 * data.X.shape[0] * data.n_labels * trees
    leaf = max(-(-entries // _MOST_ENTRIES), leaf)
    return LabelForest(trees, min_samples_leaf=leaf, random_state=data.seed, **options)


def _boosting(data: Data) -> Any:
    n, q = data.X.shape[0], data.n_labels
    seen = min(n, max(_MOST_PAIRS * 2 // q, 1))
    drawn = max(min(seen // 2, max(seen // 8, _FEWEST_DRAWN), _MOST_DRAWN), 1)
    more = 1 + data.full
    return LabelBoosting(
        _BOOSTED * more,
        learning_rate=_RATE / more,
        max_leaf_nodes=min(max(drawn // _ROWS_TO_LEAF, 32), 256),
        min_samples_leaf=20 if drawn >= 1000 else 10,
        max_rows=seen,
        max_samples=drawn,
        n_projections=_PROJECTIONS if q >= _MANY_LABELS else None,
        random_state=data.seed,
    )


def with_fewer_trees(block: Any, share: float) -> Any | None:
    """Return an ensemble with a share of its trees, or None if they would be too few, or none."""
    if not isinstance(block, LabelForest | LabelBoosting):
        return None
    count = int(share * block.n_estimators)
    if count < max(_LEAST_OF_TREES * block.n_estimators, 1.0):
        return None
    smaller = clone(block).set_params(n_estimators=count)
    if isinstance(block, LabelBoosting):
        # As far in fewer steps.
        rate = min(block.learning_rate * block.n_estimators / count, _HIGHEST_RATE)
        smaller.set_params(learning_rate=max(rate, block.learning_rate))
    return smaller


BLOCKS: dict[str, Callable[[Data], Any]] = {
    "linear": lambda data: LabelLogistic(),
    "balanced": lambda data: LabelLogistic(class_weight="balanced"),
    "discriminant": lambda data: LabelDiscriminant(),
    "neighbours": _neighbours,
    "forest": _forest,
    "boosting": _boosting,
    "kernel_ridge": lambda data: LabelKernelRidge(),
}
"""The blocks by name."""

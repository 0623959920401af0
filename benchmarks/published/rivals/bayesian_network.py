"""The structure of a Bayesian network of discrete variables, by greedy search for the BDeu score.

Source: Heckerman et al. 1995 (the score), Buntine 1991 (its uniform prior).
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

# Changes that gain less are rounding.
_LEAST_GAIN = 1e-9

Parents = tuple[int, ...]


def family_score(
    states: NDArray[np.intp], child: int, parents: Parents, *, sizes: list[int], sample_size: float
) -> float:
    """Return the BDeu score of a variable given its parents.

    Parameters
    ----------
    states : ndarray of shape (n, q)
        The variables' values, from 0.
    child : int
        The variable.
    parents : tuple of int
        Its parents.
    sizes : list of int
        Number of values of each variable.
    sample_size : float
        Equivalent sample size of the prior, positive.

    Returns
    -------
    float
        The logarithm of the marginal likelihood.
    """
    code, n_configurations, n_states = np.zeros(len(states), dtype=np.intp), 1, sizes[child]
    for parent in parents:
        code = code * sizes[parent] + states[:, parent]
        n_configurations *= sizes[parent]
    counts = np.bincount(
        code * n_states + states[:, child], minlength=n_configurations * n_states
    ).reshape(n_configurations, n_states)
    # What was never observed adds nothing.
    counts = counts[counts.any(axis=1)]
    share = sample_size / n_configurations
    of_configurations = gammaln(share) - gammaln(share + counts.sum(axis=1))
    of_states = gammaln(share / n_states + counts) - gammaln(share / n_states)
    return float(of_configurations.sum() + of_states.sum())


def learn_structure(
    states: NDArray[np.intp], *, max_parents: int, sample_size: float
) -> list[Parents]:
    """Return the parents of each variable, from a hill climb that starts without edges.

    Each step adds, removes or reverses the edge that raises the sum of the family scores most; the
    first of equal changes is taken. The values of a variable are those that occur: with others, the
    score would join variables that never change.

    Parameters
    ----------
    states : ndarray of shape (n, q)
        The variables' values, whole numbers.
    max_parents : int
        Largest number of parents.
    sample_size : float
        Equivalent sample size of the prior.

    Returns
    -------
    list of tuple of int
        Increasing parents of each variable, without a directed circle.
    """
    q = states.shape[1]
    recoded = np.empty_like(states)
    sizes = []
    for k in range(q):
        values, recoded[:, k] = np.unique(states[:, k], return_inverse=True)
        sizes.append(values.size)
    parents: list[Parents] = [()] * q
    known: dict[tuple[int, Parents], float] = {}

    def score(child: int, family: Parents) -> float:
        if (child, family) not in known:
            known[child, family] = family_score(
                recoded, child, family, sizes=sizes, sample_size=sample_size
            )
        return known[child, family]

    def gain(changed: dict[int, Parents]) -> float:
        return sum(score(c, family) - score(c, parents[c]) for c, family in changed.items())

    while True:
        best, best_gain = None, _LEAST_GAIN
        for changed in _changes(parents, max_parents):
            if (gained := gain(changed)) > best_gain:
                best, best_gain = changed, gained
        if best is None:
            return parents
        for child, family in best.items():
            parents[child] = family


def _changes(parents: list[Parents], max_parents: int) -> Iterator[dict[int, Parents]]:
    """Yield the families that one edge more, less or reversed would change."""
    q = len(parents)
    reaches = descendants(parents)
    for child in range(q):
        for parent in range(q):
            if parent == child:
                continue
            if parent in parents[child]:
                less = tuple(p for p in parents[child] if p != parent)
                yield {child: less}
                # Reversing closes a circle if another path leads from the parent to the child.
                detour = any(reaches[parent, p] or p == parent for p in less)
                if not detour and len(parents[parent]) < max_parents:
                    yield {child: less, parent: tuple(sorted((*parents[parent], child)))}
            elif len(parents[child]) < max_parents and not reaches[child, parent]:
                yield {child: tuple(sorted((*parents[child], parent)))}


def descendants(parents: list[Parents]) -> NDArray[np.bool_]:
    """Return which variables a directed path leads to.

    Parameters
    ----------
    parents : list of tuple of int
        The parents of each variable.

    Returns
    -------
    ndarray of shape (q, q), dtype bool
        Whether a path leads from the first to the second.
    """
    q = len(parents)
    reaches = np.zeros((q, q), dtype=bool)
    for child in topological_order(parents):
        for parent in parents[child]:
            reaches[parent, child] = True
            reaches[:, child] |= reaches[:, parent]
    return reaches


def topological_order(parents: list[Parents]) -> list[int]:
    """Return an order of the variables with parents before their children.

    Parameters
    ----------
    parents : list of tuple of int
        The parents of each variable, without a directed circle.

    Returns
    -------
    list of int
        Of the variables whose parents are listed, the first comes next.
    """
    order: list[int] = []
    listed = [False] * len(parents)
    while len(order) < len(parents):
        following = next(
            child
            for child, family in enumerate(parents)
            if not listed[child] and all(listed[p] for p in family)
        )
        listed[following] = True
        order.append(following)
    return order

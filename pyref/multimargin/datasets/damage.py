"""Damage of a table, described where it would be refused."""

from typing import Any

import numpy as np

from multimargin.datasets.table_columns import not_indicated, uses_of_columns


def without_damage(frame: Any, columns: Any) -> tuple[Any, tuple[str, ...]]:
    """Make a table readable, and say what had to be changed for that, a sentence a column.

    Rows whose labels cannot be read are left out, and infinite numbers become missing; a table
    without damage stays the same. The sentences have no full stop.
    """
    labels = uses_of_columns(frame, columns).get("labels", [])
    unreadable = np.zeros(len(frame), dtype=bool)
    damage = []
    for name in labels:
        _, wrong = not_indicated(frame[name])
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            damage.append(
                f"the label {name!r} is neither 0 nor 1 in {_rows(wrong)}, first in row {first} "
                f"({frame[name].iloc[first]})"
            )
        unreadable |= wrong
    if unreadable.any():
        damage.append(f"{_rows(unreadable)} left out for their labels in what follows")
    mended = frame[~unreadable] if unreadable.any() else frame
    for name in mended.columns.difference(labels, sort=False):
        if mended[name].dtype.kind != "f":
            continue
        infinite = np.isinf(mended[name].to_numpy())
        if infinite.any():
            first = int(np.flatnonzero(np.isinf(frame[name].to_numpy()))[0])
            damage.append(
                f"the column {name!r} is infinite in {_rows(infinite)}, first in row {first}; "
                "counted as missing in what follows"
            )
            mended = mended.assign(**{name: mended[name].where(~infinite)})
    return mended, tuple(damage)


def _rows(mask: Any) -> str:
    count = int(np.count_nonzero(mask))
    return f"{count} row{'' if count == 1 else 's'}"

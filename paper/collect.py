"""Collect the numbers of the paper from what the benchmarks wrote.

    python benchmarks/race.py --results RESULTS/race.jsonl
    python benchmarks/rank_svm.py > RESULTS/rank_svm.txt
    python benchmarks/hard_kernels.py > RESULTS/hard_kernels.txt
    python benchmarks/papers.py --runs RESULTS/papers.json rank-cvm
    python benchmarks/peers.py --install > RESULTS/peers.txt
    python paper/collect.py RESULTS

writes `paper/numbers.json`: strings, as they are printed in the paper, which holds no other number.
"""

import json
import math
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from published.comparison import AVERAGE_PRECISION, RANKING_LOSS
from published.printed import printed
from published.rank_cvm import COLUMNS, DATA_SETS, title_of
from race import CONTESTANTS, KERNEL, LINEAR, MEASURES, curve

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


def seconds(values: list[float]) -> str:
    """Return the range of some seconds."""
    low, high = (
        f"{value:.1f}" if value < 9.5 else f"{value:.0f}" for value in (min(values), max(values))
    )
    return low if low == high else f"{low} to {high}"


def race(lines: list[str]) -> dict[str, Any]:
    """Return the best of both sides on each set, who is ahead how often, and ratios of seconds."""
    results = [json.loads(line) for line in lines]
    contestants = {one.name: one for side in CONTESTANTS.values() for one in side}
    rows: list[dict[str, Any]] = []
    ahead = dict.fromkeys(MEASURES, 0)
    shares: dict[str, list[float]] = {"MLODM": [], "RankCVM": [], "RankSVM": []}
    for name in (*LINEAR, *KERNEL):
        of_set = [one for one in results if one["set"] == name]
        sides = [
            [one for one in of_set if contestants[one["method"]].ours is ours]
            for ours in (True, False)
        ]
        n, d, q = of_set[0]["shape"]
        row: dict[str, Any] = {"set": name, "rows": str(n), "features": str(d), "labels": str(q)}
        for measure, (_, _, larger) in MEASURES.items():
            best = max if larger else min
            mine, theirs = (best(curve(r, measure)[-1][1] for r in side) for side in sides)
            ahead[measure] += mine > theirs if larger else mine < theirs
            row[measure] = {
                "ours": f"{mine:.3f}",
                "peers": f"{theirs:.3f}",
                "ahead": mine > theirs if larger else mine < theirs,
            }
        took = [[curve(r, "ranking_loss")[-1][0] for r in side] for side in sides]
        row["seconds"] = {"ours": seconds(took[0]), "peers": seconds(took[1])}
        rows.append(row)
        if name in LINEAR:
            for method, kept in shares.items():
                (mine,) = (r for r in sides[0] if r["method"] == method)
                kept.append(curve(mine, "ranking_loss")[-1][0] / min(took[1]))
    return {
        "rows": rows,
        "sets": str(len(rows)),
        "text_sets": str(len(LINEAR)),
        "ahead": {measure: str(count) for measure, count in ahead.items()},
        "share_of_quickest_peer": {
            method: {"least": digits(min(kept)), "most": digits(max(kept))}
            for method, kept in shares.items()
        },
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
    numbers = {
        "race": race((folder / "race.jsonl").read_text().splitlines()),
        "speed": speed(
            (folder / "rank_svm.txt").read_text(), (folder / "hard_kernels.txt").read_text()
        ),
        "optimum": optimum(json.loads((folder / "papers.json").read_text())),
        "peers": peers((folder / "peers.txt").read_text()),
        "delicious": pairs_of_delicious(),
    }
    file = Path(__file__).with_name("numbers.json")
    file.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Tables and figures of the five papers on public data: published values, ours, the differences.

    python benchmarks/papers.py [--data DIR] [--runs FILE] [--stored] [--only DATA ...] PART ...

A part is a paper (rank-cvm, mlrl, rank-hlapsvm, mlodm, llsf), or one of its tables or figures, such
as rank-cvm/tables-3-7; --list names them all. Each file in `benchmarks/published/` states the
protocol of its paper; docs/reproduction.md says where we differ, and why.
"""

import argparse
import os
import time
import warnings
from importlib import import_module

# Each paper by the method that it proposes, and its files in benchmarks/published.
PAPERS = {
    "rank-cvm": ("rank_cvm", "rank_cvm_figures"),
    "mlrl": ("mlrl", "mlrl_semi", "mlrl_figures"),
    "rank-hlapsvm": ("rank_hlapsvm",),
    "mlodm": ("mlodm", "mlodm_figures"),
    "llsf": ("llsf", "llsf_figures"),
}


def main() -> None:
    """Print the tables, and draw the figures, that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "parts",
        nargs="*",
        metavar="PART",
        help=f"some of {', '.join(PAPERS)}, or parts of them; default: all",
    )
    parser.add_argument("--list", action="store_true", help="name the parts")
    parser.add_argument("--data", help="folder of the MULAN data sets; default: MULTIMARGIN_DATA")
    parser.add_argument("--only", nargs="+", metavar="DATA", help="these data sets alone")
    parser.add_argument("--runs", help="file that keeps finished runs, to go on from there")
    parser.add_argument("--stored", action="store_true", help="show what --runs holds, run nothing")
    parser.add_argument(
        "--markdown", action="store_true", help="print tables as the guide has them"
    )
    parser.add_argument("--figures", help="folder of the figures; default: figures")
    arguments = parser.parse_args()
    for name, value in (
        ("DATA", arguments.data),
        ("RUNS", arguments.runs),
        ("ONLY", " ".join(arguments.only or ())),
        ("STORED", "yes" if arguments.stored else None),
        ("MARKDOWN", "yes" if arguments.markdown else None),
        ("FIGURES", arguments.figures),
    ):
        if value:
            os.environ[f"MULTIMARGIN_{name}"] = value
    parts = {
        f"{paper}/{part}": make
        for paper, files in PAPERS.items()
        for file in files
        for part, make in import_module(f"published.{file}").PARTS.items()
    }
    if arguments.list:
        print("\n".join(parts))
        return
    for part in arguments.parts:
        if part not in parts and part not in PAPERS:
            parser.error(f"no part {part}; expected a paper or one of {', '.join(parts)}")
    # Published parameters and ends of grids lie where solvers and folds have cause to warn.
    warnings.simplefilter("ignore")
    seconds_asked = import_module("published.runs").seconds_asked
    for part, make in parts.items():
        if arguments.parts and not {part, part.partition("/")[0]} & set(arguments.parts):
            continue
        start = time.perf_counter()
        make()
        print(
            f"\n{part}: {time.perf_counter() - start:.0f} s now, its runs took"
            f" {seconds_asked():.0f} s when they were made",
            flush=True,
        )


if __name__ == "__main__":
    main()

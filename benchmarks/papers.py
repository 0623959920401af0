"""Tables of the five papers on public data: published values, ours, the differences.

    python benchmarks/papers.py [--data DIR] [--runs FILE] [rank-cvm mlrl rank-hlapsvm mlodm llsf]

Each file in `benchmarks/published/` states the protocol of its paper; docs/reproduction.md says
where we differ, and why.
"""

import argparse
import os
import time
import warnings
from importlib import import_module

# Each paper by the method that it proposes.
PAPERS = ("rank-cvm", "mlrl", "rank-hlapsvm", "mlodm", "llsf")


def main() -> None:
    """Print the tables of the papers that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "papers", nargs="*", metavar="PAPER", help=f"some of {', '.join(PAPERS)}; default: all"
    )
    parser.add_argument("--data", help="folder of the MULAN data sets; default: MULTIMARGIN_DATA")
    parser.add_argument("--runs", help="file that keeps finished runs, to go on from there")
    arguments = parser.parse_args()
    unknown = set(arguments.papers) - set(PAPERS)
    if unknown:
        parser.error(f"no paper {', '.join(sorted(unknown))}; expected some of {', '.join(PAPERS)}")
    if arguments.data is not None:
        os.environ["MULTIMARGIN_DATA"] = arguments.data
    if arguments.runs is not None:
        os.environ["MULTIMARGIN_RUNS"] = arguments.runs
    # Published parameters and ends of grids lie where solvers and folds have cause to warn.
    warnings.simplefilter("ignore")
    for paper in arguments.papers or PAPERS:
        start = time.perf_counter()
        import_module(f"published.{paper.replace('-', '_')}").tables()
        print(f"\n{paper}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()

"""Tables and figures of the five papers on public data: published values, ours, the differences.

    python benchmarks/papers.py [PART ...] [--data DIR] [--runs FILE] [--stored] [--only DATA ...]

A part is a paper (rank-cvm, mlrl, rank-hlapsvm, mlodm, llsf), or one of its tables or figures, such
as rank-cvm/tables-3-7; --list names them all. Each file in `benchmarks/published/` states the
protocol of its paper; docs/reproduction.md says where we differ, and why.

    python benchmarks/papers.py --stored --page benchmarks/published/TABLES.md

puts the tables into that page, from the runs that `benchmarks/published/runs.json` holds, and

    python benchmarks/papers.py --missing

lists the runs of the tables and figures, on the data at hand, that the file does not hold.

    python benchmarks/papers.py --again SECONDS

makes the runs again that the file holds and that took less, and names those whose values differ.
"""

import argparse
import io
import os
import time
import warnings
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

# Each paper by the method that it proposes, and its files in benchmarks/published.
PAPERS = {
    "rank-cvm": ("rank_cvm", "rank_cvm_figures", "rank_cvm_tried"),
    "mlrl": ("mlrl", "mlrl_semi", "mlrl_figures", "mlrl_tried"),
    "rank-hlapsvm": ("rank_hlapsvm",),
    "mlodm": ("mlodm", "mlodm_figures"),
    "llsf": ("llsf", "llsf_figures", "llsf_tried"),
}

# The runs behind the tables of TABLES.md.
OF_THE_PAGE = Path(__file__).parent / "published" / "runs.json"

Parts = Mapping[str, Callable[[], None]]


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command."""
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
    parser.add_argument(
        "--stored",
        action="store_true",
        help="show what --runs holds, by default the runs of TABLES.md, and run nothing",
    )
    parser.add_argument(
        "--missing", action="store_true", help="list the runs that --runs does not hold"
    )
    parser.add_argument(
        "--again",
        type=float,
        metavar="SECONDS",
        help="make stored runs again that took less, and name those whose values differ",
    )
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    parser.add_argument("--figures", help="folder of the figures; default: figures")
    parser.add_argument(
        "--page",
        type=Path,
        metavar="PAGE",
        help="write the tables between their marks in this page; default: of all parts it marks",
    )
    return parser


def hand_over(arguments: argparse.Namespace) -> None:
    """Set the variables of the environment that the parts read."""
    stored = arguments.stored or arguments.missing or arguments.again
    of_the_page = str(OF_THE_PAGE) if stored else None
    for name, value in (
        ("DATA", arguments.data),
        ("RUNS", arguments.runs or of_the_page),
        ("ONLY", " ".join(arguments.only or ())),
        ("STORED", "yes" if stored else None),
        ("AGAIN", str(arguments.again) if arguments.again else None),
        ("MARKDOWN", "yes" if arguments.markdown or arguments.page else None),
        ("FIGURES", arguments.figures),
    ):
        if value:
            os.environ[f"MULTIMARGIN_{name}"] = value


def print_parts(parts: Parts) -> None:
    """Print tables, draw figures, and say how long they took."""
    seconds_asked = import_module("published.runs").seconds_asked
    for part, make in parts.items():
        start = time.perf_counter()
        make()
        print(
            f"\n{part}: {time.perf_counter() - start:.0f} s now, its runs took"
            f" {seconds_asked():.0f} s of the processor when they were made",
            flush=True,
        )


def print_names(parts: Parts, kind: str) -> None:
    """Print the runs that parts ask for and that are "missing", or "changed" when made again."""
    names_of = getattr(import_module("published.runs"), kind)
    for part, make in parts.items():
        with redirect_stdout(io.StringIO()):
            make()
        names = names_of()
        print(f"{part}: {len(names)} runs {kind}", *names, sep="\n  ", flush=True)


def fill_page(page: Path, parts: Parts, *, all_marked: bool) -> None:
    """Write what parts print between their marks in a page, and how long their runs took."""
    page_of = import_module("published.page")
    seconds_asked = import_module("published.runs").seconds_asked
    text = page.read_text(encoding="utf-8")
    printed, seconds = {}, {}
    for part in page_of.marked_parts(text):
        if part not in parts:
            if all_marked:
                raise LookupError(f"{page} marks {part}, which is no part.")
            continue
        with redirect_stdout(io.StringIO()) as output:
            parts[part]()
        printed[part] = output.getvalue()
        seconds[part] = seconds_asked()
    text = page_of.with_seconds(page_of.filled(text, printed), seconds)
    page.write_text(text, encoding="utf-8")


def main() -> None:
    """Print the tables, and draw the figures, that are asked for."""
    parser = command_line()
    arguments = parser.parse_args()
    hand_over(arguments)
    parts = {
        f"{paper}/{part}": make
        for paper, files in PAPERS.items()
        for file in files
        for part, make in import_module(f"published.{file}").PARTS.items()
    }
    if arguments.list:
        print("\n".join(parts))
        return
    asked = set(arguments.parts)
    for part in arguments.parts:
        if part not in parts and part not in PAPERS:
            parser.error(f"no part {part}; expected a paper or one of {', '.join(parts)}")
    for name in arguments.only or ():
        if name in parts or name in PAPERS:
            parser.error(f"--only {name} is a part, expected a data set; name parts before --only")
    # Published parameters and ends of grids lie where solvers and folds have cause to warn.
    warnings.simplefilter("ignore")
    chosen = {
        part: make
        for part, make in parts.items()
        if not asked or {part, part.partition("/")[0]} & asked
    }
    if arguments.page:
        fill_page(arguments.page, chosen, all_marked=not asked)
    elif arguments.missing or arguments.again:
        print_names(chosen, "missing" if arguments.missing else "changed")
    else:
        print_parts(chosen)


if __name__ == "__main__":
    main()

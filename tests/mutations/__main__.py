"""Flips one sign or comparison at a time, and names the flips that no test in `make test` notices.

    python tests/mutations                       # three flips a file of every group
    python tests/mutations measures --each 20    # twenty a file of one group
    python tests/mutations losses --seed 7       # others

The files and their tests are those of `targets.py`. Nothing in the checkout is changed: Python
modules are flipped when they are imported, the crate in a copy below `target/mutations`. What
survives is not always a gap: a flip may change nothing that can be seen (a bound that is never
met, a choice between equals). Each is to be read.
"""

import argparse
import random
import sys

from python_code import python_flips
from runs import run_all
from rust_code import Extension, rust_flips
from targets import GROUPS


def main() -> int:
    """Run from the command line.

    Returns
    -------
    int
        The number of survivors, at most 1.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=f"of {', '.join(GROUPS)}")
    parser.add_argument("--each", type=int, default=3, help="flips a file")
    parser.add_argument("--only", default="", help="files whose path has this in it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="Python flips at the same time")
    arguments = parser.parse_args()
    if unknown := set(arguments.groups) - set(GROUPS):
        parser.error(f"no group {', '.join(sorted(unknown))}; expected some of {', '.join(GROUPS)}")
    survivors, count = [], 0
    for name in arguments.groups or GROUPS:
        group = GROUPS[name]
        flips = []
        for file in group.files():
            found = (rust_flips if group.rust else python_flips)(file)
            if arguments.only in str(file):
                chosen = random.Random(f"{arguments.seed} {file}")
                flips += chosen.sample(found, min(arguments.each, len(found)))
        extension = Extension() if group.rust else None
        for flip, outcome in run_all(flips, group, extension, arguments.jobs):
            print(f"{outcome:14s} {flip}", flush=True)
            count += outcome != "not compiled"
            if outcome == "survived":
                survivors.append(flip)
    print(f"{count} flips, {len(survivors)} survivors")
    for flip in survivors:
        print(f"  {flip}")
    return min(1, len(survivors))


if __name__ == "__main__":
    sys.exit(main())

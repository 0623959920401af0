"""``python -m tests.campaign``: many random problems against the exact reference."""

import argparse
import sys
from pathlib import Path

from tests.campaign.judging import run


def main() -> None:
    """Judge random problems; the exit code is 1 when there is a miss."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="which problems")
    parser.add_argument("--first", type=int, default=0, help="index of the first one")
    parser.add_argument("--only", type=int, help="index of the only one")
    parser.add_argument(
        "--folder", type=Path, default=Path("verify-misses"), help="where reproducers are written"
    )
    arguments = parser.parse_args()
    indices = range(arguments.first, arguments.first + arguments.count)
    if arguments.only is not None:
        indices = range(arguments.only, arguments.only + 1)
    summary = run(arguments.seed, indices, arguments.folder)
    print(summary)
    sys.exit(bool(summary.verdicts))


if __name__ == "__main__":
    main()

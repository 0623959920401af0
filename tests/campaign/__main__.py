"""``python -m tests.campaign``: many random problems against the exact reference."""

import argparse
import signal
import sys
from collections import Counter

from tests.campaign import stacks
from tests.campaign.extremes import draw_extreme, misses_of
from tests.campaign.identities import IDENTITIES, broken
from tests.campaign.judging import judge
from tests.campaign.tasks import draw_task, strained

# Share of the problems of a method of which the reference may have no optimum to many digits,
# beyond a few: a judge who does not know it finds little.
MOST_UNRESOLVED, FEW = 0.05, 3
# A classifier around others is fitted, exported and stored as often.
OF_STACKS = 4


def main() -> None:
    """Judge random problems; the exit code is 1 when there is a miss."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="which problems")
    parser.add_argument("--first", type=int, default=0, help="index of the first one")
    arguments = parser.parse_args()
    # Behind a shell's & it is ignored, and with it the Ctrl-C that ends some of the fits.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    statuses: Counter[str] = Counter()
    judged: Counter[str] = Counter()
    unresolved: Counter[str] = Counter()
    misses = 0
    for index in range(arguments.first, arguments.first + arguments.count):
        verdict = judge(strained(draw_task(arguments.seed, index)))
        method = verdict.task.estimator.__name__
        statuses[f"{method} {verdict.status}"] += 1
        judged[method] += 1
        unresolved[method] += not verdict.resolved
        misses += bool(verdict.misses)
        if verdict.misses:
            print(f"seed {arguments.seed} index {index}: {verdict.task}: {verdict.misses}")
        extreme = draw_extreme(arguments.seed, index)
        found = misses_of(extreme)
        misses += bool(found)
        if found:
            name, options = extreme.estimator.__name__, extreme.parameters
            print(f"seed {arguments.seed} index {index}, extreme: {name}({options}): {found}")
        how, found = stacks.misses_of(stacks.draw(index)) if index % OF_STACKS == 0 else ("", [])
        statuses[f"stack {how}"] += bool(how)
        misses += bool(found)
        if found:
            print(f"index {index}, stack: {stacks.draw(index).model}: {found}")
        name = list(IDENTITIES)[index % len(IDENTITIES)]
        if difference := broken(name, index):
            misses += 1
            print(f"index {index}, {name}: {difference}")
    for name, count in unresolved.items():
        if count > FEW + MOST_UNRESOLVED * judged[name]:
            misses += 1
            print(f"{name}: the reference has no optimum of {count} problems in {judged[name]}")
    for name, count in sorted(statuses.items()):
        print(f"{name}: {count}")
    print(f"{arguments.count} problems, {misses} misses")
    sys.exit(bool(misses))


if __name__ == "__main__":
    main()

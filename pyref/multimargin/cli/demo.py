"""``multimargin demo``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import Json

if TYPE_CHECKING:
    from multimargin.cli.demonstration.race import Outcome
    from multimargin.datasets import MultilabelData

PICTURE = "multimargin-demo.png"


def command(
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The picture (.png, .svg or .pdf), or none."
        ),
    ] = PICTURE,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Fits at the same time; -1 for one a processor.")
    ] = -1,
    as_json: Json = False,
) -> None:
    """Rank and choose tags of software, beside one-vs-rest.

    Tunes two methods of this package and one-vs-rest SVMs over the same values of C on the same
    folds of 2335 programs of Debian, shows who wins what, the tags of some programs, and the
    certificate, and draws a picture: about a minute on two processors, nothing is downloaded.

    \b
    Examples:
      multimargin demo
      multimargin demo -o ranking.svg
    """
    from contextlib import nullcontext

    from multimargin.cli.demonstration.race import run
    from multimargin.cli.options import WrongUsage, check_picture
    from multimargin.cli.output import console
    from multimargin.datasets import load_debian_tags

    if jobs == 0:
        raise WrongUsage("--jobs is 0; expected a number of fits, or -1")
    wanted = output.strip().lower() != "none"
    if wanted and output != PICTURE:
        check_picture(output, "--output")
    out, errors = console(), console(stderr=True)
    data = load_debian_tags()
    if not as_json:
        _introduce(data, out)
    outcomes = run(
        data,
        n_jobs=jobs,
        shown=lambda title: errors.status(title) if errors.is_terminal else nullcontext(),
    )
    if as_json:
        _print_json(data, outcomes)
        return
    _report(data, outcomes, out)
    if wanted:
        _draw(data, outcomes, output, out)


def _introduce(data: "MultilabelData", out: Any) -> None:
    from multimargin.cli.demonstration.words import problem

    out.print()
    out.print(problem(data), markup=False)
    out.print()


def _report(data: "MultilabelData", outcomes: "dict[str, Outcome]", out: Any) -> None:
    from multimargin.cli.demonstration.race import CRITERIA, ours
    from multimargin.cli.demonstration.tables import (
        certificate_table,
        measures_table,
        tags_table,
    )
    from multimargin.cli.demonstration.words import best_of, ranked_tags, summary

    for criterion in CRITERIA:
        out.print(measures_table(outcomes, criterion))
        out.print()
    out.print("What that means", style="bold")
    for sentence in summary(outcomes):
        out.print(f"* {sentence}", markup=False)
    out.print()
    name = best_of(ours(outcomes), "ranking_loss")
    model = outcomes[name].best["ranking_loss"].model
    out.print(tags_table(ranked_tags(data, model)))
    out.print()
    out.print(certificate_table(name, model))
    out.print()


def _draw(data: "MultilabelData", outcomes: "dict[str, Outcome]", path: str, out: Any) -> None:
    from multimargin.cli.demonstration.picture import draw
    from multimargin.cli.demonstration.race import ours
    from multimargin.cli.demonstration.words import PROGRAMS, best_of

    model = outcomes[best_of(ours(outcomes), "ranking_loss")].best["ranking_loss"].model
    try:
        draw(outcomes, data, model, PROGRAMS[0], path)
    except ImportError:
        out.print(
            "No picture: matplotlib is not installed (pip install 'multimargin[plots]').",
            markup=False,
        )
        return
    out.print(f"The picture is in {path}.", markup=False, soft_wrap=True)


def _print_json(data: "MultilabelData", outcomes: "dict[str, Outcome]") -> None:
    from multimargin.cli.certificate import certificate
    from multimargin.cli.demonstration.race import CRITERIA
    from multimargin.cli.output import print_json

    print_json(
        {
            "data": data.name,
            "methods": {
                name: {
                    "one_vs_rest": not outcome.ours,
                    "curve": outcome.curve,
                    "tuned_for": {
                        criterion: {
                            "C": outcome.best[criterion].C,
                            "seconds": outcome.best[criterion].seconds,
                            "measures": outcome.best[criterion].measures,
                            "certificate": certificate(outcome.best[criterion].model),
                        }
                        for criterion in CRITERIA
                    },
                }
                for name, outcome in outcomes.items()
            },
        }
    )

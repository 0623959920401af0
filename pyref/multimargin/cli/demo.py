"""``multimargin demo``."""

from multimargin.cli.options import Json


def command(as_json: Json = False) -> None:
    """Compare two methods on handwritten digits.

    Rank-SVM and one-vs-rest SVM, fitted to data that come with scikit-learn: a few seconds.

    \b
    Example:
      multimargin demo
    """
    from multimargin.cli import demonstration as demo

    if not as_json:
        demo.main()
        return
    from multimargin.cli.certificate import certificate
    from multimargin.cli.output import print_json
    from multimargin.datasets import load_digit_attributes

    results = demo.compare(load_digit_attributes())
    print_json(
        {
            "data": "digits",
            "measures": {name: result.measures for name, result in results.items()},
            "seconds": {name: result.seconds for name, result in results.items()},
            "certificate": certificate(results["RankSVM"].model),
        }
    )

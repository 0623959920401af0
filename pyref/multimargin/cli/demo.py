"""``multimargin demo``."""


def command() -> None:
    """Compare two methods on handwritten digits.

    Rank-SVM and one-vs-rest SVM, fitted to data that come with scikit-learn: a few seconds.
    """
    from multimargin.demo import main

    main()

"""``multimargin demo``."""


def command() -> None:
    """Compare Rank-SVM with one-vs-rest SVM on handwritten digits (a few seconds, no download).

    Example: multimargin demo
    """
    from multimargin.demo import main

    main()

"""Names that the package promises."""

import multimargin


def test_names_that_are_loaded_when_asked_for_are_listed() -> None:
    assert set(multimargin.__all__) <= set(dir(multimargin))
    assert dir(multimargin) == sorted(dir(multimargin))

"""Names that the package promises."""

import multimargin
import multimargin.margins
from multimargin.measures.margins import pair_margins


def test_names_that_are_loaded_when_asked_for_are_listed() -> None:
    assert set(multimargin.__all__) <= set(dir(multimargin))
    assert dir(multimargin) == sorted(dir(multimargin))


def test_pair_margins_has_a_public_module() -> None:
    assert multimargin.margins.__all__ == ["pair_margins"]
    assert multimargin.margins.pair_margins is pair_margins

"""CriticalDifferenceDisplay: bars connect the methods that do not differ."""

import numpy as np
import pandas as pd
import pytest

from multimargin.plots import CriticalDifferenceDisplay

RANKS = {"a": 1.0, "b": 2.0, "c": 3.5}


def bars_of(display):
    return [tuple(sorted(bar[0].get_xdata())) for bar in display.artists_["crossbars"]]


def test_bars_connect_ranks_closer_than_the_critical_difference():
    display = CriticalDifferenceDisplay(RANKS, critical_difference=1.2).plot()
    assert bars_of(display) == [(1.0, 2.0)]
    assert bars_of(CriticalDifferenceDisplay(RANKS, critical_difference=1.6).plot()) == [
        (1.0, 2.0),
        (2.0, 3.5),
    ]
    assert bars_of(CriticalDifferenceDisplay(RANKS, critical_difference=0.0).plot()) == []
    assert "CD = 1.2" in [text.get_text() for text in display.ax_.texts]


def test_bars_follow_p_values_in_any_order():
    p_values = pd.DataFrame(
        [[1.0, 0.01, 0.3], [0.01, 1.0, 0.2], [0.3, 0.2, 1.0]],
        index=list("acb"),
        columns=list("acb"),
    )
    display = CriticalDifferenceDisplay(pd.Series(RANKS), p_values).plot()
    assert bars_of(display) == [(1.0, 2.0), (2.0, 3.5)]
    assert bars_of(CriticalDifferenceDisplay(RANKS, p_values, alpha=0.25).plot()) == [(1.0, 2.0)]


# Up to Matplotlib 3.10, a name that leaves no room for the axes.
@pytest.mark.filterwarnings("ignore:constrained_layout not applied:UserWarning")
def test_long_names_are_shortened_unless_they_become_the_same():
    long = "x" * 40
    display = CriticalDifferenceDisplay({long: 1.0, "b": 2.0}, critical_difference=1.0).plot()
    assert display.artists_["labels"][0].get_text() == "x" * 29 + "… (1.00)"
    same = CriticalDifferenceDisplay({long + "1": 1.0, long + "2": 2.0}, critical_difference=1.0)
    assert same.plot().artists_["labels"][0].get_text() == long + "1 (1.00)"


def test_input_is_checked():
    with pytest.raises(ValueError, match="both None"):
        CriticalDifferenceDisplay(RANKS)
    with pytest.raises(TypeError, match="average_ranks is a list"):
        CriticalDifferenceDisplay([1.0, 2.0], critical_difference=1.0)
    with pytest.raises(ValueError, match="1 methods; expected at least 2"):
        CriticalDifferenceDisplay({"a": 1.0}, critical_difference=1.0)
    with pytest.raises(ValueError, match="average_ranks of 'a' is nan"):
        CriticalDifferenceDisplay({"a": np.nan, "b": 1.0}, critical_difference=1.0)
    with pytest.raises(ValueError, match="critical_difference is -1"):
        CriticalDifferenceDisplay(RANKS, critical_difference=-1.0)
    with pytest.raises(TypeError, match="p_values is a ndarray"):
        CriticalDifferenceDisplay(RANKS, np.eye(3))
    with pytest.raises(ValueError, match="expected the methods of average_ranks"):
        CriticalDifferenceDisplay(RANKS, pd.DataFrame(np.eye(3)))
    bad = pd.DataFrame(np.full((3, 3), np.nan), index=list("abc"), columns=list("abc"))
    with pytest.raises(ValueError, match="outside of 0 to 1"):
        CriticalDifferenceDisplay(RANKS, bad)

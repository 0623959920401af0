"""What the compiled parts of the repair refuse, and that nothing in them panics."""

from typing import Any

import numpy as np
import pytest

from multimargin import _rust

N, Q, D = 3, 4, 2
Y = np.array([[1, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]], dtype=np.uint8)


def request_of(**changes: Any) -> dict[str, Any]:
    good = {
        "pair_weights": np.ones(N),
        "dual": np.zeros((N, Q)),
        "weights": np.zeros((D, Q)),
        "offset": np.zeros(Q),
        "loss": "hinge",
        "threads": 1,
        "bands": np.ones(Q),
        "prices": np.arange(Q, dtype=np.float64),
    }
    return {**good, **changes}


@pytest.mark.parametrize("function", [_rust.pairs_near_margin, _rust.mixed_rows])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("pair weights", np.ones(2)),
        ("dual", np.zeros((N, 3))),
        ("dual", np.full((N, Q), np.inf)),
        ("weights", np.zeros((5, Q))),
        ("offset", np.full(Q, np.nan)),
        ("loss", "nonsense"),
        ("bands", np.ones(1)),
    ],
)
def test_parts_name_what_does_not_fit(function: Any, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} "):
        function(Y, np.ones((N, D)), **request_of(**{name.replace(" ", "_"): value}))


def test_moves_need_a_price_for_each_label() -> None:
    with pytest.raises(ValueError, match=r"^prices is 0 numbers"):
        _rust.mixed_rows(Y, np.ones((N, D)), **request_of(prices=None))


STEPS = 16


def carried(**changes: Any) -> Any:
    """Return the flow where nothing can be carried, and the bands of each look."""
    looks = []

    def look(bands: Any) -> dict[str, Any]:
        looks.append(bands)
        none = {"capacities": np.zeros((Q * Q, STEPS)), "sum": np.array([1.0, -1.0, 0.0, 0.0])}
        return {**none, "distance": 1.0, **changes}

    return _rust.flow_of_parts(np.zeros(Q), 1.0, 0.0, look), looks


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("capacities", np.zeros((3, STEPS))),
        ("capacities", np.full((Q * Q, STEPS), np.inf)),
        ("sum", np.full(Q, np.nan)),
        ("sum", np.zeros(3)),
    ],
)
def test_flows_name_what_does_not_fit(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{name} "):
        carried(**{name: value})


@pytest.mark.parametrize("capacity", [np.zeros((2, 3)), np.full((2, 2), np.nan)])
def test_a_bias_without_features_needs_a_network(capacity: Any) -> None:
    with pytest.raises(ValueError, match=r"^capacity "):
        _rust.best_bias_without_features(capacity)


def test_a_flow_that_no_pair_can_carry_is_none_once_the_bands_are_widest() -> None:
    flow, (first, second) = carried()
    assert flow is None
    assert (second[:2] > first[:2]).all()
    assert (second[2:] == first[2:]).all()


def test_what_a_look_raises_ends_the_flow() -> None:
    with pytest.raises(KeyError, match="sum"):
        _rust.flow_of_parts(np.zeros(Q), 1.0, 0.0, lambda _: {"capacities": np.zeros((16, STEPS))})

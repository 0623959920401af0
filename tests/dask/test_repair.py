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


@pytest.mark.parametrize(
    ("name", "labels", "bands", "best", "entries"),
    [
        ("bands", Q, 2, Q, 1.0),
        ("capacities", 3, 3, 3, 1.0),
        ("sum", 0, 0, 0, 1.0),
        ("sum", Q, Q, Q, np.nan),
        ("sum of the best rows", Q, Q, 2, 1.0),
    ],
)
def test_flows_name_what_does_not_fit(
    name: str, labels: int, bands: int, best: int, entries: float
) -> None:
    capacities = np.zeros((Q * Q if labels else 0, STEPS))
    with pytest.raises(ValueError, match=f"^{name} "):
        _rust.flow_of_parts(
            np.full(labels, entries), np.ones(bands), capacities, np.ones(best), 1.0, 0.0
        )


@pytest.mark.parametrize("capacity", [np.zeros((2, 3)), np.zeros((0, 0)), np.full((2, 2), np.nan)])
def test_a_bias_without_features_needs_a_network(capacity: Any) -> None:
    with pytest.raises(ValueError, match=r"^capacity "):
        _rust.best_bias_without_features(capacity)


def test_a_flow_that_no_pair_can_carry_is_none_once_the_bands_are_widest() -> None:
    best, bands = np.array([1.0, -1.0, 0.0, 0.0]), np.ones(Q)
    found = _rust.flow_of_parts(np.zeros(Q), bands, np.zeros((Q * Q, STEPS)), best, 1.0, 0.0)
    assert found is not None
    wider, flow = found
    assert flow is None
    assert (wider[:2] > bands[:2]).all()
    assert (wider[2:] == bands[2:]).all()
    assert _rust.flow_of_parts(np.zeros(Q), wider, np.zeros((Q * Q, STEPS)), best, 1.0, 0.0) is None

"""Calibrated scores as operators of a graph."""

import numpy as np

from multimargin.calibration import BentCalibration, LiftedCalibration
from multimargin.calibration.bend import Calibration
from multimargin.calibration.pairs import ROUNDING
from multimargin.onnx.graph import Graph, Node
from multimargin.onnx.labels import columns, integers


def add_odds(graph: Graph, calibration: Calibration, blocks: list[Node]) -> Node:
    """Append the log odds (n, q) of a fitted calibration for scores (n, q)."""
    if isinstance(calibration, BentCalibration):
        z = graph.add("Div", graph.add("Sub", blocks[0], calibration.mean), calibration.deviation)
        # Runtimes have Softplus in single precision only.
        small = graph.add("Exp", graph.add("Neg", graph.add("Abs", z)))
        bent = graph.add(
            "Sub", graph.add("Min", z, 0.0), graph.add("Log", graph.add("Add", small, 1.0))
        )
        return add_odds(graph, calibration.calibration, [*blocks, bent])
    if isinstance(calibration, LiftedCalibration):
        lift = calibration.lift
        likely = graph.add("Sigmoid", add_odds(graph, calibration.first, blocks))
        lifted = graph.add("MatMul", graph.add("Sub", likely, lift.shares_), lift.lift_)
        return add_odds(graph, calibration.second, [*blocks, lifted])
    scores, *others = blocks
    q = calibration.label_intercept_.size
    descending, rank = _sorted(graph, q, scores)
    three = graph.add("Slice", descending, *columns(0, min(3, q)))
    mean = graph.add("ReduceMean", scores, axes=[1])
    squares = graph.add("Mul", *[graph.add("Sub", scores, mean)] * 2)
    features = [
        scores,
        graph.add("Sub", scores, graph.add("ReduceMax", scores, axes=[1])),
        graph.add("Sub", scores, graph.add("ReduceMean", three, axes=[1])),
        graph.add("Log", graph.add("Add", rank, 1.0)),
        graph.add("Sqrt", graph.add("ReduceMean", squares, axes=[1])),
        *others,
    ]
    odds = graph.add("Mul", scores, calibration.label_coef_[0])
    odds = graph.add("Add", odds, calibration.label_intercept_ + calibration.intercept_)
    for own, block in zip(calibration.label_coef_[1:], others, strict=True):
        odds = graph.add("Add", odds, graph.add("Mul", block, np.ascontiguousarray(own)))
    for weight, feature in zip(calibration.coef_, features, strict=True):
        odds = graph.add("Add", odds, graph.add("Mul", feature, float(weight)))
    return odds


def _sorted(graph: Graph, q: int, scores: Node) -> tuple[Node, Node]:
    """Append the scores of each row in descending order, and the number of scores above each."""
    more = graph.with_further_row(scores)
    ordered = graph.add("TopK", more, integers([q]), axis=1, largest=1, sorted=1)
    largest = graph.add("ReduceMax", graph.add("Abs", ordered), axes=[1])
    above = graph.add("Slice", ordered, *columns(0, q - 1))
    falls = graph.add(
        "Less",
        graph.add("Slice", ordered, *columns(1, q)),
        graph.add("Sub", above, graph.add("Mul", largest, ROUNDING)),
    )
    places = graph.add("Where", falls, np.arange(1.0, q)[None, :], 0.0)
    places = graph.add("Pad", places, integers([0, 1, 0, 0]), 0.0)
    # Equal scores have the place of the first of them: the largest so far, by doubling.
    shift = 1
    while shift < q:
        left = graph.add("Slice", places, *columns(0, q - shift))
        places = graph.add("Max", places, graph.add("Pad", left, integers([0, shift, 0, 0]), 0.0))
        shift *= 2
    inverse = graph.add("TopK", f"{ordered}_more", integers([q]), axis=1, largest=0, sorted=1)
    rank = graph.add("GatherElements", places, f"{inverse}_more", axis=1)
    return graph.without_last_row(ordered), graph.without_last_row(rank)

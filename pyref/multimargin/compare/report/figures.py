"""The plots of a comparison, as PNG images."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import numpy as np

from multimargin.compare.measured import DEFAULT, find_measured
from multimargin.compare.report.collect import per_data, per_split
from multimargin.compare.report.doubles import doubles, ranked_once
from multimargin.compare.report.label_measures import label_measures
from multimargin.compare.results import Result
from multimargin.compare.statistics.ranks import nemenyi_test

# More lines than that cannot be told apart in one plot.
_MAX_METHODS = 7
# More names than that are not read; the table of labels has them all.
_MAX_LABELS = 30
_RESOLUTION = 130


@dataclass(frozen=True)
class Image:
    """A plot."""

    title: str  # What it shows
    caption: str  # How to read it
    png: bytes


def critical_difference_images(
    results: Sequence[Result],
    measures: str | Sequence[str] = DEFAULT,
    *,
    alpha: float = 0.05,
) -> Iterator[Image]:
    """Plot the average ranks over data sets, with Nemenyi's test at the level `alpha`.

    Measures that have values of all methods on fewer than two data sets have no plot.
    """
    from multimargin.plots import CriticalDifferenceDisplay

    alike = doubles(results)
    for measured in find_measured(measures):
        table = ranked_once(per_data(per_split(results, measured.name)), alike)
        test = nemenyi_test(table, larger_is_better=measured.larger_is_better, alpha=alpha)
        if test.note:
            continue
        display = CriticalDifferenceDisplay(
            test.ranks.average,
            test.p_values,
            critical_difference=test.critical_difference,
            alpha=alpha,
        ).plot()
        yield _image(
            f"{measured.title[:1].upper()}{measured.title[1:]}: average ranks",
            f"1 is best. Methods under one bar do not differ at {100 * alpha:g} % by Nemenyi's "
            f"test over {len(test.ranks.ranks)} data sets.",
            display,
        )


def data_images(results: Sequence[Result], data: str) -> Iterator[Image]:
    """Plot what is known of the methods on one data set.

    Measures by label, and for the methods that have it: convergence, margins, learned label
    correlations, numbers of label-specific features.
    """
    of_data = [result for result in results if result.data == data and not result.failed]
    if not of_data:
        return
    first_split = of_data[0].split
    firsts = [result for result in of_data if result.split == first_split]
    yield from _labels(results, data)
    yield from _convergence(firsts)
    yield from _margins(of_data)
    yield from _learned(firsts)


def _labels(results: Sequence[Result], data: str) -> Iterator[Image]:
    from multimargin.plots import LabelMeasuresDisplay

    found = label_measures(results, data)
    shown = dict(list(found.measures.items())[:_MAX_METHODS])
    if not shown:
        return
    display = LabelMeasuresDisplay(shown, found.support, label_names=found.label_names)
    q = found.support.size
    which = "each label"
    if q > _MAX_LABELS:
        which = f"the {_MAX_LABELS} of {q} labels with most rows"
    display.plot(n_labels=_MAX_LABELS)
    what = "F1" if len(shown) > 1 else "Precision, recall and F1"
    yield _image(
        "Measures by label",
        f"{what} of {which} on the test rows of all splits together, sorted by the first "
        f"method; in brackets the number of rows.{_others(shown, found.measures)}",
        display,
    )


def _convergence(firsts: Sequence[Result]) -> Iterator[Image]:
    from multimargin.plots import ConvergenceDisplay

    histories: dict[str, dict[str, Any]] = {}
    for result in firsts:
        if result.history is None:
            continue
        history = {
            name: np.array(values, dtype=np.float64) for name, values in result.history.items()
        }
        if np.isfinite(history["primal"] - history["dual"]).any():
            histories[result.method] = history
    shown = dict(list(histories.items())[:_MAX_METHODS])
    if not shown:
        return
    for x, where in (("epoch", "epochs"), ("seconds", "time")):
        yield _image(
            f"Convergence over {where}",
            f"Relative duality gap, {firsts[0].split}: how far the fit is from the optimum at "
            f"most. A free bias is held fixed until the last point, which alone is a bound for the "
            f"whole problem.{_others(shown, histories)}",
            ConvergenceDisplay(shown).plot(x=x),
        )


def _margins(of_data: Sequence[Result]) -> Iterator[Image]:
    from multimargin.plots import MarginDistributionDisplay

    margins: dict[str, list[float]] = {}
    for result in of_data:
        # Other methods do not separate labels by margins: their scores can be anything.
        if result.certificate is not None and result.margin_quantiles:
            margins.setdefault(result.method, []).extend(result.margin_quantiles)
    shown = dict(list(margins.items())[:_MAX_METHODS])
    if not shown:
        return
    yield _image(
        "Margins",
        "Differences of the scores of a relevant and an irrelevant label of a test row, divided by "
        "their mean absolute value; pairs left of 0 are ranked wrongly. From a hundred quantiles "
        f"of each split.{_others(shown, margins)}",
        MarginDistributionDisplay(shown, normalize=True).plot(),
    )


def _learned(firsts: Sequence[Result]) -> Iterator[Image]:
    from multimargin.plots import LabelCorrelationDisplay, LabelFeatureCountDisplay

    for result in firsts:
        names = result.label_names
        if result.label_correlation is not None:
            yield _image(
                f"Label correlations of {result.method}",
                f"As learned on the training rows, {result.split}.",
                LabelCorrelationDisplay(result.label_correlation, label_names=names).plot(),
            )
        if result.label_feature_counts is not None:
            yield _image(
                f"Label-specific features of {result.method}",
                f"Numbers of features chosen for each label, {result.split}.",
                LabelFeatureCountDisplay(result.label_feature_counts, label_names=names).plot(),
            )


def _others(shown: dict[str, Any], known: dict[str, Any]) -> str:
    left_out = [name for name in known if name not in shown]
    return f" Not shown, for lack of room: {', '.join(left_out)}." if left_out else ""


def _image(title: str, caption: str, display: Any) -> Image:
    from matplotlib import pyplot

    content = BytesIO()
    # A legend of long names may be wider than the axes.
    display.figure_.savefig(content, format="png", dpi=_RESOLUTION, bbox_inches="tight")
    pyplot.close(display.figure_)
    return Image(title, caption, content.getvalue())

"""ReasonsDisplay: the bars are the contributions."""

from io import BytesIO

import numpy as np

from multimargin import RankLSVM, explain
from multimargin.inspection import Reasons
from multimargin.plots import ReasonsDisplay


def test_bars_are_the_contributions(data):
    X, Y = data
    model = RankLSVM(kernel="linear").fit(X, Y)
    for reasons in (explain(model, X[:1], 2, k=3)[0], explain(model, None, 2)):
        display = ReasonsDisplay(reasons).plot()
        widths = [bar.get_width() for bar in display.bars_]
        np.testing.assert_allclose(widths, reasons.contributions)
        names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert names == list(reasons.features)
        # The first is above.
        assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]


def test_names_are_no_formulas():
    reasons = Reasons("$c_{$", (r"$\foo$", "a$b$"), np.array([1.0, -1.0]), 0.0)
    ReasonsDisplay(reasons).plot().figure_.savefig(BytesIO())

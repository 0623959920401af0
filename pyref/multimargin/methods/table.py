"""The methods of this package, by name: the one place where a method is listed.

Nothing here imports an estimator before it is asked for, so that the command line lists the methods
at once.
"""

from collections.abc import Mapping
from types import MappingProxyType

from multimargin.methods.method import Method, new


def powers_of_two(lowest: int, highest: int) -> tuple[float, ...]:
    """Return 2^lowest, ..., 2^highest."""
    return tuple(2.0**exponent for exponent in range(lowest, highest + 1))


_TENTHS = tuple(tenths / 10 for tenths in range(1, 10))
_MLRL_WEIGHTS = (0.01, 0.1, 1.0, 10.0, 100.0)
_XU_2013 = {"C": powers_of_two(-1, 8), "gamma": powers_of_two(-10, 2)}
_TAN_2019 = {"C": powers_of_two(-2, 10), "gamma": powers_of_two(-10, 2)}
_HUANG_2015 = {"alpha": powers_of_two(-10, 10), "beta": powers_of_two(-10, 10)}
_SELECTOR = new("multimargin:LLSF", alpha=0.5, beta=0.1)
_LINEAR_SVC = new("sklearn.svm:LinearSVC", random_state=0)
_OF_SELECTOR_AND_ESTIMATOR = {
    "C": "estimator__C",
    **{
        name: f"selector__{name}"
        for name in ("alpha", "beta", "tol", "max_iter", "max_time", "verbose")
    },
}

_ALL = (
    Method(
        "label-ranker",
        "LabelRankerCV",
        "chooses loss, C and weights of labels by cross-validation, calibrates and cuts",
        new("multimargin:LabelRankerCV", random_state=0),
        {"threshold": ("micro", "macro", "samples"), "at_least_one": (False, True)},
    ),
    Method(
        "rank-svm",
        "Rank-SVM",
        "ranks relevant above irrelevant labels with the hinge loss of every pair",
        new("multimargin:RankSVM", random_state=0),
        _XU_2013,
    ),
    Method(
        "rank-svmz",
        "Rank-SVMz",
        "hinge between every label and a zero label, which is the threshold",
        new("multimargin:RankSVMz", random_state=0),
        _TAN_2019,
    ),
    Method(
        "rank-cvm",
        "Rank-CVM",
        "squared hinge of every pair with a margin of its own; predicts as rank-lsvm does",
        new("multimargin:RankCVM", random_state=0),
        _XU_2013,
    ),
    Method(
        "rank-lsvm",
        "Rank-LSVM",
        "squared hinge of every pair, quick to solve; predicts as rank-cvm does",
        new("multimargin:RankLSVM", random_state=0),
        _TAN_2019,
    ),
    Method(
        "mlodm",
        "mlODM",
        "draws the margins of all pairs towards 1 from both sides",
        new("multimargin:MLODM", random_state=0),
        {**_TAN_2019, "theta": _TENTHS, "mu": _TENTHS},
    ),
    Method(
        "rank-hlapsvm",
        "Rank-HLapSVM",
        "hinge of every pair, smooth over the hypergraph of the labels",
        new("multimargin:RankHLapSVM", random_state=0),
        # The paper prints the range of C; lam = 4 and 32, nu = 2 and 8 are its choices.
        {
            "C": powers_of_two(-6, 13),
            "lam": (0.0, *powers_of_two(-2, 5)),
            "nu": ("scale", *powers_of_two(1, 3)),
        },
    ),
    Method(
        "mlrl",
        "MLRL",
        "hinge of every label with a learned label covariance",
        new("multimargin:MLRL"),
        {"lam": _MLRL_WEIGHTS},
    ),
    Method(
        "ssmlrl",
        "SSMLRL",
        "MLRL that also learns from unlabelled rows (rows of -1 in y)",
        new("multimargin:SSMLRL"),
        {"lam1": _MLRL_WEIGHTS, "lam2": _MLRL_WEIGHTS},
    ),
    Method(
        "llsf",
        "LLSF",
        "squared error with sparse weights: finds each label's own features",
        new("multimargin:LLSF"),
        _HUANG_2015,
    ),
    Method(
        "llsf-bsvm",
        "LLSF-BSVM",
        "one linear SVM a label, on the label's own features",
        new("multimargin:LabelSpecificBinaryRelevance", selector=_SELECTOR, estimator=_LINEAR_SVC),
        _HUANG_2015,
        _OF_SELECTOR_AND_ESTIMATOR,
    ),
    Method(
        "llsf-cc",
        "LLSF-CC",
        "classifier chain on each label's own features",
        new(
            "multimargin:LabelSpecificClassifierChain",
            selector=_SELECTOR,
            estimator=_LINEAR_SVC,
            random_state=0,
        ),
        _HUANG_2015,
        _OF_SELECTOR_AND_ESTIMATOR,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The methods, by name."""

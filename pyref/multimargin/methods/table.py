"""The methods of this package, by name: the one place where a method is listed.

No estimator is imported before it is needed, so that the command line can list the methods at once.
"""

from collections.abc import Mapping
from types import MappingProxyType

from multimargin.methods.method import ALL_KERNELS, Abilities, Method, new


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


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Names of the parameters that can be set.
_OF_KERNELS = _words(
    "cache_size coef0 degree gamma kernel max_iter max_time n_jobs solver tol verbose"
)
_OF_PAIRS = _OF_KERNELS | {"C", "class_weight", "random_state", "warm_start"}
_OF_SELECTED = _words("C alpha beta max_iter max_time n_jobs tol verbose")

_BIASES = ("free", "penalized", "none")
_OF_INNER_CLASSIFIERS = Abilities(
    "of the inner classifiers",
    ("of the inner classifiers",),
    ("of the inner classifiers",),
    unknown_labels=False,
    onnx=False,
    explain=False,
)

_ALL = (
    Method(
        "label-ranker",
        "LabelRankerCV",
        "selects loss, C and label weights, calibrates, sets the threshold",
        new("multimargin:LabelRankerCV", random_state=0),
        {"threshold": ("micro", "macro", "samples"), "at_least_one": (False, True)},
        abilities=Abilities(
            "selected by cross-validation",
            ("penalized", "none"),
            tuple(kernel for kernel in ALL_KERNELS if kernel != "precomputed"),
        ),
        names=_words(
            "at_least_one calibration class_weight Cs cv cv_tol gamma kernel loss max_time "
            "n_jobs random_state scaling scoring stack threshold tol top_k unit_length "
            "verbose views"
        ),
    ),
    Method(
        "rank-svm",
        "Rank-SVM",
        "ranks relevant above irrelevant labels with the hinge loss of every pair",
        new("multimargin:RankSVM", random_state=0),
        _XU_2013,
        abilities=Abilities("hinge of each pair", _BIASES, ALL_KERNELS, dask=True),
        names=_OF_PAIRS | {"bias", "pair_weights", "threshold", "top_k"},
    ),
    Method(
        "rank-svmz",
        "Rank-SVMz",
        "hinge between every label and a zero label, which is the threshold",
        new("multimargin:RankSVMz", random_state=0),
        _TAN_2019,
        abilities=Abilities("hinge beside a zero label", _BIASES, ALL_KERNELS, dask=True),
        names=_OF_PAIRS | {"bias"},
    ),
    Method(
        "rank-cvm",
        "Rank-CVM",
        "squared hinge of every pair with a margin of its own; predicts as rank-lsvm does",
        new("multimargin:RankCVM", random_state=0),
        _XU_2013,
        abilities=Abilities(
            "squared hinge of each pair, learned margin", ("penalized",), ALL_KERNELS, dask=True
        ),
        names=_OF_PAIRS | {"options", "threshold", "top_k"},
    ),
    Method(
        "rank-lsvm",
        "Rank-LSVM",
        "squared hinge of every pair, quick to solve; predicts as rank-cvm does",
        new("multimargin:RankLSVM", random_state=0),
        _TAN_2019,
        abilities=Abilities("squared hinge of each pair", ("penalized",), ALL_KERNELS, dask=True),
        names=_OF_PAIRS | {"pair_weights", "threshold", "top_k"},
    ),
    Method(
        "mlodm",
        "mlODM",
        "draws the margins of all pairs towards 1 from both sides",
        new("multimargin:MLODM", random_state=0),
        {**_TAN_2019, "theta": _TENTHS, "mu": _TENTHS},
        abilities=Abilities("margin distribution of the pairs", ("none",), ALL_KERNELS, dask=True),
        names=_OF_PAIRS | {"mu", "pair_weights", "theta", "threshold"},
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
        abilities=Abilities("hinge of each pair, hypergraph", ("penalized",), ALL_KERNELS),
        names=_OF_PAIRS | {"lam", "nu", "threshold", "top_k"},
    ),
    Method(
        "mlrl",
        "MLRL",
        "hinge of every label with a learned label covariance",
        new("multimargin:MLRL"),
        {"lam": _MLRL_WEIGHTS},
        abilities=Abilities("hinge of each label, label covariance", ("free",), ALL_KERNELS),
        names=_OF_KERNELS | {"lam", "options"},
    ),
    Method(
        "ssmlrl",
        "SSMLRL",
        "MLRL that also learns from unlabelled rows (rows of -1 in y)",
        new("multimargin:SSMLRL"),
        {"lam1": _MLRL_WEIGHTS, "lam2": _MLRL_WEIGHTS},
        abilities=Abilities("hinge of each label, label covariance", ("free",), ALL_KERNELS),
        names=_OF_KERNELS | {"lam1", "lam2", "options"},
    ),
    Method(
        "llsf",
        "LLSF",
        "squared error with sparse weights: finds each label's own features",
        new("multimargin:LLSF"),
        _HUANG_2015,
        abilities=Abilities("squared error, sparse", ("none",), ("linear",), unknown_labels=False),
        names=_words(
            "alpha beta convexify gamma max_iter max_time n_jobs solver threshold tol "
            "verbose warm_start"
        ),
    ),
    Method(
        "llsf-bsvm",
        "LLSF-BSVM",
        "one linear SVM a label, on the label's own features",
        new("multimargin:LabelSpecificBinaryRelevance", selector=_SELECTOR, estimator=_LINEAR_SVC),
        _HUANG_2015,
        _OF_SELECTOR_AND_ESTIMATOR,
        abilities=_OF_INNER_CLASSIFIERS,
        names=_OF_SELECTED,
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
        abilities=_OF_INNER_CLASSIFIERS,
        names=_OF_SELECTED | {"order", "random_state"},
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The methods, by name."""

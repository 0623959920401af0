"""Baselines by name: the methods that the papers compare with, and scikit-learn's classifiers."""

from collections.abc import Mapping
from types import MappingProxyType

from multimargin.methods.method import Method, Pattern, new
from multimargin.methods.table import powers_of_two

_SVC = new("sklearn.svm:SVC")
_LIBSVM = new("sklearn.svm:SVC", kernel="linear", C=1.0, max_iter=1_000_000)
_LINEAR_SVC = new("sklearn.svm:LinearSVC", random_state=0)


def _one_vs_rest(estimator: Pattern) -> Pattern:
    return new("sklearn.multiclass:OneVsRestClassifier", estimator)


def _chain(estimator: Pattern, order: str | None = None) -> Pattern:
    return new("sklearn.multioutput:ClassifierChain", estimator, order=order, random_state=0)


def _wrapped(estimator: Pattern) -> Pattern:
    return new("multimargin.baselines:WithOneClassLabels", estimator)


_C = powers_of_two(-2, 10)
_GAMMA = powers_of_two(-10, 2)
_INNER = {"C": "estimator__C"}

_ALL = (
    Method(
        "ml-knn",
        "ML-kNN",
        "Bayes' rule on how many of the nearest rows have the label",
        new("multimargin.baselines:MLkNN"),
        {"n_neighbors": (5, 10, 15, 20), "smoothing": (0.1, 0.5, 1.0)},
    ),
    Method(
        "bp-mll",
        "BP-MLL",
        "neural network with one hidden layer and an exponential loss of every pair",
        new("multimargin.baselines:BPMLL", random_state=0),
        {"hidden": (0.1, 0.2, 0.4), "decay": (0.01, 0.1, 1.0)},
    ),
    Method(
        "clr",
        "CLR",
        "a support vector machine for each two labels, and a virtual label as threshold",
        new("multimargin.baselines:CalibratedLabelRanking", estimator=_LIBSVM),
        {"C": _C},
        _INNER,
    ),
    Method(
        "rakel",
        "RAkEL",
        "label powersets of random sets of three labels vote",
        new("multimargin.baselines:RAkEL", estimator=_LIBSVM, random_state=0),
        {"k": (2, 3, 4), "C": _C},
        _INNER,
    ),
    Method(
        "label-powerset",
        "label powerset",
        "one class for each set of labels that occurs",
        new("multimargin.baselines:LabelPowerset", estimator=_LIBSVM),
        {"C": _C},
        _INNER,
    ),
    Method(
        "bsvm",
        "BSVM",
        "one linear support vector machine a label, libsvm's",
        _wrapped(_one_vs_rest(_LIBSVM)),
        {"C": _C},
        depth=2,
    ),
    Method(
        "cc",
        "CC",
        "classifier chain in random order of linear support vector machines, libsvm's",
        _wrapped(_chain(_LIBSVM, order="random")),
        {"C": _C},
        depth=2,
    ),
    Method(
        "ovr-svc",
        "one-vs-rest SVC",
        "one support vector machine a label, with a kernel",
        _wrapped(_one_vs_rest(_SVC)),
        {"C": _C, "gamma": _GAMMA},
        depth=2,
    ),
    Method(
        "ovr-linear-svc",
        "one-vs-rest LinearSVC",
        "one linear support vector machine a label",
        _wrapped(_one_vs_rest(_LINEAR_SVC)),
        {"C": _C},
        depth=2,
    ),
    Method(
        "ovr-logistic",
        "one-vs-rest logistic regression",
        "one logistic regression a label",
        _wrapped(_one_vs_rest(new("sklearn.linear_model:LogisticRegression", max_iter=1000))),
        {"C": _C},
        depth=2,
    ),
    Method(
        "ovr-boosting",
        "one-vs-rest gradient boosting",
        "one HistGradientBoostingClassifier a label, of dense features",
        _wrapped(
            _one_vs_rest(new("sklearn.ensemble:HistGradientBoostingClassifier", random_state=0))
        ),
        {"learning_rate": (0.05, 0.1, 0.2), "max_leaf_nodes": (15, 31, 63)},
        depth=2,
    ),
    Method(
        "classifier-chain",
        "classifier chain of SVC",
        "one support vector machine a label that also sees the labels before it",
        _wrapped(_chain(_SVC)),
        {"C": _C, "gamma": _GAMMA},
        depth=2,
    ),
    Method(
        "knn",
        "k nearest neighbours",
        "fraction of the neighbours that have the label",
        _wrapped(new("sklearn.neighbors:KNeighborsClassifier", n_neighbors=10)),
        {"n_neighbors": (5, 10, 20)},
        depth=1,
    ),
    Method(
        "random-forest",
        "random forest",
        "decision trees on all labels at once",
        _wrapped(new("sklearn.ensemble:RandomForestClassifier", random_state=0)),
        {"max_features": ("sqrt", 0.3, 1.0)},
        depth=1,
    ),
    Method(
        "dummy",
        "label frequencies",
        "the same ranking for every row, by frequency in the training part",
        _wrapped(new("sklearn.dummy:DummyClassifier", strategy="prior")),
        {},
        depth=1,
    ),
)

BASELINES: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
"""The baselines, by name. Parameters of an inner SVC, forest, ... go by their short names."""

"""What the methods are called: names, titles and summaries, without what takes seconds to import.

`multimargin.methods` and `multimargin.compare` know more about each; the command line lists them
from here.
"""

from collections.abc import Mapping
from types import MappingProxyType

METHOD_TITLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "label-ranker": (
            "LabelRankerCV",
            "chooses loss, C and weights of labels by cross-validation, calibrates and cuts",
        ),
        "rank-svm": (
            "Rank-SVM",
            "ranks relevant above irrelevant labels with the hinge loss of every pair",
        ),
        "rank-svmz": (
            "Rank-SVMz",
            "hinge between every label and a zero label, which is the threshold",
        ),
        "rank-cvm": (
            "Rank-CVM",
            "squared hinge of every pair with a margin of its own; predicts as rank-lsvm does",
        ),
        "rank-lsvm": (
            "Rank-LSVM",
            "squared hinge of every pair, quick to solve; predicts as rank-cvm does",
        ),
        "mlodm": ("mlODM", "draws the margins of all pairs towards 1 from both sides"),
        "rank-hlapsvm": (
            "Rank-HLapSVM",
            "hinge of every pair, smooth over the hypergraph of the labels",
        ),
        "mlrl": ("MLRL", "hinge of every label with a learned label covariance"),
        "ssmlrl": ("SSMLRL", "MLRL that also learns from unlabelled rows (rows of -1 in y)"),
        "llsf": ("LLSF", "squared error with sparse weights: finds each label's own features"),
        "llsf-bsvm": ("LLSF-BSVM", "one linear SVM a label, on the label's own features"),
        "llsf-cc": ("LLSF-CC", "classifier chain on each label's own features"),
    }
)
"""Title and summary of each method of this package, by name."""

BASELINE_TITLES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "ml-knn": ("ML-kNN", "Bayes' rule on how many of the nearest rows have the label"),
        "br-knn": ("BKNN", "nearest rows of each label vote, with a threshold for each label"),
        "bp-mll": (
            "BP-MLL",
            "neural network with one hidden layer and an exponential loss of every pair",
        ),
        "clr": (
            "CLR",
            "a support vector machine for each two labels, and a virtual label as threshold",
        ),
        "rakel": ("RAkEL", "label powersets of random sets of three labels vote"),
        "label-powerset": ("label powerset", "one class for each set of labels that occurs"),
        "bsvm": ("BSVM", "one linear support vector machine a label, libsvm's"),
        "cc": (
            "CC",
            "classifier chain in random order of linear support vector machines, libsvm's",
        ),
        "ovr-svc": ("one-vs-rest SVC", "one support vector machine a label, with a kernel"),
        "ovr-linear-svc": ("one-vs-rest LinearSVC", "one linear support vector machine a label"),
        "classifier-chain": (
            "classifier chain of SVC",
            "one support vector machine a label that also sees the labels before it",
        ),
        "knn": ("k nearest neighbours", "fraction of the neighbours that have the label"),
        "random-forest": ("random forest", "decision trees on all labels at once"),
        "dummy": (
            "label frequencies",
            "the same ranking for every row, by frequency in the training part",
        ),
    }
)
"""Title and summary of each baseline, by name."""

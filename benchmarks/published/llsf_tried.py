"""Huang et al. 2015 (LLSF): what was tried where its rows do not come out.

bibtex: rows of unit norm, by other parameters than the paper's. With C = 4 in place of 1 BSVM is
near its printed row; with beta = 0.5 in place of 0.1 LLSF selects. genbase: BSVM with 1 for NO in
place of 1 for YES, which is how the file reads if its values are numbered in their order.
"""

from functools import partial

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from common import print_table
from multimargin import LLSF, LabelSpecificBinaryRelevance
from published.comparison import MOTIFS, chosen, values
from published.llsf import COLUMNS, FORMS, Chosen, classifier, part
from published.printed import printed
from published.runs import all_of

DATA_SET = "bibtex"
# Beta (none: no selection), and C of the classifiers.
TRIED = ((None, 1.0), (None, 4.0), (0.1, 1.0), (0.1, 4.0), (0.5, 1.0))


def measured(beta: float | None, C: float) -> tuple[float, list[float]]:
    """Return how many features a label keeps and the measures of BSVM on them, first part."""
    A, B, Ya, Yb = part(DATA_SET, 0)
    supports = np.ones((Ya.shape[1], A.shape[1]), dtype=bool)
    if beta is not None:
        model = LLSF(0.5, beta, convexify=FORMS[", convex"], threshold=0.5, tol=1e-2)
        supports = model.fit(A, Ya).label_specific_features_
    svm = LinearSVC(loss="hinge", C=C, max_iter=20_000, random_state=0)
    fitted = LabelSpecificBinaryRelevance(svm, Chosen(supports)).fit(A, Ya)
    return float(supports.sum(axis=1).mean()), values(COLUMNS, fitted, B, Yb, zero_division=0.0)


def other_parameters() -> None:
    """Print BSVM and LLSF-BSVM on the first part of bibtex."""
    if not chosen((DATA_SET,)):
        return
    jobs = {
        (beta, C): (f"llsf bibtex beta {beta} C {C:g} split 0", partial(measured, beta, C))
        for beta, C in TRIED
    }
    theirs = printed("llsf")
    lines = [
        (method, "published", "", *(f"{theirs[c.key].loc[DATA_SET, method]:.3f}" for c in COLUMNS))
        for method in ("BSVM", "LLSF-BSVM")
    ]
    for (beta, C), (kept, row) in all_of(jobs).items():
        method = "BSVM" if beta is None else f"LLSF-BSVM, convex, beta {beta:g}"
        lines.append((f"{method}, C {C:g}", "ours", f"{kept:.0f}", *(f"{v:.3f}" for v in row)))
    header = ("method", "", "features a label", *(column.title for column in COLUMNS))
    print_table("Huang et al. 2015, bibtex, first part: other parameters", header, lines)


def numbered(ones: str) -> list[float]:
    """Return the measures of BSVM on the first part of genbase, 1 for YES or 1 for NO."""
    A, B, Ya, Yb = part("genbase", 0, unit=False)
    if ones == "NO":
        A, B = (sparse.csr_matrix(1.0 - X.toarray()) for X in (A, B))
    model = LabelSpecificBinaryRelevance(classifier("genbase"), Chosen(np.ones((27, MOTIFS), bool)))
    return values(COLUMNS, model.fit(normalize(A), Ya), normalize(B), Yb, zero_division=0.0)


def other_numbers() -> None:
    """Print BSVM on the first part of genbase by what its motifs are read as."""
    if not chosen(("genbase",)):
        return
    jobs = {
        ones: (f"llsf genbase BSVM 1 for {ones} split 0", partial(numbered, ones))
        for ones in ("YES", "NO")
    }
    lines = [(ones, *(f"{v:.3f}" for v in row)) for ones, row in all_of(jobs).items()]
    theirs = printed("llsf")
    lines.append(("published", *(f"{theirs[c.key].loc['genbase', 'BSVM']:.3f}" for c in COLUMNS)))
    header = ("1 for", *(column.title for column in COLUMNS))
    print_table("Huang et al. 2015, genbase, first part: BSVM", header, lines)


PARTS = {"bibtex": other_parameters, "genbase": other_numbers}

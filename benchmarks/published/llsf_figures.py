"""Huang et al. 2015 (LLSF): figures 4 to 6.

Figure 4: how many features LLSF selects for each label (alpha 0.5, beta 0.1) on medical and
rcv1(subset1), by the published loop and by the convex form. Figure 5: cosines between labels and
between coefficients on rcv1(subset1). Figure 6: F1 over alpha and beta in five folds; here of the
convex form, alpha from 2^-10 to 2^10 in steps of 2^5, beta from 2^-10 to 2^5, on medical and on
rcv1(subset1), of which the paper draws the latter.
"""

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import cross_val_score

from common import print_note, print_table
from multimargin import LLSF
from multimargin.measures import get_scorer
from published.comparison import chosen, folds
from published.figures import axes, draw_grid, save
from published.llsf import FORMS, REPAIRED, TABLE_I, load, part, selection
from published.runs import all_of, stored_only

FIGURE_4 = ("medical", "rcv1(subset1)", REPAIRED)
ALPHAS = [2.0**k for k in range(-10, 11, 5)]
BETAS = [2.0**k for k in range(-10, 6, 5)]


def figure_4() -> None:
    """Draw the numbers of features, those of tables II to IX."""
    jobs = {(name, form): selection(name, 0, form) for name in chosen(FIGURE_4) for form in FORMS}
    found = all_of(jobs)
    if not found:
        return
    drawn = axes(-(-len(found) // 2), 2)
    lines = []
    for ax, ((name, form), kept) in zip(drawn, found.items(), strict=False):
        ax.bar(range(len(kept)), kept)
        ax.set_xlabel("Label")
        ax.set_ylabel("Number of label-specific features")
        ax.set_title(f"{name}: LLSF{form}")
        cells = (str(min(kept)), f"{np.median(kept):g}", str(max(kept)))
        lines.append((name, f"LLSF{form}", *cells, str(TABLE_I[name.partition("-")[0]][1])))
    save(drawn[0].figure, "llsf-figure-4")
    header = ("data", "form", "smallest", "median", "largest", "features")
    print_table("Huang et al. 2015, figure 4: features a label", header, lines)


@cache
def affinities(name: str, form: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the cosines of labels and of coefficients on the first part of a data set."""
    A, _, Ya, _ = part(name, 0)
    model = LLSF(0.5, 0.1, convexify=FORMS[form], tol=1e-2, threshold=0.5).fit(A, Ya)
    return cosine_similarity(np.asarray(Ya, dtype=float).T), cosine_similarity(model.coef_)


def correlation(name: str, form: str) -> float:
    """Return the correlation of the two cosines of label pairs."""
    of_labels, of_coefficients = affinities(name, form)
    upper = np.triu_indices(len(of_labels), 1)
    pairs = of_labels[upper], of_coefficients[upper]
    kept = np.isfinite(pairs[0]) & np.isfinite(pairs[1])
    return float(np.corrcoef(pairs[0][kept], pairs[1][kept])[0, 1])


def figure_5() -> None:
    """Draw the affinities, and print their correlation."""
    jobs = {
        (name, form): (f"llsf figure 5 {name}{form}", partial(correlation, name, form))
        for name in chosen(FIGURE_4[1:])
        for form in FORMS
    }
    for (name, form), value in all_of(jobs).items():
        print_note(f"{name}, LLSF{form}: the affinities of label pairs correlate by {value:.3f}")
        if not stored_only():
            file = "llsf-figure-5" + name.removeprefix("rcv1(subset1)")
            drawn = axes(1, 2)
            for ax, title, cosines in zip(
                drawn, ("Labels", "Coefficients"), affinities(name, form), strict=True
            ):
                image = ax.imshow(cosines, cmap="RdBu_r", vmin=-1.0, vmax=1.0)
                ax.set_title(title)
            drawn[0].figure.colorbar(image, ax=list(drawn), label="Cosine")
            save(drawn[0].figure, file + ("-convex" if FORMS[form] else ""))


def line(name: str, alpha: float) -> list[float]:
    """Return F1 in five folds over beta."""
    X, Y = load(name)
    scoring = get_scorer("example_f1")
    models = [LLSF(alpha, beta, threshold=0.5, tol=1e-2) for beta in BETAS]
    return [float(cross_val_score(m, X, Y, cv=folds(5), scoring=scoring).mean()) for m in models]


def figure_6() -> None:
    """Draw F1 over alpha and beta."""
    for name in chosen(FIGURE_4):
        jobs = {
            alpha: (f"llsf figure 6 {name} alpha {alpha:g}", partial(line, name, alpha))
            for alpha in ALPHAS
        }
        found = all_of(jobs)
        if not found:
            continue
        ax = axes(1, 1)[0]
        draw_grid(ax, list(found), BETAS, list(found.values()))
        ax.set_xlabel("beta")
        ax.set_ylabel("alpha")
        save(ax.figure, f"llsf-figure-6-{name.replace('(subset1)', '')}")
        lines = [
            (f"2^{np.log2(alpha):g}", *(f"{value:.3f}" for value in row))
            for alpha, row in found.items()
        ]
        header = ("alpha", *(f"beta 2^{np.log2(beta):g}" for beta in BETAS))
        print_table(f"Huang et al. 2015, figure 6: F1, {name}", header, lines)


PARTS = {"figure-4": figure_4, "figure-5": figure_5, "figure-6": figure_6}

"""The certificate of a fitted method, wherever in the model it is."""

from typing import Any


def certificate(model: Any) -> dict[str, Any] | None:
    """Return the certificate of a fitted method, alone or at the end of a pipeline.

    It has "objective", "dual_objective", "dual_gap", "tol", "status" and "n_iter". A classifier on
    label-specific features answers with that of its selector, a baseline with None.
    """
    final = model[-1] if hasattr(model, "steps") else model
    final = getattr(final, "selector_", final)
    if not hasattr(final, "dual_gap_"):
        return None
    return {
        "objective": final.objective_,
        "dual_objective": final.dual_objective_,
        "dual_gap": final.dual_gap_,
        "tol": final.tol,
        "status": final.status_,
        "n_iter": final.n_iter_,
    }

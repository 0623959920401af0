"""The order of the examples in each section of the gallery."""

ORDER = (
    "first_fit.py",
    "packages_csv.py",
    "tags_for_software.py",
    "image_scenes.py",
    "protein_functions.py",
    "race.py",
    "words_and_meaning.py",
    "choose_a_method.py",
    "tune_parameters.py",
    "thresholds.py",
    "guarantees.py",
    "compare_methods.py",
    "certificate_in_motion.py",
    "certified_convergence.py",
    "verify_against_exact_qp.py",
    "own_loss.py",
    "course_rank_cvm.py",
    "course_mlrl.py",
    "course_llsf.py",
    "course_mlodm.py",
    "course_rank_hlapsvm.py",
    "course_theorems.py",
    "margins.py",
    "label_relationships.py",
    "label_graph.py",
    "label_specific_features.py",
    "semi_supervised.py",
    "kernels_at_scale.py",
    "many_machines.py",
)


class Order:
    """Sorts the scripts of a folder; one that is not named fails the build.

    Parameters
    ----------
    folder : str
        Where they are.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, script: str) -> int:
        """Return the place of a script."""
        return ORDER.index(script)

    def __repr__(self) -> str:
        return "Order()"

"""Sphinx settings: ``make docs`` builds these pages, and every warning is an error."""

import os
import sys
from importlib.metadata import distribution
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import bibliography_style

# Sphinx shows what libraries log; Dask logs as information that a cluster is closed.
os.environ["DASK_LOGGING__DISTRIBUTED"] = "warning"

project = "multimargin"
author = "The multimargin developers"
release = version = installed_version("multimargin")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build", "inventories/README.md", "sg_execution_times.rst"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

bibliography_style.register()
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = bibtex_reference_style = bibliography_style.NAME

# Names in single backticks are links where they are known.
default_role = "py:obj"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# The pages list the members themselves: scikit-learn's inherited ones refer to its own user guide.
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL03", "GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "SS01"}
# Estimators take all but their first parameter by name: their docstrings are ordered by subject.
numpydoc_validation_overrides = {"PR03": [r"Attributes\n\s*-+\n"]}
# The references state shapes and symbols once, in the dictionary at the head of each file.
numpydoc_validation_exclude = {
    r"\.set_\w+_request$",
    r"^sklearn\.",
    r"^multimargin\.reference\.",
    # Inherited: what these methods take and return is said once, by the base of their classes.
    r"^multimargin\.(calibration|thresholds)\.(?!Threshold\.)\w+\.(fit|predict|rescale)$",
    r"^multimargin\.(Calibrated|Thresholded)Classifier\.(fit|label_scores|decision_function)$",
}

# The build needs no network: the names that pages link to are stored beside them.
intersphinx_mapping = {
    "sklearn": ("https://scikit-learn.org/stable/", "inventories/sklearn.inv"),
    "numpy": ("https://numpy.org/doc/stable/", "inventories/numpy.inv"),
    "scipy": ("https://docs.scipy.org/doc/scipy/", "inventories/scipy.inv"),
    "pandas": ("https://pandas.pydata.org/docs/", "inventories/pandas.inv"),
    "dask": ("https://docs.dask.org/en/stable/", "inventories/dask.inv"),
    "distributed": ("https://distributed.dask.org/en/stable/", "inventories/distributed.inv"),
}

# Every example is run, and one that fails fails the build.
_WITHOUT_DATA = r"/(?!image_scenes|protein_functions)\w+\.py$"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Examples whose data are not at hand are shown without output.
    "filename_pattern": r"\.py$" if "MULTIMARGIN_DATA" in os.environ else _WITHOUT_DATA,
    "subsection_order": [
        f"../examples/{part}" for part in ("start", "tune", "understand", "papers", "many")
    ],
    "within_subsection_order": "gallery_order.Order",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

# The pages need none either: MathJax, one file that draws its letters itself, is part of the guide.
mathjax_path = "tex-svg-full.js"
_mathjax = distribution("sphinx-mathjax-offline").locate_file(
    f"sphinx-mathjax-offline/static/mathjax/{mathjax_path}"
)
html_static_path = ["_static", str(_mathjax)]
html_css_files = ["guide.css"]
copybutton_prompt_text = r"\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "multimargin"
html_show_copyright = False

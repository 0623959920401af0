"""Sphinx settings: ``make docs`` builds these pages, and every warning is an error."""

from importlib.metadata import version as installed_version

project = "multimargin"
author = "The multimargin developers"
release = version = installed_version("multimargin")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
# The pages list the members themselves: scikit-learn's inherited ones refer to its own user guide.
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL03", "GL06", "GL07", "GL08", "PR01", "PR02", "PR03", "SS01"}
# The references state shapes and symbols once, in the dictionary at the head of each file.
numpydoc_validation_exclude = {
    r"\.set_\w+_request$",
    r"^sklearn\.",
    r"^multimargin\.reference\.",
}

html_theme = "furo"
html_title = "multimargin"
html_show_copyright = False

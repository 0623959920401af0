"""Versions for bug reports: packages, Python, BLAS and threads."""

import re
from importlib.metadata import PackageNotFoundError, requires, version

# "cvxpy>=1.6 ; extra == 'exact'": the name.
_NAME = re.compile(r"[A-Za-z0-9._-]+")


def show_versions() -> None:
    """Print what a bug report should include; ``multimargin --versions`` prints the same.

    These are the versions of multimargin and of all packages that it can use, and the output of
    `sklearn.show_versions` about Python, BLAS and threads, with their folders.
    """
    from sklearn import show_versions as show_system

    print(f"multimargin {version('multimargin')}\n\nPackages:")
    names = {_NAME.match(text)[0] for text in requires("multimargin") or []}  # type: ignore[index]
    for name in sorted(names - {"multimargin"}, key=str.lower):
        print(f"{name:>24}: {_version_of(name)}")
    show_system()


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"

"""What a report of a fault should name: versions, processors, BLAS and threads."""

import os
import platform
import re
import sys
from collections import defaultdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

# "cvxpy>=1.6 ; extra == 'exact'": the name, and the extra where there is one.
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:.*extra == ['\"]([^'\"]+)['\"])?")
_NOT_INSTALLED = "not installed"


def versions() -> dict[str, dict[str, str]]:
    """Return what a report of a fault should name.

    Returns
    -------
    dict of str to dict of str to str
        "multimargin", "system", "required" packages, "optional" ones (those of the extras) and
        "libraries" (BLAS and OpenMP), each by name. No names of users, machines or folders.
    """
    packages: dict[str, dict[str, str]] = defaultdict(dict)
    for requirement in requires("multimargin") or []:
        found = _REQUIREMENT.match(requirement)
        if found and found[1] != "multimargin":
            kind = "optional" if found[2] else "required"
            packages[kind][found[1]] = _version_of(found[1])
    return {
        "multimargin": {"version": version("multimargin")},
        "system": {
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "free-threaded": "no" if getattr(sys, "_is_gil_enabled", lambda: True)() else "yes",
            "platform": platform.platform(),
            "processors": f"{_usable_processors()} of {os.cpu_count()}",
        },
        "required": packages["required"],
        "optional": dict(sorted(packages["optional"].items())),
        "libraries": _libraries(),
    }


def show_versions() -> None:
    """Print `versions`, for reports; ``multimargin --version`` prints the same."""
    found = versions()
    print(f"multimargin {found.pop('multimargin')['version']}")
    width = max(len(name) for entries in found.values() for name in entries)
    for title, entries in found.items():
        print(f"\n{title}")
        for name, value in entries.items():
            print(f"  {name:<{width}}  {value}")


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return _NOT_INSTALLED


def _usable_processors() -> int:
    from joblib import cpu_count  # respects affinity and the limits of containers

    return int(cpu_count())


def _libraries() -> dict[str, str]:
    from threadpoolctl import threadpool_info

    for user in ("scipy.linalg", "sklearn.utils"):
        import_module(user)  # threadpoolctl sees the libraries that are loaded
    found: dict[str, str] = {}
    for number, pool in enumerate(threadpool_info(), start=1):
        folder = Path(pool["filepath"]).parent.name  # wheels bring theirs in "numpy.libs"
        owner = f"of {folder.removesuffix('.libs')}" if folder.endswith(".libs") else str(number)
        details = [
            f"{pool['num_threads']} threads" if pool["num_threads"] != 1 else "1 thread",
            *(str(pool[key]) for key in ("threading_layer", "architecture") if pool.get(key)),
        ]
        release = f"{pool['internal_api']} {pool['version'] or ''}".rstrip()
        found[f"{pool['user_api']} {owner}"] = f"{release} ({', '.join(details)})"
    return found

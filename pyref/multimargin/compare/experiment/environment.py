"""The versions and the machine that a result comes from."""

import os
import platform
from functools import cache
from importlib.metadata import version

_PACKAGES = ("multimargin", "numpy", "scipy", "scikit-learn", "joblib", "iterative-stratification")


@cache
def environment() -> dict[str, str]:
    """Return the versions by package, "python", "system", "machine" and "processors"."""
    return {
        **{name: version(name) for name in _PACKAGES},
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": f"{platform.node()} ({platform.machine()})",
        "processors": str(os.cpu_count()),
    }

"""Calls in workers of joblib, under the settings of the thread that makes them."""

import os
import threading
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import joblib
from sklearn import config_context, get_config


def delayed(function: Callable[..., Any]) -> Any:
    """Return a function whose calls joblib makes, like `joblib.delayed`.

    A worker has the configuration of scikit-learn, and another process the warning filters, that
    are in force here; joblib passes neither on.
    """
    settings = _Settings(function, get_config(), list(warnings.filters), os.getpid())
    return joblib.delayed(settings)


@dataclass(frozen=True)
class _Settings:
    """A function with the settings of its caller."""

    function: Callable[..., Any]
    config: dict[str, Any]
    filters: list[Any]
    process: int

    def __call__(self, *args: Any, **named: Any) -> Any:
        with config_context(**self.config):
            # Filters are those of a whole process, and of all of its threads.
            alone = threading.current_thread() is threading.main_thread()
            if os.getpid() == self.process or not alone:
                return self.function(*args, **named)
            with warnings.catch_warnings():
                warnings.resetwarnings()
                warnings.filters.extend(self.filters)  # type: ignore[attr-defined]
                return self.function(*args, **named)

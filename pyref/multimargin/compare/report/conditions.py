"""The tables of the conditions of results: certificates, failures, parameters, data."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from multimargin.compare.report.table import Table
from multimargin.compare.report.wording import message_of
from multimargin.compare.results import Result
from multimargin.estimators.fitting.certificate import gap_text

_FEW_NAMES = 5


def certificates_table(results: Sequence[Result]) -> Table | None:
    """Lay out the gaps of the fits to their optima; None without certificates."""
    certified = _grouped((result, result.certificate) for result in results)
    if not certified:
        return None
    rows = []
    for (_, method), found in certified.items():
        statuses = pd.Series([entry["status"] for entry in found]).value_counts()
        gaps = [entry["gap"] for entry in found]
        known = [gap for gap in gaps if gap is not None and np.isfinite(gap)]
        worst = gap_text(max(known), 1) if len(known) == len(gaps) else "unknown"
        rows.append(
            {
                "method": method,
                "status": ", ".join(f"{count} {status}" for status, count in statuses.items()),
                "largest gap": worst,
                "tol": f"{found[0]['tol']:g}",
                "mean epochs": f"{np.mean([entry['n_iter'] for entry in found]):.1f}",
            }
        )
    names = [data for data, _ in certified]
    return Table.of_rows("Certificates: relative duality gaps", "data", names, rows)


def tuning_table(results: Sequence[Result]) -> Table | None:
    """Lay out the parameters that were chosen; None where nothing was tuned."""
    tuned = _grouped((result, result.tuning) for result in results)
    if not tuned:
        return None
    rows = []
    for (_, method), found in tuned.items():
        chosen = []
        for name in found[0]["parameters"]:
            counts = pd.Series([_short(one["parameters"][name]) for one in found]).value_counts()
            values = ", ".join(
                value if count == len(found) else f"{value} ({count})"
                for value, count in counts.items()
            )
            chosen.append(f"{name.rpartition('__')[2]} {values}")
        rows.append(
            {
                "method": method,
                "chosen (how often)": "; ".join(chosen),
                "combinations": f"{np.mean([one['combinations'] for one in found]):.0f}",
                "seconds a search": f"{np.mean([one['seconds'] for one in found]):.3g}",
            }
        )
    scores = sorted({one["score_name"] for found in tuned.values() for one in found})
    notes = (f"tuned by {', '.join(scores)} on the training rows of each split alone",)
    names, title = [data for data, _ in tuned], "Parameters that were chosen"
    return Table.of_rows(title, "data", names, rows, notes=notes, numeric=False)


def failures_table(results: Sequence[Result]) -> Table | None:
    """Lay out failures and their reasons; None without failures."""
    failed: dict[tuple[str, str, str], list[str]] = {}
    for result in (one for one in results if one.failed):
        message = result.data, result.method, message_of(result)
        failed.setdefault(message, []).append(result.split)
    return _messages_table("Failures", "error", failed)


def remarks_table(results: Sequence[Result]) -> Table | None:
    """Lay out remarks on results that did not fail; None without remarks.

    These are warnings, methods without scores, and labels with one class in a training part.
    """
    found: dict[tuple[str, str, str], list[str]] = {}
    # Of each data set the labels, and the splits, in their order.
    one_class: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for result in results:
        for warning in result.warnings:
            found.setdefault((result.data, result.method, warning), []).append(result.split)
        if result.scores == "predict":
            remark = "has no scores: its labels tie in the ranking measures"
            found.setdefault((result.data, result.method, remark), []).append(result.split)
        if result.one_class_labels:
            labels, splits = one_class.setdefault(result.data, ({}, {}))
            labels |= dict.fromkeys(result.one_class_labels)
            splits[result.split] = None
    for data, (labels, splits) in one_class.items():
        remark = f"one class in the training part: {_some(list(labels))}"
        found[data, "all", remark] = list(splits)
    return _messages_table("Remarks", "remark", found)


def _some(names: Sequence[str]) -> str:
    """Write names, of many their number and the first."""
    few = ", ".join(names[:_FEW_NAMES])
    return few if len(names) <= _FEW_NAMES else f"{len(names)} labels, such as {few}"


def _messages_table(
    title: str, column: str, splits_of: dict[tuple[str, str, str], list[str]]
) -> Table | None:
    """Lay out messages by data set and method, with the splits that each is about."""
    if not splits_of:
        return None
    rows = [
        {"method": method, "splits": _list(splits), column: message}
        for (_, method, message), splits in splits_of.items()
    ]
    names = [data for data, _, _ in splits_of]
    return Table.of_rows(title, "data", names, rows, numeric=False)


def parameters_table(results: Sequence[Result]) -> Table:
    """Lay out the estimators with all their parameters, a row per method."""
    estimators = {result.method: result.estimator for result in results}
    rows = [{"estimator": _expression(estimator)} for estimator in estimators.values()]
    return Table.of_rows("Methods", "method", estimators, rows, numeric=False)


def data_table(results: Sequence[Result]) -> Table:
    """Lay out the data sets, one per row."""
    firsts = {result.data: result for result in reversed(results)}
    rows, names = [], list(dict.fromkeys(result.data for result in results))
    for name in names:
        first = firsts[name]
        splits = dict.fromkeys(result.split for result in results if result.data == name)
        rows.append(
            {
                "rows, train + test": f"{first.shape['n_train']} + {first.shape['n_test']}",
                "features": str(first.shape["n_features"]),
                "labels": str(first.shape["n_labels"]),
                "splits": str(len(splits)),
                "scaling": first.scaling,
                "fingerprint": first.fingerprint[:8],
            }
        )
    return Table.of_rows("Data", "data", names, rows)


def environments_table(results: Sequence[Result]) -> Table:
    """Lay out versions and machines, a column each where results come from different ones."""
    distinct = list({json.dumps(r.environment): r.environment for r in results}.values())
    names = list(dict.fromkeys(name for environment in distinct for name in environment))
    columns = {
        "" if len(distinct) == 1 else f"environment {number}": [
            environment.get(name, "") for name in names
        ]
        for number, environment in enumerate(distinct, start=1)
    }
    notes = () if len(distinct) == 1 else ("the results come from different environments",)
    title = "Versions and machine"
    return Table.of_rows(title, "what", names, columns, notes=notes, numeric=False)


def _grouped(
    entries: Iterable[tuple[Result, dict[str, Any] | None]],
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Group properties of results by data set and method."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for result, entry in entries:
        if entry is not None:
            found.setdefault((result.data, result.method), []).append(entry)
    return found


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _list(splits: Sequence[str]) -> str:
    return "; ".join(splits) if len(splits) <= 2 else f"{len(splits)} splits"


def _expression(described: Any) -> str:
    """Write a described estimator as the call that would make it."""
    if isinstance(described, dict) and set(described) == {"class", "parameters"}:
        arguments = (
            f"{name}={_expression(value)}" for name, value in described["parameters"].items()
        )
        return f"{described['class']}({', '.join(arguments)})"
    return repr(described)

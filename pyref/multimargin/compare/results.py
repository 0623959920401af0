"""One result: the record of one method on one split, and its line in a file."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from math import isfinite
from typing import Any, Self

FORMAT = 1
"""Version of the rows. It is part of a job's identity: rows of other versions are not reused."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """Measures, or the failure, of one method on one split of one data set.

    Parameters
    ----------
    job : str
        Identity: a hash of everything that decides the result, names included.
    data, split, method : str
        Names.
    scaling : str
        Scaling of the features.
    seed : int
        Seed of the folds.
    shape : dict of str to int
        "n_train", "n_test", "n_features", "n_labels".
    fingerprint : str
        Hash of the content of the data.
    label_names : list of str
        Names of the labels.
    estimator : dict
        Class and parameters, see `multimargin.compare.experiment.identity.describe`.
    one_class_labels : list of str
        Labels that all training rows have, or none.
    measures : dict of str to float
        Measures on the test rows; empty after a failure. Those that are not defined are left out.
    label_counts : list of [int, int, int, int]
        Of each label the number of true negatives, false positives, false negatives and true
        positives among the test rows.
    scores : str or None
        Source of the scores for the ranking: "decision_function", "predict_proba", or
        "predict" for an estimator without scores, whose labels all tie.
    fit_seconds, predict_seconds : float or None
        Wall-clock seconds.
    certificate : dict or None
        "status", "gap" (relative duality gap), "tol", "objective", "dual_objective", "n_iter" of an
        estimator that certifies its optimum.
    warnings : list of str
        Different warnings during the fit and the prediction.
    error : dict or None
        "type", "message" and "traceback" of a failure.
    environment : dict of str to str
        Versions and machine.
    finished : str
        UTC time, ISO 8601.
    tuning : dict or None
        Choices made on the training rows: "parameters", the "score" that they had there by
        "score_name", the number of "combinations" tried and the "seconds" of the search, which
        `fit_seconds` leaves out; None for a method that was not tuned.
    """

    job: str
    data: str
    split: str
    method: str
    scaling: str
    seed: int
    shape: dict[str, int]
    fingerprint: str
    label_names: list[str]
    estimator: dict[str, Any]
    one_class_labels: list[str]
    # What a fit adds.
    measures: dict[str, float] = field(default_factory=dict)
    label_counts: list[list[int]] = field(default_factory=list)
    scores: str | None = None
    fit_seconds: float | None = None
    predict_seconds: float | None = None
    certificate: dict[str, Any] | None = None
    warnings: list[str] = field(default_factory=list)
    error: dict[str, str] | None = None
    environment: dict[str, str] = field(default_factory=dict)
    finished: str = ""
    tuning: dict[str, Any] | None = None

    @property
    def failed(self) -> bool:
        """True if there is an error instead of measures."""
        return self.error is not None

    def to_line(self) -> str:
        """Write the result as one line of JSON."""
        row = {"format": FORMAT, **asdict(self)}
        line = json.dumps(_finite(row), ensure_ascii=False, allow_nan=False) + "\n"
        try:
            line.encode()
        except UnicodeEncodeError:
            # The bytes of a file name that are no UTF-8 come as lone surrogates.
            return json.dumps(_finite(row), allow_nan=False) + "\n"
        return line

    @classmethod
    def from_line(cls, line: str) -> Self | None:
        """Read a result from one line of JSON."""
        try:
            row = json.loads(line)
        except (json.JSONDecodeError, RecursionError) as error:
            raise ValueError("is not JSON") from error
        if not isinstance(row, dict) or "format" not in row or "job" not in row:
            raise ValueError("is JSON, but not a row with a 'format' and a 'job'")
        if row.pop("format") != FORMAT:
            return None
        expected = {one.name for one in fields(cls)}
        if set(row) != expected:
            raise ValueError(f"lacks or has too much of {sorted(set(row) ^ expected)}")
        return cls(**row)


def latest(results: Sequence[Result]) -> list[Result]:
    """Keep the last result of each job."""
    return list({result.job: result for result in results}.values())


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return value

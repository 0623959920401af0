"""Predicted labels as tables and as JSON."""

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from multimargin.cli.spreadsheets import as_cell

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from multimargin.inspection.reasons import Reasons
    from multimargin.typing import Features, Frame

FORMATS = ("all", "labels", "tags")
"""Contents of a row: labels and scores, labels, or names of labels."""


@dataclass(frozen=True)
class Predictions:
    """The labels of n rows."""

    label_names: Sequence[str]  # Names of the q labels
    rows: NDArray[np.intp]  # (n,): Numbers of the rows
    scores: NDArray[np.float64]  # (n, q): Scores; positive where the label is predicted
    kept: Mapping[str, Sequence[Any]]  # Further columns, copied from the data
    form: str  # See `FORMATS`
    top: int | None  # For "tags" the number of labels a row; None takes those that are predicted
    # For "tags" the reasons of each of them, a list per row
    reasons: "list[list[Reasons]] | None" = None
    separator: str | None = ","  # What stands between tags; None writes a list of JSON
    probabilities: NDArray[np.float64] | None = None  # (n, q): Written in place of the scores
    as_is: bool = False  # Whether cells are written that a spreadsheet computes

    def reasons_of(
        self, model: "BaseEstimator", X: "Features | Frame", count: int
    ) -> "list[list[Reasons]]":
        """Return the main reasons for or against each tag of each row, from a linear model."""
        from multimargin.inspection.names import label_names_of_model
        from multimargin.inspection.reasons import explain
        from multimargin.scikit_learn import safe_indexing

        names = label_names_of_model(model)
        best = [self._best(number) for number in range(len(self.rows))]
        found: list[dict[int, Reasons]] = [{} for _ in best]
        for label in np.unique(np.concatenate(best)) if best else ():
            rows = [number for number, labels in enumerate(best) if label in labels]
            some = safe_indexing(X, rows)
            for number, reasons in zip(
                rows, explain(model, some, names[label], k=count), strict=True
            ):
                named = replace(reasons, label=self.label_names[label])
                found[number][int(label)] = named
        return [[by[int(k)] for k in labels] for by, labels in zip(found, best, strict=True)]

    def write_csv(self, stream: IO[str]) -> None:
        """Write a line for each row."""
        writer = csv.writer(stream, lineterminator="\n")
        # Columns that are copied keep their names.
        taken = {"row", *self.kept}
        heads = [f"label: {name}" if name in taken else name for name in self._heads()]
        rows = "row" if "row" not in self.kept else "row number"
        writer.writerow([rows, *map(self._cell, [*self.kept, *heads])])
        for number, row in enumerate(self.rows):
            copied = [values[number] for values in self.kept.values()]
            copied = [self._cell(value) for value in copied]
            writer.writerow([int(row), *copied, *self._cells(number)])

    def as_json(self) -> dict[str, object]:
        """Return the names of all "labels", and the labels of all "rows" by name."""
        taken = ("row", "labels", "scores", "probabilities", "why")
        own = [name for name in self.kept if name in taken]
        if own:
            raise ValueError(
                f"keep: the column {own[0]!r} has the name of what predict writes itself; expected "
                "another name, or CSV"
            )
        rows = []
        for number, row in enumerate(self.rows):
            scores = dict(zip(self.label_names, self._written[number].tolist(), strict=True))
            if self.form == "tags":
                best = self._best(number)
                labels = [self.label_names[k] for k in best]
                scores = {name: scores[name] for name in labels}
            else:
                own_scores = self.scores[number].tolist()
                pairs = zip(self.label_names, own_scores, strict=True)
                labels = [name for name, score in pairs if score > 0]
            copied = {name: values[number] for name, values in self.kept.items()}
            entry = {"row": int(row), **copied, "labels": labels, self._kinds: scores}
            if self.reasons is not None:
                entry["why"] = {
                    str(one.label): dict(zip(one.features, one.contributions.tolist(), strict=True))
                    for one in self.reasons[number]
                }
            rows.append(entry)
        return {"labels": list(self.label_names), "rows": rows}

    @property
    def _written(self) -> NDArray[np.float64]:
        return self.scores if self.probabilities is None else self.probabilities

    @property
    def _kind(self) -> str:
        return "score" if self.probabilities is None else "probability"

    @property
    def _kinds(self) -> str:
        return "scores" if self.probabilities is None else "probabilities"

    def _heads(self) -> list[str]:
        if self.form == "tags":
            return ["tags", self._kinds, *(["why"] if self.reasons is not None else [])]
        shown = self.label_names if self.form == "all" else ()
        scores = [f"{self._kind}: {name}" for name in shown]
        return [*self.label_names, *scores]

    def _cells(self, number: int) -> list[Any]:
        scores, written = self.scores[number], self._written[number]
        if self.form == "tags":
            best = self._best(number)
            tags = self._cell(self._listed([self.label_names[k] for k in best]))
            cells = [tags, ", ".join(f"{written[k]:.4f}" for k in best)]
            if self.reasons is not None:
                cells.append(self._cell("; ".join(map(str, self.reasons[number]))))
            return cells
        labels = (scores > 0).astype(int).tolist()
        return [*labels, *(written.tolist() if self.form == "all" else ())]

    def _cell(self, value: Any) -> Any:
        return value if self.as_is else as_cell(value)

    def _listed(self, tags: list[str]) -> str:
        """Return tags as a table lists them, so that they can be read back."""
        from multimargin.targets.separators import joined

        between = self.separator
        if between is None or any(between in tag for tag in tags):
            return json.dumps(tags, ensure_ascii=False)
        return joined(tags, between)

    def _best(self, number: int) -> NDArray[np.intp]:
        scores = self.scores[number]
        ranked = np.argsort(-self._written[number], kind="stable")
        return ranked[scores[ranked] > 0] if self.top is None else ranked[: self.top]

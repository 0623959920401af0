"""Targets of an estimator: several labels per row, or one class per row."""

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from multimargin.checks.arrays import naming
from multimargin.checks.names import listed, places_of, quoted
from multimargin.notices import warn
from multimargin.targets.given import Given, column_of, recognise
from multimargin.targets.indicator import count_unknown, indicator_of, with_unknown_rows
from multimargin.targets.listing import Listing
from multimargin.targets.names import name_in_list, tell_of_y, warn_of_lookalikes
from multimargin.targets.separators import warn_of_lists_in_texts, warn_of_second_separator
from multimargin.targets.strange_names import INDICATOR, is_indicator, warn_of_strange_names
from multimargin.typing import LabelsLike, Name

_EXPECTED = "a label indicator of shape (n, q) or classes of shape (n,)"


class UnknownLabelsWarning(UserWarning):
    """A method reads NaN in `y` as labels that are not known; ignore it where that is meant.

    Examples
    --------
    >>> import warnings
    >>> from multimargin import UnknownLabelsWarning
    >>> warnings.simplefilter("ignore", UnknownLabelsWarning)
    """


@dataclass(frozen=True)
class Targets:
    """Targets as an indicator matrix."""

    # (n, q): 1 for relevant labels, 0 for irrelevant ones, `targets.indicator.UNKNOWN` if unknown
    indicator: NDArray[np.uint8]
    # (q,): The classes of one-dimensional targets, else the label numbers 0..q-1
    classes: NDArray[Any]
    multilabel: bool  # Whether several labels may be relevant
    # (q,): Names of the labels, when the targets came with some
    label_names: NDArray[Any] | None
    # Names and classes that the model does not have, and (n,) which rows have one of them
    others: tuple[Any, ...] = ()
    has_other: NDArray[np.bool_] | None = None

    def rows(self, places: NDArray[np.intp]) -> "Targets":
        """Return the targets of some rows."""
        return replace(self, indicator=self.indicator[places])

    @property
    def strata(self) -> Any:
        """Values that folds are stratified by: relevant labels, or classes; a sparse indicator."""
        indicator: Any = self.indicator
        if sparse.issparse(indicator):
            return indicator
        relevant = (indicator == 1).astype(int)
        return relevant if self.multilabel else relevant.argmax(axis=1)

    def name_outputs(self, estimator: BaseEstimator) -> None:
        """Set `classes_` of an estimator, and `label_names_in_` where the targets had names."""
        estimator.classes_ = self.classes
        if self.label_names is not None:
            estimator.label_names_in_ = self.label_names
        elif hasattr(estimator, "label_names_in_"):
            del estimator.label_names_in_

    def warn_of_others(self) -> None:
        """Warn of names that the model does not have, which are ignored."""
        if self.others:
            warn(
                "y has names that the model does not know, "
                f"{listed(sorted(map(str, self.others)))}; they are left out."
            )


@dataclass(frozen=True)
class Labels:
    """Labels of a fitted model, in its order; fields as in `Targets`."""

    classes: NDArray[Any]
    multilabel: bool = True
    label_names: NDArray[Any] | None = None

    @classmethod
    def of(cls, model: BaseEstimator) -> "Labels":
        """Return the labels of a fitted classifier."""
        return cls(model.classes_, model.multilabel_, getattr(model, "label_names_in_", None))

    @property
    def names(self) -> list[Name]:
        """Names of the labels as in lists, or the classes."""
        written: list[Any] = (
            self.classes if self.label_names is None else self.label_names
        ).tolist()
        return _as_listed(written) if self.multilabel else written

    def targets(self, indicator: NDArray[np.uint8], **others: Any) -> Targets:
        """Return targets from an indicator of these labels."""
        return Targets(indicator, **vars(self), **others)

    def check_kind(self, multilabel: bool) -> None:
        """Raise ValueError for classes if the model has labels, and vice versa."""
        kinds = "one class in each row", "labels, an indicator of shape (n, q) or lists of names"
        if self.multilabel != multilabel:
            raise ValueError(
                f"y has {kinds[multilabel]}; expected {kinds[self.multilabel]}, as in fit."
            )


def read_targets(
    y: LabelsLike,
    *,
    unknown: Literal["refuse", "warn", "take"] = "refuse",
    keep_sparse: bool = False,
    labels: Labels | None = None,
    name: str = "y",
) -> Targets:
    """Read the y of a fit, or that of a score for the `labels` of a model; what was read stays so.

    `unknown` decides about labels that are not known, and with `keep_sparse` a sparse indicator
    stays sparse. `name` is that of y in messages.
    """
    if isinstance(y, Targets):
        return y
    given = y if isinstance(y, Given) else recognise(y, name)
    if given.kind == "lists":
        targets = _listed(
            given.values, labels, takes_unknown=unknown != "refuse", sparse=keep_sparse
        )
    elif given.kind == "classes":
        targets = _classes(given.values, labels)
    elif given.is_column and not (labels is not None and labels.multilabel):
        targets = _classes(_single_column(given.values), labels)
    else:
        targets = _indicated(given, name, takes_unknown=unknown != "refuse", sparse=keep_sparse)
        targets = targets if labels is None else _in_order(targets, labels, name)
    if unknown == "warn":
        indicator, of_lists = targets.indicator, given.kind == "lists"
        warn_of_unknown(count_unknown(indicator), indicator.shape, of_lists=of_lists)
    return targets


def _indicated(given: Given, name: str, *, takes_unknown: bool, sparse: bool) -> Targets:
    """Return the targets of a matrix."""
    if given.of_column:
        warn(
            f"y is a column of lists of {given.values.shape[1]} numbers each, read as the rows of "
            "a label indicator of 0 and 1; numpy.array(y.tolist()) is one, and lists of texts are "
            "names of labels."
        )
    indicator = indicator_of(given.values, name, unknown=takes_unknown, keep_sparse=sparse)
    return Targets(indicator, np.arange(indicator.shape[1]), True, given.names)


def _in_order(targets: Targets, labels: Labels, name: str) -> Targets:
    """Return an indicator with the columns of a model, by name where both have names."""
    labels.check_kind(multilabel=True)
    indicator = targets.indicator
    if targets.label_names is not None and labels.label_names is not None:
        wanted, found = labels.names, _as_listed(targets.label_names.tolist())
        known = set(wanted)
        others = [one for one in found if one not in known]
        if others:
            raise ValueError(
                f"{name} has {len(others)} label(s) that the model does not know: {listed(others)}"
            )
        if wanted != found:
            places = places_of(wanted, found, name, "labels of the model")
            indicator = indicator[:, np.asarray(places)]
    if indicator.shape[1] != labels.classes.size:
        raise ValueError(
            f"{name} has {indicator.shape[1]} labels; expected {labels.classes.size} as in fit."
        )
    return labels.targets(indicator)


def _classes(y: NDArray[Any], labels: Labels | None) -> Targets:
    if y.dtype.kind == "f":
        with naming("y", _EXPECTED):
            assert_all_finite(y, input_name="y")
    with naming("y", _EXPECTED):
        check_classification_targets(y)
    if labels is not None:
        labels.check_kind(multilabel=False)
        return _of_model(Listing.of(([one] for one in y.tolist()), name_of=_same), labels)
    classes, codes = np.unique(y, return_inverse=True)
    if classes.size == 0:
        raise ValueError("y is empty; expected one row of labels, or one class, for each row of X.")
    if classes.size < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; expected at least two classes."
        )
    warn_of_lists_in_texts(classes.tolist(), codes.size)
    indicator = (codes[:, None] == np.arange(classes.size)).astype(np.uint8)
    return Targets(indicator, classes, False, None)


def _same(one: Any) -> Any:
    return one


def _as_listed(names: list[Any]) -> list[Any]:
    """Return names of columns in the form of names in lists, unless two would then be equal."""
    listed_names = [name_in_list(name) for name in names]
    return listed_names if len(set(listed_names)) == len(names) else names


def _of_model(listing: Listing, labels: Labels, *, keep_sparse: bool = False) -> Targets:
    """Return the labels of a model from names in lists."""
    names = labels.names
    indicator, has_other = listing.indicator(names, keep_sparse=keep_sparse)
    known = set(names)
    others = tuple(name for name in listing.names if name not in known)
    return labels.targets(indicator, others=others, has_other=has_other)


def warn_of_unknown(unknown: int, shape: tuple[int, ...], *, of_lists: bool = False) -> None:
    """Warn of NaN in the targets of a fit, as cells may be missing by accident."""
    if unknown > 0:
        each = f" (a row without a list is unknown in {shape[1]})"
        warn(
            f"y has NaN in {unknown} of {math.prod(shape)} places"
            f"{each if of_lists else ''}, read as unknown labels, whose loss is left "
            f"out; write {'an empty list' if of_lists else '0'} where "
            f"{'a row has no label' if of_lists else 'a label is not relevant'}. If this "
            "is intended, ignore UnknownLabelsWarning.",
            UnknownLabelsWarning,
        )


def _listed(
    rows: list[list[Any] | None], labels: Labels | None, *, takes_unknown: bool, sparse: bool
) -> Targets:
    """Return the targets of lists of label names, in sorted order of the names."""
    without = np.array([row is None for row in rows])
    if without.any() and not takes_unknown:
        raise ValueError(
            f"y has no list in {np.count_nonzero(without)} of {len(rows)} rows, first in row "
            f"{np.flatnonzero(without)[0]}, whose labels are then unknown; expected a list in each "
            "row, an empty one if it has no label: unknown labels are not supported here."
        )
    try:
        listing = Listing.of(rows, name_of=name_in_list)
        names = column_of(sorted(listing.names))
    except TypeError as error:
        raise TypeError(
            f"y lists labels of several types, which cannot be sorted ({error}); expected texts."
        ) from error
    if labels is None:
        _check_names(rows, listing, names)
        indicator, _ = listing.indicator(names.tolist(), keep_sparse=sparse)
        targets = Targets(indicator, np.arange(names.size), True, names)
    else:
        labels.check_kind(multilabel=True)
        targets = _of_model(listing, labels, keep_sparse=sparse)
    return replace(targets, indicator=with_unknown_rows(targets.indicator, without))


def _check_names(rows: list[list[Any] | None], listing: Listing, names: NDArray[Any]) -> None:
    """Refuse names that are an indicator, or too few; warn of doubtful ones."""
    changed = [k for k, row in enumerate(rows) if not listing.respelled.isdisjoint(row or ())]
    if changed:
        warn(
            "y lists names that are empty, or have surrounding blanks or invisible characters, in "
            f"{len(changed)} of {len(rows)} rows, such as {quoted(rows[changed[0]])} in row "
            f"{changed[0]}; these characters are stripped, and empty names are dropped."
        )
    texts = [name for name in names if isinstance(name, str)]
    warn_of_lookalikes(texts, "y lists")
    if len(texts) == names.size and (
        {name.lower() for name in texts} <= INDICATOR or is_indicator([*filter(None, rows)])
    ):
        raise ValueError(
            f"y lists only the names {names.tolist()}, an indicator written as text; expected the "
            "numbers 0 and 1, or names of labels."
        )
    if names.size < 2:
        raise ValueError(
            f"y lists {names.size} different label(s), {names.tolist()}; expected at least two."
        )
    if len(texts) == names.size:
        warn_of_strange_names(listing, tell_of_y)
        warn_of_second_separator(texts, None, tell_of_y, is_used=True)


def _single_column(column: Any) -> NDArray[Any]:
    values = np.asarray(column.toarray() if sparse.issparse(column) else column)[:, 0]
    if values.dtype.kind in "biuf" and np.isin(values, (0, 1)).all():
        raise ValueError(
            f"y has shape {column.shape}, a single label; expected at least two labels (for two "
            "classes, pass y of shape (n,))."
        )
    warn(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y "
        "to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )
    return values

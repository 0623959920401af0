"""Kinds of `y`: a label indicator, lists of names, or classes, in any container."""

from collections import Counter
from collections.abc import Iterable, Iterator, KeysView, Mapping
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from multimargin.checks.names import column_names, quoted

if TYPE_CHECKING:
    from multimargin.typing import LabelsLike


_LISTS = (list, tuple, set, frozenset, KeysView)
_NUMBERS = (Real, Decimal, np.bool_)
_SETS = (set, frozenset, KeysView)


@dataclass(frozen=True)
class Given:
    """Labels as they were given, in plain containers."""

    kind: Literal["indicator", "lists", "classes"]
    # An indicator: an array of numbers or objects, or a canonical CSR matrix, with unchecked
    # values. Lists: a list of lists of names, None for a row without a list. Classes: one per row
    values: Any
    # (q,): The names of the columns, where they have some
    names: NDArray[Any] | None = None
    # Whether it is an indicator whose rows were lists in a column
    of_column: bool = False

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.values) if isinstance(self.values, list) else int(self.values.shape[0])

    @property
    def is_column(self) -> bool:
        """True for a matrix of one column."""
        return self.kind == "indicator" and self.values.shape[1:] == (1,)

    def take(self, rows: NDArray[np.intp]) -> "Given":
        """Return some of the rows."""
        if isinstance(self.values, list):
            return Given(self.kind, [self.values[row] for row in rows], self.names)
        return Given(self.kind, self.values[rows], self.names)


def recognise(y: "LabelsLike", name: str = "y") -> Given:
    """Recognise the form in which labels are given."""
    if type(y) is np.ndarray and y.dtype.kind in "biufUSc":
        return Given("classes" if y.ndim == 1 else "indicator", y)
    # Imported here, as the program checks names of columns without SciPy.
    from multimargin.checks.storage import canonical, check_storage
    from multimargin.typing import is_sparse

    check_storage(y, name)
    if is_sparse(y):
        return Given("indicator", canonical(y.tocsr()) if y.ndim == 2 else y)
    root, given = type(y).__module__.partition(".")[0], y
    if root == "polars":
        y = _of_polars(y, name)
    elif root == "pyarrow":
        y = _of_arrow(y)
    names = _names_of(given, name)
    is_plain = isinstance(y, list | tuple)
    values: Any = y if is_plain else _array_of(y, name)
    if is_plain or values.ndim == 1 or (values.ndim == 2 and values.shape[1] == 1):
        return _of_rows(values, names, name)
    return Given("indicator", values, names)


def is_missing(value: object) -> bool:
    """Return whether a value is None, NaN or pandas' mark of a missing value."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating | np.datetime64) and bool(value != value)


def is_blank(value: object) -> bool:
    """Return whether a cell has no value, or a text of blanks."""
    # Most cells are texts.
    return not value.strip() if isinstance(value, str) else is_missing(value)


def column_of(cells: Iterable[object]) -> NDArray[np.object_]:
    """Return objects of any type as a one-dimensional array."""
    cells = list(cells)
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


def _array_of(y: Any, name: str) -> NDArray[Any]:
    if isinstance(getattr(y, "dtype", None), np.dtype) and y.dtype.kind == "T":
        # scikit-learn does not know NumPy's StringDType.
        return np.asarray(y.astype(object))
    if hasattr(y, "columns") and any(str(kind) == "category" for kind in getattr(y, "dtypes", ())):
        # pandas casts missing numbers of categories to integers.
        y = y.astype(object)
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise ValueError(_ragged(name)) from error
    if values.ndim == 0:
        raise ValueError(
            f"{name} is {quoted(y)}; expected a label indicator of shape (n, q) of 0 and 1, a "
            "list of names for each row, or classes of shape (n,)."
        )
    return values


def _of_polars(y: Any, name: str) -> Any:
    if hasattr(y, "collect"):
        raise TypeError(
            f"{name} is a {type(y).__name__}; expected its rows: {name}.collect() returns them."
        )
    if hasattr(y, "columns"):
        return y.to_numpy() if y.width != 1 else column_of(y.to_series().to_list())[:, None]
    return column_of(y.to_list()) if y.dtype.is_nested() else y.to_numpy()


def _of_arrow(y: Any) -> NDArray[Any]:
    if not hasattr(y, "column_names"):
        return column_of(y.to_pylist())
    columns = [column_of(column.to_pylist()) for column in y.columns]
    return np.stack(columns, axis=1) if columns else np.empty((len(y), 0))


def _names_of(y: Any, name: str) -> NDArray[Any] | None:
    """Return the names of the columns, unless they are the numbers from 0."""
    names = column_names(y)
    repeated = [one for one, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(
            f"{name} has several columns named {repeated[0]!r}; expected different names."
        )
    return None if names == list(range(len(names))) else column_of(names)


def _of_rows(values: Any, names: Any, name: str) -> Given:
    """Recognise rows of any kind, those of a list or the cells of a column."""
    is_column = not isinstance(values, list | tuple)
    if is_column and values.dtype.kind != "O":
        if values.dtype.kind not in "biuf":
            _check_classes(values.ravel().tolist(), name)
        return Given("classes" if values.ndim == 1 else "indicator", values, names)
    rows = values.ravel().tolist() if is_column else values
    cells = [None if is_missing(row) else _as_list(row) for row in rows]
    scalars = [k for k, row in enumerate(rows) if cells[k] is None and not is_missing(row)]
    if scalars or not any(cell is not None for cell in cells):
        return _of_scalars(values, rows, scalars, names, name)
    kind = _kind_of_cells(rows, cells, is_column)
    if kind == "lists":
        _check_lists(cells, name)
        return Given("lists", cells)
    if kind == "ragged":
        raise ValueError(_ragged(name))
    if kind in ("nested", "single"):
        found = "lists of lists" if kind == "nested" else "lists of one number, 0 or 1, each"
        raise ValueError(
            f"{name} has {found}; expected a label indicator of "
            "shape (n, q) of 0 and 1, or lists of names of labels: texts, or numbers."
        )
    if kind == "matrix":
        return Given("indicator", _array_of(list(values), name))
    width = next(len(cell) for cell in cells if cell is not None)
    unknown = [np.nan] * width
    rows_of_numbers = [unknown if cell is None else cell for cell in cells]
    return Given("indicator", _array_of(rows_of_numbers, name), of_column=is_column)


def _of_scalars(values: Any, rows: Any, scalars: list[int], names: Any, name: str) -> Given:
    mappings = [k for k in scalars if isinstance(rows[k], Mapping)]
    if mappings:
        raise TypeError(
            f"{name} has a {type(rows[mappings[0]]).__name__} in row {mappings[0]}, "
            f"{quoted(rows[mappings[0]])}; expected a list of names in each row, or numbers 0 "
            "and 1 with a column per label (pandas.DataFrame makes one of dictionaries)."
        )
    is_column = not isinstance(values, list | tuple)
    if not is_column:
        # NumPy makes a text of each row of a list of which one is a text.
        values = column_of(rows) if _has_objects(rows) else _array_of(rows, name)
    if values.dtype.kind not in "biuf":
        _check_classes(rows, name)
    return Given(
        "indicator" if values.ndim > 1 else "classes", values, names if is_column else None
    )


def _check_classes(rows: Any, name: str) -> None:
    """Refuse classes that are missing, or of types that cannot be sorted together."""
    missing = [k for k, row in enumerate(rows) if is_missing(row)]
    if missing:
        raise ValueError(
            f"{name} has no class in {len(missing)} of {len(rows)} rows, first {rows[missing[0]]} "
            f"in row {missing[0]}; expected one in each: leave such rows out, or give them a class."
        )
    first: dict[str, int] = {}
    for k, row in enumerate(rows):
        first.setdefault(_type_of(row), k)
    if len(first) > 1:
        found = ", ".join(f"{quoted(rows[k])} in row {k}" for k in first.values())
        raise TypeError(
            f"{name} has classes of several types, {found}; expected texts, numbers, or in each "
            "row a list of labels."
        )


def _type_of(row: Any) -> str:
    """Return a name that is the same for values that can be sorted together."""
    for name, types in (("text", str), ("number", int | float | np.number | np.bool_)):
        if isinstance(row, types):
            return name
    return type(row).__name__


def _check_lists(rows: list[list[Any] | None], name: str) -> None:
    """Refuse lists with a missing label."""
    for k, row in enumerate(rows):
        if row is not None and any(map(is_missing, row)):
            raise ValueError(
                f"{name} lists a missing label in row {k}, {row!r}; expected names only, and an "
                "empty list where a row has no label."
            )


def _has_objects(rows: Any) -> bool:
    return not (all(isinstance(r, str) for r in rows) or all(isinstance(r, _NUMBERS) for r in rows))


def _as_list(row: Any) -> list[Any] | None:
    """Return a row that lists something as a list, None if it does not."""
    if isinstance(row, _LISTS):
        return list(row)
    if isinstance(row, str | bytes | Mapping | np.generic):
        return None
    if isinstance(row, np.ndarray) and row.ndim > 0:
        return list(row.tolist())
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(row, method) and not isinstance(row, np.ndarray):
            return list(getattr(row, method)())
    if hasattr(row, "as_py"):
        return _as_list(row.as_py())
    return None


def _kind_of_cells(rows: Any, cells: list[list[Any] | None], of_cells: bool) -> str:
    """Return what lists are: "lists" of names, "indicator", "matrix" as it stands, or "ragged"."""
    if any(isinstance(row, _SETS) for row in rows):
        return "lists"
    has_missing = any(cell is None for cell in cells)
    lengths = {len(cell) for cell in cells if cell is not None}
    if any(isinstance(label, (*_LISTS, np.ndarray)) for label in _labels_of(cells)):
        return "nested" if of_cells else "matrix"
    if not all(isinstance(label, _NUMBERS) or is_missing(label) for label in _labels_of(cells)):
        return "lists"
    if len(lengths) == 1 and lengths != {1} and not of_cells:
        return "indicator" if has_missing else "matrix"
    numbers = {float(label) for label in _labels_of(cells) if not is_missing(label)}
    is_coded = numbers <= {-1.0, 0.0, 1.0} or any(number % 1.0 for number in numbers)
    if len(lengths) > 1 or lengths == {1}:
        return "lists" if not is_coded else "single" if lengths == {1} else "ragged"
    repeats = any(cell is not None and len(set(cell)) < len(cell) for cell in cells)
    return "indicator" if is_coded or repeats else "lists"


def _labels_of(cells: list[list[Any] | None]) -> Iterator[Any]:
    return (label for cell in cells if cell is not None for label in cell)


def _ragged(name: str) -> str:
    return (
        f"{name} has rows of different lengths; expected a label indicator of shape (n, q) of 0 "
        "and 1, or lists of names of labels: texts, or numbers other than 0 and 1 alone."
    )

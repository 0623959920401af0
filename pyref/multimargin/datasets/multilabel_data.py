"""The container every reader of this package returns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, zip_longest
from typing import Any, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from multimargin.checks.arrays import check_readable
from multimargin.checks.names import first_repeated, printable
from multimargin.checks.storage import canonical
from multimargin.datasets._reading import imported
from multimargin.datasets.table_columns import ColumnRoles, columns_of
from multimargin.datasets.table_tags import tags_of_long_table
from multimargin.datasets.tables import table_of, to_pandas
from multimargin.targets.indicator import indicator_of, with_nan
from multimargin.typing import Features, Frame, Marks, is_sparse

# scipy.sparse has no type stubs, so a CSR matrix is `Any` to the type checker.
FeatureMatrix: TypeAlias = NDArray[np.float64] | sparse.csr_array


@dataclass(frozen=True, eq=False, repr=False)
class MultilabelData:
    """A multi-label data set of n instances, d features and q labels.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, d)
        Features, stored as float64: a NumPy array, or a ``scipy.sparse.csr_array`` when sparse. NaN
        marks a missing value; infinite values are refused.
    Y : {array-like, sparse matrix} of shape (n, q)
        Label indicator with entries 0 (irrelevant) and 1 (relevant), stored as a dense int32 array
        (scikit-learn's one-vs-rest casts the numbers of the labels to the type of Y, and uint8 ends
        at 255). NaN marks an unknown label; `Y` is then stored as float64.
    feature_names : sequence of str, default=()
        One name per feature; empty means ``x0, x1, ...``.
    label_names : sequence of str, default=()
        One name per label, all different; empty means ``y0, y1, ...``.
    name : str, default=""
        Name of the data set.
    splits : mapping of str to array-like of int, default={}
        Row indices in 0..n-1 of named subsets, such as "train" and "test". No row may occur twice
        in one split; splits may overlap each other.
    sample_names : sequence of str, default=()
        One name per instance; empty where they have none.

    Raises
    ------
    TypeError
        If `splits` is not a mapping, or a split holds something other than integers.
    ValueError
        If shapes do not agree, `Y` is not 0/1, or names or row indices are not as described.

    Notes
    -----
    What is passed in is never modified; features that already have the stored type are kept without
    a copy. Names with bytes that are not text, as file names may have, show these as ``\\xe9``.
    """

    X: FeatureMatrix
    Y: NDArray[Any]
    feature_names: Sequence[str] = ()
    label_names: Sequence[str] = ()
    name: str = ""
    splits: Mapping[str, NDArray[np.intp]] = field(default_factory=dict)
    sample_names: Sequence[str] = ()

    def __post_init__(self) -> None:
        check_readable(self.X)
        X = check_array(
            self.X,
            accept_sparse="csr",
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan",
            input_name="X",
        )
        if sparse.issparse(X):
            X = canonical(sparse.csr_array(X))
        dense: Any = self.Y.toarray() if is_sparse(self.Y) else np.asarray(self.Y)
        Y = with_nan(indicator_of(dense, "Y", unknown=True))
        Y = Y.astype(np.float64 if Y.dtype.kind == "f" else np.int32)
        if Y.shape[0] != X.shape[0]:
            raise ValueError(
                f"Y has {Y.shape[0]} rows; expected {X.shape[0]}, the number of rows of X"
            )
        stored: dict[str, Any] = {
            "X": X,
            "Y": Y,
            "feature_names": _names(self.feature_names, "feature_names", X.shape[1], "x"),
            "label_names": _names(self.label_names, "label_names", Y.shape[1], "y"),
            "splits": _row_indices(self.splits, X.shape[0]),
            "sample_names": _names(self.sample_names, "sample_names", X.shape[0], each="a row"),
        }
        repeated = first_repeated(stored["label_names"])
        if repeated is not None:
            raise ValueError(f"label_names: {repeated!r} occurs twice; expected different names")
        stored["name"] = printable(self.name)
        for attribute, value in stored.items():
            # The only way to fill in a frozen dataclass.
            object.__setattr__(self, attribute, value)

    @property
    def n_samples(self) -> int:
        """Number of instances n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features d."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels q."""
        return int(self.Y.shape[1])

    def split(
        self, name: str, *, as_frame: bool = False
    ) -> tuple["Features | Frame", "Marks | Frame"]:
        """Return the rows of one split.

        Parameters
        ----------
        name : str
            A key of `splits`.
        as_frame : bool, default=False
            If True, return pandas data frames, whose columns have the names of the features and
            labels: estimators keep them (`feature_names_in_`, `label_names_in_`), and plots show
            them. The index are the names of the instances where there are some, else row numbers.

        Returns
        -------
        X : {ndarray, csr_array, DataFrame} of shape (n_split, d)
            Features of those rows, in the order of the split.
        Y : {ndarray, DataFrame} of shape (n_split, q)
            Their labels.
        """
        if name not in self.splits:
            raise KeyError(f"name is {name!r}; expected one of {sorted(self.splits)}")
        rows = self.splits[name]
        X, Y = self.X[rows], self.Y[rows]
        return self._framed(X, Y, rows) if as_frame else (X, Y)

    def train_test(
        self, *, as_frame: bool = False
    ) -> tuple["Features | Frame", "Features | Frame", "Marks | Frame", "Marks | Frame"]:
        """Return the splits "train" and "test", in the order of `train_test_split`.

        Parameters
        ----------
        as_frame : bool, default=False
            If True, return pandas data frames with the names, as in `split`.

        Returns
        -------
        X_train, X_test : {ndarray, csr_array, DataFrame}
            Features of the two splits.
        Y_train, Y_test : {ndarray, DataFrame}
            Labels of the two splits.

        Raises
        ------
        KeyError
            If one of the two splits does not exist.

        Examples
        --------
        >>> from multimargin import RankSVM
        >>> from multimargin.datasets import load_digit_attributes
        >>> X, X_test, Y, Y_test = load_digit_attributes().train_test(as_frame=True)
        >>> RankSVM(random_state=0).fit(X, Y).label_names_in_[:2]
        array(['even', 'prime'], dtype=object)
        """
        X_train, Y_train = self.split("train", as_frame=as_frame)
        X_test, Y_test = self.split("test", as_frame=as_frame)
        return X_train, X_test, Y_train, Y_test

    def _framed(self, X: Any, Y: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
        pd = imported("pandas", "data frames (as_frame=True)")
        index = pd.Index([self.sample_names[row] for row in rows] if self.sample_names else rows)
        features, labels = list(self.feature_names), list(self.label_names)
        if sparse.issparse(X):
            frame = pd.DataFrame.sparse.from_spmatrix(X, index=index, columns=features)
        else:
            frame = pd.DataFrame(X, index=index, columns=features)
        return frame, pd.DataFrame(Y, index=index, columns=labels)

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        labels: str | Sequence[str] | None = None,
        *,
        name: str = "",
        **roles: Unpack[ColumnRoles],
    ) -> "MultilabelData":
        """Make a data set of a data frame.

        Parameters
        ----------
        frame : pandas.DataFrame, polars.DataFrame or mapping of str to sequence
            The table, one row per instance.
        labels : str, sequence of str or None, default=None
            Columns of 0 and 1, one a label: names, patterns such as ``"tag:*"``, ``"first:6"`` or
            ``"last:6"``; a text holds several, with commas between them.
        name : str, default=""
            Name of the data set.
        **roles : object
            Roles of other columns, and how they are read, see Notes.

        Returns
        -------
        MultilabelData
            Numbers as they are, with NaN where they are missing, also of amounts such as $1,234.50;
            a column of 0 and 1 for each name of a nominal column; tf-idf weights of the words of
            text; year, month, day, weekday (0 for Monday) and, where there are some, hour of dates;
            a feature for each number of lists. A named index gives the `sample_names`.

        Raises
        ------
        ValueError
            If it is not clear which columns are labels, or a column is not what it should be.

        Notes
        -----
        The roles of columns, all of which are optional:

        ``tags_column``, str or sequence of str
            A column that lists the labels of each row, in the place of `labels`, as text or as a
            list; lists may also be texts, as JSON, Python, NumPy or PostgreSQL write them, or
            objects with a number for each label (spaCy's ``cats``) or a list of ``choices`` (Label
            Studio). Several columns, named as `labels` are, have a label each.
        ``separator``, str
            Separator of the tags of that column. By default a comma, or with a warning what else
            stands between tags that recur.
        ``drop``, ``text``, str or sequence of str
            Columns to leave out, even of the labels, and columns of text; named as `labels` are.
        ``nominal``, ``number``, str or sequence of str
            Columns of names, even if these look like numbers, and columns of numbers, even if these
            look like codes.
        ``analyzer``, {"word", "char"}
            Features of text: words, by default, or runs of up to three characters.
        ``blank``, {"0", "unknown"}
            Value that stands for a missing label. By default 0, with a warning, where no label is 0
            otherwise. A label of -1 is unknown beside 0 or blanks, with a warning, else 0.
        ``decimal``, {".", ","}
            The decimal mark of numbers in text. By default it is found, and a warning tells where
            it is a comma.
        ``min_count``, int
            Labels that are relevant in fewer rows, of the training part if there is one, are left
            out.
        ``one_tag_a_row``, str
            A column: rows with the same value in it are one, and each has one of its tags.

        Examples
        --------
        >>> import pandas as pd
        >>> from multimargin.datasets import MultilabelData
        >>> frame = pd.DataFrame(
        ...     {"pages": [12, 340, 95], "kind": ["web", "book", "book"],
        ...      "tags": ["art", "art, history", "history"]})
        >>> data = MultilabelData.from_frame(frame, tags_column="tags")
        >>> data.feature_names, data.label_names
        (('pages', 'kind_book', 'kind_web'), ('art', 'history'))
        """
        columns = columns_of(labels, roles)
        table = tags_of_long_table(to_pandas(frame), columns)
        names = () if table.index.name is None else tuple(map(str, table.index))
        return cls(**table_of(table, columns, name=name).numbers(), sample_names=names)

    @classmethod
    def concatenate(cls, parts: Mapping[str, "MultilabelData"], name: str = "") -> Self:
        """Stack data sets with the same features and labels; each becomes a split.

        Parameters
        ----------
        parts : mapping of str to MultilabelData
            The parts, stacked in this order. Their own splits are dropped. The result is sparse if
            any part is.
        name : str, default=""
            Name of the result.

        Returns
        -------
        MultilabelData
            The stacked data, with one split per part; with names of the instances if every part has
            them.

        Raises
        ------
        ValueError
            If there is no part, or feature or label names differ between parts.
        """
        if not parts:
            raise ValueError("parts is empty; expected at least one part")
        (first_key, first), *others = parts.items()
        for key, part in others:
            for kind in ("feature_names", "label_names"):
                expected, found = getattr(first, kind), getattr(part, kind)
                if expected != found:
                    pairs = enumerate(zip_longest(expected, found))
                    place, pair = next((k, pair) for k, pair in pairs if pair[0] != pair[1])
                    raise ValueError(
                        f"parts: {kind} of {key!r} have {pair[1]!r} at position {place}; expected "
                        f"{pair[0]!r}, as in {first_key!r}"
                    )
        features = [part.X for part in parts.values()]
        if any(sparse.issparse(X) for X in features):
            X = sparse.vstack([sparse.csr_array(X) for X in features], format="csr")
        else:
            X = np.vstack(features)
        ends = np.cumsum([0, *(part.n_samples for part in parts.values())])
        splits = {key: np.arange(*rows) for key, rows in zip(parts, pairwise(ends), strict=True)}
        names = [part.sample_names for part in parts.values()]
        return cls(
            X=X,
            Y=np.vstack([part.Y for part in parts.values()]),
            feature_names=first.feature_names,
            label_names=first.label_names,
            name=name,
            splits=splits,
            sample_names=tuple(chain.from_iterable(names)) if all(map(len, names)) else (),
        )

    def __repr__(self) -> str:
        storage = "sparse" if sparse.issparse(self.X) else "dense"
        sizes = {name: len(rows) for name, rows in self.splits.items()}
        return (
            f"MultilabelData({self.name!r}, {self.n_samples} samples, "
            f"{self.n_features} {storage} features, {self.n_labels} labels, splits={sizes})"
        )


def _names(
    names: Sequence[str], argument: str, count: int, prefix: str = "", each: str = "a column"
) -> tuple[str, ...]:
    """Return names of what is counted; where there are none, numbers after the prefix, or none."""
    if isinstance(names, str):
        raise TypeError(f"{argument} is one string; expected a sequence of {count} strings")
    if len(names) == 0:
        return tuple(f"{prefix}{number}" for number in range(count if prefix else 0))
    if len(names) != count:
        raise ValueError(f"{argument} has {len(names)} names; expected {count}, one {each}")
    return tuple(map(printable, names))


def _row_indices(splits: object, n_samples: int) -> dict[str, NDArray[np.intp]]:
    if not isinstance(splits, Mapping):
        raise TypeError(
            f"splits is a {type(splits).__name__}; expected a mapping of names to row indices"
        )
    checked = {}
    for name, rows in splits.items():
        indices = np.asarray(rows)
        if indices.ndim != 1 or (indices.size and indices.dtype.kind not in "iu"):
            raise TypeError(
                f"splits[{name!r}] has dtype {indices.dtype} and {indices.ndim} dimension(s); "
                "expected one dimension of integer row indices"
            )
        if indices.size and (indices.min() < 0 or indices.max() >= n_samples):
            raise ValueError(
                f"splits[{name!r}] has indices {indices.min()}..{indices.max()}; "
                f"expected 0..{n_samples - 1}"
            )
        if np.unique(indices).size < indices.size:
            raise ValueError(f"splits[{name!r}]: a row occurs twice; expected different rows")
        checked[str(name)] = indices.astype(np.intp, copy=False)
    return checked

"""``multimargin fit --dask``: a fit to a folder of parts on many processes or machines."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from multimargin.cli.options import WrongUsage
from multimargin.methods import METHODS

if TYPE_CHECKING:
    from multimargin.datasets.tables import TableColumns
    from multimargin.model_files import ModelInfo

LOCAL = "local"
"""Value of ``--dask`` that starts workers on this machine."""

OVER_PARTS = [name for name, method in METHODS.items() if method.over_parts]
"""The methods that `multimargin.dask.fit` takes."""

Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="[ADDRESS]",
        help="DATA is a folder of parts (.npz, .svm, .parquet), which a dask cluster fits: that of "
        "the scheduler at ADDRESS (tcp://host:8786), else one single-threaded process a core of "
        f"this machine. Methods: {', '.join(OVER_PARTS)}. Implies "
        "--kernel linear and --scale none, and takes no others; parquet parts need --labels.",
        show_default=False,
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FOLDER",
        help="With --dask: keep the state in this folder, which all workers see, and go on from "
        "what is there.",
    ),
]
FeatureCount = Annotated[
    int | None,
    typer.Option(
        "--n-features",
        min=1,
        metavar="N",
        help="With --dask: how many features svmlight parts have.",
    ),
]
LabelCount = Annotated[
    int | None,
    typer.Option(
        "--n-labels", min=1, metavar="N", help="With --dask: how many labels svmlight parts have."
    ),
]
ZeroBased = Annotated[
    str | None,
    typer.Option(
        "--zero-based",
        metavar="labels|features|both",
        help="With --dask: what svmlight parts count from 0; else both are counted from 1.",
    ),
]

_SECONDS_TO_CONNECT = "10s"
_ADDRESS = re.compile(r"\w+://\S+|[\w.-]+:\d+")


@dataclass(frozen=True)
class PartOptions:
    """The options of a command line that are for ``--dask`` alone."""

    checkpoint: Checkpoint = None
    n_features: FeatureCount = None
    n_labels: LabelCount = None
    zero_based: ZeroBased = None

    def check_unused(self) -> None:
        """Raise WrongUsage if one of them is given: they are for ``--dask``."""
        for name, value in vars(self).items():
            if value is not None:
                raise WrongUsage(f"--{name.replace('_', '-')} is given without --dask")


@dataclass(frozen=True)
class PartsFolder:
    """A folder of parts, with what is known of them before they are read."""

    path: str
    count: int
    info: "ModelInfo"  # What the model's file is to say
    labels: list[str] | None  # Label columns of parquet files
    read_options: dict[str, Any] | None  # How to read svmlight files

    def check_names(self, model: Any) -> None:
        """Check that the first part, which gave the names, is as wide as the fitted model."""
        found = (model.n_features_in_, len(model.classes_))
        here = (len(self.info.feature_names), len(self.info.label_names))
        if found != here:
            raise RuntimeError(
                f"the workers found {found[0]} features and {found[1]} labels in {self.path}, this "
                f"machine {here[0]} and {here[1]}; expected the same folder everywhere"
            )


def with_address(arguments: Sequence[str]) -> list[str]:
    """Make ``--dask`` without an address ``--dask=local``: no option of typer may lack a value."""
    arguments = list(arguments)
    return [
        f"--dask={LOCAL}" if word == "--dask" and not _ADDRESS.fullmatch(following) else word
        for word, following in zip(arguments, [*arguments, ""][1:], strict=True)
    ]


def linear_parameters(
    method: str, scale: str | None, address: str, arguments: Sequence[str]
) -> list[str]:
    """Return the parameters of the method with the linear kernel that many machines need."""
    from multimargin.cli.options import method_parameters

    if address != LOCAL and not _ADDRESS.fullmatch(address):
        raise WrongUsage(
            f"--dask is {address!r}; expected no value, or a scheduler such as tcp://host:8786"
        )
    if method not in OVER_PARTS:
        raise WrongUsage(
            f"--method is {method!r}; expected one of {', '.join(OVER_PARTS)} with --dask"
        )
    if scale not in (None, "none"):
        raise WrongUsage(
            f"--scale is {scale!r}; expected none with --dask: scale the rows before they are "
            "dealt to parts"
        )
    kernel = method_parameters(METHODS[method], arguments).get("kernel")
    if method == "llsf":
        # It has no kernel; one that is given is refused as for every fit.
        return list(arguments)
    if kernel is None:
        return [*arguments, "--kernel", "linear"]
    if kernel != "linear":
        raise WrongUsage(
            f"--kernel is {kernel!r}; expected linear with --dask, as only the weights of a linear "
            "model travel. Map the rows first, by sklearn.kernel_approximation.Nystroem or "
            "RBFSampler, or fit without --dask"
        )
    return list(arguments)


def find_parts(
    source: str, method: str, split: str | None, columns: "TableColumns", options: PartOptions
) -> PartsFolder:
    """Find the parts of a folder, and the names of their features and labels."""
    from importlib.metadata import version
    from pathlib import Path

    from multimargin.dask.inputs import part_paths
    from multimargin.model_files import ModelInfo

    if split not in (None, "all"):
        raise WrongUsage(f"--split is {split!r}; expected all with --dask, which fits all rows")
    for option, value in (("tags-column", columns.tags_column), ("drop", columns.drop),
                          ("text", columns.text)):  # fmt: skip
        if value:
            raise WrongUsage(f"--{option} is given; expected no such option with --dask")
    folder = Path(source)
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no folder {source!r}; --dask takes a folder of parts")
    paths = part_paths(folder)
    kinds = sorted({path.suffix for path in paths})
    kind = ".svm" if kinds[0] in (".libsvm", ".svm", ".svmlight") else kinds[0]
    if len(kinds) > 1:
        raise ValueError(f"{source} has parts of several kinds ({', '.join(kinds)}), expected one")
    labels, read_options, table = None, None, None
    if kind == ".parquet":
        features, labels = _columns_of(paths[0], columns)
        names: tuple[Sequence[str], Sequence[str]] = (features, labels)
        table = {"kinds": dict.fromkeys(features, "number"), "tags_column": None, "separator": None}
    elif columns.labels is not None:
        raise WrongUsage("--labels is given for parts that hold their labels; expected it for none")
    if kind == ".svm":
        names, read_options = _numbers_of(options)
    elif (options.n_features, options.n_labels, options.zero_based) != (None, None, None):
        raise WrongUsage(
            f"--n-features, --n-labels and --zero-based are for svmlight parts, not for {kind}"
        )
    sparse = kind == ".svm"
    if kind == ".npz":
        names, sparse = _names_in(paths[0])
    info = ModelInfo(
        method=method,
        feature_names=tuple(names[0]),
        label_names=tuple(names[1]),
        sparse=sparse,
        data_name=folder.resolve().name,
        split="all",
        version=version("multimargin"),
        table=table,
    )
    return PartsFolder(source, len(paths), info, labels, read_options)


def _columns_of(path: Any, columns: "TableColumns") -> tuple[list[str], list[str]]:
    """Return the features and the labels of a parquet file."""
    import pandas as pd

    from multimargin.dask.inputs import parquet_columns
    from multimargin.datasets.table_columns import chosen_columns

    if columns.labels is None:
        raise WrongUsage(
            "--labels is not given; expected the label columns of the parquet files: names, "
            "patterns ('tag:*'), first:N or last:N"
        )
    names = parquet_columns(path)
    labels = chosen_columns(pd.DataFrame(columns=names), columns.labels, "labels")
    return [name for name in names if name not in labels], labels


def _numbers_of(options: PartOptions) -> tuple[tuple[Sequence[str], Sequence[str]], dict[str, Any]]:
    """Return the numbers that features and labels of svmlight files have, and how to read them."""
    if options.n_features is None or options.n_labels is None:
        raise WrongUsage(
            "--n-features and --n-labels are not both given; expected both for svmlight parts, "
            "since a part need not have all of them"
        )
    if options.zero_based not in (None, "labels", "features", "both"):
        raise WrongUsage(
            f"--zero-based is {options.zero_based!r}; expected labels, features or both"
        )
    features, labels = (options.zero_based in (what, "both") for what in ("features", "labels"))
    names = tuple(
        [str(number) for number in range(0 if zero else 1, count + (0 if zero else 1))]
        for zero, count in ((features, options.n_features), (labels, options.n_labels))
    )
    return (names[0], names[1]), {
        "n_features": options.n_features,
        "n_labels": options.n_labels,
        "zero_based": features,
        "labels_zero_based": labels,
    }


def _names_in(path: Any) -> tuple[tuple[Sequence[str], Sequence[str]], bool]:
    """Return the names of features and labels of an .npz file, and whether it is sparse."""
    from scipy import sparse

    from multimargin.datasets.npz import load_npz

    data = load_npz(path)
    return (data.feature_names, data.label_names), sparse.issparse(data.X)


@contextmanager
def client_of(address: str) -> Iterator[Any]:
    """Start workers on this machine until the context ends, or find the scheduler of an address."""
    import logging

    from dask.system import CPU_COUNT
    from distributed import Client, LocalCluster

    # What goes wrong is said once, by the command.
    logging.disable(logging.CRITICAL)
    try:
        if address != LOCAL:
            try:
                client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
            except (OSError, ValueError) as error:
                raise OSError(f"--dask: there is no scheduler at {address}: {error}") from error
            with client:
                yield client
            return
        with _interrupts_held_back():
            cluster = LocalCluster(
                n_workers=CPU_COUNT,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            )
        with cluster, Client(cluster, set_as_default=False) as client:
            yield client
    finally:
        logging.disable(logging.NOTSET)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start threads and processes that Ctrl-C does not reach: this process alone answers it."""
    import signal
    from multiprocessing import resource_tracker

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # When it starts in another thread it unblocks the signal there.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

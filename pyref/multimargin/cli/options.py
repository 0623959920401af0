"""Arguments and options that commands share."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from multimargin.checks.paths import check_model
from multimargin.cli import USAGE
from multimargin.datasets.sources import check_source
from multimargin.methods import METHODS, find_method

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from multimargin.datasets import MultilabelData
    from multimargin.methods.method import Method
    from multimargin.model_files import ModelInfo

EVERYTHING = "all"
"""Name of the split that holds all rows of every data set."""


MOST_SEED = 2**32 - 1
"""The largest seed of a random state."""


class WrongUsage(Exception):
    """A wrong command line that typer does not detect."""

    exit_code = USAGE

    def format_message(self) -> str:
        """Return the message."""
        return str(self)


# Callbacks of options refuse wrong values before any slow import.
def existing(source: str) -> str:
    """Refuse data that do not exist."""
    for one in source if isinstance(source, list | tuple) else (source,):
        check_source(one)
    return source


def existing_model(path: str) -> str:
    """Refuse a file that is not a model, or does not exist."""
    try:
        check_model(path, "path")
    except ValueError as error:
        raise ValueError(f"{error}, in front of the data") from error
    return path


def option(typed: str, text: str, default: Any = None, **others: Any) -> Any:
    """Return an option from its usage, such as "--output -o FILE", and its help.

    It is the value of its argument; in an annotation that commands share, its default is ``...``.
    """
    *names, last = typed.split()
    metavar = None if last.startswith("-") else last
    names += [] if metavar else [last]
    return typer.Option(default, *names, metavar=metavar, help=text, **others)


def flag(argument: str) -> str:
    """Return an argument of a function as its option is typed."""
    return f"--{argument.replace('_', '-')}"


def one_of(typed: str, text: str, default: Any = None) -> Any:
    """Return an option that takes one of a few words, typed as "--form a|b"."""
    name, words = typed.split()

    def check(value: str | None) -> str | None:
        if value is not None and value not in words.split("|"):
            expected = words.replace("|", ", ")
            raise WrongUsage(f"{name} is {value!r}; expected one of {expected}")
        return value

    return option(typed, text, default, callback=check)


def inside(typed: str, text: str, default: Any = None, *, highest: float | None = None) -> Any:
    """Return an option that takes a number above 0, and below another if there is one."""
    name = typed.split()[0]

    def check(value: float | None) -> float | None:
        if value is not None and not (value > 0.0 and (highest is None or value < highest)):
            expected = (
                "a positive number" if highest is None else f"a number between 0 and {highest:g}"
            )
            raise WrongUsage(f"{name} is {value:g}; expected {expected}")
        return value

    return option(typed, text, default, callback=check)


def known_method(name: str | None) -> str | None:
    """Refuse a name that no method has."""
    try:
        find_method("label-ranker" if name is None else name)
    except ValueError as error:
        raise WrongUsage(str(error)) from error
    return name


def _assignments(settings: list[str] | None) -> list[str] | None:
    names = []
    for setting in settings or ():
        name, equals, _ = setting.partition("=")
        if not (name and equals):
            raise WrongUsage(f"--set is {setting!r}; expected NAME=VALUE, such as C=8")
        if name in names:
            raise WrongUsage(f"--set gives {name} twice; expected once")
        names.append(name)
    return settings


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        callback=existing,
        help="A file (.csv, .tsv, .txt, .json, .jsonl, .parquet, .xlsx, .xls, .ods, .arff, .npz, "
        ".svm, .svmlight, .libsvm), a folder with NAME-train and NAME-test files or with the "
        "parts of a table, a pattern of file names, - for standard input, or debian-tags or "
        "digits, which need no file.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    option(
        "--labels COLUMN,...|FILE|N",
        "Which columns are labels: names, patterns ('tag:*'), first:N or last:N. Of an ARFF file "
        "also the XML file that names them, N for the first N, or -N for the last N; not needed "
        "where the XML file is beside the ARFF file.",
        ...,
    ),
]
Json = Annotated[bool, option("--json", "Print one JSON object and nothing else.", ...)]
MethodName = Annotated[
    str,
    option(
        "--method -m METHOD",
        f"One of {', '.join(METHODS)}; or a baseline. multimargin methods lists and explains all.",
        ...,
        callback=known_method,
    ),
]
Settings = Annotated[
    list[str] | None,
    option(
        "--set NAME=VALUE",
        "A parameter of the method (multimargin methods METHOD lists them); repeatable. "
        "Powers are written C=2^-3.",
        ...,
        callback=_assignments,
    ),
]
Scale = Annotated[
    str,
    one_of(
        "--scale minmax|standard|unit|none",
        "Scaling, learned from the fitted rows: each feature to [0, 1] (sparse ones by their "
        "largest value), to mean 0 and variance 1, each row to length 1 (numbers beside text or "
        "names to [0, 1] before), or none.",
        ...,
    ),
]
TimeLimit = Annotated[
    float | None,
    inside(
        "--time-limit SECONDS",
        "End each fit of a method after so many seconds, with the model reached and its "
        "certificate. Baselines have no limit.",
        ...,
    ),
]


def by_subject(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command for typer, whose parameters that are dataclasses become their fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if parameter.name not in groups:
            parameters.append(parameter)
            continue
        group = groups[parameter.name]
        hints = get_type_hints(group, include_extras=True)
        parameters += [
            inspect.Parameter(
                option.name, parameter.kind, default=option.default, annotation=hints[option.name]
            )
            for option in fields(group)
        ]

    def run(**given: Any) -> None:
        made = {
            name: group(**{option.name: given.pop(option.name) for option in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def check_settings(method_name: str, settings: Sequence[str] | None) -> None:
    """Raise WrongUsage for a name of ``--set`` that no parameter has, before anything is read."""
    _values_by_name(settings, find_method(method_name).check_name)


def method_parameters(method: "Method", settings: Sequence[str] | None) -> dict[str, str]:
    """Read the values of ``--set``, each NAME=VALUE."""
    return _values_by_name(settings, method.parameter)


def _values_by_name(
    settings: Sequence[str] | None, check: Callable[[str], object]
) -> dict[str, str]:
    values: dict[str, str] = {}
    for setting in settings or ():
        name, _, value = setting.partition("=")
        try:
            check(name)
        except ValueError as error:
            raise WrongUsage(f"--set: {str(error).removesuffix('.')}") from error
        values[name] = value
    return values


def make_named_method(name: str, settings: Sequence[str] | None) -> "tuple[Method, BaseEstimator]":
    """Return the method of a command line and its unfitted estimator."""
    method = find_method(name)
    return method, method.make(**method_parameters(method, settings))


def limit_time(method: "Method", estimator: "BaseEstimator", seconds: float | None) -> None:
    """Give an unfitted estimator the time limit of a command line."""
    if seconds is None:
        return
    try:
        parameter = method.parameter("max_time")
    except ValueError as error:
        raise WrongUsage(
            f"--time-limit is given, but {method.name} is a baseline, whose fits have no limit"
        ) from error
    estimator.set_params(**{parameter: seconds})


def load_data(source: str, labels: str | None, **options: Any) -> "MultilabelData":
    """Load the data set of a command line; `options` are for `multimargin.datasets.load`."""
    from multimargin.datasets import load

    return load(source, labels=as_number(labels), **options)


def as_number(labels: str | None) -> str | int | None:
    """Return the value of ``--labels``, as a number where it is one."""
    return int(labels) if labels is not None and labels.lstrip("+-").isdigit() else labels


def svmlight_options(info: "ModelInfo") -> dict[str, Any]:
    """Return the options to read svmlight files, which have no names, like those of the fit."""
    names = {"zero_based": info.feature_names, "labels_zero_based": info.label_names}
    counts = {"n_features": len(info.feature_names), "n_labels": len(info.label_names)}
    bases = {
        option: of_kind[0] == "0"
        for option, of_kind in names.items()
        if of_kind and of_kind[0] in ("0", "1")
    }
    return counts | bases

"""Runs the application and turns every error into one line and an exit code."""

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from multimargin.cli import FAILED, INTERRUPTED, USAGE
from multimargin.cli.app import app
from multimargin.cli.options import flag
from multimargin.cli.table_options import ColumnOptions

# Arguments of functions that are options here, with dashes for underscores.
_ARGUMENTS = {*ColumnOptions.__dataclass_fields__, "group", "keep"}


def run(arguments: Sequence[str]) -> int:
    """Run what follows ``multimargin`` on the command line.

    The exit code is 0, 1 for an error, 2 for a wrong command line, 130 for Ctrl-C.
    """
    debug = "--debug" in arguments[:1]
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names may have bytes that are not text; to print one must not lose a result.
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        # Warnings for developers mean nothing to the user of a command.
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        # One for each label and fit, by number; the commands name such labels themselves.
        # Tables are read with a sentence of their own on unknown labels.
        warnings.filterwarnings("ignore", "y has NaN in")
        warnings.filterwarnings("ignore", r"Label (not )?\S+ is present in all training examples")
        warnings.showwarning = _show_warning
        try:
            code = app(
                list(arguments),
                prog_name="multimargin",
                standalone_mode=False,
                # The command line, for reports.
                obj=list(arguments),
            )
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except BrokenPipeError:
            # The reader, `head` say, has closed the pipe. Python would fail again when it closes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except Exception as error:
            if debug:
                traceback.print_exc()
            return _show_error(error, _command_of(arguments))
    if code == INTERRUPTED:
        _print("multimargin: interrupted", "red")
    return code if isinstance(code, int) else 0


def _command_of(arguments: Sequence[str]) -> str:
    known = {command.name for command in app.registered_commands}
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    return f"multimargin {first}" if first in known else "multimargin"


def _show_error(error: Exception, command: str) -> int:
    # Errors of typer know their exit code.
    wrong_usage = getattr(error, "exit_code", None) == USAGE
    if hasattr(error, "format_message"):
        message = error.format_message()
    elif isinstance(error, KeyError) and error.args:
        message = str(error.args[0])
    elif isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename}: {error.strerror}"
    else:
        message = str(error)
    if message.startswith("No such option") and command.endswith((" fit", " verify")):
        message += "; a parameter of the method is given by --set NAME=VALUE"
    expected = (ValueError, TypeError, OSError, ImportError, KeyError, RuntimeError, MemoryError)
    if not (hasattr(error, "format_message") or isinstance(error, expected)):
        message = f"unexpected {type(error).__name__}: {message} (multimargin --debug shows more)"
    hint = f" (see {command} --help)" if wrong_usage else ""
    _print(f"{command}: {_in_options(message)}{hint}", "red")
    return USAGE if wrong_usage else FAILED


def _in_options(message: str) -> str:
    """Return a message about arguments in terms of the options of the command."""
    begun = re.match(r"(\w+)(: | is | has )", message)
    if begun is None:
        return message
    (argument, between), rest = begun.groups(), message[begun.end() :]
    if argument == "path" and between == ": ":
        return rest
    if argument not in _ARGUMENTS:
        return message
    rest = rest.replace(" tags_column", " --tags-column")
    rest = re.sub(r"(?<=given as )(?=\w)|\((?=labels last:)", r"\g<0>--", rest)
    return f"{flag(argument)}{between}{rest}"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    _print(f"warning: {_in_options(str(message))}", "yellow")


def _print(message: str, color: str) -> None:
    from multimargin.cli.output import tell

    tell(" ".join(message.split()), color)

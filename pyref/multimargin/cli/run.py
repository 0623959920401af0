"""Runs the application and turns every error into one line and an exit code."""

import io
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import typer

from multimargin.cli import FAILED, INTERRUPTED, USAGE
from multimargin.cli.app import app
from multimargin.cli.options import METHOD_PARAMETERS, UnknownOption

# Arguments of functions that are options here, with dashes for underscores.
_ARGUMENTS = ("labels", "tags_column", "separator", "drop", "text", "keep", "group")


def run(arguments: Sequence[str]) -> int:
    """Run what follows ``multimargin`` on the command line.

    The exit code is 0, 1 for an error, 2 for a wrong command line, 130 for Ctrl-C.
    """
    arguments = with_parameters_last(arguments)
    # Before the command, as a method may have a parameter of that name.
    debug = "--debug" in arguments[:1]
    if isinstance(sys.stdout, io.TextIOWrapper):
        # File names may have bytes that are no text; to print one must not lose a result.
        sys.stdout.reconfigure(errors="backslashreplace")
    with warnings.catch_warnings():
        # Warnings that libraries address to developers mean nothing to the user of a command.
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
                # What was typed, for reports.
                obj=list(arguments),
            )
            method = _method_in_help(arguments)
            if method is not None:
                print("\nOptions of the method:\n", flush=True)
                app(["methods", method], prog_name="multimargin", standalone_mode=False)
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            # The latter is what older versions of typer make of Ctrl-C.
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


def with_parameters_last(arguments: Sequence[str]) -> list[str]:
    """Put the parameters of a method behind everything else.

    Click does not know that ``--C`` takes a value: where it stands before the data, its value would
    be taken for the data.
    """
    arguments = list(arguments)
    place = next((k for k, word in enumerate(arguments) if not word.startswith("-")), None)
    command = None if place is None else _commands().get(arguments[place])
    if place is None or command is None or command.context_settings != METHOD_PARAMETERS:
        return arguments
    options = _options_of(command) | {"--help": None, "-h": None}
    first, rest = arguments[: place + 1], arguments[place + 1 :]
    last: list[str] = []
    while rest:
        word = rest.pop(0)
        name, equals, _ = word.partition("=")
        if word == "--":
            first += [word, *rest]
            break
        known = name in options or not word.startswith("--")
        option = options.get(name)
        takes_value = not equals and (not known or (option is not None and not option.is_flag))
        value = [rest.pop(0)] if takes_value and rest and not rest[0].startswith("--") else []
        (first if known else last).extend([word, *value])
    return [*first, *last]


def _commands() -> dict[str, Any]:
    commands: Any = typer.main.get_command(app)
    return dict(commands.commands)


def _options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by each of their names."""
    return {
        name: option
        for option in command.params
        for name in (*option.opts, *option.secondary_opts)
        if name.startswith("-")
    }


def _method_in_help(arguments: Sequence[str]) -> str | None:
    """Return the method that is named where help is asked for, if any: its options are shown."""
    words = [argument for argument in arguments if argument != "--debug"]
    if words[:1] not in (["fit"], ["verify"]) or not {"-h", "--help"} & set(words):
        return None
    for word, following in pairwise(words):
        if word in ("-m", "--method") and not following.startswith("-"):
            return following
        if word.startswith("--method="):
            return word.removeprefix("--method=")
    return None


def _command_of(arguments: Sequence[str]) -> str:
    known = {command.name for command in app.registered_commands}
    first = next((argument for argument in arguments if not argument.startswith("-")), None)
    return f"multimargin {first}" if first in known else "multimargin"


def _show_error(error: Exception, command: str) -> int:
    # The errors of typer, and of click for its older versions, have no common base of their own.
    wrong_usage = getattr(error, "exit_code", None) == USAGE
    if isinstance(error, UnknownOption):
        message = error.with_hint(_options_of(_commands()[command.split()[-1]]))
    elif hasattr(error, "format_message"):
        _hint_at_case(error, command)
        message = error.format_message()
    elif isinstance(error, KeyError) and error.args:
        message = str(error.args[0])
    elif isinstance(error, OSError) and error.filename and error.strerror:
        message = f"{error.filename}: {error.strerror}"
    else:
        message = str(error)
    expected = (ValueError, TypeError, OSError, ImportError, KeyError, RuntimeError, MemoryError)
    if not (hasattr(error, "format_message") or isinstance(error, expected)):
        message = f"unexpected {type(error).__name__}: {message} (multimargin --debug shows more)"
    hint = f" (see {command} --help)" if wrong_usage else ""
    _print(f"{command}: {_in_options(message)}{hint}", "red")
    return USAGE if wrong_usage else FAILED


def _hint_at_case(error: Any, command: str) -> None:
    """Let an error on an unknown option such as -O name -o, as it names what is like long ones."""
    other = getattr(error, "option_name", "").swapcase()
    known = _commands().get(command.split()[-1])
    if known is not None and other in _options_of(known):
        error.possibilities = [other]


def _in_options(message: str) -> str:
    """Return what a function says of its arguments, said of the options of the command."""
    argument, colon, rest = message.partition(": ")
    if colon and argument == "path":
        return rest
    if not colon or argument not in _ARGUMENTS:
        return message
    rest = rest.replace(" tags_column", " --tags-column")
    rest = re.sub(r"(?<=given as )(?=\w)", "--", rest)
    return f"--{argument.replace('_', '-')}: {rest}"


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

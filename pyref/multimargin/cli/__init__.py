"""The command line: ``multimargin --help``.

Each command is a file of this package, registered in `app`. A command's file imports at its top
only what its signature needs, the rest inside the function: all files are read to show any help.
"""

import signal
import sys
import threading
from collections.abc import Sequence
from typing import NoReturn

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: an error, a wrong command line, Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on the arguments, by default those of the process, and exit.

    The code is 0, 1 for an error, 2 for a wrong command line, 130 for Ctrl-C.
    """
    try:
        code = _code_of(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        # While the command is being read, or after it has ended.
        code = INTERRUPTED
    if arguments is None and threading.current_thread() is threading.main_thread():
        # All that is left is to exit with this code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(code)


def _code_of(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:
        from multimargin import __version__

        print(f"multimargin {__version__}")
        return 0
    try:
        from multimargin.cli.run import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        if list(arguments) == ["--versions"]:
            from multimargin.versions import show_versions

            show_versions()
            return 0
        print(
            f"multimargin: the command line needs {error.name}, which is not installed: "
            "pip install 'multimargin[cli]'",
            file=sys.stderr,
        )
        return FAILED
    return run(arguments)

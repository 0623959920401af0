"""The command line: ``multimargin --help``.

Each command is a file of this package, registered in `app`. A command's file imports at its top
only what its signature needs, the rest inside the function: all files are read to show any help.
"""

import sys
from collections.abc import Sequence
from typing import NoReturn

FAILED, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: an error, a wrong command line, Ctrl-C."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on the arguments, by default those of the process, and exit.

    The code is 0, 1 for an error, 2 for a wrong command line, 130 for Ctrl-C.
    """
    try:
        from multimargin.cli.run import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("typer", "rich"):
            raise
        if (sys.argv[1:] if arguments is None else list(arguments)) == ["--version"]:
            from multimargin.versions import show_versions

            show_versions()
            raise SystemExit(0) from None
        print(
            f"multimargin: the command line needs {error.name}, which is not installed: "
            "pip install 'multimargin[cli]'",
            file=sys.stderr,
        )
        raise SystemExit(FAILED) from None
    raise SystemExit(run(sys.argv[1:] if arguments is None else arguments))

"""The typer application and its commands."""

import typer

from multimargin.cli import compare, evaluate, export, fit, info, methods, predict, verify
from multimargin.cli.options import option

app = typer.Typer(
    name="multimargin",
    help="Large-margin multi-label learning: fit, check and use models from the command line.",
    epilog="Start with: multimargin fit digits. Data sets, options and exit codes of a command: "
    "multimargin COMMAND --help.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from multimargin import __version__

        typer.echo(f"multimargin {__version__}")
        raise typer.Exit


def _show_versions(wanted: bool) -> None:
    if wanted:
        from multimargin.versions import show_versions

        show_versions()
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: bool = option(
        "--version", "Print the version.", False, callback=_show_version, is_eager=True
    ),
    versions: bool = option(
        "--versions",
        "Print what a bug report should include: versions of packages, Python and BLAS.",
        False,
        callback=_show_versions,
        is_eager=True,
    ),
    debug: bool = option("--debug", "Show the traceback of an error.", False),
) -> None:
    """Handle the options before the command."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


# A new command is a file beside this one with a function `command`, and a line here. They are in
# the order of the help, that in which a newcomer needs them.
app.command("info")(info.command)
app.command("methods")(methods.command)
app.command("fit")(fit.command)
app.command("predict")(predict.command)
app.command("evaluate")(evaluate.command)
app.command("export")(export.command)
app.command("verify")(verify.command)
app.command("compare")(compare.command)

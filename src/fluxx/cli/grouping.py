"""How a group of commands behaves: named alone, it shows its help."""

import typer


def group(words: str) -> typer.Typer:
    """Return an empty group that ``words`` describe."""
    return typer.Typer(
        help=words,
        # Plain help: rich's takes five times as long to load as everything else here together.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        invoke_without_command=True,
        callback=help_where_alone,
    )


def help_where_alone(context: typer.Context) -> None:
    """Show the help where no command of the group was named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())

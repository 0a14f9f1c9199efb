"""``docs/cli.md``: every command's help, as the commands themselves give it. Called by the check of the docs."""

from collections.abc import Iterator
from typing import Any

import typer

from fluxx.cli.app import app

HEAD = """\
# Commands

Made from the commands themselves (`fluxx COMMAND --help`); `tests/rules` compares the two.

Exit status: 0 it is done · 1 it made sense but did not work (a state forbids it, a service is away, a job
failed) · 2 it makes no sense (a setting, an argument, a port in use, a thing that doesn't exist) · 130 interrupted.
What went wrong is one line on stderr; what was asked for goes to stdout, and with `--json` nothing else does.
Of long names listings show the beginning and the ending, in a pipe too; with `--json` they are whole.

Every command reads the [settings](configuration.md); `fluxx config` shows them. Where `FLUXX_HOME` holds no data
yet, only commands that begin something make it: `demo`, `up`, `worker`, `serve`, `client add`, `db migrate`. Any
other says that there is none: it may have been given in the wrong folder.
"""
WIDTH = 80


def render() -> str:
    """Return the whole page."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *_sections(root, typer.Context(root, info_name="fluxx", terminal_width=WIDTH))])


def _sections(command: Any, context: typer.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    for name in getattr(command, "commands", {}):
        below = command.commands[name]
        yield from _sections(below, typer.Context(below, info_name=name, parent=context, terminal_width=WIDTH))

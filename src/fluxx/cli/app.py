"""The command tree: which groups there are, in the order in which a newcomer needs them."""

from collections.abc import Callable
from typing import Annotated, Final

import typer

from fluxx import __version__
from fluxx.cli import check, config, demo, events, extractor_servers, results, serving, submit, top, why
from fluxx.cli.clients import clients
from fluxx.cli.database import database
from fluxx.cli.extractors import extractors
from fluxx.cli.grouping import group, help_where_alone
from fluxx.cli.jobs import jobs
from fluxx.cli.keys import keys

app: Final = group("Hands files to extraction services and never loses track of one.")

COMMANDS: Final[dict[str, typer.Typer | Callable[..., None]]] = {
    "demo": demo.demo,
    "up": serving.up,
    "worker": serving.worker,
    "serve": serving.serve,
    "client": clients,
    "extractor": extractors,
    "key": keys,
    "submit": submit.submit,
    "jobs": jobs,
    "why": why.why,
    "top": top.top,
    "result": results.show_result,
    "events": events.show_events,
    "db": database,
    "config": config.show_config,
    "check": check.check,
    "simulate": extractor_servers.simulate,
}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"fluxx {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")]


@app.callback()
def _root(context: typer.Context, version: Version = False) -> None:  # noqa: ARG001 - its callback does it
    """Hand files to extraction services and never lose track of one."""
    help_where_alone(context)


for name, command in COMMANDS.items():
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        app.command(name)(command)

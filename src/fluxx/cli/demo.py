"""``fluxx demo``: the whole service and two real extractors, from nothing to results, on real files."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fluxx.cli import output
from fluxx.cli.opening import run_service

if TYPE_CHECKING:
    from fluxx.settings import Settings

Files = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FILE",
        exists=True,
        dir_okay=False,
        readable=True,
        show_default=False,
        help="Files to extract from; none: the samples that come with Fluxx.",
    ),
]
Keep = Annotated[bool, typer.Option("--keep", help="Keep the service running until Ctrl-C, to look around in it.")]
Home = Annotated[
    Path | None,
    typer.Option("--home", metavar="FOLDER", help="New or empty folder for everything; unset: a temporary one."),
]


def demo(files: Files = None, keep: Keep = False, home: Home = None) -> None:
    """Run it all once on real files, with two real extractors.

    Exit status 1 where a job failed for a reason that is not the file's own.
    """
    folder = _fresh(home)
    output.hint("Starting the service and two extractors ...")
    raise typer.Exit(run_service(_demo(files, keep, folder)))


async def _demo(files: Sequence[Path] | None, keep: bool, home: Path) -> int:
    """Start the extractors first: they load their libraries while this process loads its own."""
    import secrets

    from fluxx.cli.demo_extractors import extractors_beside
    from fluxx.ports.secrets import ApiKey

    key = ApiKey(secrets.token_urlsafe(24))
    async with extractors_beside(key.reveal()) as extractors:
        from fluxx.cli.demo_run import Demo
        from fluxx.extractors.samples import UNREADABLE, sample_files

        run = Demo(
            paths=files or sample_files(),
            unreadable=frozenset() if files else UNREADABLE,
            settings=_settings(home),
            keep=keep,
        )
        return await run.main(extractors, key)


def _fresh(home: Path | None) -> Path:
    import tempfile

    from fluxx.errors import BadInput

    if home is None:
        return Path(tempfile.mkdtemp(prefix="fluxx-demo-"))
    home.mkdir(parents=True, exist_ok=True)
    if any(home.iterdir()):
        raise BadInput(f"--home: {home} is not empty; a demo begins with nothing", field="home")
    return home.absolute()


def _settings(home: Path) -> "Settings":
    """Return settings that the environment can't bend: a demo is the same everywhere."""
    from fluxx.settings import Settings, load

    defaults = {name: field.get_default() for name, field in Settings.model_fields.items()}
    return load(
        **defaults
        | {
            "fluxx_home": home,
            "egress_allowed_networks": "127.0.0.0/8",
            "poll_interval_seconds": 0.5,
            "poll_backoff_factor": 1.2,
            "poll_max_interval_seconds": 2.0,
        }
    )

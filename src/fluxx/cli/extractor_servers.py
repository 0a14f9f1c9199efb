"""``fluxx simulate`` and ``fluxx extractor serve``: the other side of the contract, in the foreground."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from fluxx.cli import output
from fluxx.cli.key_input import KeyFile, read_key
from fluxx.cli.opening import run_service
from fluxx.cli.options import Host, Port

if TYPE_CHECKING:
    from fluxx.extractors.contract import Kind
    from fluxx.extractors.simulator import Simulation

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8090

READY: Final = """\
Ready; Ctrl-C stops it. Register the address with 'fluxx extractor add --url'. Fluxx calls private
and loopback addresses only where EGRESS_ALLOWED_NETWORKS lists them, e.g. 127.0.0.0/8, in .env for
all its commands."""


class RealKind(StrEnum):
    """What the extractors that come with Fluxx can do."""

    TEXT = "text"
    TABLES = "tables"


Kinds = Annotated[
    list[RealKind] | None,
    typer.Argument(metavar="KIND", help="text, tables, or both (the default).", show_default=False),
]
Workers = Annotated[
    int, typer.Option("--workers", metavar="N", min=1, max=64, help="Files worked on at the same time.")
]
Latency = Annotated[float, typer.Option("--latency", min=0, metavar="SECONDS", help="Least time that a job takes.")]
LatencyMax = Annotated[
    float | None,
    typer.Option("--latency-max", min=0, metavar="SECONDS", help="Most time that a job takes; unset: the least."),
]
NotReady = Annotated[
    int, typer.Option("--not-ready", min=0, metavar="N", help="Polls of each job that come too early.")
]
FailureRate = Annotated[
    float, typer.Option("--failure-rate", metavar="RATE", min=0, max=1, help="Share of the jobs that end as failed.")
]
FaultRate = Annotated[
    float, typer.Option("--fault-rate", metavar="RATE", min=0, max=1, help="Share of the requests answered 503.")
]
Size = Annotated[int, typer.Option("--size", min=0, metavar="BYTES", help="Size of each result.")]
InlineMax = Annotated[
    int, typer.Option("--inline-max", min=0, metavar="BYTES", help="Larger results are given by resultUrl.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed fails the same jobs in the same way.")]


def serve_extractors(
    kinds: Kinds = None, host: Host = LOOPBACK, port: Port = PORT, workers: Workers = 2, key_file: KeyFile = None
) -> None:
    """Serve the extractors that come with Fluxx.

    They are text (of PDFs, Office files, HTML and more) and tables (of PDFs and spreadsheets).
    """
    wanted: list[Kind] = [each.value for each in kinds or RealKind]
    run_service(_served(wanted, host=host, port=port, key_file=key_file, workers=workers))


def simulate(
    *,
    host: Host = LOOPBACK,
    port: Port = PORT,
    latency: Latency = 1.0,
    latency_max: LatencyMax = None,
    not_ready: NotReady = 1,
    failure_rate: FailureRate = 0.0,
    fault_rate: FaultRate = 0.0,
    size: Size = 1024,
    inline_max: InlineMax = 256 * 1024,
    seed: Seed = 0,
    key_file: KeyFile = None,
) -> None:
    """Serve an extractor that only pretends, for load and faults."""
    from fluxx.extractors.simulator import Simulation

    simulation = Simulation(
        min_seconds=latency,
        max_seconds=latency if latency_max is None else latency_max,
        not_ready=not_ready,
        failure_rate=failure_rate,
        fault_rate=fault_rate,
        result_bytes=size,
        max_inline_bytes=inline_max,
        seed=seed,
    )
    run_service(_served(["simulator"], host=host, port=port, key_file=key_file, simulation=simulation))


async def _served(
    kinds: "Sequence[Kind]",
    *,
    host: str,
    port: int,
    key_file: Path | None,
    workers: int = 2,
    simulation: "Simulation | None" = None,
) -> None:
    import asyncio

    from fluxx.cli.opening import load_settings, service_facts
    from fluxx.cli.signals import asked_to_end
    from fluxx.extractors.run import serve

    facts = service_facts(await load_settings())
    key = read_key(key_file).reveal() if key_file else None
    asked = asyncio.Event()
    with asked_to_end(asked.set):
        async with serve(
            kinds, facts=facts, host=host, port=port, api_key=key, workers=workers, simulation=simulation
        ) as running:
            for kind in kinds:
                output.line(running.extraction_url(kind))
            output.hint(READY)
            await asked.wait()

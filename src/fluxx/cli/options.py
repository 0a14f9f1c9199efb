"""Options and arguments that several commands share, so that they read the same everywhere."""

from typing import Annotated
from uuid import UUID

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
ClientApplicationId = Annotated[
    UUID, typer.Option("--client-application", metavar="ID", help="Id of the client application.")
]
AnyClientApplicationId = Annotated[
    UUID | None, typer.Option("--client-application", metavar="ID", help="Only those of this client application.")
]
ExtractorId = Annotated[UUID, typer.Argument(metavar="EXTRACTOR", help="Id of the extractor.")]
JobId = Annotated[UUID, typer.Argument(metavar="JOB", help="Id of the job.")]
JobIds = Annotated[list[UUID], typer.Argument(metavar="JOB", help="Ids of the jobs.")]
Host = Annotated[str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on.")]
Port = Annotated[
    int, typer.Option("--port", metavar="PORT", min=0, max=65535, help="Port to listen on; 0 picks a free one.")
]

"""How benchmarks show and keep what they measured."""

import json
import platform
import time
from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a plain table."""
    widths = [max(len(str(row[column])) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, ["-" * width for width in widths], *rows]:
        print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip(), flush=True)


def save(name: str, figures: object) -> None:
    """Keep the raw figures as JSON beside the others."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    kept = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "python": platform.python_version(),
        name: figures,
    }
    path.write_text(json.dumps(kept, indent=1) + "\n")
    print(f"kept in bench/results/{path.name}")

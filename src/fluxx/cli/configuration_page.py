"""``docs/configuration.md``, made from the settings and compared with them by a test."""

from pathlib import Path
from typing import Any, Final

from pydantic.fields import FieldInfo

from fluxx.settings import Settings

HEADINGS: Final = {
    "fluxx_home": "Home and database",
    "service_bus_connection_string": "Messages",
    "storage_connection_string": "Files and results",
    "key_vault_url": "Extractors' keys",
    "app_config_connection_string": "Azure App Configuration",
    "registration_url": "How the parts reach each other",
    "max_submit_attempts": "Limits and pace of a job",
    "signed_url_ttl_seconds": "Files and sizes",
    "max_concurrency": "Workers and upkeep",
    "egress_allowed_networks": "Access",
    "log_format": "Log",
}
"""The setting that each heading stands before; the settings keep the order in which they are declared."""

INTRODUCTION: Final = """\
# Configuration

Nothing has to be set: without settings, everything is kept in the folder `.fluxx` and runs in one process. Which
database, bus, blob store and vault are used follows from what is set here; there is no mode to choose.

A setting is looked for in this order, and the first place that has it counts:

1. Azure App Configuration, where it is configured (by its key, the name below)
2. the environment
3. the file `.env` in the working folder
4. the default

Names are the same everywhere; upper or lower case doesn't matter, and an empty value means "not set here". Durations
are in seconds, sizes in bytes. `fluxx config` prints every setting, its value with secrets masked, and where it came
from. A setting that makes no sense ends the program with one line that names it, and status 2.
"""

MIB: Final = 2**20


def render() -> str:
    """Return the whole page."""
    sections = [INTRODUCTION]
    for name, field in Settings.model_fields.items():
        if name in HEADINGS:
            sections.append(f"\n## {HEADINGS[name]}\n\n| Setting | Default | Meaning |\n| --- | --- | --- |\n")
        sections.append(f"| `{name.upper()}` | {_default(field)} | {field.description} |\n")
    return "".join(sections)


def _default(field: FieldInfo) -> str:
    value: Any = field.default
    if value is None or value == ():
        return "unset"
    if isinstance(value, int) and value >= MIB:
        return f"`{value}` ({value // MIB:,} MiB)"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value.as_posix() if isinstance(value, Path) else value}`"

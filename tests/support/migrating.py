"""Folders of migration scripts for tests: ours up to some version, or a few made up."""

from pathlib import Path

from sqlalchemy import Engine

from fluxx.adapters.sql import scripts
from fluxx.adapters.sql.engine import dialect_of
from fluxx.adapters.sql.scripts import Script

VERSIONS = [script.version for script in scripts.read(scripts.shipped("sqlserver"))]


def shipped(engine: Engine, version: int) -> Script:
    """Return one of our scripts for the engine's dialect."""
    return next(one for one in scripts.read(scripts.shipped(dialect_of(engine))) if one.version == version)


def up_to(version: int, engine: Engine, folder: Path) -> Path:
    """Return a folder in ``folder`` with our scripts up to ``version``."""
    target = folder / f"up_to_{version}"
    return folder_of({one: shipped(engine, one) for one in VERSIONS if one <= version}, target)


def folder_of(content: dict[int, Script | str], folder: Path) -> Path:
    """Write scripts into ``folder``, which is made: ours as they are, texts as ``V<n>__made_up.sql``."""
    folder.mkdir(parents=True, exist_ok=True)
    for version, one in content.items():
        name, text = (one.name, one.text) if isinstance(one, Script) else (f"V{version}__made_up.sql", one)
        (folder / name).write_text(text, "utf-8")
    return folder


def run_by_hand(engine: Engine, script: Script) -> None:
    """Send a script as an operator's tool would: outside of the runner, in one transaction."""
    with engine.begin() as connection:
        cursor = connection.connection.cursor()
        for statement in scripts.statements(script, dialect_of(engine)):
            cursor.execute(statement)
        cursor.close()

"""FLUXX_HOME: the folder of what is embedded, and whether there is anything in it."""

import os
from pathlib import Path
from typing import Final

from fluxx.errors import Misconfigured
from fluxx.settings import Settings

EMBEDDED_DATABASE: Final = "fluxx.db"


def holds_data(settings: Settings) -> bool:
    """Whether the database was ever made: FLUXX_HOME's may not have been, any other is who configured it's to make."""
    if settings.database_url is not None:
        return True
    try:
        return (settings.fluxx_home / EMBEDDED_DATABASE).exists()
    except OSError as error:
        raise _unusable(settings.fluxx_home, error) from None


def home(settings: Settings) -> Path:
    """Return the folder, made if need be; raise ``Misconfigured``."""
    folder = settings.fluxx_home
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unusable(folder, error) from None
    return folder


def own_home(settings: Settings) -> Path:
    """Return the same folder for SQLite, which makes files there even to read; refuse one that it can't write to."""
    folder = home(settings)
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise Misconfigured(f"FLUXX_HOME: {folder} can't be used: this user may not write there, or nobody may.")
    return folder


def _unusable(folder: Path, error: OSError) -> Misconfigured:
    return Misconfigured(f"FLUXX_HOME: {folder} can't be used: {error.strerror}")

"""``fluxx config``: every setting, its value with secrets masked, and where it came from."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from fluxx.cli import output
from fluxx.cli.opening import app_configuration
from fluxx.cli.options import AsJson
from fluxx.cli.tables import Column, Room

if TYPE_CHECKING:
    from fluxx.settings import Settings

MASK: Final = "***"
COLUMNS: Final = (
    Column("SETTING", Room.WHOLE),
    Column("FROM", Room.WHOLE),
    Column("VALUE", Room.LOOSE),
)


def show_config(as_json: AsJson = False) -> None:
    """Show every setting, its value, and where it came from."""
    import asyncio

    from fluxx.settings import load

    overlay = asyncio.run(app_configuration())
    settings = load(overlay)
    rows = [
        {"setting": name.upper(), "value": shown(name, getattr(settings, name)), "from": origin}
        for name, origin in _origins(settings, overlay).items()
    ]
    if as_json:
        output.json_line(rows)
    else:
        output.listing(
            COLUMNS, [(each["setting"] or "", each["from"] or "", each["value"] or "-") for each in rows], empty=""
        )


def shown(name: str, value: Any) -> str | None:
    """Return a setting's value as text in which nothing secret is left; None where it is unset."""
    from pydantic import SecretStr

    if value is None:
        return None
    if isinstance(value, SecretStr):
        return _masked(value.get_secret_value()) if name == "database_url" else MASK
    if isinstance(value, tuple):
        return ",".join(str(each) for each in value)
    text = str(value)
    return _masked(text) if "://" in text else text


def _masked(text: str) -> str:
    """Keep of a URL what helps to recognise it: scheme, user, host, path. All else becomes a mask."""
    from urllib.parse import urlsplit

    try:
        url = urlsplit(text)
        host, port = url.hostname or "", url.port
    except ValueError:
        return MASK
    # An @ elsewhere belongs to a password that wasn't escaped: any part may hold a piece of it.
    if not url.scheme or text.count("@") != url.netloc.count("@") or text.count("@") > 1:
        return MASK
    user = f"{url.username}:{MASK}@" if url.password else f"{url.username}@" if url.username else ""
    place = host if port is None else f"{host}:{port}"
    return f"{url.scheme}://{user}{place}{url.path}" + (f"?{MASK}" if url.query else "")


def _origins(settings: "Settings", overlay: Mapping[str, str]) -> dict[str, str]:
    """Return for each setting the first place that has it, in the order in which they count."""
    from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

    kind = type(settings)
    places = {
        "App Configuration": {name for name, value in overlay.items() if value},
        "environment": EnvSettingsSource(kind)(),
        ".env": DotEnvSettingsSource(kind)(),
    }
    return {
        name: next((place for place, names in places.items() if name in names), "default") for name in kind.model_fields
    }

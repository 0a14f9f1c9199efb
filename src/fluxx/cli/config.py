"""``fluxx config``: every setting, its value with secrets masked, and where it came from."""

from typing import TYPE_CHECKING, Any, Final

from fluxx.cli import output
from fluxx.cli.options import AsJson

if TYPE_CHECKING:
    from fluxx.settings import Settings

MASK: Final = "***"
COLUMNS: Final = (
    output.Column("SETTING", whole=True),
    output.Column("VALUE"),
    output.Column("FROM", whole=True),
)


def show_config(as_json: AsJson = False) -> None:
    """Show every setting, its value (secrets masked) and where it came from."""
    from fluxx.settings import load

    settings = load()
    rows = [
        {"setting": name.upper(), "value": shown(name, getattr(settings, name)), "from": origin}
        for name, origin in _origins(settings).items()
    ]
    if as_json:
        output.json_line(rows)
    else:
        output.listing(
            COLUMNS, [(each["setting"] or "", each["value"] or "-", each["from"] or "") for each in rows], empty=""
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


def _origins(settings: "Settings") -> dict[str, str]:
    from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource

    kind = type(settings)
    environment, dotenv = EnvSettingsSource(kind)(), DotEnvSettingsSource(kind)()
    return {
        name: "environment" if name in environment else ".env" if name in dotenv else "default"
        for name in kind.model_fields
    }

"""``fluxx config``: every setting, masked where it is secret, and where it came from."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from fluxx.cli.config import shown
from fluxx.settings import Settings
from support.commands import Shell

CANARY = "a-Secret-that-must-not-show"


def test_every_setting_is_shown_with_its_origin(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("MAX_POLL_ATTEMPTS=7\nLOG_LEVEL=warning\n")
    shell = Shell(tmp_path, {"LOG_LEVEL": "error"})
    rows = {row["setting"]: row for row in shell.succeed("config", "--json").json}
    assert list(rows) == [name.upper() for name in Settings.model_fields]
    assert rows["MAX_POLL_ATTEMPTS"] == {"setting": "MAX_POLL_ATTEMPTS", "value": "7", "from": ".env"}
    assert rows["LOG_LEVEL"] == {"setting": "LOG_LEVEL", "value": "error", "from": "environment"}
    assert rows["DATABASE_URL"] == {"setting": "DATABASE_URL", "value": None, "from": "default"}


def test_no_secret_is_shown(tmp_path: Path) -> None:
    secret = [name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)]
    settings = {name.upper(): f"Endpoint=sb://x;SharedAccessKey={CANARY}" for name in secret}
    settings |= {
        "DATABASE_URL": f"postgresql+psycopg://joe:{CANARY}@db.example:5432/fluxx?password={CANARY}",
        "STORAGE_ACCOUNT_URL": f"https://acc.example/?sig={CANARY}",
        "REGISTRATION_URL": f"https://joe:{CANARY}@reg.example/base",
    }
    del settings["APP_CONFIG_CONNECTION_STRING"]  # it would be asked for the other settings
    shell = Shell(tmp_path, settings)
    for words in (("config",), ("config", "--json")):
        ended = shell.succeed(*words)
        assert CANARY not in ended.text + ended.stderr
    assert "postgresql+psycopg://joe:***@db.example:5432/fluxx?***" in ended.text
    assert "https://joe:***@reg.example/base" in ended.text
    assert not (tmp_path / ".fluxx").exists(), "looking at the settings opens nothing"


@given(st.text(min_size=4, alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"])))
def test_no_part_of_a_password_is_shown_however_it_is_written(password: str) -> None:
    """Passwords with @, /, # or ? that nobody escaped make a URL that reads differently than meant."""
    value = shown("database_url", SecretStr(f"postgresql://u:0{password}@h/d"))
    assert value is not None
    rest = value.replace("postgresql://u:***@h/d", "").replace("***", "")
    assert rest == "", (password, value)

"""The service's own secrets, in settings that are right, wrong or lead nowhere: no command says them in any writing."""

import socket
from typing import TYPE_CHECKING

import pytest

from support.searching import Search

if TYPE_CHECKING:
    from cli.conftest import Inside

PASSWORD = "vR8tKq3ZxW6bNm2LpY5h"
KEY = "Xo7Rk2/Vw9dQ+pLz4TnYbE8sHc3Jm6Ug1Fa5Wi0Xq2M="
SHA256 = "3f9ac1d07e5b48a2c6d1f0b97a24e8533b1c9d60fe72a45881d3c0b6e97f2a14"
NOBODY = "127.0.0.1:1"

STORAGE = f"DefaultEndpointsProtocol=http;AccountName=acc;BlobEndpoint=http://{NOBODY}/acc;AccountKey="
SERVICE_BUS = f"Endpoint=sb://{NOBODY};UseDevelopmentEmulator=true;SharedAccessKeyName=Root;SharedAccessKey"
CALLERS = {"API_KEYS": f"ops:admin:{SHA256}"}

SETTINGS: dict[str, dict[str, str]] = {
    "a database away": {"DATABASE_URL": f"postgresql://joe:{PASSWORD}@{NOBODY}/d"},
    "a password in the query": {"DATABASE_URL": f"postgresql://joe@{NOBODY}/d?password={PASSWORD}"},
    "an @ in the password": {"DATABASE_URL": f"postgresql://joe:x@{PASSWORD}@{NOBODY}/d"},
    "an @ and a slash in it": {"DATABASE_URL": f"postgresql://joe:x@/{PASSWORD}@{NOBODY}/d"},
    "an @ and a ? in it": {"DATABASE_URL": f"postgresql://joe:x@h?{PASSWORD}=@{NOBODY}/d"},
    "an @ and a ? at its end": {"DATABASE_URL": f"postgresql://joe:@{PASSWORD}?@{NOBODY}/d"},
    "a slash in it": {"DATABASE_URL": f"postgresql://joe:x/{PASSWORD}@{NOBODY}/d"},
    "a colon in it": {"DATABASE_URL": f"postgresql://joe:x:{PASSWORD}@{NOBODY}/d"},
    "no known database": {"DATABASE_URL": f"oracle://joe:{PASSWORD}@{NOBODY}/d"},
    "no URL at all": {"DATABASE_URL": f"Server=tcp:{NOBODY};User=joe;Password={PASSWORD}"},
    "bus and blobs away": {
        "STORAGE_CONNECTION_STRING": STORAGE + KEY,
        "SERVICE_BUS_CONNECTION_STRING": f"{SERVICE_BUS}={KEY}",
    },
    "a key that is none": {"STORAGE_CONNECTION_STRING": f"{STORAGE}{KEY[:-3]}"},
    "a broken storage string": {"STORAGE_CONNECTION_STRING": f"{STORAGE};{KEY}"},
    "a broken bus string": {"SERVICE_BUS_CONNECTION_STRING": f"{SERVICE_BUS};{KEY}"},
    "a key where its hash belongs": {"API_KEYS": f"ops:admin:{KEY}"},
    "a key and nothing else": {"API_KEYS": KEY},
    "a key where the role belongs": {"API_KEYS": f"ops:{PASSWORD}:{SHA256}"},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_no_command_shows_a_secret_of_the_settings(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    for name, value in (CALLERS | settings | {"LOG_LEVEL": "debug"}).items():
        monkeypatch.setenv(name, value)
    search = Search([PASSWORD, KEY, SHA256])
    with socket.create_server(("127.0.0.1", 0)) as taken:  # so that no service stays up
        port = taken.getsockname()[1]
        for words in (("config",), ("config", "--json"), ("check",), ("db", "info"), ("up", "--port", str(port))):
            ended = inside.run(*words)
            said = ended.text + ended.stderr
            assert said, words
            assert list(search.leaks(said)) == [], words
            assert "Traceback" not in said
    assert ended.status != 0


def test_a_password_with_an_at_sign_is_refused_with_what_to_write(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"postgresql://joe:x@{PASSWORD}@{NOBODY}/d")
    ended = inside.run("db", "info")
    assert "%40" in ended.complaint
    assert ended.status == 2


@pytest.mark.parametrize("words", ["config", "check"])
def test_a_file_of_settings_that_is_no_text_is_one_line(inside: "Inside", words: str) -> None:
    (inside.folder / ".env").write_bytes(f"DATABASE_URL=postgresql://joe:{PASSWORD}".encode() + b"\xe9@h/d\n")
    ended = inside.run(words)
    assert ".env" in ended.complaint
    assert list(Search([PASSWORD]).leaks(ended.complaint)) == []
    assert ended.status == 2

"""``fluxx db`` and ``fluxx check``: where the tables are, and whether what the settings name answers."""

import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from cli.conftest import Inside


def test_a_platform_database_is_migrated_by_nobody_but_its_command(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{inside.folder / 'platform.db'}")
    behind = inside.run("db", "check")
    assert behind.status == 1
    assert "fluxx db migrate" in behind.text
    refused = inside.run("client", "list")
    assert "fluxx db migrate" in refused.complaint
    assert refused.status == 2
    assert {each["state"] for each in inside.succeed("db", "info", "--json").json} == {"pending"}
    applied = inside.succeed("db", "migrate").text.splitlines()
    assert applied[0] == "Applied V1__registration.sql"
    assert applied[-1] == "The database is up to date."
    assert inside.succeed("db", "migrate", "--json").json == []
    assert "up to date" in inside.succeed("db", "check").text
    assert {each["state"] for each in inside.succeed("db", "info", "--json").json} == {"applied"}
    assert inside.succeed("client", "list", "--json").json == []


def test_an_embedded_database_is_made_and_then_brought_up_to_date_by_itself(inside: "Inside") -> None:
    inside.succeed("db", "migrate")
    assert "No client applications yet" in inside.succeed("client", "list").stderr
    assert "up to date" in inside.succeed("db", "check").text


def test_what_does_not_answer_is_named(inside: "Inside") -> None:
    inside.succeed("db", "migrate")
    assert inside.succeed("check", "--json").json.keys() == {"database", "bus", "blobs", "secrets"}
    blobs = inside.folder / ".fluxx" / "blobs"
    shutil.rmtree(blobs)
    blobs.write_text("a file in the way")
    ended = inside.run("check")
    assert ended.status == 1
    assert "database  ok" in ended.text
    assert f"blobs     The blob folder {blobs} can't be" in ended.text
    assert f"home      {inside.folder / '.fluxx'}" in ended.text


AWAY = "127.0.0.1:1"
SETTINGS_OF = {
    "database": {"DATABASE_URL": f"postgresql://joe@{AWAY}/d"},
    "registration": {"REGISTRATION_URL": f"http://{AWAY}"},
    "issuer": {"AUTH_ISSUER": f"http://{AWAY}", "AUTH_AUDIENCE": "api://fluxx"},
}
UPON_THE_DATABASE = {"database", "bus"}


@pytest.mark.parametrize("away", SETTINGS_OF)
def test_whatever_is_away_every_part_is_told(inside: "Inside", monkeypatch: pytest.MonkeyPatch, away: str) -> None:
    inside.succeed("db", "migrate")
    for name, value in SETTINGS_OF[away].items():
        monkeypatch.setenv(name, value)
    ended = inside.run("check", "--json")
    assert (ended.status, ended.stderr) == (1, "")
    assert ended.json.keys() == {"database", "bus", "blobs", "secrets", away}
    wrong = {part for part, answer in ended.json.items() if answer != "ok"}
    assert wrong == (UPON_THE_DATABASE if away == "database" else {away})


def test_a_database_that_is_behind_is_told_beside_the_rest(inside: "Inside", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{inside.folder / 'platform.db'}")
    ended = inside.run("check", "--json")
    assert "fluxx db migrate" in ended.json["database"]
    assert ended.json["blobs"] == "ok"
    assert ended.status == 1


@pytest.mark.parametrize(
    ("name", "value"), [("API_KEYS", "foo"), ("AUTH_ISSUER", "http://login.example"), ("DATABASE_URL", "nonsense")]
)
def test_a_setting_that_makes_no_sense_is_no_part_that_is_away(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    inside.succeed("db", "migrate")
    monkeypatch.setenv("AUTH_AUDIENCE", "api://fluxx")
    monkeypatch.setenv("AUTH_ISSUER", "https://login.example")
    monkeypatch.setenv(name, value)
    ended = inside.run("check")
    assert name in ended.complaint
    assert ended.status == 2

"""Where nothing was ever kept, a command says so: a database made to answer from would say that all is well."""

import os
import re
from typing import TYPE_CHECKING

import pytest

from fluxx.cli.reference_page import render

if TYPE_CHECKING:
    from cli.conftest import Inside

SOMETHING = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"
ASKING = [
    "check",
    "client list",
    "db check",
    "db info",
    "db purge --older-than 1d",
    f"events --job {SOMETHING}",
    f"extractor add --client-application {SOMETHING} --name ocr --url https://ocr.example/jobs",
    f"extractor change {SOMETHING} --name other",
    f"extractor deactivate {SOMETHING}",
    "extractor list",
    f"jobs cancel {SOMETHING}",
    "jobs list",
    f"jobs retry {SOMETHING}",
    f"jobs show {SOMETHING}",
    f"jobs watch {SOMETHING}",
    f"key delete {SOMETHING}",
    f"key set {SOMETHING} --key-file file.txt",
    f"result {SOMETHING}",
    f"submit file.txt --client-application {SOMETHING}",
    "top",
    f"why {SOMETHING}",
]
BEGINNING = {"client add", "db migrate", "demo", "serve files", "serve jobs", "serve registration", "up", "worker"}
WITHOUT_DATA = {"config", "extractor serve", "key new", "simulate"}


@pytest.mark.parametrize("words", ASKING)
def test_who_asks_makes_nothing_and_is_told_where_it_looked(inside: "Inside", words: str) -> None:
    (inside.folder / "file.txt").write_text("a file, or a key")
    ended = inside.run(*words.split())
    assert f"There is no data in {inside.folder / '.fluxx'}" in ended.complaint
    assert "FLUXX_HOME" in ended.complaint
    assert "'fluxx up'" in ended.complaint
    assert ended.status == 2
    assert [each.name for each in inside.folder.iterdir()] == ["file.txt"]


def test_every_command_is_known_to_ask_to_begin_or_to_need_no_data() -> None:
    commands = set(re.findall(r"^## fluxx (.+)$", render(), re.MULTILINE))
    groups = {name for name in commands if any(other.startswith(f"{name} ") for other in commands)}
    asking = {name for name in commands for words in ASKING if f"{words} ".startswith(f"{name} ")}
    assert asking | BEGINNING | WITHOUT_DATA | groups == commands


def test_an_empty_folder_holds_no_data_either(inside: "Inside") -> None:
    (inside.folder / ".fluxx").mkdir()
    assert "There is no data in" in inside.run("jobs", "list").complaint


@pytest.mark.parametrize("words", ["client add Invoices", "db migrate"])
def test_who_begins_something_makes_the_home(inside: "Inside", words: str) -> None:
    inside.succeed(*words.split())
    assert inside.succeed("jobs", "list", "--json").json == []
    assert inside.succeed(*words.split()).stderr == ""


def test_a_home_that_registering_made_is_told(inside: "Inside") -> None:
    assert str(inside.folder / ".fluxx") in inside.succeed("client", "add", "Invoices").stderr


def test_a_database_of_its_own_needs_no_home(inside: "Inside", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{inside.folder / 'platform.db'}")
    inside.succeed("db", "migrate")
    assert inside.succeed("jobs", "list", "--json").json == []
    assert set(inside.succeed("check", "--json").json.values()) == {"ok"}


def test_the_settings_show_the_whole_path(inside: "Inside", monkeypatch: pytest.MonkeyPatch) -> None:
    assert _home(inside) == str(inside.folder / ".fluxx")
    monkeypatch.setenv("FLUXX_HOME", "some/where")
    assert _home(inside) == str(inside.folder / "some" / "where")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere: run as any other user")
@pytest.mark.parametrize("words", ["jobs list", "db check", "up --port 0"])
def test_a_home_that_is_not_ours_is_named(inside: "Inside", words: str) -> None:
    inside.succeed("db", "migrate")
    home = inside.folder / ".fluxx"
    home.chmod(0o500)
    ended = inside.run(*words.split())
    home.chmod(0o700)
    assert (
        f"FLUXX_HOME: {home} can't be used" in ended.complaint
        or f"FLUXX_HOME: the signing key {home}" in ended.complaint
    )
    assert ended.status == 2


def _home(inside: "Inside") -> str:
    return str(next(row["value"] for row in inside.succeed("config", "--json").json if row["setting"] == "FLUXX_HOME"))

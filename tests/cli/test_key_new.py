"""``fluxx key new``: a key that the API takes, shown once, and an entry that holds only its hash."""

from typing import TYPE_CHECKING

import pytest

from fluxx.api.access.keys import ApiKeys

if TYPE_CHECKING:
    from cli.conftest import Inside

CLIENT = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"


def test_the_entry_lets_the_key_in(inside: "Inside") -> None:
    made = inside.succeed("key", "new", "invoices@acme", "--role", "operate", "--client-application", CLIENT, "--json")
    caller = ApiKeys(made.json["entry"]).caller(made.json["key"])
    assert caller is not None
    assert (caller.name, str(caller.role), str(caller.client_application_id)) == ("invoices@acme", "operate", CLIENT)
    assert made.json["key"] not in made.json["entry"]


def test_the_client_application_must_be_known_where_a_database_can_say_so(
    inside: "Inside", monkeypatch: pytest.MonkeyPatch
) -> None:
    known = inside.succeed("client", "add", "Invoices").text
    inside.succeed("key", "new", "ci", "--role", "read", "--client-application", known)
    ended = inside.run("key", "new", "ci", "--role", "read", "--client-application", CLIENT)
    assert CLIENT in ended.complaint
    assert ended.status == 2
    monkeypatch.setenv("DATABASE_URL", "postgresql://joe@127.0.0.1:1/away")
    inside.succeed("key", "new", "ci", "--role", "read", "--client-application", CLIENT)


def test_it_is_shown_for_people_too(inside: "Inside") -> None:
    lines = inside.succeed("key", "new", "ci", "--role", "read").text.splitlines()
    assert [line.split()[0] for line in lines] == ["key", "API_KEYS"]
    assert lines[0].split()[1].startswith("fluxx_")
    assert lines[1].split()[1].startswith("ci:read:")


@pytest.mark.parametrize(
    "words", [("a b", "--role", "read"), ("a:b", "--role", "read"), ("ci", "--role", "root"), ("ci",)]
)
def test_what_makes_no_entry_is_refused(inside: "Inside", words: tuple[str, ...]) -> None:
    ended = inside.run("key", "new", *words)
    assert ended.status == 2
    assert ended.complaint


def test_nothing_is_kept(inside: "Inside") -> None:
    inside.succeed("key", "new", "ci", "--role", "read")
    assert not list(inside.folder.iterdir())

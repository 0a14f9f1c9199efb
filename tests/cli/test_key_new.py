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

"""API_KEYS: what is configured is a hash, what makes no sense is one line, and no line quotes what was given."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.api.access.callers import Caller, Role
from fluxx.api.access.keys import LONGEST_KEY, ApiKeys, entry_of, new_key
from fluxx.errors import Misconfigured

CLIENT = UUID("01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a")
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def test_each_key_knows_its_caller() -> None:
    keys = [new_key(), new_key()]
    entries = [
        entry_of(keys[0], name="ci", role=Role.OPERATE),
        entry_of(keys[1], name="invoices@acme", role=Role.READ, client_application_id=CLIENT),
    ]
    known = ApiKeys(f" {entries[0]} ,\n{entries[1].upper().replace('READ', 'read')},")
    assert len(known) == 2
    assert known.caller(keys[0]) == Caller("ci", Role.OPERATE)
    found = known.caller(keys[1])
    assert found is not None
    assert (found.role, found.client_application_id) == (Role.READ, CLIENT)


def test_keys_are_long_and_never_the_same() -> None:
    keys = {new_key() for _ in range(100)}
    assert len(keys) == 100
    assert min(map(len, keys)) > 40


@given(st.text())
def test_no_other_text_is_a_key(text: str) -> None:
    assert ApiKeys(f"ci:read:{HASH}").caller(text if text != "test" else "") is None


def test_the_hash_is_no_key_and_neither_is_anything_endless() -> None:
    known = ApiKeys(f"ci:read:{HASH}")
    assert known.caller("test") == Caller("ci", Role.READ)
    assert known.caller(HASH) is None
    assert known.caller("x" * (LONGEST_KEY + 1)) is None


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("fluxx_secret-key", "entry 1 is not name:role:sha256"),
        (f"a:read:{HASH},b:read:secret-key", "entry 2 is not"),
        (f"a:read:{HASH[:-1]}", "entry 1 is not"),
        (f":read:{HASH}", "entry 1 is not"),
        (f"a b:read:{HASH}", "entry 1 is not"),
        (f"a:write:{HASH}", "unknown role; there are: read, operate, admin"),
        (f"a:none:{HASH}", "unknown role"),
        (f"a:READ:{HASH}", "unknown role"),
        (f"a:read:{HASH}:secret-key", "entry 1 is not"),
        (f"a:read:{HASH}:{'-' * 36}", "no UUID"),
        (f"a:read:{HASH},a:admin:{HASH[::-1]}", "the name a comes twice"),
    ],
)
def test_nonsense_is_one_line_that_quotes_nothing(setting: str, words: str) -> None:
    with pytest.raises(Misconfigured, match="API_KEYS") as refused:
        ApiKeys(setting)
    assert words in str(refused.value)
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_entry_is_no_key() -> None:
    assert ApiKeys(" , ").caller("") is None

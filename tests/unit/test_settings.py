"""A setting that makes no sense is one clear line that names it."""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from fluxx.errors import Misconfigured
from fluxx.settings import Settings, load

BASE_URLS = ("PUBLIC_URL", "REGISTRATION_URL", "OTEL_EXPORTER_OTLP_ENDPOINT")
URLS = (*BASE_URLS, "STORAGE_ACCOUNT_URL", "KEY_VAULT_URL", "APP_CONFIG_ENDPOINT", "AUTH_ISSUER")
NO_URLS = (
    "foo",
    "h.example:80",
    "//h.example",
    "ftp://h.example",
    "http://",
    "https://:80",
    "http://h:99999",
    "http://[::1",
)
TOPICS = ("TOPIC_ACCEPTED_FILE", "TOPIC_JOB_STATUS")
SUBSCRIPTIONS = ("ACCEPTED_FILE_SUBSCRIPTION", "JOB_STATUS_SUBSCRIPTION")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JOB_TIMEOUT_SECONDS", "inf"),
        ("JOB_TIMEOUT_SECONDS", "nan"),
        ("JOB_TIMEOUT_SECONDS", "1e300"),
        ("POLL_INTERVAL_SECONDS", "0"),
        ("POLL_INTERVAL_SECONDS", "soon"),
        ("POLL_BACKOFF_FACTOR", "0.5"),
        ("MAX_POLL_ATTEMPTS", "0"),
        ("MAX_CONCURRENCY", "-1"),
        ("MAX_SUBMIT_ATTEMPTS", "1.5"),
        ("LEASE_SECONDS", "0"),
        ("RETENTION_DAYS", "-1"),
        ("EGRESS_ALLOWED_NETWORKS", "10.0.0.0/33"),
        ("LOG_FORMAT", "yaml"),
        ("LOG_LEVEL", "loud"),
        *((name, value) for name in URLS for value in NO_URLS),
        *((name, value) for name in BASE_URLS for value in ("http://h.example/?a=b", "http://h.example/#a")),
        *(("SERVICE_BUS_NAMESPACE", value) for value in ("foo", "sb://mine.servicebus.windows.net", "a b.example")),
        *((name, value) for name in TOPICS for value in ("a topic", "/status", "s" * 261, "späte")),
        *((name, value) for name in SUBSCRIPTIONS for value in ("a/b", "-", "s" * 51)),
        *(("STORAGE_CONTAINER", value) for value in ("Files", "ab", "a--b", "f" * 64)),
        *(("REGISTRATION_API_KEY", value) for value in ("two words", "zwölf", "a\tb")),
    ],
)
def test_nonsense_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=name) as refused:
        load()
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_what_is_no_text_is_refused_by_name(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name.upper(), os.fsdecode(b"bad \xff bytes"))
    with pytest.raises(Misconfigured, match=name.upper()):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [("POLL_MAX_INTERVAL_SECONDS", "1"), ("TOPIC_JOB_STATUS", "Accepted-File"), ("AUTH_AUDIENCE", "a")],
)
def test_settings_that_contradict_each_other_are_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=name):
        load()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in URLS for value in ("https://h.example", "http://[::1]:8080/base/")),
        ("STORAGE_ACCOUNT_URL", "https://acc.blob.core.windows.net/?sv=1&sig=2"),
        ("SERVICE_BUS_NAMESPACE", "mine.servicebus.windows.net"),
        *((name, value) for name in TOPICS for value in ("a", "fluxx/job-status_1.x")),
        ("STORAGE_CONTAINER", "a-1"),
        ("REGISTRATION_API_KEY", "fluxx_a-B~!"),
    ],
)
def test_what_makes_sense_is_taken_as_it_is(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTH_AUDIENCE", "api://fluxx")
    monkeypatch.setenv("AUTH_ISSUER", "https://login.example")
    monkeypatch.setenv(name, value)
    kept = getattr(load(), name.lower())
    assert (kept.get_secret_value() if isinstance(kept, SecretStr) else kept) == value


def test_every_setting_of_free_text_is_one_that_has_no_form() -> None:
    """A new setting that names a place or a thing gets a kind of its own, or its name here."""
    hints = get_type_hints(Settings, include_extras=True)
    free = {name for name in Settings.model_fields if hints[name] in (str, str | None)}
    assert free == {"app_config_label", "auth_client_application_claim"}


def test_the_environment_goes_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("MAX_POLL_ATTEMPTS=7\nMAX_SUBMIT_ATTEMPTS=7\n")
    monkeypatch.setenv("MAX_SUBMIT_ATTEMPTS", "3")
    settings = load()
    assert (settings.max_poll_attempts, settings.max_submit_attempts) == (7, 3)


CANARY = "Zk4mW9xQ7vTn"
SECRET = sorted(name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation))
NAMES = st.sampled_from(sorted(Settings.model_fields))
VALUES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    st.binary().map(lambda value: os.fsdecode(value.replace(b"\0", b""))),
    st.integers().map(str),
    st.floats().map(str),
    st.ip_addresses().map("{}/24".format),
    st.sampled_from(["1e400", "0x10", "1_0", " 7 ", "1" * 5000, "10.0.0.0/8,,", "true", "null", "[]", "{", "json"]),
)


@given(name=NAMES, value=VALUES)
def test_any_text_in_any_variable_is_a_setting_or_refused_by_name_in_one_line(name: str, value: str) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.chdir(folder)
        for secret in SECRET:
            patch.setenv(secret.upper(), CANARY)
        patch.setenv(name.upper(), value)
        try:
            assert CANARY not in repr(load())
        except Misconfigured as refused:
            assert name.upper() in str(refused)  # noqa: PT017 - it may also be taken
            assert str(refused).isprintable()  # noqa: PT017 - it may also be taken
            assert CANARY not in str(refused)  # noqa: PT017 - it may also be taken


@given(
    content=st.binary()
    | st.lists(st.tuples(NAMES, st.binary()), max_size=3).map(
        lambda lines: b"\n".join(name.upper().encode() + b"=" + value for name, value in lines)
    )
)
def test_any_bytes_in_the_file_are_settings_or_one_line(content: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.chdir(folder)
        Path(".env").write_bytes(content)
        try:
            load()
        except Misconfigured as refused:
            assert str(refused).isprintable()  # noqa: PT017 - it may also be taken

"""App Configuration over environment over ``.env`` over defaults, with Key Vault references resolved."""

import os
import ssl
import subprocess
import sys
from pathlib import Path

import pytest

from fluxx.adapters.azure import app_configuration as store
from fluxx.errors import Misconfigured, Unavailable
from fluxx.settings import Settings, load
from servers.app_configuration import AppConfigurationServer
from servers.identity import IdentityServer
from servers.key_vault import KeyVaultServer
from support.azure import transport

Store = AppConfigurationServer


@pytest.fixture(autouse=True)
def nothing_else_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.lower() in Settings.model_fields or name.startswith("AZURE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


async def test_its_values_go_over_all_others(app_configuration: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app_configuration.put("MAX_POLL_ATTEMPTS", "7")
    app_configuration.put("DATABASE_URL", "postgresql://from-the-store")
    app_configuration.put("EGRESS_ALLOWED_NETWORKS", "10.1.0.0/16, 10.2.0.0/16")
    app_configuration.put("SOMETHING_ELSE", "of another program")
    monkeypatch.setenv("MAX_POLL_ATTEMPTS", "1")
    monkeypatch.setenv("MAX_POLL_ERRORS", "2")
    dotenv("DATABASE_URL=postgresql://from-the-file\nMAX_POLL_ERRORS=3\nMAX_SUBMIT_ATTEMPTS=4\n")
    monkeypatch.setenv("APP_CONFIG_CONNECTION_STRING", app_configuration.connection_string)
    settings = load(await store.read(load()))
    assert settings.max_poll_attempts == 7
    assert settings.database_url
    assert settings.database_url.get_secret_value() == "postgresql://from-the-store"
    assert [str(network) for network in settings.egress_allowed_networks] == ["10.1.0.0/16", "10.2.0.0/16"]
    assert (settings.max_poll_errors, settings.max_submit_attempts) == (2, 4)
    assert settings.poll_interval_seconds == load().poll_interval_seconds


def dotenv(text: str) -> None:
    Path(".env").write_text(text)


async def test_an_empty_value_is_none(app_configuration: Store) -> None:
    app_configuration.put("STORAGE_CONTAINER", "")
    settings = load(app_config_connection_string=app_configuration.connection_string)
    assert load(await store.read(settings)).storage_container == "fluxx"


async def test_a_value_that_makes_no_sense_is_named(app_configuration: Store) -> None:
    app_configuration.put("MAX_POLL_ATTEMPTS", "many")
    settings = load(app_config_connection_string=app_configuration.connection_string)
    found = await store.read(settings)
    with pytest.raises(Misconfigured, match=r"^MAX_POLL_ATTEMPTS: "):
        load(found)


async def test_only_values_of_the_wanted_label_are_read(app_configuration: Store) -> None:
    app_configuration.put("MAX_POLL_ATTEMPTS", "7")
    app_configuration.put("MAX_POLL_ATTEMPTS", "8", label="production")
    settings = load(app_config_connection_string=app_configuration.connection_string)
    assert await store.read(settings) == {"max_poll_attempts": "7"}
    labelled = load(app_config_connection_string=app_configuration.connection_string, app_config_label="production")
    assert await store.read(labelled) == {"max_poll_attempts": "8"}


@pytest.fixture
def trust(trusting: ssl.SSLContext) -> store.ClientOptions:
    return lambda: transport(trusting)


@pytest.mark.usefixtures("azure_credential")
async def test_all_of_it_works_by_identity_and_key_vault_references_are_resolved(
    server_context: ssl.SSLContext,
    key_vault: KeyVaultServer,
    identity_server: IdentityServer,
    trust: store.ClientOptions,
) -> None:
    first = key_vault.put("database-url", "postgresql://first")
    key_vault.put("database-url", "postgresql://newest")
    async with AppConfigurationServer(server_context) as app_configuration:
        app_configuration.refer("DATABASE_URL", first.rpartition("/")[0])
        app_configuration.refer("API_KEYS", first)
        settings = load(app_config_endpoint=app_configuration.url)
        assert await store.read(settings, identity_server.environment, transport=trust) == {
            "database_url": "postgresql://newest",
            "api_keys": "postgresql://first",
        }


@pytest.mark.usefixtures("azure_credential")
@pytest.mark.parametrize("secret_id", ["{vault}/secrets/missing", "{vault}/nonsense", "not a url", ""])
async def test_a_reference_that_leads_nowhere_is_named(
    app_configuration: Store,
    key_vault: KeyVaultServer,
    identity_server: IdentityServer,
    trust: store.ClientOptions,
    secret_id: str,
) -> None:
    app_configuration.refer("DATABASE_URL", secret_id.format(vault=key_vault.url))
    settings = load(app_config_connection_string=app_configuration.connection_string)
    with pytest.raises(Misconfigured, match=r"^DATABASE_URL: its Key Vault reference"):
        await store.read(settings, identity_server.environment, transport=trust)


@pytest.mark.usefixtures("azure_credential")
async def test_a_vault_that_is_away_is_unavailable_and_the_setting_named(
    app_configuration: Store, key_vault: KeyVaultServer, identity_server: IdentityServer, trust: store.ClientOptions
) -> None:
    app_configuration.refer("DATABASE_URL", f"{key_vault.url}/secrets/database-url")
    settings = load(app_config_connection_string=app_configuration.connection_string)
    await key_vault.go_away()
    with pytest.raises(Unavailable, match=r"^DATABASE_URL: the Key Vault that App Configuration refers to can't be"):
        await store.read(settings, identity_server.environment, transport=trust)


async def test_a_reference_without_an_identity_says_what_to_set(app_configuration: Store) -> None:
    app_configuration.refer("DATABASE_URL", "https://vault.vault.azure.net/secrets/database-url")
    settings = load(app_config_connection_string=app_configuration.connection_string)
    with pytest.raises(Misconfigured, match="AZURE_CLIENT_ID"):
        await store.read(settings, {})


async def test_a_spell_of_trouble_is_sat_out(app_configuration: Store) -> None:
    app_configuration.put("MAX_POLL_ATTEMPTS", "7")
    app_configuration.answer_next(503, times=2)
    settings = load(app_config_connection_string=app_configuration.connection_string)
    assert await store.read(settings) == {"max_poll_attempts": "7"}


async def test_a_store_that_refuses_is_a_matter_of_settings(app_configuration: Store) -> None:
    app_configuration.answer_next(403)
    settings = load(app_config_connection_string=app_configuration.connection_string)
    with pytest.raises(Misconfigured, match="App Configuration can't be read: 403"):
        await store.read(settings)


async def test_a_store_that_is_away_is_unavailable(app_configuration: Store) -> None:
    settings = load(app_config_connection_string=app_configuration.connection_string)
    await app_configuration.go_away()
    with pytest.raises(Unavailable, match="App Configuration can't be read"):
        await store.read(settings)


@pytest.mark.parametrize("text", ["nonsense", "Endpoint=https://a;Id=b"])
async def test_a_connection_string_that_is_none_is_refused_by_its_setting(text: str) -> None:
    with pytest.raises(Misconfigured, match="APP_CONFIG_CONNECTION_STRING"):
        await store.read(load(app_config_connection_string=text))


def test_settings_import_nothing_of_azure() -> None:
    words = "import sys, fluxx.settings; fluxx.settings.load(); print('azure' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

"""The secret stores' promises, kept by a folder and by a Key Vault; and what each adds."""

import asyncio
import ssl
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import pytest_asyncio

from contracts.secrets import KEY, SecretsContract
from fluxx.adapters.azure.identity import BoundedCredential
from fluxx.adapters.azure.secrets import VaultSecrets, secret_client
from fluxx.adapters.embedded.secrets import FolderSecrets
from fluxx.adapters.key_cache import CachedSecrets
from fluxx.errors import Misconfigured, SecretMissing, Unavailable
from fluxx.ports.secrets import ApiKey
from fluxx.telemetry import VAULT_RETRYING, Facts
from servers.key_vault import KeyVaultServer
from support.azure import transport
from support.facts import FactsHeard

LONG = 1000.0
"""Seconds: a lifetime that no test reaches."""


class FolderWorld:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.secrets = CachedSecrets(FolderSecrets(root), lifetime=LONG)

    def put(self, extractor_id: UUID, value: str) -> None:
        self.root.mkdir(exist_ok=True)
        (self.root / str(extractor_id)).write_bytes(value.encode())


class TestFolder(SecretsContract):
    @pytest.fixture
    def world(self, tmp_path: Path) -> FolderWorld:
        return FolderWorld(tmp_path / "secrets")

    async def test_only_its_owner_can_read_a_key(self, world: FolderWorld) -> None:
        extractor_id = uuid4()
        await world.secrets.set_api_key(extractor_id, ApiKey(KEY))
        assert modes_of(world.root, world.root / str(extractor_id)) == ["0o700", "0o600"]
        assert [each.name for each in world.root.iterdir()] == [str(extractor_id)]

    async def test_a_mounted_kubernetes_secret_is_read_and_its_rotation_too(self, tmp_path: Path) -> None:
        extractor_id = uuid4()
        mount = KubernetesMount(tmp_path)
        mount.publish({str(extractor_id): "before\n"})
        secrets = CachedSecrets(FolderSecrets(tmp_path), lifetime=LONG)
        await secrets.check()
        assert (await secrets.api_key(extractor_id)).reveal() == "before"
        mount.publish({str(extractor_id): "after\n"})
        assert (await secrets.api_key(extractor_id, fresh=True)).reveal() == "after"
        mount.publish({})
        with pytest.raises(SecretMissing):
            await secrets.api_key(extractor_id, fresh=True)

    async def test_a_key_is_read_again_once_its_lifetime_is_over(self, world: FolderWorld) -> None:
        extractor_id = uuid4()
        secrets = CachedSecrets(FolderSecrets(world.root), lifetime=0.0)
        for key in ("before", "after"):
            world.put(extractor_id, key)
            assert (await secrets.api_key(extractor_id)).reveal() == key

    async def test_a_file_in_the_way_of_the_folder_is_told(self, tmp_path: Path) -> None:
        world = FolderWorld(tmp_path)
        world.put(UUID(int=1), KEY)
        secrets = FolderSecrets(tmp_path / str(UUID(int=1)))
        with pytest.raises(Unavailable):
            await secrets.check()
        with pytest.raises(Unavailable):
            await secrets.set_api_key(uuid4(), ApiKey(KEY))
        with pytest.raises(SecretMissing):
            await secrets.api_key(uuid4())


def modes_of(*paths: Path) -> list[str]:
    return [oct(stat.S_IMODE(path.stat().st_mode)) for path in paths]


class KubernetesMount:
    """Publishes files as the kubelet does: a new folder, and one link that is replaced in one step."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._version = 0

    def publish(self, files: dict[str, str]) -> None:
        self._version += 1
        data = self._folder / f"..{self._version}"
        data.mkdir()
        for name, value in files.items():
            (data / name).write_text(value)
            if not (self._folder / name).is_symlink():
                (self._folder / name).symlink_to(f"..data/{name}")
        (self._folder / "..new").symlink_to(data.name)
        (self._folder / "..new").replace(self._folder / "..data")


class VaultWorld:
    def __init__(self, server: KeyVaultServer, secrets: CachedSecrets, heard: FactsHeard) -> None:
        self.server = server
        self.secrets = secrets
        self.heard = heard

    def put(self, extractor_id: UUID, value: str) -> None:
        self.server.put(str(extractor_id), value)


class TestKeyVault(SecretsContract):
    @pytest_asyncio.fixture
    async def world(
        self, key_vault: KeyVaultServer, azure_credential: BoundedCredential, trusting: ssl.SSLContext
    ) -> AsyncIterator[VaultWorld]:
        facts = Facts()
        client = secret_client(key_vault.url, azure_credential, **transport(trusting))
        secrets = CachedSecrets(VaultSecrets(client, facts), lifetime=LONG)
        yield VaultWorld(key_vault, secrets, FactsHeard(facts))
        await secrets.close()

    async def test_a_key_is_read_once_for_all_who_ask_at_the_same_time(self, world: VaultWorld) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY)
        await world.secrets.check()  # the challenge is behind us
        keys = await asyncio.gather(*(world.secrets.api_key(extractor_id) for _ in range(50)))
        assert {key.reveal() for key in keys} == {KEY}
        assert world.server.reads(str(extractor_id)) == 1

    @pytest.mark.parametrize("status", [429, 500, 503])
    async def test_a_passing_trouble_is_sat_out_and_told(self, world: VaultWorld, status: int) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY)
        world.server.answer_next(status, times=2)
        assert (await world.secrets.api_key(extractor_id)).reveal() == KEY
        assert len(world.heard.of(VAULT_RETRYING)) == 2

    async def test_the_vaults_own_pace_is_kept(self, world: VaultWorld) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY)
        started = asyncio.get_running_loop().time()
        world.server.answer_next(429, headers={"Retry-After": "1"})
        await world.secrets.api_key(extractor_id)
        assert asyncio.get_running_loop().time() - started >= 1

    async def test_a_wish_for_a_long_pause_is_left_to_the_job(self, world: VaultWorld) -> None:
        world.server.answer_next(429, headers={"Retry-After": "60"})
        with pytest.raises(Unavailable, match="429"):
            await world.secrets.api_key(uuid4())
        assert world.heard.of(VAULT_RETRYING) == []

    async def test_a_vault_that_is_away_is_unavailable_until_it_is_back(self, world: VaultWorld) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY)
        await world.server.go_away()
        refused = [world.secrets.api_key(extractor_id), world.secrets.check()]
        refused += [world.secrets.delete_api_key(extractor_id), world.secrets.set_api_key(extractor_id, ApiKey("k"))]
        ends = await asyncio.gather(*refused, return_exceptions=True)
        assert [type(end) for end in ends] == [Unavailable] * 4
        await world.server.come_back()
        assert (await world.secrets.api_key(extractor_id)).reveal() == KEY
        await world.secrets.check()

    async def test_a_check_asks_once(self, world: VaultWorld) -> None:
        await world.secrets.check()
        world.server.answer_next(503)
        with pytest.raises(Unavailable, match="503"):
            await world.secrets.check()

    async def test_a_vault_that_refuses_this_identity_is_a_matter_of_settings(self, world: VaultWorld) -> None:
        world.server.forbidden = True
        with pytest.raises(Misconfigured, match=r"KEY_VAULT_URL.*403 Forbidden"):
            await world.secrets.check()
        with pytest.raises(Unavailable):
            await world.secrets.api_key(uuid4())

    async def test_a_disabled_key_is_missing(self, world: VaultWorld) -> None:
        extractor_id = uuid4()
        world.put(extractor_id, KEY)
        world.server.disabled.add(str(extractor_id))
        with pytest.raises(SecretMissing, match="disabled"):
            await world.secrets.api_key(extractor_id)

    @pytest.mark.parametrize("url", ["", "vault", "http://vault.azure.net", "https://"])
    def test_a_url_that_is_no_vaults_is_refused_by_its_setting(
        self, url: str, azure_credential: BoundedCredential
    ) -> None:
        with pytest.raises(Misconfigured, match="KEY_VAULT_URL"):
            secret_client(url, azure_credential)

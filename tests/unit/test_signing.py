"""Signed file URLs: what they open, how long, and where their key comes from."""

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.adapters.embedded.signing import KEY_BYTES, UrlSigner, load_or_make_key
from fluxx.errors import BadInput, Misconfigured

NOW = datetime(2025, 6, 1, 12, 0, 0, 500_000, tzinfo=UTC)
FILE_ID = UUID("0198f6d2-7d0b-7c1e-a9a4-0c2f6b0d1e55")
PATH = f"files/{uuid4()}/{FILE_ID}/content"
SIGNER = UrlSigner(b"k" * KEY_BYTES, "https://fluxx.example/base/")


def signed(expires_at: datetime = NOW + timedelta(hours=1), signer: UrlSigner = SIGNER) -> tuple[int, str]:
    query = parse_qs(urlsplit(signer.sign(PATH, expires_at)).query)
    return int(query["expires"][0]), query["signature"][0]


def test_the_url_is_the_files_apis() -> None:
    url = urlsplit(SIGNER.sign(PATH, NOW))
    assert url._replace(query="").geturl() == f"https://fluxx.example/base/files/{FILE_ID}/content"


def test_the_base_may_be_told_later() -> None:
    signer = UrlSigner(b"k" * KEY_BYTES)
    signer.base_url = "http://127.0.0.1:8080"
    assert signer.sign(PATH, NOW).startswith(f"http://127.0.0.1:8080/files/{FILE_ID}/content?")


def test_a_url_opens_its_file_until_it_ends() -> None:
    expires, signature = signed(NOW + timedelta(hours=1))
    assert SIGNER.verify(FILE_ID, expires, signature, NOW)
    assert SIGNER.verify(FILE_ID, expires, signature, NOW + timedelta(hours=1))
    assert not SIGNER.verify(FILE_ID, expires, signature, NOW + timedelta(hours=1, seconds=1))


def test_nothing_else_is_opened() -> None:
    expires, signature = signed()
    other = UrlSigner(b"K" * KEY_BYTES)
    assert not SIGNER.verify(uuid4(), expires, signature, NOW)
    assert not SIGNER.verify(FILE_ID, expires + 1, signature, NOW)
    assert not other.verify(FILE_ID, expires, signature, NOW)


@given(st.text())
def test_no_text_passes_for_a_signature(text: str) -> None:
    expires, signature = signed()
    assert text == signature or not SIGNER.verify(FILE_ID, expires, text, NOW)


@pytest.mark.parametrize(
    "path",
    [f"results/a/{FILE_ID}/content", f"files/a/{FILE_ID}/other", f"files/{FILE_ID}/content", "files/a/b/content"],
)
def test_only_the_content_of_files_is_signed(path: str) -> None:
    with pytest.raises(BadInput):
        SIGNER.sign(path, NOW)


def test_the_key_is_made_once_and_kept_for_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "secrets" / "signing-key"
    key = load_or_make_key(path)
    assert len(key) == KEY_BYTES
    assert load_or_make_key(path) == key
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)] == [0o700, 0o600]
    assert [each.name for each in path.parent.iterdir()] == ["signing-key"]


def test_all_who_make_it_at_the_same_time_get_the_same_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as threads:
        keys = list(threads.map(load_or_make_key, [tmp_path / "secrets" / "signing-key"] * 64))
    assert len(set(keys)) == 1


def test_a_broken_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "signing-key").write_bytes(b"short")
    with pytest.raises(Misconfigured, match=f"FLUXX_HOME.*{tmp_path}/signing-key is broken"):
        load_or_make_key(tmp_path / "signing-key")
    with pytest.raises(Misconfigured, match=f"FLUXX_HOME.*{tmp_path}/signing-key/below-a-file can't be kept"):
        load_or_make_key(tmp_path / "signing-key" / "below-a-file")

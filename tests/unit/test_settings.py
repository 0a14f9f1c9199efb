"""A setting that makes no sense is one clear line that names it."""

from pathlib import Path

import pytest

from fluxx.errors import Misconfigured
from fluxx.settings import load


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
    ],
)
def test_nonsense_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    with pytest.raises(Misconfigured, match=name) as refused:
        load()
    assert "\n" not in str(refused.value)


def test_settings_that_contradict_each_other_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLL_MAX_INTERVAL_SECONDS", "1")
    with pytest.raises(Misconfigured, match="POLL_MAX_INTERVAL_SECONDS"):
        load()


def test_the_environment_goes_over_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("MAX_POLL_ATTEMPTS=7\nMAX_SUBMIT_ATTEMPTS=7\n")
    monkeypatch.setenv("MAX_SUBMIT_ATTEMPTS", "3")
    settings = load()
    assert (settings.max_poll_attempts, settings.max_submit_attempts) == (7, 3)

"""Where there is no browser and none can be installed, one line says what to do."""

import pytest

from support.chromium import ChromiumMissing, chromium


def test_a_missing_chromium_is_told_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ChromiumMissing, match="apt-get install --no-install-recommends chromium"):
        chromium()

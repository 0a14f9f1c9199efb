"""``docs/azure.md`` names settings and commands that exist."""

import re
from pathlib import Path

from fluxx.settings import Settings

PAGE = (Path(__file__).parents[2] / "docs" / "azure.md").read_text()


def test_every_variable_named_is_a_setting_or_azures_own() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", PAGE))
    assert len(named) > 10
    azures = {name for name in named if name.startswith(("AZURE_", "IDENTITY_"))}
    assert named - azures <= {name.upper() for name in Settings.model_fields}


def test_the_identities_named_are_those_that_can_be_chosen() -> None:
    # The source is read, not imported: this test needs nothing of Azure.
    source = (Path(__file__).parents[2] / "src" / "fluxx" / "adapters" / "azure" / "identity.py").read_text()
    for variable in set(re.findall(r'"((?:AZURE|IDENTITY)_[A-Z_]+)"', source)):
        assert f"`{variable}`" in PAGE
    for name in set(re.findall(r'"(\w+Credential)": _', source)):
        assert f"`{name}`" in PAGE

"""Locked packages name versions and hashes, never where this or that machine got them from."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NPM_LOCK = ROOT / "tests" / "servers" / "azurite" / "package-lock.json"


def test_npm_packages_have_hashes_and_no_address() -> None:
    packages = json.loads(NPM_LOCK.read_text())["packages"]
    installed = {name: package for name, package in packages.items() if name.startswith("node_modules/")}
    assert installed["node_modules/azurite"]["version"] == "3.37.0"
    for name, package in installed.items():
        assert package.get("link") or package["integrity"].startswith("sha512-"), name
        assert package.get("resolved", "left-out") == "left-out", name


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").glob("*.txt")), ids=lambda path: path.name)
def test_python_packages_have_hashes_and_no_address(path: Path) -> None:
    text = path.read_text()
    assert "--hash=sha256:" in text
    assert "://" not in text
    assert "-index" not in text

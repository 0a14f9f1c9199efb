"""What can be known of ``deploy/`` without containers or Azure: it parses, and agrees with itself and the code."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tree_sitter import Language, Node, Parser
from tree_sitter_bicep import language

from fluxx.settings import Settings

DEPLOY = Path(__file__).parents[2] / "deploy"
BICEP = sorted((DEPLOY / "azure").glob("*.bicep"))
SETTINGS = {name.upper() for name in Settings.model_fields}
DEFAULTS = Settings.model_construct()
TOPICS = {
    DEFAULTS.topic_accepted_file: DEFAULTS.accepted_file_subscription,
    DEFAULTS.topic_job_status: DEFAULTS.job_status_subscription,
}
# Bounds of the emulator, from the schema that Microsoft publishes for its Config.json.
MOST_DELIVERIES = 10
DURATIONS = {"PT1M", "PT5M", "PT1H"}


@pytest.fixture(scope="module")
def compose() -> Any:
    return yaml.safe_load((DEPLOY / "compose" / "compose.yaml").read_text())


def test_the_dockerfile_is_linted() -> None:
    program = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([program, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_no_roots() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    assert [line for line in lines if line.startswith("USER")] == ["USER 10001:10001"]


def test_compose_starts_nothing_before_what_it_needs(compose: Any) -> None:
    services = compose["services"]
    for service in services.values():
        for needed, how in service.get("depends_on", {}).items():
            assert needed in services
            if how["condition"] == "service_healthy":
                assert services[needed]["healthcheck"]["test"]


def test_compose_gives_settings_that_exist(compose: Any) -> None:
    ours = [service for service in compose["services"].values() if service["image"] == "fluxx"]
    assert len(ours) == 6
    for service in ours:
        assert set(service["environment"]) <= SETTINGS
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]


@pytest.mark.parametrize("name", ["registration", "files", "jobs", "worker", "migrated"])
def test_compose_runs_commands_that_exist(compose: Any, name: str) -> None:
    words = [word for word in compose["services"][name]["command"] if not word.startswith("-")]
    command = words[: 1 if words[0] == "worker" else 2]
    fluxx = Path(sys.executable).with_name("fluxx")
    done = subprocess.run([fluxx, *command, "--help"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_emulator_has_the_topics_of_the_default_settings() -> None:
    config = json.loads((DEPLOY / "compose" / "service-bus.json").read_text())
    [namespace] = config["UserConfig"]["Namespaces"]
    found = {topic["Name"]: [each["Name"] for each in topic["Subscriptions"]] for topic in namespace["Topics"]}
    assert found == {topic: [subscription] for topic, subscription in TOPICS.items()}
    for properties in (each["Properties"] for topic in namespace["Topics"] for each in topic["Subscriptions"]):
        assert 1 <= properties["MaxDeliveryCount"] <= MOST_DELIVERIES
        assert {properties["LockDuration"], properties["DefaultMessageTimeToLive"]} <= DURATIONS


def errors_in(node: Node) -> Iterator[str]:
    if node.is_error or node.is_missing:
        yield f"line {node.start_point.row + 1}: {(node.text or b'').decode()[:60]}"
    for child in node.children:
        yield from errors_in(child)


@pytest.mark.parametrize("path", BICEP, ids=lambda path: path.name)
def test_bicep_parses(path: Path) -> None:
    tree = Parser(Language(language())).parse(path.read_bytes())
    assert list(errors_in(tree.root_node)) == []


@pytest.mark.parametrize(
    "module", re.findall(r"^module \w+ '(.+)' = ", (BICEP[0].parent / "main.bicep").read_text(), re.MULTILINE)
)
def test_a_bicep_module_is_given_the_parameters_that_it_names(module: str) -> None:
    main = (DEPLOY / "azure" / "main.bicep").read_text()
    call = re.search(rf"^module \w+ '{re.escape(module)}' = \{{\n(.*?)^\}}", main, re.MULTILINE | re.DOTALL)
    assert call
    given = re.findall(r"^    (\w+): ", call[1].partition("params: {")[2], re.MULTILINE)
    declared = re.findall(r"^param (\w+) ", (DEPLOY / "azure" / module).read_text(), re.MULTILINE)
    assert sorted(given) == sorted(declared)


def test_bicep_gives_settings_and_topics_that_exist() -> None:
    apps = (DEPLOY / "azure" / "apps.bicep").read_text()
    assert set(re.findall(r"\{ name: '([A-Z_]+)'", apps)) - SETTINGS == {"AZURE_CLIENT_ID"}
    main = (DEPLOY / "azure" / "main.bicep").read_text()
    for name in (*TOPICS, *TOPICS.values(), DEFAULTS.storage_container):
        assert f"'{name}'" in main


def test_what_could_not_be_run_says_so() -> None:
    for path in (*BICEP, DEPLOY / "Dockerfile", DEPLOY / "compose" / "compose.yaml"):
        assert "Not run" in path.read_text(), path.name

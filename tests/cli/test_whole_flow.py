"""From nothing to results by hand: ``fluxx up``, an extractor that pretends, and every command around them."""

import asyncio
import json
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.conftest import Inside
from fluxx import wiring
from fluxx.clock import SystemClock
from fluxx.messages import job_status
from fluxx.ports.bus import Message
from fluxx.settings import load
from fluxx.telemetry import Facts
from support.commands import FLUXX, Serving, Shell
from support.terminal import in_terminal

KEY = b"a-made-up-key"
SETTINGS = {"EGRESS_ALLOWED_NETWORKS": "127.0.0.0/8", "POLL_INTERVAL_SECONDS": "0.1", "POLL_MAX_INTERVAL_SECONDS": "1"}
SIMULATOR = ("simulate", "--port", 0, "--latency", 0, "--size", 2000, "--key-file", "key")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    folder = tmp_path_factory.mktemp("flow")
    (folder / "key").write_bytes(KEY + b"\n")
    (folder / "invoice.pdf").write_bytes(b"%PDF-1.7 made up")
    (folder / "naïve \x1b[31m.txt").write_text("a file whose name would paint the terminal red")
    return Shell(folder, SETTINGS)


@pytest.fixture
def inside(shell: Shell, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Inside:
    """Commands in this process, in the same folder and with the same settings."""
    monkeypatch.chdir(shell.folder)
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    return Inside(shell.folder, capfdbinary)


@pytest.fixture(scope="module")
def up(shell: Shell) -> Iterator[Serving]:
    with shell.serving("up", "--port", 0, until="Ready at http://127.0.0.1:") as serving:
        yield serving


@pytest.fixture(scope="module")
def extraction_url(shell: Shell) -> Iterator[str]:
    with shell.serving(*SIMULATOR, until="/simulator/jobs") as serving:
        yield serving.line_with("/simulator/jobs")


@pytest.fixture(scope="module")
def client(shell: Shell) -> str:
    """A client application, registered before anything else was started: the first command makes the home."""
    return shell.succeed("client", "add", "Invoices").text


@pytest.fixture(scope="module")
def extractor(shell: Shell, client: str, extraction_url: str) -> str:
    added = shell.succeed(
        "extractor", "add", "--client-application", client, "--name", "ocr", "--url", extraction_url, "--key-file", "-",
        stdin=KEY,
    )  # fmt: skip
    return added.text


@pytest.fixture(scope="module")
def job(shell: Shell, client: str, extractor: str, up: Serving) -> dict[str, Any]:
    """The job of a file that was handed in and waited for."""
    assert "Traceback" not in up.said
    submitted = shell.succeed("submit", "invoice.pdf", "--client-application", client, "--wait", "--json").json
    assert submitted["fileName"] == "invoice.pdf"
    (only,) = submitted["jobs"]
    assert only["status"] == "Succeeded"
    assert only["clientApplicationExtractorId"] == extractor
    return dict(only)


def test_up_says_where_it_is_and_what_to_do_next(up: Serving) -> None:
    url = up.line_with("Ready at http://").split("Ready at ")[1].split()[0]
    assert httpx.get(f"{url}/healthz").status_code == 200
    assert f"{url}/docs" in up.line_with("/docs")
    assert f"Dashboard: {url}/. " in up.line_with("Dashboard")
    assert httpx.get(f"{url}/", follow_redirects=True).status_code == 200
    up.line_with("fluxx client add NAME")


@pytest.mark.parametrize("words", ["add --client-application {client} --name other --url", "change {extractor} --url"])
@pytest.mark.parametrize(
    ("url", "advice"),
    [("http://10.0.0.5/jobs", "list 10.0.0.5 there, in its environment or in .env"), ("http://a:b@c.example/", "")],
)
def test_a_private_url_is_refused_with_what_to_do_here(
    inside: Inside, client: str, extractor: str, words: str, url: str, advice: str
) -> None:
    ended = inside.run("extractor", *words.format(client=client, extractor=extractor).split(), url)
    assert advice in ended.complaint
    assert (".env" in ended.complaint) == bool(advice)
    assert ended.status == 2


def test_the_lists_know_what_was_registered(inside: Inside, client: str, extractor: str, extraction_url: str) -> None:
    (listed,) = inside.succeed("client", "list", "--json").json
    assert (listed["clientApplicationId"], listed["name"]) == (client, "Invoices")
    (listed,) = inside.succeed("extractor", "list", "--client-application", client, "--json").json
    assert listed["clientApplicationExtractorId"] == extractor
    assert listed["extractionUrl"] == extraction_url
    assert extraction_url in inside.succeed("extractor", "list").text, "in a pipe only long names are cut"


def test_the_job_is_listed_and_shown_with_its_history(inside: Inside, job: dict[str, Any]) -> None:
    assert job in inside.succeed("jobs", "list", "--status", "succeeded", "--json").json
    assert job["jobId"] in inside.succeed("jobs", "list").text
    assert inside.succeed("jobs", "show", job["jobId"], "--json").json == job
    shown = inside.succeed("jobs", "show", job["jobId"]).text
    assert "invoice.pdf" in shown
    for line in job["history"]:
        assert line["message"] in shown


def test_the_job_api_says_the_same(up: Serving, job: dict[str, Any]) -> None:
    url = up.line_with("Ready at http://").split("Ready at ")[1].split()[0]
    assert httpx.get(f"{url}/extractor/job/{job['jobId']}").json() == job


def test_the_result_comes_byte_for_byte(shell: Shell, inside: Inside, job: dict[str, Any]) -> None:
    stored = (shell.folder / ".fluxx" / "blobs" / job["resultPath"]).read_bytes()
    assert len(stored) == 2000
    assert shell.succeed("result", job["jobId"]).stdout == stored
    assert inside.succeed("result", job["jobId"], "--output", "out.json").stdout == b""
    assert (shell.folder / "out.json").read_bytes() == stored
    assert not list(shell.folder.glob(".out.json*"))


@pytest.mark.parametrize(
    ("to", "says"),
    [("nowhere/out.json", "No such file"), ("invoice.pdf/out.json", "Not a directory"), (".fluxx", "Is a directory")],
)
def test_a_result_that_can_not_be_put_there_names_what_was_asked_for(
    inside: Inside, job: dict[str, Any], to: str, says: str
) -> None:
    ended = inside.run("result", job["jobId"], "--output", to)
    assert ended.complaint == f"fluxx: {to}: {ended.complaint.rpartition(': ')[2]}"
    assert says in ended.complaint
    assert ended.status == 2
    assert not list(inside.folder.glob(".*.part"))


def test_the_events_come_oldest_first_one_envelope_a_line(inside: Inside, job: dict[str, Any]) -> None:
    printed = inside.succeed("events", "--json", "--job", job["jobId"]).stdout
    envelopes = [job_status.decode(line) for line in printed.splitlines()]
    assert [each.type.rpartition(".")[2] for each in envelopes] == ["JobQueued", "JobStarted", "JobSucceeded"]
    assert {each.subject for each in envelopes} == {job["jobId"]}
    assert all(json.loads(line)["data"]["FileId"] == job["fileId"] for line in printed.splitlines())
    titles, *rows = inside.succeed("events", "--job", job["jobId"]).text.splitlines()
    assert [row.split()[2] for row in rows] == ["JobQueued", "JobStarted", "JobSucceeded"]
    assert {row.index(job["jobId"]) for row in rows} == {titles.index("JOB")}


def test_a_follower_sees_events_as_they_come(shell: Shell, inside: Inside, job: dict[str, Any]) -> None:
    with shell.serving("events", "--follow", "--json", until=job["jobId"]) as follower:
        again = inside.succeed("jobs", "retry", job["jobId"]).text
        assert inside.succeed("jobs", "retry", job["jobId"]).text == again, "asked twice, it is the same new job"
        watched = inside.succeed("jobs", "watch", again).text
        assert watched.splitlines()[-1].startswith(f"{again}  Succeeded")
        follower.line_with(again)
        assert follower.end(signal.SIGINT) == 130
        assert "Traceback" not in follower.said


@pytest.mark.usefixtures("up")
def test_a_poison_message_is_seen_among_the_dead(shell: Shell, inside: Inside) -> None:
    assert inside.succeed("events", "--dead", "--json").stdout == b""
    asyncio.run(_publish(shell, b"no JSON at all"))
    with shell.serving("events", "--dead", "--follow", "--json", until="no JSON at all") as follower:
        dead = json.loads(follower.line_with("no JSON at all"))
    assert (dead["messageId"], dead["reason"]) == ("poison", "NotJson")
    titles, row = inside.succeed("events", "--dead").text.splitlines()
    assert titles.index("REASON") == row.index("NotJson")


def test_what_the_job_forbids_is_a_conflict(inside: Inside, job: dict[str, Any]) -> None:
    ended = inside.run("jobs", "cancel", job["jobId"])
    assert job["jobId"] in ended.complaint
    assert ended.status == 1


@pytest.mark.usefixtures("extractor", "up")
def test_a_hostile_file_name_reaches_no_terminal(inside: Inside, client: str) -> None:
    inside.succeed("submit", "naïve \x1b[31m.txt", "--client-application", client, "--wait")
    for words in (("jobs", "list"), ("jobs", "list", "--json")):
        assert b"\x1b" not in inside.succeed(*words).stdout


def test_output_that_is_not_utf8_loses_characters_and_nothing_else(shell: Shell, job: dict[str, Any]) -> None:
    ascii_only = Shell(shell.folder, {**SETTINGS, "PYTHONIOENCODING": "ascii"})
    watched = ascii_only.succeed("jobs", "watch", job["jobId"]).stdout
    assert b"Queued -> Started" in watched
    assert job["jobId"].encode() in watched


@pytest.mark.usefixtures("up")
def test_an_extractor_is_renamed_rested_and_woken(inside: Inside, client: str, extractor: str) -> None:
    changed = inside.succeed("extractor", "change", extractor, "--name", "ocr 2", "--deactivate", "--json").json
    assert (changed["name"], changed["isActive"]) == ("ocr 2", False)
    submitted = inside.succeed("submit", "invoice.pdf", "--client-application", client, "--wait")
    assert "no jobs" in submitted.stderr
    inside.succeed("extractor", "change", extractor, "--activate")
    inside.succeed("extractor", "deactivate", extractor)
    inside.succeed("extractor", "change", extractor, "--activate")


@pytest.mark.usefixtures("up")
def test_without_its_key_a_job_fails_and_the_command_says_so(inside: Inside, extraction_url: str) -> None:
    # An extractor of its own: a service trusts a key that it has just read for some seconds.
    client = inside.succeed("client", "add", "Keyless").text
    added = ("--client-application", client, "--name", "keyless", "--url", extraction_url, "--key-file", "key")
    extractor = inside.succeed("extractor", "add", *added).text
    inside.succeed("key", "delete", extractor)
    ended = inside.run("submit", "invoice.pdf", "--client-application", client, "--wait")
    assert ended.status == 1
    assert "No API key is stored" in ended.stdout.decode()
    inside.succeed("key", "set", extractor, "--key-file", "key")
    inside.succeed("submit", "invoice.pdf", "--client-application", client, "--wait")
    inside.succeed("key", "delete", extractor)


@pytest.mark.usefixtures("client")
@pytest.mark.parametrize(("typed", "status"), [(KEY + b"\n", 0), (b"\x03", 130), (b"\x04", 130)])
def test_a_key_is_typed_at_a_prompt_and_not_shown(shell: Shell, extractor: str, typed: bytes, status: int) -> None:
    words = (FLUXX, "key", "set", extractor)
    ended, shown = in_terminal(
        words, columns=80, folder=shell.folder, environment=shell.environment, at="API key: ", typed=typed
    )
    assert ended == status, shown
    assert shown.startswith("API key")
    assert KEY.decode() not in shown
    assert "Traceback" not in shown


def test_everything_answers(inside: Inside, up: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRATION_URL", up.line_with("Ready at http://").split("Ready at ")[1].split()[0])
    answers = inside.succeed("check", "--json").json
    assert answers.keys() == {"database", "bus", "blobs", "secrets", "registration"}
    assert set(answers.values()) == {"ok"}


def test_nothing_young_is_purged(inside: Inside, job: dict[str, Any]) -> None:
    assert inside.succeed("db", "purge", "--older-than", "1d", "--json").json["jobs"] == 0
    assert inside.succeed("jobs", "show", job["jobId"], "--json").json == job


def test_the_key_is_nowhere_but_in_the_vault(inside: Inside, extractor: str, up: Serving) -> None:
    home = inside.folder / ".fluxx"
    holders = [path.relative_to(home) for path in home.rglob("*") if path.is_file() and KEY in path.read_bytes()]
    assert holders == [Path("secrets") / extractor]
    assert KEY.decode() not in up.said


async def _publish(shell: Shell, body: bytes) -> None:
    """Publish straight into the topic, as a platform that went wrong would."""
    settings = load(fluxx_home=shell.folder / ".fluxx")
    async with wiring.connect(settings, facts=Facts(), clock=SystemClock(), chance=random.Random(1)) as world:
        await world.bus.publish(settings.topic_accepted_file, [Message(message_id="poison", body=body)])

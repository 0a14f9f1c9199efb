"""An extractor that repeats what it was given: in bodies, reasons, redirects, result URLs; in every writing.

How it does so is the first segment of the URL that it is registered with: a name of ``MODES``.
"""

import json
from collections import Counter
from collections.abc import Callable
from urllib.parse import parse_qs, quote, urlsplit
from uuid import UUID, uuid4

import msgspec

from support.scripted import Received, Reply, ScriptedExtractor
from support.writings import WRITINGS, b64url

OUR_PARAMETERS = ("signature", "sig")
TAKEN = Reply(201)
FAILED = Reply(410, b"never again")


class Given(msgspec.Struct):
    """What was handed to the extractor for one job; ``calls`` counts how often it answered."""

    key: str = ""
    old_key: str = ""
    file_url: str = ""
    calls: Counter[str] = msgspec.field(default_factory=Counter)

    @property
    def signature(self) -> str:
        """The part of the URL that opens the file."""
        query = parse_qs(urlsplit(self.file_url).query)
        return next(query[name][0] for name in OUR_PARAMETERS if name in query)

    @property
    def secrets(self) -> list[str]:
        """What must not be seen again."""
        return [self.key, self.signature, self.file_url]


class Hostile:
    """Answers for ``server``; ``given`` is what it got to know, by job."""

    def __init__(self, server: ScriptedExtractor, *, rotate: Callable[[], None]) -> None:
        self.given: dict[UUID, Given] = {}
        self.rotate = rotate
        self.server = server
        server.on_submit(self._answer)
        server.on_poll(self._answer)

    def url(self, mode: str) -> str:
        """The URL to register for a mode."""
        return f"{self.server.url}/{mode}"

    def _answer(self, request: Received) -> Reply:
        job_id = request.job_id
        assert job_id is not None
        given = self.given.setdefault(job_id, Given())
        given.key = request.headers["Authorization"].removeprefix("Bearer ")
        if request.method == "POST":
            given.file_url = request.json["fileUrl"]
        given.calls[request.method] += 1
        return MODES[request.path.split("/")[1]](self, request, given)


Mode = Callable[[Hostile, Received, Given], Reply]


def _repeated(given: Given, method: str) -> bytes | None:
    """The next secret in the next writing, among other words; None when all were shown."""
    number = given.calls[method] - 1
    writings = list(WRITINGS.values())
    if number >= len(writings):
        return None
    shown = [writings[number](secret) for secret in given.secrets]
    return f'{{"error": "bad request", "key": "{shown[0]}", "about": "{shown[1]}", "url": "{shown[2]}"}}'.encode()


def _submissions_that_fail(_: Hostile, __: Received, given: Given) -> Reply:
    body = _repeated(given, "POST")
    return FAILED if body is None else Reply(503, body)


def _polls_that_fail(_: Hostile, request: Received, given: Given) -> Reply:
    if request.method == "POST":
        return Reply(201, f"took {b64url(given.file_url)} for {given.key}".encode())
    body = _repeated(given, "GET")
    return FAILED if body is None else Reply(500, body)


def _redirected_submission(_: Hostile, __: Received, given: Given) -> Reply:
    return Reply(
        307, headers={"Location": f"http://elsewhere.invalid/{quote(given.key)}?again={quote(given.file_url)}"}
    )


def _reported_at_once(_: Hostile, __: Received, given: Given) -> Reply:
    error = {"code": given.key, "message": f"can't read {given.file_url} ({given.signature.encode().hex()})"}
    return Reply(200, {"isReady": True, "error": error})


def _reported_later(hostile: Hostile, request: Received, given: Given) -> Reply:
    return TAKEN if request.method == "POST" else _reported_at_once(hostile, request, given)


def _rejected_key(_: Hostile, __: Received, given: Given) -> Reply:
    return Reply(401, json.dumps({"yours": given.key, "file": given.file_url}).encode())


def _rotated_key(hostile: Hostile, request: Received, given: Given) -> Reply:
    if given.calls["POST"] == 1:
        given.old_key = given.key
        hostile.rotate()
        return _rejected_key(hostile, request, given)
    return Reply(403, f"neither {given.old_key} nor {given.key} nor {given.signature}".encode())


def _redirected_poll(_: Hostile, request: Received, given: Given) -> Reply:
    host = given.key.encode().hex()[:60]
    return TAKEN if request.method == "POST" else Reply(302, headers={"Location": f"http://{host}.invalid/{given.key}"})


def _poll_to_a_refused_place(_: Hostile, request: Received, given: Given) -> Reply:
    place = f"http://10.0.0.1/{quote(given.key)}/{given.signature.encode().hex()}"
    return TAKEN if request.method == "POST" else Reply(302, headers={"Location": place})


def _linked(url: Callable[[Hostile, Given], str]) -> Mode:
    def mode(hostile: Hostile, request: Received, given: Given) -> Reply:
        return TAKEN if request.method == "POST" else Reply(body={"isReady": True, "resultUrl": url(hostile, given)})

    return mode


def _unreachable_result(_: Hostile, given: Given) -> str:
    return f"http://127.0.0.1:1/{b64url(given.key)}/{given.signature.encode().hex()}"


def _refused_result(_: Hostile, given: Given) -> str:
    return f"http://10.0.0.1/{quote(given.key)}?sig={given.signature}"


def _impossible_result(_: Hostile, given: Given) -> str:
    return f"http://{given.key}:{given.signature}@127.0.0.1/"


def _bad_result(hostile: Hostile, given: Given) -> str:
    path = f"/results/{uuid4()}"  # one for each: what belongs to another job can't be known here
    hostile.server.on_path(path, Reply(422, "\n".join(given.secrets).encode()))
    return f"{path}?token={quote(given.key)}"


def _lost_result(hostile: Hostile, given: Given) -> str:
    path = f"/moved/{uuid4()}"
    hostile.server.on_path(path, *[Reply(300, headers={"Location": f"/{b64url(given.key)}"})] * 9)
    return path


def _page(_: Hostile, request: Received, given: Given) -> Reply:
    """Answer with a page of HTML a few times, then no more."""
    if request.method == "POST":
        return TAKEN
    if given.calls["GET"] > 3:
        return FAILED
    return Reply(body=f"<html><a href='{given.file_url}'>{given.key}</a> {given.signature}</html>".encode())


MODES: dict[str, Mode] = {
    "submissions-that-fail": _submissions_that_fail,
    "polls-that-fail": _polls_that_fail,
    "redirected-submission": _redirected_submission,
    "reported-at-once": _reported_at_once,
    "reported-later": _reported_later,
    "rejected-key": _rejected_key,
    "rotated-key": _rotated_key,
    "redirected-poll": _redirected_poll,
    "poll-to-a-refused-place": _poll_to_a_refused_place,
    "unreachable-result": _linked(_unreachable_result),
    "refused-result": _linked(_refused_result),
    "impossible-result": _linked(_impossible_result),
    "bad-result": _linked(_bad_result),
    "lost-result": _linked(_lost_result),
    "page": _page,
}
REVEALING = {
    "submissions-that-fail",
    "polls-that-fail",
    "reported-later",
    "rejected-key",
    "rotated-key",
    "bad-result",
    "page",
}
"""Those whose answers end up, masked, in a history; the others' addresses are left out of it altogether."""

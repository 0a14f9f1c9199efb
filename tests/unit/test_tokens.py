"""Tokens are believed for one issuer, one audience, two algorithms, in their time; and the issuer is asked seldom."""

import asyncio
import base64
import json
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from fluxx.api.access.callers import Caller, Role, Unidentified
from fluxx.api.access.issuer import LIFETIME, LONGEST_LIFETIME, PAUSE
from fluxx.api.access.issuer import Issuer as Known
from fluxx.api.access.tokens import Tokens
from fluxx.errors import Misconfigured, Unavailable
from fluxx.telemetry import ISSUER_AWAY, Facts
from support.facts import FactsHeard
from support.issuer import AUDIENCE, Issuer

CLIENT = "01990b6e-2f3c-7d41-9a55-0c2c8f6e1b7a"


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.time


@pytest.fixture
async def issuer() -> AsyncIterator[Issuer]:
    async with Issuer() as made:
        made.add_rsa()
        made.add_ec()
        yield made


class Desk:
    """Tokens of one issuer, checked; ``heard`` are the facts told."""

    def __init__(self, issuer: Issuer, *, claim: str | None = None) -> None:
        facts = Facts()
        self.clock = Clock()
        self.heard = FactsHeard(facts)
        self.tokens = Tokens(
            Known(issuer.url, clock=self.clock, facts=facts), audiences=("another", AUDIENCE), claim=claim
        )


@pytest.mark.parametrize(("key_id", "algorithm"), [("rsa", "RS256"), ("ec", "ES256")])
async def test_a_good_token_names_its_bearer(issuer: Issuer, key_id: str, algorithm: str) -> None:
    token = issuer.token(key_id, algorithm=algorithm, sub="42", roles=["read", "operate"])
    assert await Desk(issuer).tokens.caller(token) == Caller("token 42", Role.OPERATE)


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        (["admin"], Role.ADMIN),
        (["operate", "read"], Role.OPERATE),
        ("read", Role.READ),
        (["Read", "ADMIN", "owner", 7, None], Role.NONE),
        (["none"], Role.NONE),
        ([], Role.NONE),
        (None, Role.NONE),
        ({"admin": True}, Role.NONE),
    ],
)
async def test_the_highest_known_role_counts(issuer: Issuer, roles: Any, role: Role) -> None:
    assert (await Desk(issuer).tokens.caller(issuer.token(roles=roles))).role is role


NOW = int(time.time())


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": NOW - 120},
        {"exp": None},
        {"exp": "soon"},
        {"nbf": NOW + 3600},
        {"iat": NOW + 3600},
        {"aud": "api://other"},
        {"aud": None},
        {"aud": []},
        {"iss": "https://login.example/other"},
        {"iss": None},
        {"sub": None},
        {"sub": 7},
    ],
    ids=lambda claims: " ".join(f"{name} {type(value).__name__}" for name, value in claims.items()),
)
async def test_a_token_for_others_or_out_of_its_time_is_none(issuer: Issuer, claims: dict[str, Any]) -> None:
    with pytest.raises(Unidentified):
        await Desk(issuer).tokens.caller(issuer.token(**{"roles": ["admin"], **claims}))


async def test_clocks_may_differ_by_a_minute(issuer: Issuer) -> None:
    token = issuer.token(exp=int(time.time()) - 30, nbf=int(time.time()) + 30)
    assert (await Desk(issuer).tokens.caller(token)).role is Role.READ


def unsigned(issuer: Issuer) -> str:
    header, claims, _ = issuer.token(roles=["admin"]).split(".")
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": "rsa"}).encode()).decode().rstrip("=")
    assert header
    return f"{none}.{claims}."


def by_the_public_key(issuer: Issuer) -> str:
    """The classic confusion: HMAC, its secret the public key that everybody knows."""
    public = issuer.private["rsa"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    _, claims, _ = issuer.token(roles=["admin"]).split(".")
    header = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "rsa"}).encode()).decode().rstrip("=")
    signer = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = signer.sign(f"{header}.{claims}".encode(), public)
    return f"{header}.{claims}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


FORGED = {
    "no algorithm": unsigned,
    "HMAC by the public key": by_the_public_key,
    "RS512": lambda issuer: issuer.token(algorithm="RS512"),
    "PS256": lambda issuer: issuer.token(algorithm="PS256"),
    "another's key": lambda issuer: issuer.token(key=rsa.generate_private_key(65537, 2048)),
    "another's curve key": lambda issuer: issuer.token(
        "ec", algorithm="ES256", key=ec.generate_private_key(ec.SECP256R1())
    ),
    "a changed claim": lambda issuer: ".".join(
        [
            issuer.token().split(".")[0],
            base64.urlsafe_b64encode(json.dumps({"sub": "x", "roles": ["admin"]}).encode()).decode().rstrip("="),
            issuer.token().split(".")[2],
        ]
    ),
    "a key that nobody published": lambda issuer: issuer.token("unknown", key=issuer.private["rsa"]),
    "no key named": lambda issuer: jwt.encode({"sub": "x"}, issuer.private["rsa"], algorithm="RS256"),
    "no JWT": lambda _: "a.b.c",
    "nothing": lambda _: "..",
    "beyond all measure": lambda issuer: issuer.token(padding="x" * 20_000),
}


@pytest.mark.parametrize("forged", FORGED)
async def test_a_forged_token_is_none(issuer: Issuer, forged: str) -> None:
    with pytest.raises(Unidentified):
        await Desk(issuer).tokens.caller(FORGED[forged](issuer))


async def test_keys_of_other_kinds_or_too_weak_do_not_count(issuer: Issuer) -> None:
    issuer.add_rsa("weak", bits=1024)
    issuer.add_rsa("for encryption", use="enc")
    issuer.add_rsa("for another algorithm", alg="RS512")
    issuer.add_ec("of another curve", curve=ec.SECP384R1())
    issuer.published += [
        {"kty": "oct", "kid": "shared", "k": "c2VjcmV0"},
        {"kty": "RSA", "kid": "broken"},
        {},
        "no key",
    ]  # type: ignore[list-item]
    desk = Desk(issuer)
    for key_id in ("weak", "for encryption", "for another algorithm"):
        with pytest.raises(Unidentified):
            await desk.tokens.caller(issuer.token(key_id))
    with pytest.raises(Unidentified):
        await desk.tokens.caller(issuer.token("of another curve", algorithm="ES384"))
    with pytest.raises(Unidentified):
        await desk.tokens.caller(issuer.token("shared", algorithm="HS256", key="secret" * 10))
    assert (await desk.tokens.caller(issuer.token())).role is Role.READ


async def test_a_claim_binds_to_a_client_application(issuer: Issuer) -> None:
    tokens = Desk(issuer, claim="client_application").tokens
    caller = await tokens.caller(issuer.token(client_application=CLIENT))
    assert (caller.role, caller.client_application_id) == (Role.READ, UUID(CLIENT))


@pytest.mark.parametrize(("role", "left"), [("read", Role.NONE), ("operate", Role.NONE), ("admin", Role.ADMIN)])
async def test_without_the_claim_only_an_admin_sees_everything(issuer: Issuer, role: str, left: Role) -> None:
    caller = await Desk(issuer, claim="client_application").tokens.caller(issuer.token(roles=[role]))
    assert (caller.role, caller.client_application_id) == (left, None)


@pytest.mark.parametrize("value", ["", "everything", 7, [CLIENT], {"id": CLIENT}])
async def test_a_claim_that_is_no_client_application_binds_to_nothing(issuer: Issuer, value: Any) -> None:
    with pytest.raises(Unidentified):
        await Desk(issuer, claim="client_application").tokens.caller(issuer.token(client_application=value))


async def test_keys_are_read_once_for_many_tokens_at_once(issuer: Issuer) -> None:
    desk = Desk(issuer)
    token = issuer.token()
    await asyncio.gather(*(desk.tokens.caller(token) for _ in range(20)))
    assert issuer.asked == 1


async def test_a_new_key_is_found_and_a_withdrawn_one_ends(issuer: Issuer) -> None:
    desk = Desk(issuer)
    old = issuer.token()
    await desk.tokens.caller(old)
    issuer.published.clear()
    issuer.add_rsa("new")
    desk.clock.time += PAUSE
    assert (await desk.tokens.caller(issuer.token("new"))).role is Role.READ
    with pytest.raises(Unidentified):
        await desk.tokens.caller(old)
    assert issuer.asked == 2


async def test_invented_keys_do_not_make_us_ask_again_and_again(issuer: Issuer) -> None:
    desk = Desk(issuer)
    for _ in range(50):
        with pytest.raises(Unidentified):
            await desk.tokens.caller(issuer.token(str(uuid4()), key=issuer.private["rsa"]))
    assert issuer.asked == 1


async def test_while_the_issuer_is_away_its_keys_go_on_counting_for_a_day(issuer: Issuer) -> None:
    desk = Desk(issuer)
    token = issuer.token()
    await desk.tokens.caller(token)
    issuer.away = True
    desk.clock.time += LIFETIME
    assert (await desk.tokens.caller(token)).role is Role.READ
    assert desk.heard.of(ISSUER_AWAY) == [{"error": "it answered 503"}]
    desk.clock.time += LONGEST_LIFETIME
    with pytest.raises(Unavailable):
        await desk.tokens.caller(token)


async def test_an_issuer_that_was_never_there_is_asked_seldom(issuer: Issuer) -> None:
    desk = Desk(issuer)
    issuer.away = True
    for _ in range(5):
        with pytest.raises(Unavailable):
            await desk.tokens.caller(issuer.token())
    assert len(desk.heard.of(ISSUER_AWAY)) == 1
    issuer.away = False
    desk.clock.time += PAUSE
    assert (await desk.tokens.caller(issuer.token())).role is Role.READ


@pytest.mark.parametrize(
    "document",
    [
        {"issuer": "https://login.example/other"},
        {"jwks_uri": "http://keys.example/"},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": None},
        {"padding": "x" * 300_000},
    ],
    ids=lambda changes: next(iter(changes)),
)
async def test_a_discovery_document_that_cannot_be_believed_is_not(issuer: Issuer, document: dict[str, Any]) -> None:
    issuer.document |= document
    desk = Desk(issuer)
    with pytest.raises(Unavailable):
        await desk.tokens.caller(issuer.token())
    assert issuer.asked == 0


@pytest.mark.parametrize(
    "url", ["http://login.example/", "login.example", "ftp://login.example", "https://", "http://["]
)
def test_an_issuer_must_be_reached_safely(url: str) -> None:
    with pytest.raises(Misconfigured, match="AUTH_ISSUER"):
        Known(url, clock=Clock(), facts=Facts())

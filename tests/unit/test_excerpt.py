"""What may be shown of an answer: one short line, and no secret in any writing."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.extraction.excerpt import excerpt
from fluxx.ports.extractor import Answer
from fluxx.ports.secrets import ApiKey
from fluxx.scrubbing import scrubbed, secrets_of_url
from support.writings import WRITINGS, b64, reveals

SECRET = 'sk-4f9a/Zq+7w==~"x\\&é'


def show(body: bytes | str, *, reason: str = "Bad Request", secrets: tuple[str, ...] = (SECRET,)) -> str:
    body = body.encode() if isinstance(body, str) else body
    return excerpt(Answer(400, reason, {}, body), secrets=secrets)


@pytest.mark.parametrize("name", WRITINGS)
@pytest.mark.parametrize("around", ["{}", "no such key: {}", '{{"error": "bad key", "sent": "{}"}}', "<p>{}</p> x"])
def test_a_secret_is_masked_however_it_is_written(name: str, around: str) -> None:
    written = WRITINGS[name](SECRET)
    shown = show(around.format(written))
    assert "***" in shown
    assert not reveals(shown, written)
    assert not reveals(shown, " ".join(written.split()))


ANY_SECRET = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="*"), min_size=6, max_size=60
)
LIKE_ESCAPES = st.text('%\\&#;xu"04', min_size=6, max_size=20)
NO_ESCAPE_BEGUN = st.text(st.characters(exclude_characters="%\\&"), max_size=20)


@given(
    secret=ANY_SECRET | LIKE_ESCAPES,
    writing=st.sampled_from([name for name in WRITINGS if name != "spaced"]),
    before=NO_ESCAPE_BEGUN,
    after=NO_ESCAPE_BEGUN,
)
def test_any_secret_in_any_writing_anywhere(secret: str, writing: str, before: str, after: str) -> None:
    written = WRITINGS[writing](secret)
    shown = scrubbed(before + written + after, secrets=[secret], length=300)
    assert written not in shown
    assert secret not in shown


@pytest.mark.parametrize("name", WRITINGS)
@pytest.mark.parametrize("escape", ["%00", "%41", "\\u0041", "\\x41", '\\"', "&amp;", "&#65;"])
def test_a_secret_that_holds_what_looks_like_an_escape_is_found(name: str, escape: str) -> None:
    for secret in (f"00\\{escape}", f"ab{escape}cd", f"{escape}{escape}"):
        written = WRITINGS[name](secret)
        shown = scrubbed(written, secrets=[secret], length=300)
        assert written not in shown
        assert secret not in shown


@pytest.mark.parametrize("name", WRITINGS)
@pytest.mark.parametrize(
    "before", ["%", "%2", "%u", "\\", "\\u00", "\\u003", "\\x", "&", "&#", "&#x", "&#x3", "=", "%25", "%5C", "&amp;#"]
)
@pytest.mark.parametrize("secret", ["777777", "a1b2c3d4", SECRET])
def test_the_beginning_of_another_escape_hides_no_secret(name: str, before: str, secret: str) -> None:
    written = WRITINGS[name](secret)
    shown = show(before + written, secrets=(secret,))
    assert "***" in shown
    assert not reveals(shown, written)


@given(
    secret=st.text('%\\&#;xu"04abcdefgh', min_size=24, max_size=60),
    writing=st.sampled_from([name for name in WRITINGS if name != "spaced"]),
    before=st.text('%\\&#;xu"04', max_size=4),
    after=st.text('%\\&#;xu"04', max_size=4),
)
def test_a_long_secret_is_found_whatever_stands_beside_it(secret: str, writing: str, before: str, after: str) -> None:
    written = WRITINGS[writing](secret)
    shown = scrubbed(before + written + after, secrets=[secret], length=300)
    assert written not in shown
    assert secret not in shown


@pytest.mark.parametrize("value", ["application/json", "AWS4-HMAC-SHA256", "2026-11-30T07:00:00Z"])
def test_a_part_of_a_url_s_value_is_no_secret(value: str) -> None:
    text = "authentication failed on 2026-11-30 07:00, HMAC-SHA1 is too weak"
    assert scrubbed(text, secrets=secrets_of_url(f"https://a.test/?v={value}"), length=300) == text


def test_what_stands_beside_a_plain_secret_stays() -> None:
    assert show('{"error":"key sk-1234567 is revoked"}', secrets=("sk-1234567",)) == (
        'HTTP 400 Bad Request: {"error":"key *** is revoked"}'
    )


def test_a_key_that_hides_itself_is_found_all_the_same() -> None:
    key = ApiKey("sk-1234567")
    assert show("key sk-1234567 " + b64("sk-1234567"), secrets=(key,)) == "HTTP 400 Bad Request: key *** ***"


def test_a_secret_in_the_reason_phrase_is_masked() -> None:
    assert show(b"", reason=f"Bad {SECRET}") == "HTTP 400 Bad ***"


def test_an_empty_or_tiny_secret_does_not_wipe_everything() -> None:
    assert show("fine", secrets=("",)) == "HTTP 400 Bad Request: fine"
    assert show("pin 7 is wrong", secrets=("7",)) == "HTTP 400 Bad Request: pin *** is wrong"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("authorization: Basic YTpi", "authorization: Basic ***"),
        ('{"Authorization":"Bearer abc"}', '{"Authorization":"Bearer ***"}'),
        ("Proxy-Authorization=abc", "Proxy-Authorization=***"),
        ("x-api-key: 12345, next", "x-api-key: ***, next"),
        ("Ocp-Apim-Subscription-Key: 12345", "Ocp-Apim-Subscription-Key: ***"),
        ("Cookie: session=1234; other=5678", "Cookie: ***"),
        ('Authorization: Digest username="x", response="y"', "Authorization: Digest ***"),
        ("got Bearer a1b2c3", "got Bearer ***"),
        ("Bearer authentication needed", "Bearer authentication needed"),
        ("https://h/f?se=2026&sig=ab%2Bc%3D&sp=r", "https://h/f?se=2026&sig=***&sp=r"),
        ("https://h/f?a=1&amp;sig=abc&amp;b=2", "https://h/f?a=1&amp;sig=***&amp;b=2"),
        ("https://h/f?expires=9&signature=0a1b", "https://h/f?expires=9&signature=***"),
        ("?X-Amz-Signature=0a1b&X-Amz-Credential=k", "?X-Amz-Signature=***&X-Amz-Credential=***"),
        ("?X-Goog-Signature=0a1b", "?X-Goog-Signature=***"),
        ("?token=t&access_token=u&api_key=v&code=w", "?token=***&access_token=***&api_key=***&code=***"),
        ("fileUrl=https%3A%2F%2Fh%3Fsig%3Dabc", "fileUrl=https%3A%2F%2Fh%3Fsig%3D***"),
        ('"https://h/f?sig\\u003dabc"', '"https://h/f?sig\\u003d***"'),
        ('{"token": "abc", "apiKey":"def"}', '{"token": "***", "apiKey":"***"}'),
        ("https://user:pass@h/x", "https://***@h/x"),
        ("jwt eyJhbGciOi.eyJzdWIi.c2ln here", "jwt *** here"),
        ("invalid token: expired", "invalid token: expired"),
        ("design=good, signal=high", "design=good, signal=high"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_what_looks_like_a_credential_is_masked(text: str, shown: str) -> None:
    assert scrubbed(text, length=300) == shown


def test_an_excerpt_is_one_short_printable_line() -> None:
    shown = show("a\r\n\tb\x00\x1b[31m\u202ec\ud7ff" + "é" * 5000)
    assert shown.startswith("HTTP 400 Bad Request: a b[31mcé")
    assert shown.isprintable()
    assert len(shown.removeprefix("HTTP 400 Bad Request: ")) == 300
    assert shown.endswith("é…")


def test_a_long_reason_phrase_is_cut() -> None:
    assert len(show(b"", reason="x" * 5000)) < 100


def test_bytes_that_are_no_text_are_shown_as_far_as_possible() -> None:
    assert show(b"caf\xe9 \xff\xfe") == "HTTP 400 Bad Request: caf\ufffd \ufffd\ufffd"


def test_no_body_and_no_phrase_leave_the_status() -> None:
    assert show(b"", reason="") == "HTTP 400"


@pytest.mark.parametrize("at", range(4090, 4110, 3))
def test_a_secret_on_the_edge_of_what_is_looked_at_is_not_half_shown(at: int) -> None:
    body = " " * (at - 20) + "x" * 20 + SECRET + "y" * 9000
    assert "sk-4" not in show(body)


@pytest.mark.parametrize(
    "body",
    [b"bearer " * 10**6, b"://" + b"a" * 10**7, b'"' * 10**7, b"eyJa-" * 10**6, b"%25" * 10**6, b"&amp;" * 10**6],
    ids=["bearer", "userinfo", "quotes", "jwt", "percent", "entities"],
)
def test_a_hostile_body_costs_little(body: bytes) -> None:
    start = time.process_time()
    show(body)
    assert time.process_time() - start < 1.0


@given(body=st.binary(max_size=600), reason=st.text(max_size=200), secrets=st.lists(st.text(max_size=30), max_size=3))
def test_nothing_raises(body: bytes, reason: str, secrets: list[str]) -> None:
    shown = excerpt(Answer(500, reason, {}, body), secrets=secrets)
    assert shown.isprintable()
    assert len(shown) <= 400

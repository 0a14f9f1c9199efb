"""What a text costs is bounded whatever others write into it; long secrets stay hidden at the edges of what is read."""

import random
import time
from collections.abc import Callable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fluxx.extraction.excerpt import BODY_LENGTH
from fluxx.hidden_secrets import LONG, WIDEST
from fluxx.scrubbing import masked, scrubbed, secrets_of_url, unsigned
from support.work import work_of
from support.writings import WRITINGS, b64

KEY = "key-" + "k" * 36
FRAGMENTS = (
    *("%", "25", "26", "5c", "%25", "%26", "%5c"),
    *("\\", "\\\\", '\\"', "u005c", "u0025", "u0026", "x25", "x5c", "\\u0025", "\\u005c", "\\u0026"),
    *("&", "amp;", "#37;", "#38;", "#92;", "&amp;", "&#37;", "&#92;"),
    *(" ", "a"),
)
"""Of these a text is made that means something else in each order in which escapes are undone."""


def signed_url(length: int, seed: int = 1) -> str:
    """A signed URL of this length: most of it is a token, with letters that are escaped in some writings."""
    chance = random.Random(seed)
    start, end = "https://files.example.com/in/a.pdf?X-Amz-Security-Token=", "&X-Amz-Signature=" + "a1" * 32
    token = "".join(chance.choices("abcdefghijkABCDEFGHIJK0123456789%/+=&\"\\'", k=length - len(start) - len(end)))
    return start + token + end


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=120), st.integers(100, 1000))
@example(FRAGMENTS * 4, 1000)
@example(FRAGMENTS[:-2] * 12, 1000)
@pytest.mark.parametrize("length", [1_800, 16_000])
def test_no_text_is_much_work_however_long_the_secrets(length: int, fragments: Sequence[str], seed: int) -> None:
    secrets = [KEY, *secrets_of_url(signed_url(length))]
    text = "".join(random.Random(seed).sample(fragments, k=len(fragments))) * 500
    for body in (text, f"{b64(KEY)} {text}"):  # of the second its words are looked at, too
        assert work_of(lambda body=body: scrubbed(body, secrets=secrets, length=BODY_LENGTH)) < 200_000  # type: ignore[misc]


def test_what_was_not_read_to_its_end_is_not_shown() -> None:
    text = "".join(random.Random(7).sample(FRAGMENTS[:-2] * 8, k=8 * len(FRAGMENTS[:-2])))
    assert scrubbed(f"so much is clear: {text}", secrets=[KEY], length=BODY_LENGTH) == "so much is clear: ***"
    assert masked(f"so much is clear: {text}\nthis, too", secrets=[KEY]) == "so much is clear: ***\nthis, too"


def test_a_text_without_escapes_is_little_work() -> None:
    secrets = [KEY, *secrets_of_url(signed_url(16_000))]
    assert work_of(lambda: scrubbed("out of memory " * 9000, secrets=secrets, length=BODY_LENGTH)) < 100_000


def test_nothing_is_shown_of_a_text_with_more_secrets_than_are_looked_for() -> None:
    secrets = secrets_of_url("https://a.test/?" + "&".join(f"p{number}={number:016x}" for number in range(700)))
    assert scrubbed("all is well", secrets=secrets, length=BODY_LENGTH) == "***"
    assert scrubbed(" ", secrets=secrets, length=BODY_LENGTH) == ""
    assert work_of(lambda: scrubbed("all is well", secrets=secrets, length=BODY_LENGTH)) < 5_000


def test_a_page_that_mixes_all_kinds_of_escapes_stays_readable() -> None:
    page = '<a href=\\"/x?a=%20b&amp;c=1\\">it &quot;is&quot; down</a> ' * 40
    shown = scrubbed(page, secrets=[KEY], length=BODY_LENGTH)
    assert shown == page[: BODY_LENGTH - 1].rstrip() + "…"
    assert scrubbed(f"{b64(KEY)} {page}", secrets=[KEY], length=BODY_LENGTH).startswith('*** <a href=\\"/x?a=')


@pytest.mark.parametrize(
    "text", ["3F", "3F_", "eyJa-", "eyJa.", "https://", "https:\\/\\/a", "bearer a", '"token', "&#9"]
)
@pytest.mark.parametrize("show", [masked, unsigned])
def test_a_text_twice_as_long_costs_about_twice_as_much(show: Callable[[str], str], text: str) -> None:
    def cost(times: int) -> float:
        begun = time.process_time()
        show(text * times)
        return time.process_time() - begun

    ratios = (cost(40_000) / cost(20_000) for _ in range(5))
    assert any(ratio < 3 for ratio in ratios)  # four, where it is compared with itself at each place


@pytest.mark.parametrize("entity", ["&#", "&#x", "&#0", "%26#"])
def test_a_number_of_thousands_of_digits_is_no_trouble(entity: str) -> None:
    text = f"{entity}{'9' * 6000}; {b64(KEY)}"
    assert b64(KEY) not in masked(text, secrets=[KEY])
    assert scrubbed(text, secrets=[KEY, "k" * 6000], length=20)


EDGES = (0, BODY_LENGTH, 2 * BODY_LENGTH, 2 * BODY_LENGTH + 384, 4096, 8192)


@given(
    url=st.builds(signed_url, st.integers(1_000, 16_000), st.integers(0, 10_000)),
    writing=st.sampled_from([name for name in WRITINGS if name != "base64, wrapped"]),
    edge=st.sampled_from(EDGES),
    beside=st.integers(-400, 40),
    behind=st.sampled_from(["", " ", '"', "more words"]),
    first=st.sampled_from(["it is ", "sig=aaaaaaaa"]),  # a mask brings the edge to where it is shown
)
def test_a_long_secret_stays_hidden_wherever_the_text_is_cut(
    url: str, writing: str, edge: int, beside: int, behind: str, first: str
) -> None:
    written = WRITINGS[writing](url)
    at = max(0, edge + beside)
    before = (first * at)[:at]
    for text in (f"{before} {written}", f"{before}{written}{behind}", f"{before}{written} {'and so on ' * 900}"):
        for body in (text, text.encode()):
            assert not tells(scrubbed(body, secrets=[url], length=BODY_LENGTH), written)


@given(url=st.builds(signed_url, st.integers(1_000, 16_000), st.integers(0, 10_000)), at=st.integers(0, 9_000))
def test_a_long_secret_in_lines_of_base64_stays_hidden(url: str, at: int) -> None:
    plain = b64(url)
    written = "\n".join(plain[start : start + 76] for start in range(0, len(plain), 76))
    assert not tells(scrubbed("it is " * (at // 6) + written, secrets=[url], length=BODY_LENGTH), written)
    assert scrubbed(written, secrets=[url], length=BODY_LENGTH) == "***"


def tells(shown: str, written: str) -> bool:
    """Whether a piece of the written secret is to be seen."""
    squeezed = "".join(shown.split())
    seen = "".join(written.split())[:3000]
    return any(seen[at : at + 12] in squeezed for at in range(len(seen) - 12))


def test_a_long_secret_s_beginning_is_no_secret() -> None:
    page = "GET https://files.example.com/in/a.pdf was refused " * 400
    assert scrubbed(page, secrets=[signed_url(16_000)], length=BODY_LENGTH) == page[: BODY_LENGTH - 1].rstrip() + "…"


def test_what_stands_before_a_long_secret_is_shown_though_its_end_was_not_read() -> None:
    body = '{"error":"no such file","fileUrl":"' + signed_url(16_000) + '","code":"E7"}'
    assert scrubbed(body, secrets=[signed_url(16_000)], length=BODY_LENGTH) == '{"error":"no such file","fileUrl":"***'


@pytest.mark.parametrize("seen", range(4, 56, 3))
@pytest.mark.parametrize("name", ["plain", "hex", "base64", "JSON, every character", "quoted, lower case"])
def test_a_secret_that_begins_where_reading_ends_shows_none_of_its_letters(name: str, seen: int) -> None:
    written = WRITINGS[name](signed_url(2_000))
    near = 2 * BODY_LENGTH + WIDEST * LONG
    for before in (f"sig={'a' * (near - seen - 5)} ", f"sig=a{' ' * (4096 - seen - 5)}"):
        shown = scrubbed(before + written, secrets=[signed_url(2_000)], length=BODY_LENGTH)
        assert shown in ("***", "sig=***", "sig=*** ***")

"""Which URLs can be registered at all, networks aside."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fluxx.errors import BadInput
from fluxx.registration.urls import LONGEST_URL, checked_url


@pytest.mark.parametrize(
    "url",
    [
        "https://host/",
        "http://host",
        "HTTPS://HOST:8443/a%20b?c=d&e=f",
        "http://127.0.0.1:8080/extract",
        "http://[2001:db8::1]:8080/extract",
        "https://xn--hst-sna.example/",
        "https://host/" + "x" * (LONGEST_URL - 13),
    ],
)
def test_a_url_that_can_be_called_passes_as_it_is(url: str) -> None:
    assert checked_url(url, field="extractionUrl") == url


@given(st.text() | st.text("htps:/@#[]?.: x", max_size=30).map("http://{}".format))
def test_whatever_passes_is_plain_and_whatever_does_not_is_named(url: str) -> None:
    try:
        checked_url(url, field="pollingUrl")
    except BadInput as error:
        refused = error
    else:
        refused = None
    if refused is not None:
        assert refused.field == "pollingUrl"
    else:
        assert url.lower().startswith(("http://", "https://"))
        assert url.isascii()
        assert "#" not in url
        assert len(url) <= LONGEST_URL

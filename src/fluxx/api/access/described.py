"""What OpenAPI says of access: the two ways to show a key, and what each operation needs."""

from http import HTTPStatus
from typing import Any, Final

from fluxx.api.access.roles import NEEDS, OPEN
from fluxx.api.problems import MEDIA_TYPE

SCHEMES: Final = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key (`fluxx key new`), or a token of the configured issuer.",
    },
    "apiKey": {"type": "apiKey", "in": "header", "name": "X-Api-Key", "description": "An API key."},
}
EXTENSION: Final = "x-fluxx-role"
_SCHEMA: Final = {"$ref": "#/components/schemas/Problem"}
_REFUSALS: Final = {
    HTTPStatus.UNAUTHORIZED: "There is no key or token, or it isn't valid.",
    HTTPStatus.FORBIDDEN: "The caller's role does not allow it.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests; `Retry-After` says when to try again.",
}


def describe_access(document: dict[str, Any]) -> None:
    """Add security to an OpenAPI document whose operations are in ``NEEDS``; raise ``KeyError`` for others."""
    document.setdefault("components", {})["securitySchemes"] = SCHEMES
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            need = NEEDS[method.upper(), path]
            is_open = need == OPEN
            operation["security"] = [] if is_open else [{name: []} for name in SCHEMES]
            operation[EXTENSION] = "none" if is_open else str(need.role)
            for status, words in _REFUSALS.items():
                if status is HTTPStatus.TOO_MANY_REQUESTS or not is_open:
                    refusal = {"description": words, "content": {MEDIA_TYPE: {"schema": _SCHEMA}}}
                    operation["responses"].setdefault(str(int(status)), refusal)
            operation["responses"] = dict(sorted(operation["responses"].items()))

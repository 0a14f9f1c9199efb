"""The API's description of itself: shapes from ``schemas.py``, a problem for everything that isn't a success."""

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import msgspec
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from starlette.responses import Response

from fluxx.api.access.described import describe_access
from fluxx.api.problems import MEDIA_TYPE as PROBLEM_TYPE
from fluxx.api.schemas import SHAPES, Problem

Responses: TypeAlias = dict[int | str, dict[str, Any]]

REF: Final = "#/components/schemas/{name}"
_REF: Final = re.compile(r"#/components/schemas/(\w+)")
_encoder: Final = msgspec.json.Encoder()

_WHEN: Final = {
    HTTPStatus.BAD_REQUEST: "A parameter or the body is malformed; `field` names it.",
    HTTPStatus.FORBIDDEN: "The signature is missing, wrong or expired.",
    HTTPStatus.NOT_FOUND: "There is no such thing.",
    HTTPStatus.REQUEST_TIMEOUT: "The body stopped coming, or came too slowly.",
    HTTPStatus.CONFLICT: "Its state forbids it.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body has the wrong content type.",
    HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE: "The range lies beyond the end.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The body makes no sense; `field` names the part.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A part of the service can't be reached now; try again later.",
}


class DescribedApi(FastAPI):
    """A FastAPI whose OpenAPI document holds the shapes that its routes name, and what they need of a caller."""

    def openapi(self) -> dict[str, Any]:
        """Return the document, made once."""
        if not self.openapi_schema:
            document = super().openapi()
            _add_shapes(document)
            describe_access(document)
        return super().openapi()


def new_router(tag: str, *, prefix: str = "", route_class: type[APIRoute] = APIRoute) -> APIRouter:
    """Return an empty router whose routes answer for themselves and are named after their functions."""
    return APIRouter(
        prefix=prefix,
        tags=[tag],
        default_response_class=Response,
        route_class=route_class,
        generate_unique_id_function=_name_of,
    )


def _name_of(route: APIRoute) -> str:
    return route.name


def answer(shape: Any, status: int = HTTPStatus.OK, *, headers: Mapping[str, str] | None = None) -> Response:
    """Return ``shape`` (one of ``SHAPES``, or a list of them) as JSON."""
    return Response(_encoder.encode(shape), status, headers, "application/json")


def returns(
    status: int, description: str, shape: type[msgspec.Struct], *, many: bool = False, headers: Any = None
) -> Responses:
    """Describe a success: one ``shape``, or ``many`` in an array."""
    schema: dict[str, Any] = {"$ref": REF.format(name=shape.__name__)}
    if many:
        schema = {"type": "array", "items": schema}
    response: dict[str, Any] = {"description": description, "content": {"application/json": {"schema": schema}}}
    return {status: response | ({"headers": headers} if headers else {})}


def also(status: int, description: str, *, media_type: str | None = None, schema: Any = None) -> Responses:
    """Describe an answer that is not one of ``SHAPES``: bytes, text, or nothing at all."""
    content = {"content": {media_type: {"schema": schema or {}}}} if media_type else {}
    return {status: {"description": description, **content}}


def problems(*statuses: int) -> Responses:
    """Describe the problems that a route knows of, and that there may be others."""
    schema = {"$ref": REF.format(name=Problem.__name__)}
    described: Responses = {
        "default": {"description": "Any other problem.", "content": {PROBLEM_TYPE: {"schema": schema}}}
    }
    for status in statuses:
        described |= also(status, _WHEN[HTTPStatus(status)], media_type=PROBLEM_TYPE, schema=schema)
    return described


def _add_shapes(document: dict[str, Any]) -> None:
    """Put the schemas of all shapes that are named, and of what they are made of, into ``document``."""
    named = set(_REF.findall(msgspec.json.encode(document["paths"]).decode()))
    shapes = [shape for shape in SHAPES if shape.__name__ in named]
    _, schemas = msgspec.json.schema_components(shapes, ref_template=REF)
    known = document.setdefault("components", {}).setdefault("schemas", {})
    document["components"]["schemas"] = dict(sorted((known | schemas).items()))

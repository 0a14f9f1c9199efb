"""From a template and its values to a page. One renderer is made for all pages."""

from collections.abc import Mapping
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from fluxx.dashboard import words
from fluxx.dashboard.context import DashboardContext, Visitor

HEADERS: Final = {"referrer-policy": "same-origin", "cache-control": "no-store"}
"""Under ``no-referrer`` a browser sends forms without their origin, and then they are refused."""

STATIC: Final = "/dashboard/static"
NOBODY: Final = Visitor(name="", may_operate=False, may_upload=False, may_register=False)
FILTERS: Final = {
    "ago": words.ago,
    "exact": words.exact,
    "duration": words.duration,
    "at_most": words.at_most,
    "size": words.size,
    "number": words.number,
    "percent": words.percent,
}


class Renderer:
    """Renders templates; everything is escaped, a misspelt name is an error."""

    def __init__(self, context: DashboardContext) -> None:
        self._context = context
        self._environment = Environment(
            loader=PackageLoader("fluxx.dashboard"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters.update(FILTERS)

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
        """Return a page; templates also know ``visitor``, ``now``, ``path`` and where ``static`` files are."""
        text = self._environment.get_template(template).render(**self._common(request), **values)
        # A result may hold half a surrogate pair; a page can't.
        return HTMLResponse(text.encode(errors="replace"), status, HEADERS)

    def _common(self, request: Request) -> Mapping[str, Any]:
        return {
            "visitor": self.visitor(request),
            "now": self._context.clock.now(),
            "path": request.url.path,
            "static": STATIC,
            "signs_in": self._context.knows is not None,
        }

    def visitor(self, request: Request) -> Visitor:
        """Return who asks; on pages that are open to everybody it may be nobody."""
        return self._context.visitor(request) or NOBODY

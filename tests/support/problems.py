"""What every error of the HTTP APIs looks like."""

from typing import Any

import httpx


def problem_of(answer: httpx.Response, status: int, *, field: str | None = None) -> dict[str, Any]:
    """Return the problem in ``answer``, once it is one with this status (and names this field)."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = answer.json()
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert "Traceback" not in answer.text
    if field is not None:
        assert problem["field"] == field
    return problem

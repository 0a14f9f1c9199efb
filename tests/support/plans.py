"""How a database would go about the statements that a store sends it."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event

from fluxx.adapters.sql.engine import dialect_of

EXPLAIN = {"sqlite": "EXPLAIN QUERY PLAN ", "postgresql": "EXPLAIN (COSTS OFF) "}
READ_THROUGH = re.compile(r'Seq Scan on "?(\w+)|SCAN (?:main\.)?(\w+)$', re.MULTILINE)
"""A table that is read from end to end, in the words of PostgreSQL and of SQLite."""


class Plans:
    """Statements seen, each with its plan as text."""

    def __init__(self) -> None:
        self.of: dict[str, str] = {}

    @property
    def all(self) -> str:
        """All plans together."""
        return "\n".join(self.of.values())

    @property
    def read_through(self) -> set[str]:
        """The tables that some statement reads from end to end."""
        return {found[1] or found[2] for found in READ_THROUGH.finditer(self.all)}


@contextmanager
def explained(engine: Engine) -> Iterator[Plans]:
    """Collect the plans of what ``engine`` executes in the block, once it is over. Inserts have none."""
    plans, seen = Plans(), dict[str, Any]()

    def listen(_: Connection, __: object, statement: str, parameters: Any, *___: object) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            seen.setdefault(statement, parameters[0] if isinstance(parameters, list) else parameters)

    event.listen(engine, "before_cursor_execute", listen)
    try:
        yield plans
    finally:
        event.remove(engine, "before_cursor_execute", listen)
    with engine.connect() as connection:
        for statement, parameters in seen.items():
            rows = connection.exec_driver_sql(EXPLAIN[dialect_of(engine)] + statement, parameters)
            plans.of[statement] = "\n".join(str(row[-1]) for row in rows)

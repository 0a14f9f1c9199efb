"""What a database looks like, in a form that two ways of making it can be compared in."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Engine, inspect
from sqlalchemy.engine.reflection import ObjectKind

from fluxx.adapters.sql.engine import dialect_of, reading
from fluxx.adapters.sql.tables import SCHEMAS, metadata

TABLES = {table.name for table in metadata.tables.values()}


def shape(engine: Engine) -> dict[str, dict[str, Any]]:
    """Return columns, keys, indexes and checks of every table in our schemas. Defaults are left out."""
    inspector = inspect(reading(engine))
    there = set(inspector.get_schema_names())
    shapes: dict[str, dict[str, Any]] = {}
    for schema in [None] if dialect_of(engine) == "sqlite" else [name for name in SCHEMAS if name in there]:
        options: dict[str, Any] = {"schema": schema, "kind": ObjectKind.TABLE}
        columns = inspector.get_multi_columns(**options)
        primary = inspector.get_multi_pk_constraint(**options)
        foreign = inspector.get_multi_foreign_keys(**options)
        unique = _if_it_can_be_asked(inspector.get_multi_unique_constraints, options)
        indexes = inspector.get_multi_indexes(**options)
        checks = _if_it_can_be_asked(inspector.get_multi_check_constraints, options)
        for key in columns:
            if schema is None and key[1] not in TABLES:
                continue
            shapes[f"{schema}.{key[1]}"] = {
                "columns": {one["name"]: (_type(one["type"], engine), one["nullable"]) for one in columns[key]},
                "primary key": (primary[key] or {})["constrained_columns"],
                "foreign keys": {
                    one["name"]: (one["constrained_columns"], one["referred_schema"], one["referred_table"])
                    for one in foreign[key]
                },
                "unique": {one["name"]: one["column_names"] for one in unique[key]},
                "indexes": _indexes(indexes[key], unique[key]),
                "checks": {one["name"]: _plain(one["sqltext"]) for one in checks[key]},
            }
    return shapes


def existing_columns(engine: Engine) -> dict[str, list[str]]:
    """Return which of our tables there are, by their keys in ``metadata``, and which of their columns."""
    inspector = inspect(reading(engine))
    found: dict[str, list[str]] = {}
    for key, table in metadata.tables.items():
        schema = None if dialect_of(engine) == "sqlite" else table.schema
        if inspector.has_table(table.name, schema):
            found[key] = [column["name"] for column in inspector.get_columns(table.name, schema)]
    return found


def _if_it_can_be_asked(ask: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Return the answer; nothing of any table on SQL Server, where SQLAlchemy tells unique constraints as indexes."""
    try:
        return ask(**options)
    except NotImplementedError:
        return defaultdict(list)


def _indexes(indexes: Iterable[Any], unique: Iterable[Any]) -> dict[str, Any]:
    """Return indexes, without those that only serve a unique constraint."""
    named = {one["name"] for one in unique}
    return {
        one["name"]: (one["column_names"], bool(one["unique"]), _filter(one))
        for one in indexes
        if one["name"] not in named
    }


def _type(of: Any, engine: Engine) -> str:
    return re.sub(r" COLLATE \S+", "", of.compile(dialect=engine.dialect)).upper()


def _filter(index: Any) -> str | None:
    for name, value in index.get("dialect_options", {}).items():
        if name.endswith("_where"):
            return _plain(str(value))
    return None


def _plain(sql: str) -> str:
    return re.sub(r'[\s()\[\]"]', "", sql).replace("N'", "'")

"""The scripts of docs/operations.md give each role what it needs and no more."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, insert, text, update
from sqlalchemy.exc import ProgrammingError

from fluxx.adapters.sql.engine import make_engine
from fluxx.adapters.sql.migrations import check, migrate
from fluxx.adapters.sql.tables import client_application, client_application_extractor, job, job_status, metadata
from fluxx.errors import Misconfigured, Unavailable
from support.databases import Databases
from support.migrating import folder_of
from support.rows import place, row_of

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE")
RIGHTS = {  # on a schema, and on single tables beyond that
    "fluxx_registration": {"registration": "SELECT INSERT UPDATE"},
    "fluxx_files": {
        "registration": "SELECT",
        "file": "SELECT INSERT",
        "file.WaitingFile": "DELETE",
        "bus": "SELECT INSERT",
    },
    "fluxx_extractor": {
        "registration": "SELECT",
        "file": "SELECT INSERT DELETE",
        "extractor": "SELECT INSERT UPDATE DELETE",
        "bus": "SELECT INSERT UPDATE DELETE",
    },
}


@pytest.fixture
def owner(databases: Databases) -> Iterator[Engine]:
    """The owner's engine, after the page's script; roles belong to the whole server, so they are dropped."""
    script = re.search(r"```sql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert script is not None
    with databases.postgresql() as url:
        engine = make_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql(script[1], execution_options={"no_parameters": True})
        yield engine
        with engine.begin() as connection:
            for role in RIGHTS:
                connection.execute(text(f"DROP OWNED BY {role}; DROP ROLE {role}"))
        engine.dispose()


@pytest.fixture
def worker(owner: Engine) -> Iterator[Engine]:
    """An engine of a login that has the worker's role only."""
    with owner.begin() as connection:
        connection.execute(text("CREATE ROLE a_worker LOGIN IN ROLE fluxx_extractor"))
    engine = make_engine(owner.url.set(username="a_worker").render_as_string())
    yield engine
    engine.dispose()
    with owner.begin() as connection:
        connection.execute(text("DROP ROLE a_worker"))


@pytest.mark.parametrize("role", RIGHTS)
def test_a_role_has_what_the_page_says_and_no_more(owner: Engine, role: str) -> None:
    asking = text("SELECT has_table_privilege(:role, :name, :verb) AND has_schema_privilege(:role, :schema, 'USAGE')")
    with owner.connect() as connection:
        for table in metadata.tables.values():
            schema = table.schema or ""
            name = f'{schema}."{table.name}"'
            has = [
                verb
                for verb in VERBS
                if connection.scalar(asking, {"role": role, "name": name, "verb": verb, "schema": schema})
            ]
            granted = f"{RIGHTS[role].get(schema, '')} {RIGHTS[role].get(table.key, '')}"
            assert (name, has) == (name, granted.split())


def test_a_worker_works_but_cannot_write_registrations(owner: Engine, worker: Engine) -> None:
    place(owner)
    with worker.begin() as connection:
        connection.execute(update(job).values(StatusMessage="seen"))
        connection.execute(insert(job_status).values(row_of(job_status)))
    for statement in (
        insert(client_application).values(row_of(client_application)),
        update(client_application_extractor).values(ExtractionUrl="https://elsewhere.example"),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"), worker.begin() as connection:
            connection.execute(statement)


def test_a_worker_can_check_the_database_but_not_migrate_it(worker: Engine, tmp_path: Path) -> None:
    check(worker)
    assert migrate(worker) == []
    more = folder_of({1000: "CREATE TABLE extractor.b (x INTEGER);"}, tmp_path)
    with pytest.raises((Misconfigured, Unavailable), match="permission denied"):
        migrate(worker, folder=more)


def test_tables_of_later_migrations_get_the_same_rights(owner: Engine, tmp_path: Path) -> None:
    migrate(owner, folder=folder_of({1000: "CREATE TABLE extractor.later (x INTEGER);"}, tmp_path))
    with owner.connect() as connection:
        assert connection.scalar(text("SELECT has_table_privilege('fluxx_extractor', 'extractor.later', 'DELETE')"))
        assert not connection.scalar(text("SELECT has_table_privilege('fluxx_files', 'extractor.later', 'SELECT')"))


def test_the_sql_server_script_says_the_same() -> None:
    script = re.search(r"```tsql\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert script is not None
    granted: dict[str, dict[str, str]] = {role: {} for role in RIGHTS}
    pattern = r"GRANT ([A-Z, ]+) ON (?:SCHEMA|OBJECT)::\[(\w+)\](?:\.\[(\w+)\])? TO ([^;]+);"
    for verbs, schema, table, roles in re.findall(pattern, script[1]):
        for role in re.findall(r"\w+", roles):
            granted[role][f"{schema}.{table}" if table else schema] = verbs.replace(",", "")
    assert granted == {role: {"dbo.fluxx_schema_history": "SELECT", **rights} for role, rights in RIGHTS.items()}

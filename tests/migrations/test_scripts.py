"""The scripts as texts: the stories' exact words, the same numbers everywhere, and nothing that drops data."""

import re

import pytest

from fluxx.adapters.sql import scripts
from fluxx.adapters.sql.engine import DialectName
from fluxx.adapters.sql.scripts import Script

DIALECTS: tuple[DialectName, ...] = ("sqlserver", "postgresql", "sqlite")
STORY_1_WORDS = (
    "IF OBJECT_ID(N'[extractor].[JobStatus]', N'U') IS NOT NULL",
    "IF OBJECT_ID(N'[extractor].[Job]', N'U') IS NOT NULL",
    "CREATE TABLE [extractor].[Job]",
    "CREATE TABLE [extractor].[JobStatus]",
    "CONSTRAINT [FK_Job_FileId_File_FileID]",
    "CONSTRAINT [FK_Job_ClientApplicationExtractorID_Registration_ClientApplicationExtractorID]",
    "CONSTRAINT [FK_JobStatus_JobID_Job_JobID]",
)
UNWISE_ON_SQL_SERVER = ("MERGE", "ALTER COLUMN", "JSON_MODIFY", "WAITFOR", "sys.indexes", "GENERATED ALWAYS")


def _shipped(dialect: DialectName) -> list[Script]:
    return scripts.read(scripts.shipped(dialect))


def _words(script: Script) -> str:
    return re.sub(r"--.*", "", script.text)


def test_every_dialect_has_the_same_scripts() -> None:
    names = [[script.name for script in _shipped(dialect)] for dialect in DIALECTS]
    assert names[0] == names[1] == names[2]
    assert [script.version for script in _shipped("sqlserver")] == list(range(1, len(names[0]) + 1))


def test_story_1_is_told_in_its_own_words() -> None:
    text = _shipped("sqlserver")[2].text
    assert [word for word in STORY_1_WORDS if word not in text] == []
    assert text.index("DROP TABLE [extractor].[JobStatus]") < text.index("DROP TABLE [extractor].[Job]")
    required = [line for line in text.splitlines() if "DATETIMEOFFSET(6) NOT NULL" in line]
    assert len(required) == 3
    assert all("DEFAULT SYSDATETIMEOFFSET()" in line for line in required)


def test_story_3_adds_a_nullable_column_of_its_type() -> None:
    for dialect, words in zip(
        DIALECTS, ("[PollingUrl] VARCHAR(500) NULL", *['"PollingUrl" VARCHAR(500);'] * 2), strict=True
    ):
        assert words in _shipped(dialect)[3].text


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_but_story_1_drops_data(dialect: DialectName) -> None:
    dropping = re.compile(r"\b(DROP\s+TABLE|DROP\s+COLUMN|TRUNCATE|DELETE\s+FROM)\b.*", re.IGNORECASE)
    found = [
        match[0] for script in _shipped(dialect) if script.version != 3 for match in dropping.finditer(_words(script))
    ]
    # The one that is made anew, after every row was copied (tests/migrations/test_data.py counts them).
    assert found == (['DROP TABLE "Job";'] if dialect == "sqlite" else [])


def test_sql_server_scripts_stay_with_what_every_such_server_knows() -> None:
    found = [
        (script.name, word)
        for script in _shipped("sqlserver")
        for word in UNWISE_ON_SQL_SERVER
        if word in _words(script)
    ]
    assert found == []


def test_sql_server_scripts_are_split_at_go_lines_and_nowhere_else() -> None:
    script = Script(1, "a", "V1__a.sql", "SELECT 1; SELECT 2\nGO\n go \nSELECT 'GO'; -- GO\nGOTO x\r\nGO\r\n")
    assert list(scripts.statements(script, "sqlserver")) == ["SELECT 1; SELECT 2", "SELECT 'GO'; -- GO\nGOTO x"]
    for shipped in _shipped("sqlserver"):
        batches = list(scripts.statements(shipped, "sqlserver"))
        assert len(batches) == len(re.findall(r"^GO$", shipped.text, re.MULTILINE))
        # CREATE SCHEMA must be alone in its batch, and a batch can't use a column that it adds.
        assert all(batch.count("CREATE SCHEMA") + batch.count("CREATE TABLE") <= 1 for batch in batches)


def test_sqlite_scripts_are_split_where_statements_end() -> None:
    text = "-- a; b\nSELECT ';'; \n\nCREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\nEND;\n-- the end\n"
    assert list(scripts.statements(Script(1, "a", "V1__a.sql", text), "sqlite")) == [
        "-- a; b\nSELECT ';';",
        "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n  SELECT 1;\nEND;",
        "-- the end",
    ]


def test_the_checksum_is_flyways() -> None:
    """CRC-32 of the lines without their ends, signed; the number was made by another implementation."""
    assert Script(1, "a", "V1__a.sql", "CREATE TABLE a (x INTEGER);\n").checksum == 657626788
    assert Script(1, "a", "V1__a.sql", "\ufeffCREATE TABLE a\n (x INTEGER);").checksum == 657626788

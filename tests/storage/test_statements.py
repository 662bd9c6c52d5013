"""SQL has one home: ``helix/storage/statements``, where each statement has a name and a why."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.pq import ExecStatus

from tests.support.repository import ROOT

STATEMENT = re.compile(
    r"\s*(--[^\n]*\n\s*)*(?:"
    r"(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|SET|COPY)"
    r"\s+[\w*({'\"].*\b(?:FROM|INTO|SET|SELECT)\b"
    r"|SELECT\s+(?:\d|\w+\()|SET\s+(?:LOCAL\s+)?\w+\s*=|TRUNCATE\s"
    r"|(?:CREATE|DROP|ALTER)\s+(?:\w+\s+)?(?:TABLE|INDEX|VIEW|ROLE|FUNCTION)\b"
    r"|(?:ANALYZE|VACUUM|LISTEN|NOTIFY)\s+\w)",
    re.DOTALL,
)
"""All but BEGIN, COMMIT and ROLLBACK, which say nothing of a table."""
HOME = ROOT / "helix" / "storage" / "statements"
STATEMENTS = sorted(HOME.glob("[a-z]*.py"))


def _texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (it.value if isinstance(it, ast.Constant) else "x" for it in node.values)
            yield "".join(map(str, parts))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 FROM chunks", "\nWITH a AS (SELECT 1) SELECT 2", "SELECT build_terms()",
        "SELECT 1", "SET LOCAL jit = off", "DROP INDEX IF EXISTS x", "ANALYZE chunks",
        "UPDATE runs SET status = %s", "COPY chunks (id) FROM STDIN", "VACUUM term_changes",
    ],
)  # fmt: skip
def test_a_statement_is_known(text: str) -> None:
    assert STATEMENT.match(text)


@pytest.mark.parametrize("text", ["Select a model.", "UPDATE", "DELETE", "WITH", "SELECT"])
def test_prose_and_words_are_no_statement(text: str) -> None:
    assert not STATEMENT.match(text)


def test_sql_stands_nowhere_else_in_helix() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {' '.join(text.split())[:60]}"
        for file in sorted((ROOT / "helix").rglob("*.py"))
        if file.parent != HOME
        for text in _texts(file)
        if STATEMENT.match(text)
    ]
    assert found == []


def test_each_statement_says_why() -> None:
    for file in STATEMENTS:
        lines = file.read_text().splitlines()
        named = [n for n, line in enumerate(lines) if re.match(r"[A-Z_]+(: [^=]+)? = ", line)]
        assert named or "def " in file.read_text(), file.name
        assert [lines[n] for n in named if not lines[n - 1].startswith("# ")] == [], file.name


def _texts_of(name: str) -> Iterator[tuple[str, str]]:
    """The whole statements of a module, by name; templates are put together where they are used."""
    for key, value in vars(importlib.import_module(f"helix.storage.statements.{name}")).items():
        several = value.values() if isinstance(value, dict) else value
        texts = several if isinstance(value, dict | tuple) else [value]
        for text in texts if re.fullmatch("[A-Z][A-Z_]*", key) else ():
            if re.match(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b", str(text)) and not re.search(
                r"\{[a-z_]+\}", str(text)
            ):
                yield key, str(text)


def _numbered(statement: str) -> str:
    """A statement with Postgres's parameters in place of psycopg's."""
    names: list[str] = []

    def number(found: re.Match[str]) -> str:
        if found[0] == "%%":
            return "%"
        if found[1] is None or found[1] not in names:
            names.append(found[1] or "")
        return f"${names.index(found[1]) + 1 if found[1] else len(names)}"

    return re.sub(r"%(?:\((\w+)\))?[sb]|%%", number, statement)


def test_the_schema_takes_each_statement(database_url: str) -> None:
    others = ("anki", "vector_store", "vector_tables")  # SQLite's, SQLAlchemy's, other programs'
    refused, taken = [], 0
    with psycopg.connect(database_url) as connection:
        for file in (file for file in STATEMENTS if file.stem not in others):
            for name, text in _texts_of(file.stem):
                result = connection.pgconn.prepare(b"", _numbered(text).encode())
                taken += result.status == ExecStatus.COMMAND_OK
                if result.status != ExecStatus.COMMAND_OK:
                    refused.append(f"{file.stem}.{name}: {result.error_message.decode()}")
                    connection.rollback()
    assert refused == [] and taken > 200

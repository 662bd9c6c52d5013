"""SQL has one home: ``helix/storage``, where each statement of a room has a name and a why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.repository import ROOT

STATEMENT = re.compile(
    r"\s*(--[^\n]*\n\s*)*"
    r"(SELECT|INSERT INTO|UPDATE|DELETE FROM|WITH|SET|COPY|TRUNCATE)\s+[\w*({'\"]"
)
CLAUSE = re.compile(r"\b(FROM|INTO|SET|SELECT)\b")
TO_MOVE: set[str] = set()
"""Rooms that have statements of their own still; one that has none left goes from here."""
STATEMENTS = sorted((ROOT / "helix" / "storage" / "statements").glob("[a-z]*.py"))


def _texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (it.value if isinstance(it, ast.Constant) else "x" for it in node.values)
            yield "".join(map(str, parts))


def is_statement(text: str) -> bool:
    return bool(STATEMENT.match(text) and CLAUSE.search(text))


def test_a_statement_is_told_from_prose() -> None:
    assert is_statement("SELECT 1 FROM chunks") and is_statement("\nWITH a AS (SELECT 1) SELECT 2")
    assert not is_statement("Select a model.") and not is_statement("UPDATE")


def test_rooms_have_no_sql_of_their_own() -> None:
    found = {
        file.relative_to(ROOT / "helix").parts[0]
        for file in (ROOT / "helix").rglob("*.py")
        if any(map(is_statement, _texts(file)))
    }
    assert found == {"storage", *TO_MOVE}


@pytest.mark.parametrize("file", STATEMENTS, ids=lambda file: file.stem)
def test_each_statement_says_why(file: Path) -> None:
    lines = file.read_text().splitlines()
    named = [n for n, line in enumerate(lines) if re.match(r"[A-Z_]+ = ", line)]
    assert named
    assert [lines[n] for n in named if not lines[n - 1].startswith("# ")] == []

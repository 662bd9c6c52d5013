"""``helix spaces``, ``helix keys create --space`` and ``helix ingest --space``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg

from tests.support.cli_runner import helix

OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


def _told(url: str, *arguments: str) -> str:
    done = helix(*arguments, DATABASE_URL=url, **OFFLINE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _refused(url: str, *arguments: str) -> str:
    done = helix(*arguments, DATABASE_URL=url, **OFFLINE)
    assert done.returncode != 0 and "Traceback" not in done.stderr
    return " ".join(done.stderr.split())


def _rows(url: str, statement: Any) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


def _spaces(url: str) -> dict[str, list[int]]:
    rows = _rows(url, "SELECT source_uri, spaces FROM documents")
    return {uri.rpartition("/")[2]: spaces for uri, spaces in rows}


def test_spaces_are_made_filled_changed_and_deleted(
    durable_database_url: str, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"The words of {name}.")
    url, first = durable_database_url, str(tmp_path / "a.txt")
    assert "space 1 is made" in _told(url, "spaces", "create", "Board", "--style", "Briefly.")
    assert "there is a space board already" in _refused(url, "spaces", "create", "board")
    _told(url, "ingest", first, "--space", "board")
    _told(url, "ingest", str(tmp_path))  # again, without a space: it stays where it is
    assert _spaces(url) == {"a.txt": [1], "b.txt": [0]}
    assert "there is no space Nobody" in _refused(url, "ingest", first, "--space", "Nobody")
    _told(url, "ingest", first, "--space", "Library")
    assert _spaces(url)["a.txt"] == [0]
    (number,) = _rows(url, "SELECT id::text FROM documents WHERE source_uri LIKE '%a.txt'")[0]
    _told(url, "spaces", "put", "Board", number)
    assert _spaces(url)["a.txt"] == [0, 1]
    _told(url, "spaces", "put", "1", number, "--move")
    assert _spaces(url)["a.txt"] == [1]
    assert "it stands in no other space" in _refused(url, "spaces", "take", "Board", "a.txt")
    assert 'there is no document "c.txt"' in _refused(url, "spaces", "put", "Board", "c.txt")
    assert "put into space 1: 1" in _told(url, "spaces", "put", "Board", "b.txt", "B")
    assert "taken out of space 1: 1" in _told(url, "spaces", "take", "Board", "b.txt")
    assert "stand in no other space: 1" in _refused(url, "spaces", "delete", "Board")
    listed = _told(url, "spaces", "list")
    assert "Library" in listed and "Board" in listed and "members" in listed
    assert "space 1 is changed" in _told(url, "spaces", "change", "Board", "--name", "Directors")
    assert "there is no space Board" in _refused(url, "spaces", "delete", "Board")
    _told(url, "spaces", "put", "Library", number)
    assert "space 1 is deleted" in _told(url, "spaces", "delete", "Directors")
    assert _spaces(url)["a.txt"] == [0]
    assert "always there" in _refused(url, "spaces", "delete", "Library")
    audited = _rows(url, "SELECT count(*) FROM audit_events WHERE action LIKE 'helix spaces %'")
    assert audited == [(8,)]


def test_one_space_is_asked_and_searched(durable_database_url: str, tmp_path: Path) -> None:
    for name, number in (("open.txt", "four"), ("board.txt", "nine")):
        (tmp_path / name).write_text(f"The committee meets {number} times a year.")
    url, question = durable_database_url, "How often does the committee meet?"
    _told(url, "spaces", "create", "Board")
    _told(url, "ingest", str(tmp_path / "open.txt"))
    _told(url, "ingest", str(tmp_path / "board.txt"), "--space", "Board")
    for space, said in (("board", "nine times"), ("Library", "four times")):
        assert said in _told(url, "ask", question, "--space", space)
        found = _told(url, "search", "committee", "--space", space)
        assert said in found and found.count("times a year") == 1
    assert "there is no space Nobody" in _refused(url, "ask", question, "--space", "Nobody")


def test_a_key_of_a_space(database_url: str) -> None:
    _told(database_url, "spaces", "create", "Board", "--tenant", "acme")
    create = ("keys", "create", "--tenant", "acme", "--space")
    _told(database_url, *create, "board", "--space", "Library")
    assert _rows(database_url, "SELECT space_ids FROM api_keys") == [([0, 1],)]
    assert "there is no space Nobody" in _refused(database_url, *create, "Nobody")


def test_a_key_is_changed_and_revoked_by_a_name_that_is_its_alone(database_url: str) -> None:
    for name in ("kiosk", "kiosk", "wall"):
        _told(database_url, "keys", "create", "--name", name)
    several = _refused(database_url, "keys", "revoke", "kiosk")
    assert several == "helix: several keys are called kiosk: give the number, 1 or 2"
    assert "key 3 is changed" in _told(database_url, "keys", "set", "wall", "--scopes", "ask")
    assert "key 2 is revoked" in _told(database_url, "keys", "revoke", "2")
    assert "key 1 is revoked" in _told(database_url, "keys", "revoke", "kiosk")
    for gone in ("kiosk", "2", "99", "Wall"):
        told = f"helix: there is no key {gone} that opens anything: `helix keys list` has them"
        assert _refused(database_url, "keys", "revoke", gone) == told


def test_spaces_of_people_and_groups(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("INSERT INTO people (email) VALUES ('ada@a.example'), ('eve@a.example')")
        connection.execute(
            "INSERT INTO members (tenant_id, person_id, role)"
            " VALUES ('acme', 1, 'reader'), ('acme', 2, 'owner')"
        )
        connection.execute("INSERT INTO groups (tenant_id, name) VALUES ('acme', 'research')")
        connection.execute("INSERT INTO group_members VALUES ('acme', 1, 1)")
    read = "SELECT readable_spaces('acme', %s, %s, %s)"

    def spaces(person: int, role: str, only: list[int] | None = None) -> list[int] | None:
        with psycopg.connect(database_url) as connection:
            row = connection.execute(read, (person, role, only)).fetchone()
            assert row is not None
            found: list[int] | None = row[0]
            return found

    of = ("--tenant", "acme")
    assert spaces(1, "reader") is None  # there is none but the library
    for name in ("Board", "Lab"):
        _told(database_url, "spaces", "create", name, *of)
    assert spaces(1, "reader") == [0] and spaces(2, "owner") is None
    _told(database_url, "spaces", "let", "Board", "--person", "Ada@a.example", *of)
    _told(database_url, "spaces", "let", "Lab", "--group", "research", "--role", "editor", *of)
    assert spaces(1, "reader") == [0, 1, 2] and spaces(1, "reader", [0, 2, 9]) == [0, 2]
    _told(database_url, "spaces", "let", "Lab", "--group", "research", *of)  # another role
    listed = _told(database_url, "spaces", "members", "Lab", *of)
    assert "group research" in listed and "reader" in listed and "editor" not in listed
    _told(database_url, "spaces", "change", "Library", "--members", *of)
    assert spaces(1, "reader") == [1, 2]
    _told(database_url, "spaces", "change", "Lab", "--everyone", *of)
    _told(database_url, "spaces", "bar", "Lab", "--group", "research", *of)
    _told(database_url, "spaces", "bar", "Board", "--person", "ada@a.example", *of)
    assert spaces(1, "reader") == [2]
    no = _refused(database_url, "spaces", "bar", "Board", "--person", "ada@a.example", *of)
    assert "was not given to ada@a.example" in no
    no = _refused(database_url, "spaces", "let", "Board", "--person", "nobody@a.example", *of)
    assert "nobody@a.example is not in the tenant" in no
    assert "give --person or --group" in _refused(database_url, "spaces", "let", "Board", *of)

"""The migration, what it refuses to work on, and what cannot be reached."""

from __future__ import annotations

import re
import socket
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from db.embedded_postgres import EmbeddedPostgres
from db.errors import DatabaseError
from db.migrate import (
    check_schema,
    main,
    migrate,
    pgvector_problem,
    postgres_problem,
)
from db.url import HOW, explain, open_database, redact
from tests.support.catalog import catalog
from tests.support.sql_rows import add_chunk, add_document, count


@pytest.fixture
def connection(database_url: str) -> Iterator[psycopg.Connection]:
    """A connection to the test's own migrated database."""
    with psycopg.connect(database_url, autocommit=True) as opened:
        yield opened


def columns(url: str) -> dict[str, set[str]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public'"
        ).fetchall()
    return {table: {name for owner, name in rows if owner == table} for table, _ in rows}


def with_options(url: str, options: str) -> str:
    return f"{url}&options={quote(options)}"


# --- migrating


def test_eight_migrations_at_once_make_one_schema(
    bare_database_url: str, database_url: str
) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(migrate, [bare_database_url] * 8))
    check_schema(bare_database_url)
    assert catalog(bare_database_url) == catalog(database_url)


def test_migrating_again_keeps_what_is_there(
    database_url: str, connection: psycopg.Connection
) -> None:
    add_chunk(connection, add_document(connection))
    before = catalog(database_url)
    migrate(database_url)
    assert catalog(database_url) == before
    assert count(connection, "chunks") == 1


def test_a_failed_migration_leaves_nothing(bare_database_url: str) -> None:
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("CREATE TABLE feedback (other text)")
    with pytest.raises(DatabaseError, match=r"cannot be applied at .*column") as raised:
        migrate(bare_database_url)
    assert "\n" not in str(raised.value)
    assert set(columns(bare_database_url)) == {"feedback"}


def test_a_missing_and_an_old_schema_say_what_to_run(
    bare_database_url: str, connection: psycopg.Connection, database_url: str
) -> None:
    with pytest.raises(DatabaseError, match=r"missing or old: run `helix migrate`"):
        check_schema(bare_database_url)
    check_schema(database_url)
    connection.execute("UPDATE schema_version SET version = version - 1")
    with pytest.raises(DatabaseError, match="missing or old"):
        check_schema(database_url)


# --- what the server must have


@pytest.mark.parametrize(
    ("available", "installed", "said"),
    [
        ("0.8.0", None, None),
        ("0.8.5", "0.8.5", None),
        ("0.10.0", None, None),
        ("1.0", None, None),
        (None, "0.8.1", None),
        (None, None, "pgvector is missing"),
        ("0.7.4", None, "the server has pgvector 0.7.4, and Helix needs 0.8"),
        ("0.7.4", "0.7.4", "the server has pgvector 0.7.4"),
        ("0.8.5", "0.7.4", "ALTER EXTENSION vector UPDATE"),
    ],
)
def test_pgvector_versions(available: str | None, installed: str | None, said: str | None) -> None:
    problem = pgvector_problem(available, installed)
    assert (problem is None) if said is None else (problem is not None and said in problem)


def test_postgres_versions() -> None:
    assert postgres_problem(150000) is None
    assert postgres_problem(180004) is None
    assert "is Postgres 14" in str(postgres_problem(140012))


@pytest.fixture
def extensions() -> Iterator[Path]:
    """An empty directory that the server, perhaps another user, can read."""
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        yield Path(directory)


def test_a_server_without_pgvector_is_refused(bare_database_url: str, extensions: Path) -> None:
    url = with_options(bare_database_url, f"-c extension_control_path={extensions}")
    with pytest.raises(DatabaseError, match="pgvector is missing on the server: install pgvector"):
        migrate(url)
    assert columns(bare_database_url) == {}


@pytest.fixture
def role(postgres: EmbeddedPostgres) -> str:
    """A role that may log in and nothing else; it goes with the session's server."""
    with psycopg.connect(postgres.url) as connection:
        connection.execute("DROP ROLE IF EXISTS plain")
        connection.execute("CREATE ROLE plain LOGIN")
    return "plain"


def test_an_old_pgvector_is_refused(bare_database_url: str, extensions: Path) -> None:
    folder = extensions / "extension"
    folder.mkdir()
    (folder / "vector.control").write_text("default_version = '0.7.4'\n")
    (folder / "vector--0.7.4.sql").write_text("SELECT 1;\n")
    old = with_options(bare_database_url, f"-c extension_control_path={extensions}")
    with pytest.raises(DatabaseError, match=r"has pgvector 0\.7\.4, and Helix needs 0\.8 or newer"):
        migrate(old)
    with psycopg.connect(old) as connection:
        connection.execute("CREATE EXTENSION vector")
    with pytest.raises(DatabaseError, match=r"uses pgvector 0\.7\.4.*ALTER EXTENSION vector UPD"):
        migrate(bare_database_url)


def test_a_role_that_may_not_install_pgvector_is_told_who_may(
    bare_database_url: str, role: str
) -> None:
    url = bare_database_url.replace("//postgres@", f"//{role}@")
    with pytest.raises(DatabaseError, match=f"role {role} may not install pgvector: have a super"):
        migrate(url)
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("CREATE EXTENSION vector")
    with pytest.raises(DatabaseError, match=f"role {role} may not change the schema"):
        migrate(url)
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("GRANT CREATE ON SCHEMA public TO plain")
    with pytest.raises(DatabaseError, match=f"role {role} may not create roles: have a superuser"):
        migrate(url)
    with psycopg.connect(bare_database_url) as connection:
        connection.execute("GRANT helix_app, helix_limited TO plain")
    migrate(url)
    check_schema(url)


# --- what cannot be reached


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/x", "cannot reach .*127.0.0.1:1/x .*Connection refus"),
        ("postgresql://u@/x?host=/nowhere&password=hunter2", "cannot reach .*No such file"),
        ("postgresql://u:hunter2@nowhere.invalid/x", "cannot reach .*nowhere.invalid"),
        ("postgresql://u:hun%ter2@127.0.0.1/x", "DATABASE_URL is malformed"),
        ("postgresql://u:1/hunter2@127.0.0.1/x", "DATABASE_URL is malformed"),
        ("postgresql://u:@hunter2@127.0.0.1:1/x", "DATABASE_URL is malformed"),
    ],
)
def test_no_server(url: str, said: str) -> None:
    with pytest.raises(DatabaseError, match=said) as raised:
        check_schema(url)
    assert "hunter2" not in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "reason",
    ["sorry, too many clients already", 'too many connections for role "u"',
     "remaining connection slots are reserved for roles with the SUPERUSER attribute"],
)  # fmt: skip
def test_a_server_without_a_connection_left_is_not_to_be_started(reason: str) -> None:
    error = psycopg.OperationalError(f"connection failed: FATAL:  {reason}")
    told = str(explain("postgresql://u:hunter2@127.0.0.1/x", error))
    assert "has no connection left" in told and "hunter2" not in told and "start it" not in told


def test_a_server_whose_disk_is_full_is_not_to_be_started() -> None:
    told = "connection failed: FATAL:  could not write init file: No space left on device"
    problem = explain("postgresql://u:hunter2@db/x", psycopg.OperationalError(told))
    assert str(problem) == (
        "postgresql://u:***@db/x has no room (could not write init file: No space left on device):"
        " make some on its disk"
    )


def test_unknown_database_and_role(database_url: str) -> None:
    with pytest.raises(DatabaseError, match=r'no such database .*"nowhere" does not exist'):
        migrate(re.sub(r"/test_\d+", "/nowhere", database_url))
    url = database_url.replace("//postgres@", "//nobody:hunter2@")
    with pytest.raises(DatabaseError, match="check user and password in DATABASE_URL") as raised:
        migrate(url)
    assert "hunter2" not in str(raised.value)


def test_wrong_password() -> None:
    """A server that asks for a password and takes none, as far as libpq can see."""
    asked = b"R" + (8).to_bytes(4, "big") + (3).to_bytes(4, "big")
    text = b'SFATAL\0C28P01\0Mpassword authentication failed for user "u"\0\0'
    refused = b"E" + (len(text) + 4).to_bytes(4, "big") + text
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            peer, _ = listener.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(asked)
                peer.recv(4096)
                peer.sendall(refused)

        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(serve)
            port = listener.getsockname()[1]
            url = f"postgresql://u:hunter2@127.0.0.1:{port}/x?sslmode=disable&gssencmode=disable"
            with pytest.raises(
                DatabaseError, match=r"refuses the user .*check user and p"
            ) as raised:
                migrate(url)
            served.result(timeout=60)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:secret@h:5432/x", "postgresql://u:***@h:5432/x"),
        ("postgresql://u:se@cr/et@h/x", "postgresql://u:***@h/x"),
        ("postgresql://h/x?user=u&password=secret&a=b", "postgresql://h/x?user=u&password=***&a=b"),
        ("postgresql://u@h/x?sslpassword=secret", "postgresql://u@h/x?sslpassword=***"),
        ("postgresql://u@/x?host=/run/a", "postgresql://u@/x?host=/run/a"),
        ("host=h password=secret", "***"),
        ("embedded:/data", "embedded:/data"),
    ],
)
def test_redact(url: str, shown: str) -> None:
    assert redact(url) == shown


def test_open_database_normalises_and_refuses() -> None:
    for given in ("postgres://u@h/x", "postgresql://u@h/x"):
        with open_database(given) as url:
            assert url == "postgresql://u@h/x"
    for wrong in ("mysql://u:hunter2@h/x", "hunter2", "", "embedded:", "embeddedness"):
        with (
            pytest.raises(DatabaseError, match="DATABASE_URL is malformed") as raised,
            open_database(wrong),
        ):
            raise AssertionError("opened")
        assert "hunter2" not in str(raised.value)


# --- the command


def test_the_command_reads_the_environment_then_the_file(
    bare_database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DATABASE_URL", raising=False)
    assert main([]) == 1
    assert capsys.readouterr().err == f"DATABASE_URL is not set: {HOW}\n"

    (tmp_path / ".env").write_text(f"DATABASE_URL={bare_database_url}\n")
    assert main([]) == 0
    assert capsys.readouterr().out == f"the schema is up to date at {bare_database_url}\n"
    check_schema(bare_database_url)

    monkeypatch.setenv("DATABASE_URL", "postgresql://u:hunter2@127.0.0.1:1/x")
    assert main([]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert re.fullmatch(r"cannot reach postgresql://u:\*\*\*@127\.0\.0\.1:1/x .*\n", printed.err)


def test_outside_addresses_are_blocked() -> None:
    with socket.socket() as probe, pytest.raises(RuntimeError, match="may not reach outside"):
        probe.connect(("192.0.2.1", 80))
    with socket.socket() as probe, pytest.raises(RuntimeError, match="may not reach outside"):
        probe.connect_ex(("example.com", 80))

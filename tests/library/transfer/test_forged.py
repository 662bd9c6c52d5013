"""Exports that somebody forged: they touch no other tenant, no number and no file of the server."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from helix.library.transfer.folder import MOST_ID, TransferFailed, checked
from helix.library.transfer.tenant_export import export_tenant
from helix.library.transfer.tenant_import import import_tenant
from tests.support.catalog import all_rows

Row = dict[str, Any]
_DOCUMENT = (
    "INSERT INTO documents (tenant_id, source_uri, title, text, content_hash)"
    " VALUES (%s, 'a.txt', 'A', 'Words.', 'x')"
)
_MESSAGE = (
    "INSERT INTO conversations (tenant_id, id, title) VALUES ('acme', 'talk', 'A');"
    " INSERT INTO messages (tenant_id, conversation_id, branch, depth, question, answer_id,"
    " status, is_active) VALUES ('acme', 'talk', 1, 0, 'Where?', 'a', 'done', true)"
)


@pytest.fixture
def connection(module_database_url: str) -> Any:
    with psycopg.connect(module_database_url, autocommit=True) as connection:
        for table in ("messages", "conversations", "documents"):
            connection.execute(f"TRUNCATE {table} CASCADE".encode())
        connection.execute(_DOCUMENT, ("acme",))
        connection.execute(_DOCUMENT, ("acme-corp",))
        connection.execute(_MESSAGE.encode())
        yield connection


@pytest.fixture
def folder(connection: Any, tmp_path: Path) -> Path:
    export_tenant(connection, "acme", tmp_path / "export")
    return tmp_path / "export"


def forge(folder: Path, table: str, change: Callable[[Row], Any]) -> None:
    """Rewrite a table's rows, with a manifest that says they are whole."""
    file = folder / "tables" / f"{table}.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for row in rows:
        change(row)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    sign(folder, table)


def sign(folder: Path, table: str, **more: Any) -> None:
    data = (folder / "tables" / f"{table}.jsonl").read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text())
    member = manifest["tables"].setdefault(table, {"rows": 1, "columns": ["tenant_id"]})
    member |= {"size": len(data), "sha256": sha256(data).hexdigest(), **more}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def checked_columns(folder: Path) -> list[str]:
    manifest = json.loads((folder / "manifest.json").read_text())
    return list(manifest["tables"]["documents"]["columns"])


def refusal(connection: Any, folder: Path, url: str) -> str:
    """The reason why an import as a new tenant, whose name another's begins with, is refused.

    It changes nothing.
    """
    before = all_rows(url)
    with pytest.raises(TransferFailed) as caught:
        import_tenant(connection, folder, "acme-co", checked(folder))
    assert all_rows(url) == before
    return str(caught.value)


def test_an_export_as_it_was_made_comes_in(connection: Any, folder: Path) -> None:
    import_tenant(connection, folder, "other", checked(folder))
    (count,) = connection.execute(
        "SELECT count(*) FROM documents WHERE tenant_id = 'other'"
    ).fetchone()
    assert count == 1


@pytest.mark.parametrize("whose", ["rp", "/../acme", "/x", None, 5, "/" + "0" * 32 + "\n", "\n"])
def test_no_row_becomes_another_tenants(
    connection: Any, folder: Path, module_database_url: str, whose: Any
) -> None:
    forge(folder, "documents", lambda row: row.update(tenant_id=whose))
    assert "is no whole export" in refusal(connection, folder, module_database_url)


def test_rows_that_do_not_say_whose_they_are_stay_out(
    connection: Any, folder: Path, module_database_url: str
) -> None:
    forge(folder, "documents", lambda row: row.pop("tenant_id"))
    columns = [
        *json.loads((folder / "manifest.json").read_text())["tables"]["documents"]["columns"]
    ]
    sign(folder, "documents", columns=[name for name in columns if name != "tenant_id"])
    assert "whose its rows are" in refusal(connection, folder, module_database_url)


@pytest.mark.parametrize("table", ["documents", "messages"])
def test_no_number_of_later_rows_is_taken(
    connection: Any, folder: Path, module_database_url: str, table: str
) -> None:
    forge(folder, table, lambda row: row.update(id=MOST_ID + 7))
    assert table in refusal(connection, folder, module_database_url)


@pytest.mark.parametrize(
    "change",
    [{"last": {"documents": 2**62}}, {"last": {"documents": "1"}}, {"last": {"documents": -1}},
     {"tables": {"../../manifest": {"rows": 1, "size": 1, "sha256": "", "columns": []}}},
     {"tables": {"documents": {"rows": 1, "size": 1, "sha256": "", "columns": [["id"]]}}}],
)  # fmt: skip
def test_a_manifest_of_other_forms_is_none(folder: Path, change: Row) -> None:
    manifest = json.loads((folder / "manifest.json").read_text()) | change
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TransferFailed, match=r"no manifest\.json that can be read"):
        checked(folder)


def link(path: Path, target: Path) -> None:
    path.unlink()
    path.symlink_to(target)


def test_nothing_beside_the_folder_is_read(
    connection: Any, folder: Path, module_database_url: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"of the server")
    digest = sha256(b"of the server").hexdigest()
    (folder / "files" / digest).symlink_to(secret)
    forged = [
        ({"tenant_id": "", "content_hash": digest}, f"{digest} is missing"),
        ({"tenant_id": "", "content_hash": "../../secret"}, "no SHA-256"),
        ({"tenant_id": "rp", "content_hash": digest}, "a row of another tenant"),
        ({"tenant_id": ""}, "a row that is none"),
    ]
    for row, why in forged:
        (folder / "tables" / "files.jsonl").write_text(json.dumps(row) + "\n")
        sign(folder, "files", columns=["tenant_id", "content_hash"])
        assert why in refusal(connection, folder, module_database_url)


def test_links_devices_and_pipes_are_no_tables(folder: Path, tmp_path: Path) -> None:
    table = folder / "tables" / "documents.jsonl"
    (tmp_path / "copy").write_bytes(table.read_bytes())
    link(table, tmp_path / "copy")
    with pytest.raises(TransferFailed, match=r"documents\.jsonl is not what was written"):
        checked(folder)
    link(table, Path("/dev/zero"))
    with pytest.raises(TransferFailed, match=r"documents\.jsonl is not what was written"):
        checked(folder)
    table.unlink()
    os.mkfifo(table)
    with pytest.raises(TransferFailed, match=r"documents\.jsonl is not what was written"):
        checked(folder)
    link(folder / "manifest.json", tmp_path / "copy")
    with pytest.raises(TransferFailed, match=r"no manifest\.json"):
        checked(folder)

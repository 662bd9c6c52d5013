"""Files in a bucket: moved there, read from there, deleted there; whoever is killed when."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from hashlib import sha256

import psycopg
import pytest

from helix.errors import BucketUnavailable, StoreUnavailable
from helix.library.access import Library
from helix.library.documents import OriginalFile, file_parts, get_file
from helix.library.pages import bytes_of_file
from helix.storage import file_moves
from helix.storage.file_moves import counts, delete_loose_objects, move_next_file
from helix.storage.objects import delete_objects, put_object, read_object
from helix.storage.stored_bytes import keep_bytes, stored_file
from helix.store import ChunkStore
from tests.support.bucket import bucket, objects, refusing
from tests.support.fake_embedder import opened, record, rows, write

_FILES = "SELECT tenant_id, content_hash, place, data FROM files ORDER BY 1, 2"
_LATER = "UPDATE loose_objects SET due_at = due_at - interval '2 hours' RETURNING 1"


@pytest.fixture(scope="module")
def root() -> Iterator[str]:
    with bucket() as address:
        yield address


@pytest.fixture
def address(root: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """An address of the test's own; nothing is left below it."""
    address = f"{root}/{sha256(request.node.name.encode()).hexdigest()[:8]}"
    yield address
    if left := below(root, address):
        delete_objects(list(left))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[ChunkStore]:
    async with opened(database_url) as store:
        yield store


def below(root: str, address: str) -> dict[str, bytes]:
    return {place: data for place, data in objects(root).items() if place.startswith(address)}


def stored(store: ChunkStore, uri: str, data: bytes) -> str:
    """A document that keeps ``data`` as its file; their hash."""
    file_hash = sha256(data).hexdigest()
    with store.connection() as connection:
        keep_bytes(connection, store.tenant, file_hash, data)
    write(store, replace(record(uri, "Water."), file_hash=file_hash))
    return file_hash


def move_all(store: ChunkStore, address: str) -> int:
    moved = 0
    while move_next_file(store, address):
        moved += 1
    return moved


async def test_kept_files_are_moved_read_and_gone_with_their_documents(
    store: ChunkStore, database_url: str, root: str, address: str
) -> None:
    data = bytes(range(256)) * 12_000  # of three parts
    ours, theirs = store.of("a"), store.of("b")
    file_hash = stored(ours, "one.pdf", data)
    assert stored(theirs, "one.pdf", data) == file_hash
    with store.connection() as connection:
        keep_bytes(connection, "a", "of a run", b"spooled")
    assert move_all(store, address) == 2
    kept = {whose: place for whose, _, place, _ in rows(database_url, _FILES)[:1]}
    assert [(row[0], row[3]) for row in rows(database_url, _FILES)] == [
        ("a", None), ("a", b"spooled"), ("b", None)
    ]  # fmt: skip
    assert list(below(root, address).values()) == [data, data]
    assert "a" not in kept["a"].removeprefix(address).split("/")
    for own in (ours, theirs):
        library = Library(own)
        (document_id,) = (row[0] for row in rows(
            database_url, "SELECT id FROM documents WHERE tenant_id = %s", own.tenant))  # fmt: skip
        file = await get_file(library, document_id)
        assert file == OriginalFile("one.pdf", "one.pdf", "", file_hash, len(data))
        assert b"".join([part async for part in file_parts(library, file)]) == data
        assert await bytes_of_file(library, file_hash) == data
        with own.transaction() as connection:
            found = stored_file(connection, own.tenant, file_hash)
        assert found is not None and found.data is None and found.read() == data
    await asyncio.to_thread(ours.delete, "one.pdf")
    assert delete_loose_objects(store, f"{root}/elsewhere") == 0, "a copy with another address"
    assert delete_loose_objects(store, address) == 1
    assert kept["a"] not in below(root, address)
    await asyncio.to_thread(theirs.clear)
    assert (delete_loose_objects(store, address), delete_loose_objects(store, address)) == (1, 0)
    assert below(root, address) == {}
    assert rows(database_url, "SELECT FROM loose_objects") == []


async def test_the_same_bytes_again_stay_where_they_are(
    store: ChunkStore, database_url: str, root: str, address: str
) -> None:
    file_hash = stored(store, "one.pdf", b"bytes")
    move_all(store, address)
    before = rows(database_url, _FILES)
    assert stored(store, "two.pdf", b"bytes") == file_hash
    assert (rows(database_url, _FILES), move_all(store, address)) == (before, 0)
    store.delete("one.pdf")
    assert delete_loose_objects(store, address) == 0
    assert list(below(root, address).values()) == [b"bytes"]


async def test_whoever_is_killed_on_the_way_leaves_nothing_behind(
    store: ChunkStore, database_url: str, root: str, address: str
) -> None:
    stored(store, "one.pdf", b"bytes")
    for put in (False, True):  # killed before the object was put, and before that was written
        with store.connection() as connection:
            reserved = file_moves._reserve_object(connection, address)
        assert reserved is not None
        if put:
            put_object(reserved["place"], b"bytes")
        assert (move_all(store, address), delete_loose_objects(store, address)) == (0, 0), (
            "its lease"
        )
        rows(database_url, _LATER)
        assert not file_moves._record_move(store, reserved), "too late"
        assert delete_loose_objects(store, address) == 1
        assert below(root, address) == {}
    assert move_all(store, address) == 1
    assert list(below(root, address).values()) == [b"bytes"]
    assert rows(database_url, "SELECT FROM loose_objects") == []


async def test_a_document_deleted_on_the_way_takes_the_object_along(
    store: ChunkStore, root: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored(store, "one.pdf", b"bytes")

    def put_and_delete(place: str, data: bytes) -> None:
        put_object(place, data)
        store.delete("one.pdf")

    monkeypatch.setattr(file_moves, "put_object", put_and_delete)
    assert move_all(store, address) == 1
    assert list(below(root, address).values()) == [b"bytes"]
    assert delete_loose_objects(store, address) == 1
    assert below(root, address) == {}


async def test_a_bucket_that_is_away_or_refuses_costs_nothing(
    store: ChunkStore, database_url: str, root: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file_hash = stored(store, "one.pdf", b"bytes")
    with monkeypatch.context() as patch, refusing() as server:
        patch.setenv("AWS_ENDPOINT_URL", server)
        with pytest.raises(StoreUnavailable, match="refused: check AWS_ACCESS_KEY_ID"):
            move_next_file(store, address)
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        with pytest.raises(BucketUnavailable, match="did not answer"):
            move_next_file(store, address)
        with pytest.raises(BucketUnavailable):
            delete_loose_objects(store, address)
    with store.connection() as connection:
        assert counts(connection) == {"moved": 0, "waiting": 1, "loose": 2}
        found = stored_file(connection, store.tenant, file_hash)
    assert found is not None and found.data == b"bytes"
    assert (move_all(store, address), delete_loose_objects(store, address)) == (1, 2)
    (place,) = below(root, address)
    delete_objects([place])
    with pytest.raises(StoreUnavailable, match="there is no s3://"):
        read_object(place, 5)


def test_a_file_is_in_one_place(database_url: str) -> None:
    insert = "INSERT INTO files (content_hash, data, place, size) VALUES ('h', %s::bytea, %s, 1)"
    with psycopg.connect(database_url) as connection:
        for data, place in ((None, None), (b"x", "s3://b/k"), (b"two", None)):
            with pytest.raises(psycopg.errors.CheckViolation), connection.transaction():
                connection.execute(insert, (data, place))
        connection.execute(insert, (b"x", None))

"""Readers of what a reader of LlamaIndex loads: by metadata, and by Confluence's restrictions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from helix.library.source_secrets import seal
from pipelines.sources.base import Connector, SourceError
from pipelines.sources.reader_permissions import restrictions_of
from pipelines.sources.stored_source import open_source
from tests.support.atlassian_server import TOKEN, Atlassian, atlassian
from tests.support.ingest_command import become_a_user
from tests.support.known_entries import synced, unchanged
from tests.support.reader_module import reader_module
from tests.support.synced_source import SyncedSource, spaces_named
from tests.support.wire.gemini import GeminiWire
from tests.support.worker_runs import settings

CONFLUENCE = "llama_index.readers.confluence:ConfluenceReader"
Readers = dict[str, tuple[str, ...] | None]


@pytest.fixture
def server() -> Iterator[Atlassian]:
    with atlassian() as running:
        running.pages = {str(n): (f"Page {n}", f"<p>Text of page {n}</p>") for n in range(4)}
        yield running


def confluence(server: Atlassian) -> str:
    init = {"base_url": server.url, "api_token": TOKEN, "cloud": False}
    return json.dumps({"init": init, "load": {"space_key": "HR", "max_num_results": 500}})


@contextmanager
def opened(address: str, arguments: str, **options: Any) -> Iterator[Connector]:
    source = open_source("reader", address, options, {"arguments": arguments})
    try:
        yield source
    finally:
        source.close()


def readers(address: str, arguments: str, **options: Any) -> Readers:
    with opened(address, arguments, **options) as source:
        return {key: entry.readers for key, entry in synced(source).items()}


def test_a_page_is_its_spaces_unless_it_or_one_above_it_is_restricted(server: Atlassian) -> None:
    anna = {"type": "known", "username": "anna", "userKey": "8a"}
    bob = {"type": "known", "accountId": "5f:1", "email": "bob@example.com"}
    server.parents = {"2": "1", "3": "2"}
    server.restricted = {"1": ([anna, bob], ["board"]), "3": ([anna], ["crew"])}
    both = ("group:board", "person:5f:1", "person:anna", "person:bob@example.com")
    assert readers(CONFLUENCE, confluence(server), permissions=True) == {
        "0": ("space:HR",), "1": both, "2": both, "3": ("person:anna",)
    }  # fmt: skip
    assert set(readers(CONFLUENCE, confluence(server)).values()) == {None}


def test_a_restriction_that_comes_is_told_and_the_page_is_as_it_was(server: Atlassian) -> None:
    with opened(CONFLUENCE, confluence(server), permissions=True) as source:
        before = synced(source)
    server.restricted = {"0": ([], ["board"])}
    with opened(CONFLUENCE, confluence(server), permissions=True) as source:
        again = synced(source)
    assert (before["0"].readers, again["0"].readers) == (("space:HR",), ("group:board",))
    assert all(unchanged(again[key], before[key]) for key in before)


def test_a_restriction_to_whom_it_does_not_name_is_nobodys(server: Atlassian) -> None:
    server.restricted = {"0": ([{"type": "unknown"}], []), "1": ([], ["a"])}
    server.restricted["2"], server.parents = ([], ["b"]), {"2": "1"}
    found = readers(CONFLUENCE, confluence(server), permissions=True)
    assert (found["0"], found["2"]) == ((), ())


def test_many_pages_are_asked_for_together_however_few_are_shown(server: Atlassian) -> None:
    server.pages = {str(n): (f"Page {n}", "<p>x</p>") for n in range(70)}
    server.restricted = {"69": ([], ["board"])}
    found = readers(CONFLUENCE, confluence(server), permissions=True)
    assert len(found) == 70 and found["69"] == ("group:board",)
    assert sum("/content/search" in each for each in server.asked) == 3


class _Client:
    """A client of Confluence that shows no page, or one without its restrictions."""

    def __init__(self, *results: dict[str, Any]) -> None:
        self.results = list(results)

    def get(self, path: str, params: dict[str, Any]) -> dict[str, Any]:
        return {"results": self.results}


def test_what_a_search_does_not_show_is_nobodys() -> None:
    assert restrictions_of(_Client(), ["1", "2"]) == {"1": (), "2": ()}


def test_an_answer_without_restrictions_is_not_taken_for_an_open_page() -> None:
    page = {"id": "1", "space": {"key": "HR"}, "ancestors": []}
    with pytest.raises(SourceError, match="does not tell the restrictions of the page 1"):
        restrictions_of(_Client(page), ["1"])


@pytest.mark.parametrize("status", [403, 500])
def test_confluence_that_does_not_tell_lists_nothing(server: Atlassian, status: int) -> None:
    pages = 2  # requests that list them
    server.status, server.after = status, pages
    with (
        opened(CONFLUENCE, confluence(server), permissions=True) as source,
        pytest.raises(SourceError),
    ):
        next(source.entries())
    assert "/content/search" in server.asked[-1]


def test_a_page_that_is_restricted_leaves_its_readers_at_the_next_sync(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, server: Atlassian,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    monkeypatch.setenv("HELIX_SECRETS_KEY", "7" * 64)
    crew, board = spaces_named(durable_database_url, "Crew", "Board")
    sealed = seal(settings(durable_database_url), {"arguments": confluence(server)})
    source = SyncedSource(
        durable_database_url, "reader", CONFLUENCE, secrets=sealed,
        options={"permissions": True}, group_map={"space:HR": [crew], "group:board": [board]},
    )  # fmt: skip
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {str(n): [crew] for n in range(4)}
    before, chunks = source.documents(), source.chunks()
    server.restricted = {"0": ([], ["board"]), "1": ([], ["nobody mapped"])}
    row = source.sync()
    assert (row["last_error"], row["counts"]["changed"]) == ("", 0)
    assert source.spaces() == {"0": [board], "2": [crew], "3": [crew]}
    assert source.documents() == {key: before[key] for key in ("0", "2", "3")}
    assert set(source.chunks()) < set(chunks)


# readers of our own, with the metadata of those of SharePoint and Google Drive


LOADED = """
class Tried(BaseReader):
    def load_data(self):
        told = [
            ("a", {"allowed_group_ids": ["staff", None], "author": "Anna"}),
            ("b", {"permissions": [{"emailAddress": "bob@x", "role": "reader"}, {"domain": "x"}]}),
            ("c", {"allowed_group_ids": ["staff", "board"]}),
            ("c", {"allowed_group_ids": ["board", "crew"]}),
            ("d", {"title": "Nobody's"}),
        ]
        return [Document(text=key, id_=key, metadata=found) for key, found in told]
"""


def test_metadata_name_who_may_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = reader_module(tmp_path, monkeypatch, LOADED)
    assert readers(address, "", readers="allowed_group_ids, author") == {
        "a": ("Anna", "staff"), "b": (), "c": ("board",), "d": ()
    }  # fmt: skip
    found = readers(address, "", readers="permissions", reader_field="emailAddress,domain")
    assert found == {"a": (), "b": ("bob@x", "x"), "c": (), "d": ()}
    with opened(address, "", readers="allowed_group_ids") as source:
        entry = synced(source)["a"]
        assert entry.metadata == {"author": "Anna"}  # who may read it is none of its metadata
    assert set(readers(address, "").values()) == {None}


def test_a_reader_without_permissions_of_its_own_is_told_to_name_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reader_module(tmp_path, monkeypatch, LOADED)
    with (
        pytest.raises(SourceError, match=r"Tried tells who may read .* --option readers="),
        opened(address, "", permissions=True),
    ):
        pass


LISTED = """
ALLOWED = {"a.pdf": ["staff"], "b.pdf": ["board"]}
class Tried(ResourcesReaderMixin, BaseReader):
    def list_resources(self): return list(ALLOWED)
    def get_resource_info(self, resource):
        more = {"allowed_group_ids": ALLOWED[resource]} if resource == "a.pdf" else {}
        return {"etag": "1", "author": "Anna", **more}
    def get_permission_info(self, resource):
        assert resource != "a.pdf", "told already"
        return {"allowed_group_ids": ALLOWED[resource]}
    def load_resource(self, resource): raise AssertionError
    def load_data(self): raise AssertionError
"""


def test_a_reader_that_lists_tells_readers_without_a_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reader_module(tmp_path, monkeypatch, LISTED)
    assert readers(address, "", readers="allowed_group_ids") == {
        "a.pdf": ("staff",), "b.pdf": ("board",)
    }  # fmt: skip
    with opened(address, "", readers="allowed_group_ids") as source:
        before = synced(source)
        sys.modules["tried_reader"].ALLOWED["a.pdf"] = []
        again = synced(source)
        assert again["a.pdf"].readers == () and unchanged(again["a.pdf"], before["a.pdf"])
        assert again["a.pdf"].metadata == {"author": "Anna", "etag": "1"}


PERMITTED = """
ALLOWED = {"a": ["staff"], "b": ["staff", "board"], "c": ["nobody mapped"]}
class Tried(BaseReader):
    def load_data(self):
        return [Document(text=f"The text of {key}.", id_=key, metadata={"groups": groups})
                for key, groups in ALLOWED.items()]
"""


def test_who_is_named_no_more_loses_it_at_the_next_sync(
    durable_database_url: str, wire: GeminiWire, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    become_a_user(monkeypatch, tmp_path, durable_database_url, wire)
    address = reader_module(tmp_path, monkeypatch, PERMITTED)
    staff, board = spaces_named(durable_database_url, "Staff", "Board")
    source = SyncedSource(
        durable_database_url, "reader", address, options={"readers": "groups"},
        group_map={"staff": [staff], "board": [board]},
    )  # fmt: skip
    assert source.sync()["last_error"] == ""
    assert source.spaces() == {"a": [staff], "b": sorted([staff, board])}
    before, requests = source.documents(), len(wire.requests)
    sys.modules["tried_reader"].ALLOWED.update(a=[], b=["board"])
    assert source.sync()["last_error"] == ""
    assert (source.spaces(), source.documents()) == ({"b": [board]}, {"b": before["b"]})
    assert len(wire.requests) == requests  # nothing was embedded

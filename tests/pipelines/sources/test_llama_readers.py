"""Readers of LlamaIndex as sources: Confluence's and Jira's against a server of their API."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipelines.sources.base import Connector, SourceError
from pipelines.sources.reader_arguments import arguments_of
from pipelines.sources.stored_source import open_source
from tests.support.atlassian_server import TOKEN, Atlassian, atlassian
from tests.support.known_entries import synced, unchanged
from tests.support.reader_module import reader_module

CONFLUENCE = "llama_index.readers.confluence:ConfluenceReader"
JIRA = "llama-index-readers-jira:JiraReader"


@pytest.fixture
def server() -> Iterator[Atlassian]:
    with atlassian() as running:
        running.pages = {str(n): (f"Page {n}", f"<h1>Part</h1><p>Text {n}</p>") for n in range(30)}
        time = "2026-03-02T10:00:00.000+0000"
        running.issues = {str(n): (f"Pump {n}", f"It leaks {n}", time) for n in range(7)}
        yield running


@contextmanager
def opened(address: str, arguments: str, **options: Any) -> Iterator[Connector]:
    source = open_source("reader", address, options, {"arguments": arguments})
    try:
        yield source
    finally:
        source.close()


def confluence(server: Atlassian, token: str = TOKEN) -> str:
    init = {"base_url": server.url, "api_token": token, "cloud": False}
    return json.dumps({"init": init, "load": {"space_key": "HR", "max_num_results": 500}})


def jira(server: Atlassian, more: str = "", load: str = "") -> str:
    auth = f'{{server_url = "{server.url}", api_token = "{TOKEN}"}}'
    return f"[init]\nPATauth = {auth}\n[load]\nquery = 'project = P'\n{load}\n{more}"


PAGES = '[pages]\noffset = "start_at"\nlimit = "max_results"\nsize = 3\n'


def test_pages_of_confluence_are_documents(server: Atlassian) -> None:
    with opened(CONFLUENCE, confluence(server)) as source:
        found = synced(source)
        assert len(found) == 30
        entry = found["7"]
        assert (entry.name, entry.url) == ("Page 7.md", f"{server.url}/pages/7")
        assert entry.metadata["title"] == "Page 7" and entry.metadata["status"] == "current"
        assert "Text 7" in source.read(entry).decode()


def test_what_changed_in_confluence_is_told_and_what_went_is_gone(server: Atlassian) -> None:
    with opened(CONFLUENCE, confluence(server)) as source:
        before = synced(source)
    server.pages["7"] = ("Page 7", "<p>Other</p>")
    server.pages["31"] = ("New", "<p>New</p>")
    del server.pages["8"]
    with opened(CONFLUENCE, confluence(server)) as source:
        again = synced(source)
        assert again.keys() ^ before.keys() == {"31", "8"}
        both = again.keys() & before.keys()
        assert {key for key in both if not unchanged(again[key], before[key])} == {"7"}
        assert not source.is_there("8") and source.is_there("7")


@pytest.mark.parametrize("status", [403, 404, 500])
def test_confluence_that_fails_in_the_midst_lists_nothing_as_gone(
    server: Atlassian, status: int
) -> None:
    server.status, server.after = status, 1
    with opened(CONFLUENCE, confluence(server)) as source:
        with pytest.raises(SourceError):
            list(source.entries())
        with pytest.raises(SourceError):
            source.is_there("7")


def test_confluence_that_asks_for_time_is_given_it(server: Atlassian) -> None:
    server.busy = 1
    with opened(CONFLUENCE, confluence(server)) as source:
        assert len(synced(source)) == 30
    assert server.busy == 0


def test_a_token_that_is_refused_is_not_told(server: Atlassian) -> None:
    with opened(CONFLUENCE, confluence(server, "wrong-token")) as source:
        with pytest.raises(SourceError) as caught:
            list(source.entries())
        assert "wrong-token" not in str(caught.value)


def test_issues_of_jira_come_a_part_at_a_time_with_their_times(server: Atlassian) -> None:
    with opened(JIRA, jira(server, PAGES)) as source:
        found = synced(source)
        assert len(found) == 7
        entry = found["3"]
        assert entry.name == "Pump 3.md"
        assert entry.modified == datetime(2026, 3, 2, 10, tzinfo=UTC)
        assert entry.metadata["labels"] == ["pumps"] and entry.metadata["status"] == "Open"
        assert source.read(entry).decode() == "Pump 3 \n It leaks 3"
    before = found
    server.issues["3"] = ("Pump 3", "Mended", "2026-03-03T10:00:00.000+0000")
    del server.issues["0"]
    with opened(JIRA, jira(server, PAGES)) as source:
        again = synced(source)
        assert {key for key in again if not unchanged(again[key], before[key])} == {"3"}
        assert not source.is_there("0")


def test_a_reader_that_may_have_more_than_it_loads_is_not_whole(server: Atlassian) -> None:
    with (
        opened(JIRA, jira(server, load="max_results = 5")) as source,
        pytest.raises(SourceError, match=r"loads 5 documents at most .* raise max_results"),
    ):
        list(source.entries())


# readers of our own, for what those two do not do


WITHOUT_IDS = """
class Tried(BaseReader):
    def load_data(self):
        return [Document(text=t, metadata={"slug": t, "where": "x"}) for t in ("a", "b")]
"""


def test_documents_without_lasting_ids_are_not_taken_unless_a_key_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reader_module(tmp_path, monkeypatch, WITHOUT_IDS)
    with opened(address, "") as source, pytest.raises(SourceError, match=r"\(slug, where\) as key"):
        list(source.entries())
    with opened(address, '[documents]\nkey = "slug"\nformat = "txt"') as source:
        assert {entry.key: entry.name for entry in source.entries()} == {"a": "a.txt", "b": "b.txt"}


PAGES_OF_FILES = """
class Tried(BaseReader):
    def load_data(self):
        return [Document(text=t, metadata={"file_path": f}) for f, t in
                (("x.pdf", "one"), ("x.pdf", "two"), ("y.pdf", "three"))]
"""


def test_documents_of_one_id_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(reader_module(tmp_path, monkeypatch, PAGES_OF_FILES), "") as source:
        found = synced(source)
        assert source.read(found["x.pdf"]) == b"one\n\ntwo" and set(found) == {"x.pdf", "y.pdf"}


RESOURCES = """
LOADED = []
class Tried(ResourcesReaderMixin, BaseReader):
    def list_resources(self): return ["d/a.pdf", "d/b.pdf"]
    def get_resource_info(self, resource):
        return {"file_size": 3, "last_modified_date": "2026-01-02", "file_name": resource[2:]}
    def load_resource(self, resource):
        LOADED.append(resource)
        return [Document(text=resource)]
    def load_data(self): raise AssertionError
"""


def test_a_reader_that_lists_is_asked_for_what_changed_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reader_module(tmp_path, monkeypatch, RESOURCES)
    with opened(address, "") as source:
        before = synced(source)
        assert before["d/a.pdf"].modified == datetime(2026, 1, 2, tzinfo=UTC)
        again = synced(source)
        assert all(unchanged(again[key], before[key]) for key in before)
        assert sys.modules["tried_reader"].LOADED == []
        assert source.read(again["d/b.pdf"]) == b"d/b.pdf"
        assert source.is_there("d/a.pdf") and not source.is_there("d/c.pdf")


MADE = """
class Tried(BaseReader):
    def __init__(self, raise_errors=False, is_cloud=False, query_string=None):
        self.made = repr((raise_errors, is_cloud, query_string))
    def load_data(self): return [Document(text=self.made, id_="a")]
"""


def test_a_reader_tells_what_fails_and_writes_no_token_unless_it_is_told_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reader_module(tmp_path, monkeypatch, MADE)
    for text, made in (("", b"(True, True, None)"), ("[init]\nis_cloud = false", b"(True, False")):
        with opened(address, text) as source:
            assert source.read(synced(source)["a"]).startswith(made)


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("llama_index.readers.nosuch:Reader", "pip install llama-index-readers-nosuch"),
        ("nosuchpackage.reader:Reader", "pip install nosuchpackage"),
        ("os:system", "os:system is no reader of LlamaIndex"),
        ("reader:json:JSONDecoder", "is no reader of LlamaIndex"),
        (CONFLUENCE, "cannot be made: Must provide `base_url`"),
    ],
)
def test_what_cannot_be_opened_is_told_with_what_to_install(address: str, told: str) -> None:
    with pytest.raises(SourceError, match=told.replace(".", r"\.")):
        open_source("reader", address, {}, {})


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "neither JSON nor TOML"),
        ("a = ", "neither JSON nor TOML"),
        ("[inits]\nx = 1", "inits: extra inputs"),
        ('[documents]\nformat = "pdf"', "documents.format"),
    ],
)
def test_arguments_that_are_none_are_told_without_their_values(text: str, told: str) -> None:
    with pytest.raises(SourceError, match=told):
        arguments_of(text)


def test_a_host_of_the_network_in_the_arguments_is_refused_to_those_who_may_not(
    server: Atlassian,
) -> None:
    with (
        pytest.raises(SourceError, match="is loopback"),
        opened(CONFLUENCE, confluence(server), allow_hosts=()),
    ):
        pass
    assert server.asked == []

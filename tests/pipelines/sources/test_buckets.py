"""A bucket as a source, against moto's server of S3's protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import boto3
import pytest

from pipelines.sources import buckets
from pipelines.sources.base import Connector, EntryGone, SourceError
from pipelines.sources.stored_source import open_source
from tests.support.bucket import bucket, leading_to, refusing, refusing_after
from tests.support.known_entries import synced, unchanged


@pytest.fixture
def address() -> Iterator[str]:
    with bucket() as made:
        put(made, "docs/one.md", b"One.")
        put(made, "docs/deep/two.md", b"Two.")
        put(made, "docs/deep/.hidden.md", b"x")
        put(made, "other/three.md", b"Three.")
        yield made


def _client() -> Any:
    return boto3.client("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name="us-east-1")


def put(address: str, key: str, data: bytes) -> None:
    _client().put_object(Bucket=address.removeprefix("s3://"), Key=key, Body=data)


def opened(address: str, **options: Any) -> Connector:
    given = {"endpoint": os.environ["AWS_ENDPOINT_URL"], "region": "us-east-1", "key_id": "k"}
    return open_source("bucket", address, {**given, **options}, {"key": "secret-1"})


def test_objects_below_the_prefix_are_listed_with_all_that_is_compared(address: str) -> None:
    source = opened(f"{address}/docs")
    found = synced(source)
    assert set(found) == {"one.md", "deep/two.md"}
    assert all(entry.etag and entry.size and entry.modified for entry in found.values())
    assert source.read(found["deep/two.md"]) == b"Two."
    source.close()


def test_what_is_added_changed_moved_and_removed_is_told(address: str) -> None:
    before = synced(opened(address))
    name = address.removeprefix("s3://")
    put(address, "docs/one.md", b"Uno.")
    put(address, "docs/new.md", b"New.")
    moved = {"Bucket": name, "Key": "other/three.md"}
    _client().copy_object(Bucket=name, Key="moved/three.md", CopySource=moved)
    _client().delete_object(**moved)
    source = opened(address)
    again = synced(source)
    assert set(again) == {"docs/one.md", "docs/new.md", "docs/deep/two.md", "moved/three.md"}
    assert unchanged(again["docs/deep/two.md"], before["docs/deep/two.md"])
    assert not unchanged(again["docs/one.md"], before["docs/one.md"])
    assert source.read(again["moved/three.md"]) == b"Three."
    assert not source.is_there("other/three.md") and source.is_there("docs/one.md")
    with pytest.raises(EntryGone):
        source.read(before["other/three.md"])


def test_a_listing_of_several_pages_is_whole_or_told(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")
    for number in range(5):
        put(address, f"many/{number}.md", b"x")
    assert len(synced(opened(f"{address}/many"))) == 5
    server = os.environ["AWS_ENDPOINT_URL"]
    with refusing_after(server, 2) as half:
        source = opened(f"{address}/many", endpoint=half)
        listed: list[str] = []
        with pytest.raises(SourceError, match="refuses: check the key"):
            listed.extend(entry.key for entry in source.entries())
        entries = opened(f"{address}/many", endpoint=half).entries()
        with pytest.raises(SourceError):
            next(entries)


def test_a_bucket_that_is_not_there_says_nothing_of_its_objects(address: str) -> None:
    source = opened(f"{address}-other")
    with pytest.raises(SourceError, match=r"no bucket|does not answer"):
        list(source.entries())
    with pytest.raises(SourceError):
        source.is_there("docs/one.md")


def test_a_bucket_that_refuses_or_is_away_lists_nothing_as_gone(address: str) -> None:
    with refusing() as server:
        source = opened(address, endpoint=server)
        for ask in (lambda: list(source.entries()), lambda: source.is_there("docs/one.md")):
            with pytest.raises(SourceError) as caught:
                ask()
            assert "secret-1" not in str(caught.value)


@pytest.mark.parametrize("address", ["ftp://x", "bucket", "s3://"])
def test_an_address_that_is_no_bucket_is_told(address: str) -> None:
    with pytest.raises(SourceError):
        list(open_source("bucket", address, {"endpoint": "http://127.0.0.1:9"}, {}).entries())


def test_no_server_leads_a_strangers_bucket_into_the_network(address: str) -> None:
    inside = f"{os.environ['AWS_ENDPOINT_URL']}/{address.removeprefix('s3://')}/docs/one.md"
    with leading_to(inside) as led:
        source = opened("s3://b", endpoint=led.replace("127.0.0.1", "localhost"),
                        allow_hosts=["localhost"])  # fmt: skip
        (entry,) = synced(source).values()
        with pytest.raises(SourceError, match=r"address of 127\.0\.0\.1 is loopback"):
            source.read(entry)
        source.close()
    source = opened(f"{address}/docs", allow_hosts=["127.0.0.1"])
    found = synced(source)
    assert [source.read(found[name]) for name in ("one.md", "deep/two.md")] == [b"One.", b"Two."]
    source.close()


@pytest.mark.parametrize("endpoint", ["http:///127.0.0.1:9", "http://a b"])
def test_an_endpoint_that_makes_obstore_panic_is_told(address: str, endpoint: str) -> None:
    with pytest.raises(SourceError, match="PanicException"):
        list(opened(address, endpoint=endpoint).entries())


@pytest.mark.parametrize(
    ("address", "options", "key"),
    [
        ("s3://team", {"region": "x@127.0.0.1:{port}/#"}, ""),
        ("az://team", {"account": "x@127.0.0.1:{port}/#"}, ""),
        ("az://team", {"account": "127.0.0.1:{port}/?"}, ""),
        ("az://team", {}, ""),
        ("gs://team", {}, '{{"gcs_base_url": "http://127.0.0.1:{port}", "disable_oauth": true,'
         ' "client_email": "", "private_key": "", "private_key_id": ""}}'),
    ],
)  # fmt: skip
def test_a_region_an_account_or_a_key_leads_nowhere_else(
    address: str, options: dict[str, str], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a source that was added over HTTP, whose endpoint alone is looked at."""
    monkeypatch.setitem(buckets._RETRIES, "max_retries", 0)
    asked: list[str] = []
    monkeypatch.setenv("GOOGLE_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AZURE_STORAGE_ENDPOINT", "http://127.0.0.1:9")

    def opened_at(given: str, config: dict[str, Any], **_: Any) -> None:
        asked.append(config.get("base_url") or config.get("endpoint", ""))

    monkeypatch.setattr(buckets, "from_url", opened_at)
    placed = {name: value.format(port=9) for name, value in options.items()}
    given = {**placed, "allow_hosts": ()}
    try:
        open_source("bucket", address, given, {"key": key.format(port=9)} if key else {})
    except SourceError as error:
        assert " is no " in str(error)
    assert asked in ([], ["https://storage.googleapis.com"])

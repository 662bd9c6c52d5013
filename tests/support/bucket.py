"""A server that speaks S3's protocol over real HTTP, with a bucket; and one that refuses."""

from __future__ import annotations

import itertools
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.support.scripted_server import loopback

_numbers = itertools.count()
_REGION = "us-east-1"


@contextmanager
def bucket() -> Iterator[str]:
    """``s3://name`` of an empty bucket, which the process's environment leads to meanwhile."""
    from moto.server import ThreadedMotoServer  # loading it takes a second

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
            patch.setenv("AWS_ACCESS_KEY_ID", "tests")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
            patch.setenv("AWS_REGION", _REGION)
            address = f"s3://helix-files-{next(_numbers)}"
            _bucket(address).create()
            yield address
    finally:
        server.stop()


def objects(address: str) -> dict[str, bytes]:
    """The whole bucket as another client sees it, by ``s3://bucket/key``."""
    return {
        f"{address}/{found.key}": found.get()["Body"].read()
        for found in _bucket(address).objects.all()
    }


def _bucket(address: str) -> Any:
    import boto3

    client = boto3.resource("s3", endpoint_url=os.environ["AWS_ENDPOINT_URL"], region_name=_REGION)
    return client.Bucket(address.removeprefix("s3://"))


class _Refusal(BaseHTTPRequestHandler):
    """Whatever is asked, it may not be."""

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@contextmanager
def refusing() -> Iterator[str]:
    """The address of a server that takes no object."""
    with loopback(_Refusal) as address:
        yield address


@contextmanager
def leading_to(address: str) -> Iterator[str]:
    """The address of a server whose buckets have one object, which is read at ``address``."""

    class Leading(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            listing = _LISTING if "list-type" in self.path else b""
            self.send_response(200 if listing else 302)
            self.send_header("Location", address)
            self.send_header("Content-Length", str(len(listing)))
            self.end_headers()
            self.wfile.write(listing)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(Leading) as led:
        yield led


_LISTING = (
    b"<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated><Contents><Key>a.md</Key>"
    b'<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"e"</ETag><Size>2</Size>'
    b"</Contents></ListBucketResult>"
)


@contextmanager
def refusing_after(server: str, requests: int) -> Iterator[str]:
    """The address of one that hands so many requests on to ``server``, and refuses the others."""

    class _Half(_Refusal):
        left = requests

        def do_GET(self) -> None:
            _Half.left -= 1
            if _Half.left < 0:
                self.send_response(403)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            headers = {name: self.headers[name] for name in ("Authorization", "x-amz-date")}
            asked = urllib.request.Request(f"{server}{self.path}", headers=headers)
            with urllib.request.urlopen(asked) as answer:
                data = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with loopback(_Half) as address:
        yield address

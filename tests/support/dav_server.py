"""WsgiDAV on loopback over a folder, with a user; parts of it can be closed to them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

USER, PASSWORD = "anna", "correct horse"


@dataclass
class DavServer:
    """``refused`` are paths that answer with their status, as they and what is below them."""

    folder: Path
    server: Any
    refused: dict[str, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)

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
            "provider_mapping": {"/": str(folder)},
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

"""nginx in front of a server, as on a machine that people reach it through."""

from __future__ import annotations

import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.service_process import eventually

MISSING = "no nginx: install it (Debian: apt install nginx-light)"
_CONFIGURATION = """\
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off; client_max_body_size 0;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass {upstream};
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_set_header X-Forwarded-Proto $scheme;
        }}
    }}
}}
"""
"""Its defaults otherwise: answers are buffered unless the server says not to, HTTP/1.0 upstream."""


@contextmanager
def proxied(upstream: str, folder: Path) -> Iterator[str]:
    """The address of an nginx that hands on to ``upstream`` while the block lasts."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    assert program is not None, MISSING
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    file = folder / "nginx.conf"
    file.write_text(_CONFIGURATION.format(folder=folder, port=port, upstream=upstream))
    process = subprocess.Popen([program, "-c", str(file), "-e", str(folder / "error.log")])

    def listens() -> bool:
        assert process.poll() is None, (folder / "error.log").read_text()
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):
            return True
        return False

    try:
        assert eventually(listens)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=30)

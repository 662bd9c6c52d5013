"""A name that is another address each time that it is asked for, and servers at both addresses.

Run as a program, in a network of its own in which this machine has the public address too: what
the crawler fetches by that name, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pipelines.crawler.fetch import Fetcher, FetchError, FetchLimits
from pipelines.crawler.guard import ForbiddenAddress, GuardedBackend
from tests.support.name_server_and_clock import NameServer
from tests.support.service_process import environment

PUBLIC, PRIVATE, PORT = "93.184.216.34", "127.0.0.1", 8000
URL = f"http://rebind.test:{PORT}"
_NETWORK = f'ip link set lo up && ip address add {PUBLIC}/32 dev lo && exec "$@"'


class _Page(BaseHTTPRequestHandler):
    """A page, or a redirect to it; each request has a connection of its own (HTTP/1.0)."""

    def do_GET(self) -> None:
        self.send_response(302 if self.path == "/moved" else 200)
        if self.path == "/moved":
            self.send_header("Location", f"{URL}/")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>Page</title>")

    def log_message(self, *_: object) -> None:
        """Nothing: the result is on standard output."""


class _Counted(ThreadingHTTPServer):
    connections = 0

    def get_request(self) -> tuple[object, object]:  # type: ignore[override]
        self.connections += 1
        return super().get_request()


def fetched_in_a_network_of_its_own(count: int) -> dict[str, int]:
    """The number of fetches ``fetched`` and ``refused``, and of connections to each address."""
    with tempfile.TemporaryDirectory() as folder:
        names = NameServer().prefix(Path(folder))
        done = subprocess.run(
            ["unshare", "--net", "sh", "-c", _NETWORK, "sh", *names, sys.executable, "-m",
             "tests.support.rebinding", str(count)],
            env=environment(), capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
    assert done.returncode == 0, f"run this as root, with iproute2: {done.stderr}"
    told: dict[str, int] = json.loads(done.stdout)
    return told


async def _fetch(count: int) -> Counter[str]:
    ended: Counter[str] = Counter()
    for n in range(count):
        async with Fetcher(GuardedBackend(), FetchLimits(connect=2, read=2, total=5)) as fetcher:
            try:
                await fetcher.get(f"{URL}/" if n % 2 else f"{URL}/moved")
                ended["fetched"] += 1
            except ForbiddenAddress:
                ended["refused"] += 1
            except FetchError as error:
                ended[str(error)] += 1
    return ended


def main() -> None:
    """Fetch so many times, and print what came of it."""
    with (
        NameServer([PUBLIC, PRIVATE, PUBLIC, PUBLIC, PRIVATE]),
        _Counted((PUBLIC, PORT), _Page) as public,
        _Counted((PRIVATE, PORT), _Page) as private,
    ):
        for server in (public, private):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        ended = asyncio.run(_fetch(int(sys.argv[1])))
        print(json.dumps({**ended, PUBLIC: public.connections, PRIVATE: private.connections}))  # noqa: T201
        public.shutdown()
        private.shutdown()


if __name__ == "__main__":
    main()

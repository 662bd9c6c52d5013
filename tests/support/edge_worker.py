"""The worker of edge/ in Cloudflare's own runtime on loopback, with the settings of its file."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.repository import ROOT

EDGE = ROOT / "edge"
REFUSED_ADDRESS = "203.0.113.9"
"""The one that the limiter lets nothing through from."""
_LIMITER = f"""
import {{ WorkerEntrypoint }} from "cloudflare:workers";
export class Limiter extends WorkerEntrypoint {{
  limit({{ key }}) {{ return {{ success: key !== "{REFUSED_ADDRESS}" }}; }}
}}
export default {{ fetch() {{ return new Response("", {{ status: 404 }}); }} }};
"""
_CONFIG = """
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "edge", worker = .edge), (name = "limiter", worker = .limiter),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "edge")],
);
const edge :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = %(date)s, compatibilityFlags = %(flags)s,
  bindings = [%(bindings)s],
);
const limiter :Workerd.Worker = (
  modules = [(name = "limiter.js", esModule = embed "limiter.js")],
  compatibilityDate = %(date)s,
);
"""


def settings_file() -> dict[str, Any]:
    """The contents of wrangler.jsonc; lines that begin with // are comments."""
    text = (EDGE / "wrangler.jsonc").read_text()
    read: dict[str, Any] = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE))
    return read


@contextmanager
def edge_worker(**values: str) -> Iterator[str]:
    """The address of the worker, its variables those of wrangler.jsonc and ``values``."""
    settings = settings_file()
    bindings = [
        f"(name = {json.dumps(name)}, text = {json.dumps(value)})"
        for name, value in {**settings["vars"], **values}.items()
    ]
    (rate,) = settings["ratelimits"]
    limiter = '(name = "limiter", entrypoint = "Limiter")'
    bindings.append(f"(name = {json.dumps(rate['name'])}, service = {limiter})")
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.capnp")
        config.write_text(_CONFIG % {
            "date": json.dumps(settings["compatibility_date"]),
            "flags": json.dumps(settings["compatibility_flags"]),
            "bindings": ", ".join(bindings),
        })  # fmt: skip
        Path(folder, "worker.js").write_bytes((EDGE / "worker.js").read_bytes())
        Path(folder, "limiter.js").write_text(_LIMITER)
        with _running(config) as port:
            yield f"http://127.0.0.1:{port}"


@contextmanager
def _running(config: Path) -> Iterator[int]:
    """The port of the runtime, which tells it when it listens."""
    read, write = os.pipe()
    process = subprocess.Popen(
        [_binary(), "serve", str(config), f"--control-fd={write}"], pass_fds=[write]
    )
    os.close(write)
    try:
        with os.fdopen(read) as told:
            line = told.readline()
            assert line, "workerd did not start"
            yield int(json.loads(line)["port"])
    finally:
        process.terminate()
        process.wait(timeout=30)


def _binary() -> str:
    found = sorted((EDGE / "node_modules" / "@cloudflare").glob("workerd-*/bin/workerd"))
    assert found, "workerd is not installed: run `make node` (npm ci --prefix edge)"
    return str(found[0])

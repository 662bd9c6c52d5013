"""Many calls of MCP's tools: no session is left of any, and memory stays as it was."""

from __future__ import annotations

import asyncio
import gc
import json
import os
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.support.query_service import QUESTION
from tests.support.service_process import eventually

_ACCEPTED = {"Accept": "application/json, text/event-stream"}
_OF_THE_SDK = ("mcp.", "anyio.streams.")
_WARM = 8


def _call(client: httpx.Client, number: int) -> None:
    """One call, in turn of each kind: initialising, the list of tools, a search, an answer."""
    calls = [
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"}}),
        ("tools/list", {}),
        ("tools/call", {"name": "search", "arguments": {"query": QUESTION}}),
        ("tools/call", {"name": "ask", "arguments": {"question": QUESTION}}),
    ]  # fmt: skip
    method, params = calls[number % len(calls)]
    body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    told = client.post("/mcp", json=body, headers=_ACCEPTED)
    assert told.status_code == 200 and "mcp-session-id" not in told.headers, told.text
    result = json.loads(told.text.rpartition("data: ")[2])["result"]
    assert not result.get("isError"), told.text


def _kept() -> Counter[str]:
    """The number of objects of the SDK, streams between its tasks, and tasks, by class."""
    gc.collect()
    kinds = [type(one) for one in gc.get_objects()]
    return Counter(
        kind.__name__
        for kind in kinds
        if kind is asyncio.Task or str(kind.__module__).startswith(_OF_THE_SDK)
    )


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _left_of(client: httpx.Client, count: int) -> tuple[Counter[str], int]:
    """The objects that ``count`` calls leave in this process, the server's, and its new bytes."""
    for number in range(_WARM):
        _call(client, number)
    kept, memory = _kept(), _resident()
    assert kept["StreamableHTTPSessionManager"] == 1
    for number in range(count):
        _call(client, number)
    # the last ones may still be ending when their responses are here
    eventually(lambda: not _kept() - kept, 30)
    return _kept() - kept, _resident() - memory


def test_no_session_is_left_of_a_call(client: httpx.Client) -> None:
    left, _ = _left_of(client, 16)
    assert left == Counter()


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_a_thousand_calls_leave_nothing(client: httpx.Client) -> None:
    left, growth = _left_of(client, 1000)
    assert left == Counter() and growth < 16 * 2**20

"""Cut answers through the worker of edge/: none of them looks whole behind it either."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.answer_endings import PROTOCOLS
from tests.support.edge_worker import edge_worker
from tests.support.scripted_server import Reply, scripted
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

pytestmark = pytest.mark.node

HALF = ("Refunds are ", "accepted wi")
FRAMES = b'data: {"t":"Refunds are "}\n\ndata: {"t":"accepted wi"}\n\n'


@pytest.fixture(scope="module")
def edge(client: httpx.Client) -> Iterator[httpx.Client]:
    origin = str(client.base_url).rstrip("/")
    with edge_worker(ORIGIN=origin) as address, httpx.Client(base_url=address, timeout=60) as edge:
        yield edge


@pytest.mark.parametrize(
    "broken",
    [
        Answer(deltas=HALF, then="cut"),
        Answer(deltas=HALF, finish="SAFETY"),
        Answer(deltas=(), block="SAFETY"),
    ],
    ids=["cut", "safety", "block"],
)
def test_it_ends_as_it_does_at_the_origin(
    client: httpx.Client, edge: httpx.Client, wire: GeminiWire, broken: Answer
) -> None:
    for protocol in PROTOCOLS.values():
        assert protocol.ending(protocol.ask(edge)) == "whole", protocol.path
        wire.script(broken, broken, on="generate")
        ending = protocol.ending(protocol.ask(edge))
        assert ending == protocol.ending(protocol.ask(client)) != "whole", protocol.path


def test_an_origin_that_breaks_off_is_a_broken_stream() -> None:
    headers = {"Content-Type": "text/event-stream"}
    with (
        scripted(Reply(FRAMES, headers=headers, cut=True)) as origin,
        edge_worker(ORIGIN=origin.url) as address,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        httpx.get(f"{address}/ask?q=1", timeout=30)

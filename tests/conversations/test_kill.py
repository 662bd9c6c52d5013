"""A server killed while it answers: each turn is whole or marked interrupted, and told the same."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from helix.conversations.ongoing_answer import LAST_EVENTS
from tests.conversations.test_routes import begun, frames_of
from tests.support.query_service import QUESTION, a_client, a_store, store_documents
from tests.support.server_processes import served
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer

pytestmark = pytest.mark.processes

STREAMED = Answer(tuple(f"word{n} " for n in range(30)), delay=0.02)


@pytest.fixture(scope="module")
def surviving(wire: GeminiWire, module_database_url: str) -> Iterator[httpx.Client]:
    """Another server over the same database."""
    with a_store(module_database_url) as store:
        store_documents(store)
    with a_client(module_database_url) as client:
        yield client


class Reader:
    """A client that reads an answer of the server that is killed."""

    def __init__(self, url: str, conversation: str) -> None:
        self.got = b""
        self._address = f"{url}/v1/conversations/{conversation}/messages"
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            with httpx.stream(
                "POST", self._address, json={"question": QUESTION}, timeout=30
            ) as response:
                for piece in response.iter_raw():
                    self.got += piece
        except httpx.TransportError:
            return  # it was killed

    @property
    def whole_frames(self) -> bytes:
        """The bytes that came, up to the last frame that is whole."""
        end = self.got.rfind(b"\n\n")
        return self.got[: end + 2] if end >= 0 else b""


def kill_once(
    folder: Path, url: str, wire: GeminiWire, surviving: httpx.Client, seconds: float
) -> str:
    """Kill a server ``seconds`` after a question; how the turn ended."""
    conversation = begun(surviving)
    wire.script(STREAMED, on="generate")
    values = {
        "DATABASE_URL": url, "GEMINI_API_KEY": "wire-test-key", "HELIX_WORKERS": "0",
        "GOOGLE_GEMINI_BASE_URL": wire.base_url, "RETRIEVAL_MAX_DISTANCE": "0.8",
    }  # fmt: skip
    with served(folder / "log", **values) as service:
        reader = Reader(service.url, conversation)
        reader.thread.join(seconds)
        service.process.send_signal(signal.SIGKILL)
        service.process.wait(30)
        reader.thread.join(30)
    wire._script.clear()
    # time passes: nobody has heard of the server for longer than its lease
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE messages SET seen_at = seen_at - interval '1 minute'")
    path = surviving.get(f"/v1/conversations/{conversation}").json()["path"]
    if not path:  # it was killed before the question was kept, and nobody was told anything
        assert reader.got == b""
        return "nothing"
    address = f"/v1/conversations/{conversation}/messages/{path[0]['id']}"
    had = frames_of(reader.whole_frames)
    rest = surviving.get(f"{address}/events", headers={"Last-Event-ID": str(len(had))}).content
    again = surviving.get(f"{address}/events").content
    # what was told before the kill and after it is what is told to whoever comes later
    assert reader.whole_frames + rest == again
    frames = frames_of(again)
    assert [n for n, _, _ in frames] == list(range(1, len(frames) + 1))
    assert [name in LAST_EVENTS for _, name, _ in frames] == [False] * (len(frames) - 1) + [True]
    kept = surviving.get(address).json()
    words = "".join(data["t"] for _, name, data in frames if name == "token")
    if frames[-1][1] == "done":
        assert (kept["status"], kept["response"]["answer"]) == ("done", "".join(STREAMED.deltas))
        assert words == kept["response"]["answer"]
    else:
        assert (frames[-1][1], kept["status"]) == ("interrupted", "interrupted")
        assert kept["response"]["answer"] == words and "".join(STREAMED.deltas).startswith(words)
        retried = surviving.post(f"{address}/regenerate", json={"stream": False}).json()
        assert retried["answer_id"]
    return str(frames[-1][1])


def test_a_kill_leaves_no_half_answer(
    tmp_path: Path, module_database_url: str, wire: GeminiWire, surviving: httpx.Client
) -> None:
    ended = [
        kill_once(tmp_path, module_database_url, wire, surviving, seconds) for seconds in (0.5, 8.0)
    ]
    assert ended[1] == "done"
    assert ended[0] in ("nothing", "interrupted")


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_kills_leave_no_half_answer(
    tmp_path: Path, module_database_url: str, wire: GeminiWire, surviving: httpx.Client
) -> None:
    moments = random.Random(7)
    ended = [
        kill_once(tmp_path, module_database_url, wire, surviving, moments.uniform(0.1, 1.2))
        for _ in range(200)
    ]
    assert "interrupted" in ended

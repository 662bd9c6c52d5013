"""llama.cpp and Helix killed at random moments: nothing stays behind, the next question goes on."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx
import psutil
import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from evals.real.models import SMALL, model_file
from helix.domain.usage import KEY
from helix.errors import UpstreamError
from helix.providers.base import LanguageModel
from helix.providers.factories import build_llm
from helix.providers.local_models.shared_server import SharedServer
from tests.providers.local_models.test_shared_server import PROGRAM, options, processes, until
from tests.support.busy_machine import bound
from tests.support.service_process import Service, run, serving
from tests.support.vendor_packages import settings

pytestmark = pytest.mark.processes

QUESTION = "How long do I have to request a refund?"
LOADING = "being loaded: try again in a moment"
SECONDS = 5.0
KINDS = "llama.cpp", "Helix", "both"


@dataclass
class Killing:
    """Servers over one model that are killed and started again; what came of the next question."""

    values: dict[str, str]
    folder: Path
    moments: random.Random
    waits: list[float] = field(default_factory=list)
    errors: int = 0

    def run(self, kills: int) -> None:
        """Kill ``kills`` times, each kind in turn."""
        done = 0
        while done < kills:
            with serving(**self.values) as service:
                self.ask(service.url)
                while self.kill(service, KINDS[done % len(KINDS)]):
                    self.ask(service.url)
                    done += 1
                done += 1
            waits = sorted(self.waits)
            late = sum(wait > SECONDS for wait in waits)
            print(  # noqa: T201
                f"{done} kills, {len(waits)} questions begun after {waits[len(waits) // 2]:.2f} s "
                f"(median), {waits[-1]:.2f} s (longest), {late} later than {SECONDS:g} s, "
                f"{self.errors} told to wait"
            )
            assert until(lambda: not processes(self.folder)), "a process was left behind"

    def kill(self, service: Service, kind: str) -> bool:
        """Kill in the middle of a question; whether Helix still runs."""
        enough = threading.Event()
        reader = threading.Thread(target=self._read, args=(service.url, enough), daemon=True)
        reader.start()
        time.sleep(self.moments.uniform(0, 2))
        victims: list[Any] = [service.process] if kind != "llama.cpp" else []
        if kind != "Helix":
            victims += list(processes(self.folder).values())[self.moments.randrange(2) :]
        for victim in victims:
            with suppress(psutil.NoSuchProcess):
                victim.kill()
        enough.set()
        reader.join(bound(SECONDS))
        assert not reader.is_alive(), "a question hung"
        return kind == "llama.cpp"

    def ask(self, url: str) -> None:
        """Ask until the first word of an answer, or a clean error; note how long that took."""
        began = time.monotonic()
        with httpx.stream("GET", f"{url}/ask", params={"q": QUESTION}, timeout=120) as response:
            if response.status_code == 200:
                assert next(response.iter_text()).startswith("data: ")
            else:
                assert response.status_code == 503, response.read()
                assert LOADING in response.read().decode()
                self.errors += 1
        self.waits.append(time.monotonic() - began)

    def _read(self, url: str, enough: threading.Event) -> None:
        """Read an answer until it ends, its server is killed, or it is ``enough``."""
        request = {"params": {"q": QUESTION}, "timeout": 120.0}
        with (
            suppress(httpx.TransportError),  # Helix was killed
            httpx.stream("GET", f"{url}/ask", **request) as response,  # type: ignore[arg-type]
        ):
            for _ in response.iter_text():
                if enough.is_set():
                    return


@pytest.fixture
def killing(
    module_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Killing]:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    values = {"DATABASE_URL": module_database_url, "HELIX_EMBEDDER": "offline",
              "HELIX_WORKERS": "0"}  # fmt: skip
    policy = tmp_path / "refund-policy.txt"  # short, for a prompt takes this model a while
    policy.write_text("You have 30 days to request a refund.")
    done = run("-m", "pipelines.ingest", str(policy), HELIX_LLM="offline", **values)
    assert done.returncode == 0, done.stderr
    values |= {
        "HELIX_LLM": f"local:{model_file(SMALL).resolve()}", "HELIX_LOCAL_WAIT": "4",
        "HELIX_LOCAL_THREADS": "1", "HELIX_MODEL_CONTEXT": "1024", "RETRIEVAL_TOP_K": "1",
        "XDG_RUNTIME_DIR": str(tmp_path),
    }  # fmt: skip
    yield Killing(values, tmp_path, random.Random(30))
    assert until(lambda: not processes(tmp_path)), "a process was left behind"


@pytest.mark.timeout(600)
def test_a_kill_leaves_nothing_behind_and_the_next_question_goes_on(killing: Killing) -> None:
    killing.run(2)
    assert len(killing.waits) >= 2


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_kills_leave_nothing_behind(killing: Killing) -> None:
    killing.values["HELIX_LOCAL_THREADS"] = "2"
    killing.run(200)
    waits = sorted(killing.waits)
    print(  # noqa: T201
        f"\n{len(waits)} questions after kills: median {median(waits):.2f} s,"
        f" 95% {waits[len(waits) * 95 // 100]:.2f} s, longest {waits[-1]:.2f} s,"
        f" {killing.errors} of them told that the model is being loaded"
    )
    assert waits[-1] < bound(SECONDS)


@pytest.mark.parametrize("slots", [4, pytest.param(1, marks=pytest.mark.soak)])
@pytest.mark.timeout(600)
async def test_eight_questions_at_once_are_not_mixed(
    slots: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    values: dict[str, Any] = {"local_threads": 1, "model_context": 512, "local_slots": slots}
    llm = build_llm(settings(llm=f"local:{model_file(SMALL).resolve()}", **values))
    try:
        alone = [await _asked(llm, number) for number in range(8)]
        together = await asyncio.gather(*(_asked(llm, number) for number in range(8)))
    finally:
        await llm.aclose()
    assert [json.loads(answer.text)["number"] for answer in together] == list(range(8))
    sizes = [answer.tokens for answer in alone]
    assert [answer.tokens for answer in together] == sizes and len(set(sizes)) == 8
    assert len({answer.name for answer in [*alone, *together]}) == 16


class Answer(NamedTuple):
    """The server's name of the one answer that a stream brought, its text, its prompt's tokens."""

    name: str
    text: str
    tokens: int


async def _asked(llm: LanguageModel, number: int) -> Answer:
    """The answer to a question of its own length, held to a schema that has the ``number`` alone.

    Another's schema, or another's text, would show.
    """
    message = ChatMessage(role=MessageRole.USER, content=f"Say{' a' * number} number.")
    properties = {"number": {"const": number}}
    schema = {"type": "object", "properties": properties, "required": ["number"]}
    held = {"type": "json_schema", "json_schema": {"name": "one", "schema": schema}}
    stream = await llm.model.astream_chat([message], response_format=held)
    responses = [response async for response in stream]
    (name,) = {str(getattr(response.raw, "id", None)) for response in responses}
    text = "".join(response.delta or "" for response in responses)
    return Answer(name, text, responses[-1].additional_kwargs[KEY].input_tokens)


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_two_hundred_kills_of_users_and_servers_leave_nothing_behind(tmp_path: Path) -> None:
    """Without the rest of Helix: many more kills fall into the seconds in which a model loads."""
    moments = random.Random(31)
    waits, loading = [], 0
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), options().model]
    for number in range(200):
        kind = KINDS[number % len(KINDS)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as user:
            time.sleep(moments.uniform(0, 4))
            victims: list[Any] = [user] if kind != "llama.cpp" else []
            if kind != "Helix":
                victims += list(processes(tmp_path).values())[moments.randrange(2) :]
            for victim in victims:
                with suppress(psutil.NoSuchProcess):
                    victim.kill()
            if kind != "llama.cpp":
                assert until(lambda: not processes(tmp_path)), f"left behind after kill {number}"
            began = time.monotonic()
            server = SharedServer(options(), tmp_path)
            try:
                server.ensure(4)
            except UpstreamError as error:
                assert LOADING in str(error)
                loading += 1
            waits.append(time.monotonic() - began)
            server.close()
            user.kill()
        assert until(lambda: not processes(tmp_path)), f"left behind after kill {number}"
    waits.sort()
    print(f"\nmedian {median(waits):.2f} s, longest {waits[-1]:.2f} s, {loading} loading")  # noqa: T201
    assert waits[-1] < bound(SECONDS)

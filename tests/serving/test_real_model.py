"""The whole service with a real language model: streams, ends, a cut answer, a client that leaves.

SmolLM2 135M by llama.cpp. What it says is no matter of these tests: it is too small to be right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from evals.real.llama import LlamaServer
from tests.serving.test_sse import parse_stream
from tests.support.llama_server import llama_server
from tests.support.repository import ROOT
from tests.support.service_process import Service, eventually, run, serving

pytestmark = pytest.mark.processes
QUESTIONS = (
    "Can gift cards be refunded?",
    "How long does the inspection of a returned item take?",
    "To which countries outside the European Union do you ship?",
)
ENDLESS = {"ignore_eos": True}


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with llama_server() as server:
        yield server


@pytest.fixture(scope="module")
def endless() -> Iterator[LlamaServer]:
    """A server whose model never ends by itself."""
    with llama_server(sampling=ENDLESS) as server:
        yield server


@pytest.fixture(scope="module")
def database(module_database_url: str) -> dict[str, str]:
    """The settings of a database that has the policy."""
    values = {"DATABASE_URL": module_database_url, "HELIX_EMBEDDER": "offline"}
    policy = str(ROOT / "samples" / "refund-policy.txt")
    done = run("-m", "pipelines.ingest", policy, HELIX_LLM="offline", **values)
    assert done.returncode == 0, done.stderr
    return values


@contextmanager
def answering(
    database: dict[str, str], llama: LlamaServer, answer_tokens: int = 80
) -> Iterator[Service]:
    with serving(
        **database, HELIX_LLM="server:smollm2", HELIX_MODEL_SERVER=llama.api,
        HELIX_MODEL_SERVER_KEY=llama.key, RETRIEVAL_TOP_K="2", HELIX_MODEL_TIMEOUT="100",
        HELIX_WORKERS="0", HELIX_ANSWER_TOKENS=str(answer_tokens),
    ) as service:  # fmt: skip
        yield service


@pytest.fixture(scope="module")
def service(database: dict[str, str], llama: LlamaServer) -> Iterator[Service]:
    with answering(database, llama) as service:
        yield service


def _token_frames(content: bytes) -> list[str]:
    frames = content.decode().split("\n\n")
    return [json.loads(frame[6:])["t"] for frame in frames if frame.startswith('data: {"t"')]


@pytest.mark.timeout(600)
def test_answers_stream_and_end_as_the_model_ends_them(service: Service) -> None:
    whole, frames = 0, []
    for question in QUESTIONS:
        response = httpx.get(f"{service.url}/ask", params={"q": question}, timeout=110)
        assert response.status_code == 200, response.text
        said = _token_frames(response.content)
        frames.append(len(said))
        if b"event: citations" in response.content:
            text, citations = parse_stream(response.content)
            assert "".join(said) == text
            assert all(one["document_title"] == "Refund Policy" for one in citations)
            whole += 1
    # the others met the limit, for so small a model often says one thing over and over
    assert whole > 1, frames
    assert min(frames) > 0 and max(frames) > 10


def test_an_answer_that_meets_its_limit_is_cut(
    database: dict[str, str], endless: LlamaServer
) -> None:
    with answering(database, endless, answer_tokens=30) as service:
        response = httpx.get(f"{service.url}/ask", params={"q": QUESTIONS[0]}, timeout=110)
        assert response.status_code == 200 and _token_frames(response.content)
        assert b"event: citations" not in response.content
        whole = httpx.post(f"{service.url}/v1/query", json={"question": QUESTIONS[0]}, timeout=110)
        assert whole.status_code == 502 and "length limit" in whole.json()["error"]
        assert "raise HELIX_ANSWER_TOKENS" in whole.json()["error"]


def test_a_client_that_leaves_ends_the_writing(
    database: dict[str, str], endless: LlamaServer
) -> None:
    with answering(database, endless, 2000) as service:
        with httpx.stream(
            "GET", f"{service.url}/ask", params={"q": QUESTIONS[0]}, timeout=110
        ) as response:
            assert next(response.iter_lines()).startswith('data: {"t"')
            assert endless.generating()
        assert eventually(lambda: not endless.generating())
        assert "cancel" in endless.log.read_text()

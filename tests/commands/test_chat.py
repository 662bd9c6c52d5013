"""``helix chat``: lines are questions of one conversation, which is kept."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import AsyncGenerator
from functools import partial
from pathlib import Path
from threading import Thread

import psycopg
import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    MessageRole,
)

from helix.providers import offline
from helix.providers.base import LanguageModel
from helix.providers.offline.answerer import OfflineLLM
from tests.conversations.test_images import drawn
from tests.support.cli_runner import helix
from tests.support.fake_embedder import rows
from tests.support.live_server import live
from tests.support.repository import ROOT

pytestmark = pytest.mark.processes

_OFFLINE = {"HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline"}


@pytest.fixture(scope="module")
def library(module_durable_database_url: str) -> str:
    """The database that has the policy; each test begins conversations of its own in it."""
    sample = str(ROOT / "samples" / "refund-policy.txt")
    values = _OFFLINE | {"DATABASE_URL": module_durable_database_url}
    assert helix("ingest", sample, **values).returncode == 0
    return module_durable_database_url


def _conversation(told: subprocess.CompletedProcess[str]) -> str:
    assert told.returncode == 0, told.stderr
    found = re.search(r"go on with `helix chat -c (\S+)`", told.stderr)
    assert found is not None
    return found[1]


def test_lines_are_questions_of_one_conversation(library: str) -> None:
    values = _OFFLINE | {"DATABASE_URL": library}
    first = "How long do I have to request a refund?\n/help\n\n"
    told = helix("chat", stdin=f"{first}And for gift cards?\n/quit\nnever read\n", **values)
    conversation = _conversation(told)
    assert "within 30 days" in told.stdout and "[1] Refund Policy" in told.stdout
    assert "begin another conversation" in told.stderr
    with live(library) as client:
        path = client.get(f"/v1/conversations/{conversation}").json()["path"]
        assert [row["question"] for row in path] == [first.split("\n")[0], "And for gift cards?"]
        assert {row["status"] for row in path} == {"done"}
        # the same over a server, and another after it
        more = f"Where are you?\n/new\n{first}"
        told = helix("chat", "-c", conversation, "--server", str(client.base_url), stdin=more)
        assert _conversation(told) != conversation
        read = client.get(f"/v1/conversations/{conversation}").json()
        assert [row["question"] for row in read["path"]][2:] == ["Where are you?"]
        assert "Refunds are accepted within 30 days" in told.stdout


def test_a_conversation_that_is_not_there_is_told_and_one_without_a_question_is_none(
    library: str,
) -> None:
    values = _OFFLINE | {"DATABASE_URL": library}
    told = helix("chat", "-c", "mistyped", stdin="Where are you?\n", **values)
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == "helix: there is no conversation mistyped: leave -c out to begin one\n"
    told = helix("chat", stdin="/list\n", **values)
    assert told.returncode == 0 and "go on with" not in told.stderr


@pytest.mark.parametrize("over", ["database", "server"])
def test_what_was_asked_is_asked_again_changed_and_gone_between(library: str, over: str) -> None:
    values = _OFFLINE | {"DATABASE_URL": library}
    lines = [
        "/again", "How long do I have to request a refund?", "Where are you?", "/again",
        "/edit #1 Within how many days are refunds accepted?", "/list", "/switch", "/switch #9",
        "/list", "/switch #2", "/nonsense",
    ]  # fmt: skip
    with live(library) as client:
        where = ("--server", str(client.base_url)) if over == "server" else ()
        told = helix("chat", *where, stdin="\n".join(lines), **values)
        path = client.get(f"/v1/conversations/{_conversation(told)}").json()["path"]
    asked = [(row["question"], len(row["siblings"])) for row in path]
    assert asked == [(lines[1], 2), (lines[2], 2)]
    first, second = told.stdout.split("#1 ")[1:]
    assert first.splitlines()[:2] == [
        f"{lines[4][9:]} (2 of 2)", f"> {lines[1]} (1 of 2)"
    ]  # fmt: skip
    assert "within 30 days" in first and "[1] Refund Policy" in first
    assert second.splitlines()[:3] == [
        f"{lines[1]} (1 of 2)", f"#2 {lines[2]} (1 of 2)", f"> {lines[2]} (2 of 2)"
    ]  # fmt: skip
    assert "helix: nothing was asked yet" in told.stderr
    assert "there is no question #9" in told.stderr and "no such command" in told.stderr


@pytest.mark.parametrize("over", ["database", "server"])
def test_a_question_is_about_the_images_put_before_it(
    database_url: str, over: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bill, text = tmp_path / "my bill.png", tmp_path / "note.png"
    bill.write_bytes(drawn())
    text.write_text("no image")
    lines = [f"/image {text}", f"/image {tmp_path / 'none.png'}", f"/image {bill}", "What is this?",
             "How long is the refund window?"]  # fmt: skip
    values = _OFFLINE | {"DATABASE_URL": database_url}
    with live(database_url) as client:
        where = ("--server", str(client.base_url)) if over == "server" else ()
        blind = helix("chat", *where, stdin=f"/image {bill}\n", **values)
        assert "the offline model cannot look at images: set HELIX_LLM" in blind.stderr
    seeing = partial(LanguageModel, OfflineLLM(), "offline:seeing", sees=True)
    monkeypatch.setattr(offline, "LanguageModel", lambda **_: seeing())
    monkeypatch.setattr(OfflineLLM, "astream_chat", _told)
    with live(database_url) as client:
        where = ("--server", str(client.base_url)) if over == "server" else ()
        told = helix("chat", *where, stdin="\n".join(lines), **values)
        path = client.get(f"/v1/conversations/{_conversation(told)}").json()["path"]
    assert [[one["name"] for one in row["attachments"]] for row in path] == [[bill.name], []]
    assert "The next question is about my bill.png." in told.stderr
    assert "none.png: No such file" in told.stderr and "PNG, JPEG" in told.stderr


@pytest.mark.parametrize("over", ["database", "server"])
def test_ctrl_c_stops_the_answer_and_not_the_chat(
    library: str, over: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [each for (each,) in rows(library, "SELECT DISTINCT conversation_id FROM messages")]
    pressed = Thread(target=_press_ctrl_c_once_answering, args=(library, others))
    monkeypatch.setattr(OfflineLLM, "astream_chat", _endless)
    values = _OFFLINE | {"DATABASE_URL": library}
    with live(library) as client:
        where = ("--server", str(client.base_url)) if over == "server" else ()
        pressed.start()
        told = helix(
            "chat", *where, stdin="How long do I have to request a refund?\n/list\n", **values
        )
        pressed.join()
        path = client.get(f"/v1/conversations/{_conversation(told)}").json()["path"]
    assert [row["status"] for row in path] == ["stopped"]
    assert "Stopped: this is not the whole answer." in told.stderr
    assert "#1 How long do I have" in told.stdout  # the line after it was read


def _press_ctrl_c_once_answering(database_url: str, others: list[str]) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        found = (
            "SELECT count(*) FROM message_events"
            " WHERE event = 'token' AND conversation_id <> ALL(%s)"
        )
        while connection.execute(found, [others]).fetchone() == (0,):
            time.sleep(0.02)
    os.kill(os.getpid(), signal.SIGINT)


async def _told(self: OfflineLLM, *_: object, **__: object) -> ChatResponseAsyncGen:
    async def deltas() -> AsyncGenerator[ChatResponse, None]:
        message = ChatMessage(role=MessageRole.ASSISTANT, content="A bill.")
        yield ChatResponse(message=message, delta="A bill.", additional_kwargs={})

    return deltas()


async def _endless(*_: object, **__: object) -> ChatResponseAsyncGen:
    async def deltas() -> AsyncGenerator[ChatResponse, None]:
        while True:
            text = ChatMessage(role=MessageRole.ASSISTANT, content="on")
            yield ChatResponse(message=text, delta="on and ")
            await asyncio.sleep(0.02)

    return deltas()

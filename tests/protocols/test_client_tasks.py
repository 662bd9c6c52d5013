"""Titles, tags and follow-ups of chat clients: no questions, with a model and without."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from helix.protocols.messages import Message, task_in
from tests.support.live_server import live
from tests.support.query_service import QUESTION
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, refused_key

HISTORY = f"<chat_history>\nUSER: {QUESTION}\nASSISTANT: Within 30 days [1].\n</chat_history>"
TITLE = (
    "### Task:\nGenerate a concise title summarizing the chat history.\n### Guidelines:\n- The"
    f" title should be clear.\n### Chat History:\n{HISTORY}"
)
OLD_TITLE = TITLE.replace(
    "a concise title summarizing", "a concise, 3-5 word title with an emoji summarizing"
)
TAGS = (
    "### Task:\nGenerate 1-3 broad tags categorizing the main themes of the chat history, along"
    f" with 1-3 more specific subtopic tags.\n\n### Chat History:\n{HISTORY}"
)
FOLLOW_UPS = (
    "### Task:\nPredict 3-5 useful messages this user might naturally send next to advance their"
    f" current objective.\n### Guidelines:\n### Chat History:\n{HISTORY}"
)
QUERIES = (
    "### Task:\nAnalyze the chat history to determine the necessity of generating search queries,"
    f" in the given language.\n### Chat History:\n{HISTORY}"
)
LIBRECHAT = (
    "Provide a concise, 5-word-or-less title for the conversation, using its same language, with no"
    " punctuation. Apply title case conventions appropriate for the language. Never directly"
    ' mention the language name or the word "title" and only return the title itself.\n\n'
    f"Conversation:\nUser: {QUESTION}\nAI: Within 30 days."
)
TASKS: list[tuple[str, Any]] = [
    (TITLE, {"title": QUESTION}), (OLD_TITLE, {"title": QUESTION}), (TAGS, {"tags": []}),
    (FOLLOW_UPS, {"follow_ups": []}), (QUERIES, {"queries": []}),
]  # fmt: skip


def sent(client: httpx.Client, text: str, **keys: Any) -> httpx.Response:
    body = {"model": "helix", "messages": [{"role": "user", "content": text}], **keys}
    return client.post("/v1/chat/completions", json=body)


def content(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    said: str = response.json()["choices"][0]["message"]["content"]
    return said


def test_without_a_model_each_has_the_form_that_is_asked_for(
    wire: GeminiWire, stored: dict[str, int], module_database_url: str
) -> None:
    asked = len(wire.requests)
    with live(module_database_url, embedder="gemini", gemini_api_key="wire-test-key") as offline:
        for prompt, reply in TASKS:
            assert json.loads(content(sent(offline, prompt))) == reply
        assert content(sent(offline, LIBRECHAT)) == QUESTION
        streamed = sent(offline, TAGS, stream=True).text
        assert r"{\"tags\": []}" in streamed and streamed.endswith("data: [DONE]\n\n")
        told = offline.post("/v1/responses", json={"model": "helix", "input": TAGS}).json()
        assert json.loads(told["output"][0]["content"][0]["text"]) == {"tags": []}
        long = TITLE.replace(QUESTION, f"{QUESTION} {'and so on ' * 900}")
        title = json.loads(content(sent(offline, long)))["title"]
        assert title.startswith(QUESTION) and len(title) <= 61 and title.endswith("…")
        metrics = offline.get("/metrics").text
    assert len(wire.requests) == asked, "nothing was searched"
    assert 'helix_questions_total{outcome="answered"' not in metrics


def test_a_model_gets_the_prompt_as_it_is_and_without_search(
    client: httpx.Client, wire: GeminiWire
) -> None:
    embedded = len(wire.received("embed"))
    wire.script(Answer(('{"title": "Refunds', ' by letter"}')), on="generate")
    assert content(sent(client, TITLE)) == '{"title": "Refunds by letter"}'
    (only,) = wire.received("generate")[-1].body["contents"]
    assert only["parts"] == [{"text": TITLE}] and len(wire.received("embed")) == embedded
    wire.script(refused_key(), on="generate")
    assert json.loads(content(sent(client, TITLE))) == {"title": QUESTION}


@pytest.mark.parametrize(
    "text",
    [
        "### Task:\nRespond to the user query using the provided context, incorporating inline"
        " citations.\n<context>Refunds</context>\n",
        "### Task:\nGenerate a concise title", "What does “### Task:\nGenerate” mean?",
        f"Please: {TITLE}", "Provide a concise, 5-word-or-less title for the report",
    ],
)  # fmt: skip
def test_another_beginning_is_a_question(text: str) -> None:
    assert task_in([Message("user", text)]) is None
    assert task_in([Message("user", TITLE), Message("assistant", "x")]) is None
    assert task_in([]) is None

"""OpenAI's formats, read by the clients that people have: openai-python and LangChain."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from helix.domain.contract import REFUSAL
from helix.protocols.messages import UNPROVEN
from tests.support.ai_sdk import chat, part, parts_of
from tests.support.query_service import QUESTION, asked
from tests.support.wire.gemini import GeminiWire
from tests.support.wire.gemini_replies import Answer, refused_key

if TYPE_CHECKING:  # loading the clients takes seconds, in each process that collects the tests
    from openai import OpenAI

MESSAGES: Any = [{"role": "user", "content": QUESTION}]
UNKNOWN: Any = [{"role": "user", "content": "Zebras?"}]


@pytest.fixture(scope="module")
def api(client: httpx.Client) -> Iterator[OpenAI]:
    from openai import OpenAI

    with OpenAI(base_url=f"{client.base_url}/v1", api_key="none", max_retries=0) as api:
        yield api


def span_of(client: httpx.Client, url: str) -> str:
    """The characters that a link leads to."""
    path, _, query = urlsplit(url).fragment.partition("?")
    place = {name: int(values[0]) for name, values in parse_qs(query).items()}
    text = client.get(f"/v1/documents/{path.rpartition('/')[2]}").json()["text"]
    quote: str = text[place["start"] : place["end"]]
    return quote


def test_a_completion_has_the_answer_and_its_exact_spans(api: OpenAI, client: httpx.Client) -> None:
    same = asked(client)
    told = api.chat.completions.create(model="helix", messages=MESSAGES)
    (choice,) = told.choices
    assert (choice.message.content, choice.finish_reason) == (same["answer"], "stop")
    assert choice.message.annotations and choice.message.content and told.usage
    (annotation,) = choice.message.annotations
    cited = annotation.url_citation
    assert choice.message.content[cited.start_index : cited.end_index] == "[1]"
    assert span_of(client, cited.url) == same["citations"][0]["quote"]
    assert told.usage.total_tokens == told.usage.prompt_tokens + told.usage.completion_tokens > 0
    extra = told.model_extra or {}
    assert extra["citations"] == [cited.url] == [r["url"] for r in extra["search_results"]]
    assert extra["helix"]["abstained"] is False and extra["helix"]["support"]["ratio"] == 1.0


def test_a_stream_tells_the_same_and_its_usage_last(api: OpenAI, client: httpx.Client) -> None:
    stream = api.chat.completions.create(
        model="helix", messages=MESSAGES, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == asked(client)["answer"]
    assert deltas[0].role == "assistant" and chunks[-1].choices == []
    assert chunks[-1].usage and chunks[-1].usage.completion_tokens > 0
    assert chunks[-2].choices[0].finish_reason == "stop"
    (annotation,) = (deltas[-1].model_extra or {})["annotations"]
    quote = span_of(client, annotation["url_citation"]["url"])
    assert quote == asked(client)["citations"][0]["quote"]
    whole = api.chat.completions.create(model="helix", messages=MESSAGES)
    assert whole.usage == chunks[-1].usage


def test_markers_may_be_links_and_a_stop_ends_the_text(api: OpenAI, client: httpx.Client) -> None:
    extra = {"citation_links": True}
    told = api.chat.completions.create(model="helix", messages=MESSAGES, extra_body=extra)
    message = told.choices[0].message
    assert message.content and message.annotations
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == f"[1]({cited.url})"
    chunks = list(
        api.chat.completions.create(
            model="helix", messages=MESSAGES, stream=True, stop=["refund by"], extra_body=extra
        )
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == (
        "Refunds are accepted within 30 days of purchase, request a "
    )
    streamed = client.post(
        "/v1/chat/completions",
        json={"model": "helix", "messages": MESSAGES, "stream": True} | extra,
    )
    assert f"[1]({client.base_url}/#/answer/{streamed.headers['x-answer-id']})" in streamed.text


def test_a_refusal_is_text_and_says_what_it_is(api: OpenAI) -> None:
    told = api.chat.completions.create(model="helix", messages=UNKNOWN)
    message = told.choices[0].message
    assert (message.content, told.choices[0].finish_reason) == (REFUSAL, "stop")
    assert message.annotations == [] and (told.model_extra or {})["helix"]["abstained"] is True


def test_messages_before_the_question_are_its_history(api: OpenAI, wire: GeminiWire) -> None:
    messages: Any = [
        {"role": "system", "content": "Speak like a pirate."},
        {"role": "user", "content": "What about parcels to Norway?"},
        {"role": "assistant", "content": "They take four working days. [1]"},
        {"role": "user", "content": [{"type": "text", "text": "And express parcels?"}]},
    ]
    told = api.chat.completions.create(model="helix", messages=messages)
    sent = json.dumps(wire.received("generate")[-1].body)
    assert "User asked: What about parcels to Norway?" in sent and "pirate" not in sent
    assert (told.model_extra or {})["helix"]["turn"]["memory"]["turns"] == 1


def test_the_agent_is_a_model_that_tells_what_it_does(api: OpenAI, client: httpx.Client) -> None:
    chunks = list(api.chat.completions.create(model="helix-agent", messages=MESSAGES, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    known = (chunks[-1].model_extra or {})["helix"]
    assert known["agent"]["ended"] and chunks[-1].choices[0].finish_reason == "stop"
    parts = parts_of(client.post("/v1/ui/chat", json=chat(QUESTION, mode="agent")))
    assert part(parts, "data-proof")["data"]["agent"]["ended"] == known["agent"]["ended"]


def test_what_nothing_bears_out_says_so_in_the_text(
    api: OpenAI, client: httpx.Client, wire: GeminiWire
) -> None:
    invented = "Refunds are paid in gold by the mayor of Paris [1]."
    marked = f"{invented}\n\n{UNPROVEN}"
    for _ in range(3):
        wire.script(Answer((invented[:9], invented[9:])), on="generate")
    told = api.chat.completions.create(model="helix", messages=MESSAGES)
    assert told.choices[0].message.content == marked
    stream = api.chat.completions.create(model="helix", messages=MESSAGES, stream=True)
    assert "".join(c.choices[0].delta.content or "" for c in stream if c.choices) == marked
    with api.responses.stream(model="helix", input=QUESTION) as events:
        said = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        final = events.get_final_response()
    assert said == final.output_text == marked
    borne_out = api.chat.completions.create(model="helix", messages=MESSAGES)
    assert borne_out.choices[0].message.content == asked(client)["answer"]
    refused = api.chat.completions.create(model="helix", messages=UNKNOWN)
    assert refused.choices[0].message.content == REFUSAL


def test_a_response_has_the_same_answer_and_annotations(api: OpenAI, client: httpx.Client) -> None:
    same = asked(client)
    told = api.responses.create(model="helix", input=QUESTION)
    part: Any = told.output[0].content[0]  # type: ignore[union-attr, index]
    assert (told.output_text, told.status) == (same["answer"], "completed")
    assert span_of(client, part.annotations[0].url) == same["citations"][0]["quote"]
    with api.responses.stream(model="helix", input=MESSAGES) as stream:
        events = list(stream)
        final = stream.get_final_response()
    assert [event.sequence_number for event in events] == list(range(len(events)))
    deltas = [e.delta for e in events if e.type == "response.output_text.delta"]
    (added,) = [e for e in events if e.type == "response.output_text.annotation.added"]
    assert "".join(deltas) == final.output_text == same["answer"]
    assert span_of(client, dict(added.annotation)["url"]) == same["citations"][0]["quote"]  # type: ignore[call-overload]
    assert final.usage == told.usage


def test_langchain_reads_answer_citations_and_vectors(client: httpx.Client) -> None:
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings

    base: Any = {"base_url": f"{client.base_url}/v1", "api_key": "none"}
    same = asked(client)
    chat = ChatOpenAI(model="helix", stream_usage=True, **base)
    assert chat.invoke(QUESTION).text == same["answer"]
    assert "".join(chunk.text for chunk in chat.stream(QUESTION)) == same["answer"]
    responding = ChatOpenAI(model="helix", use_responses_api=True, **base)
    (block,) = responding.invoke(QUESTION).content_blocks
    assert span_of(client, block["annotations"][0]["url"]) == same["citations"][0]["quote"]  # type: ignore[typeddict-item]
    embedder = OpenAIEmbeddings(model="helix-embed", check_embedding_ctx_length=False, **base)
    vectors = embedder.embed_documents(["Refunds.", "Parcels."])
    assert [len(vector) for vector in vectors] == [1536, 1536] and vectors[0] != vectors[1]
    assert abs(sum(x * x for x in vectors[0]) - 1) < 1e-5


def test_models_are_listed_and_another_is_not_found(api: OpenAI) -> None:
    import openai

    assert [model.id for model in api.models.list()] == ["helix", "helix-agent", "helix-embed"]
    assert api.models.retrieve("helix").owned_by == "helix"
    with pytest.raises(openai.NotFoundError, match="helix") as none:
        api.chat.completions.create(model="gpt-9", messages=MESSAGES)
    assert none.value.code == "model_not_found"


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"model": "helix"}, "messages"),
        ({"model": "helix", "messages": MESSAGES, "n": 2}, "n"),
        ({"model": "helix", "messages": MESSAGES, "stop": ["a"] * 5}, "stop"),
        ({"model": "helix", "messages": [{"role": "user", "content": "x" * 4001}]}, "messages"),
        ({"model": "helix", "messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"model": "helix", "messages": [{"role": "assistant", "content": "x"}]}, "messages"),
        ({"model": "helix", "messages": [{"role": "user", "content": [
            {"type": "image_url", "image_url": {"url": "data:"}}]}]}, "messages"),
        ({"model": "helix", "messages": MESSAGES, "filters": {"since": "now"}}, "filters.since"),
    ],
)  # fmt: skip
def test_a_bad_request_names_its_parameter(
    client: httpx.Client, body: dict[str, Any], param: str
) -> None:
    response = client.post("/v1/chat/completions", json=body)
    error = response.json()["error"]
    assert (response.status_code, error["type"], error["param"]) == (
        400, "invalid_request_error", param,
    )  # fmt: skip
    assert "\n" not in error["message"]
    assert param != "stop" or "at most 4 items" in error["message"]


@pytest.mark.parametrize("name", ["previous_response_id", "conversation"])
def test_a_history_that_is_not_kept_is_refused(client: httpx.Client, name: str) -> None:
    body = {"model": "helix", "input": "And then?", name: "x_1"}
    response = client.post("/v1/responses", json=body)
    assert (response.status_code, response.json()["error"]["param"]) == (400, name)


@pytest.mark.parametrize(
    ("texts", "told"),
    [([], "List should have at least 1 item"), (["a"] * 2049, "List should have at most 2048 item"),
     ([1, 2], "texts are embedded, not tokens"), ([[1], [2]], "texts are embedded, not tokens")],
)  # fmt: skip
def test_what_cannot_be_embedded_is_told(
    client: httpx.Client, texts: list[object], told: str
) -> None:
    response = client.post("/v1/embeddings", json={"model": "helix-embed", "input": texts})
    error = response.json()["error"]
    assert (response.status_code, error["param"]) == (400, "input")
    assert error["message"].startswith(f"input: {told}")


def test_other_paths_of_the_api_are_refused_in_its_form(client: httpx.Client) -> None:
    for method, path in (
        ("GET", "/v1/files"), ("POST", "/v1/completions"), ("POST", "/v1/audio/speech"),
        ("GET", "/v1/chat/completions"), ("GET", "/v1/responses/resp_1"),
    ):  # fmt: skip
        refused = client.request(method, path)
        assert refused.status_code in (404, 405), path
        error = refused.json()["error"]
        assert error["type"] == "invalid_request_error" and "/" in error["message"]
    assert "no route GET /v1/nowhere" in client.get("/v1/nowhere").json()["error"]
    blank = {"model": "helix", "messages": [{"role": "user", "content": " "}]}
    told = client.post("/v1/chat/completions", json=blank).json()["error"]["message"]
    assert told == "the last message is missing or blank"


def test_a_failure_before_the_first_token_is_a_status(api: OpenAI, wire: GeminiWire) -> None:
    import openai

    for stream in (False, True):
        wire.script(Answer(deltas=(), block="SAFETY"), on="generate")
        with pytest.raises(openai.InternalServerError) as failed:
            api.chat.completions.create(model="helix", messages=MESSAGES, stream=stream)
        assert failed.value.status_code == 502 and failed.value.type == "server_error"
    wire.script(refused_key(), on="embed")
    with pytest.raises(openai.InternalServerError):
        api.embeddings.create(model="helix-embed", input="unheard of")


BROKEN = [
    Answer(deltas=("Half an ", "ans"), then="cut"),
    Answer(deltas=("Half an ", "ans"), finish="SAFETY"),
]


@pytest.mark.parametrize("broken", BROKEN, ids=["cut", "safety"])
def test_a_cut_answer_never_looks_complete(
    api: OpenAI, client: httpx.Client, wire: GeminiWire, broken: Answer
) -> None:
    import openai

    wire.script(*[broken] * 4, on="generate")
    with pytest.raises(openai.APIError, match="Gemini"):
        list(api.chat.completions.create(model="helix", messages=MESSAGES, stream=True))
    body = {"model": "helix", "messages": MESSAGES, "stream": True}
    raw = client.post("/v1/chat/completions", json=body).text
    assert "Half" in raw and "[DONE]" not in raw and '"finish_reason":"stop"' not in raw
    events = list(api.responses.create(model="helix", input=QUESTION, stream=True))
    assert [event.type for event in events[-2:]] == ["error", "response.failed"]
    with pytest.raises(openai.InternalServerError):
        api.chat.completions.create(model="helix", messages=MESSAGES)


def test_a_client_that_leaves_closes_the_models_stream(
    client: httpx.Client, wire: GeminiWire
) -> None:
    from openai import AsyncOpenAI

    abandoned = wire.abandoned
    wire.script(Answer(deltas=("word ",) * 400, delay=0.05), on="generate")

    async def leave() -> None:
        async with AsyncOpenAI(base_url=f"{client.base_url}/v1", api_key="none") as api:
            stream = await api.chat.completions.create(
                model="helix", messages=MESSAGES, stream=True
            )
            async for chunk in stream:
                if chunk.choices[0].delta.content:
                    return

    asyncio.run(leave())
    assert wire.wait_until(lambda w: w.open_streams == 0 and w.abandoned == abandoned + 1)

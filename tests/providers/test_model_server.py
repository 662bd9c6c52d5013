"""Servers that speak OpenAI's API: requests, keys, contexts, how answers end, what doctor says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from helix.agent.model_driver import calls_in_text
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.errors import SettingsError, UpstreamError
from helix.providers.base import LanguageModel
from helix.providers.factories import build_embedder, build_llm
from helix.providers.model_server import chat_options, examined_server
from helix.providers.served_models import ServedModel, served_model, served_models
from helix.providers.thoughts import ThoughtFilter
from helix.settings import Settings
from tests.support.scripted_server import Reply, ScriptedServer, scripted
from tests.support.vendor_packages import settings
from tests.support.wire.openai import saying

HELLO = [ChatMessage(role=MessageRole.USER, content="hello there")]
VLLM = {"id": "qwen", "object": "model", "owned_by": "vllm", "max_model_len": 4096}
LLAMA = {"id": "a.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 2048, "n_ctx_train": 8192}}


def _json(value: Any, status: int = 200) -> Reply:
    return Reply(json.dumps(value).encode(), status, {"Content-Type": "application/json"})


def _list(*models: dict[str, Any]) -> Reply:
    return _json({"object": "list", "data": models})


def _chosen(server: ScriptedServer, **more: Any) -> Settings:
    names: dict[str, Any] = {"llm": "server:qwen", "model_server": f"{server.url}/v1/", **more}
    return settings(**names)


async def _answer(llm: LanguageModel) -> str:
    stream = await llm.model.astream_chat(HELLO)
    return "".join([response.delta or "" async for response in stream])


@pytest.fixture(autouse=True)
def _openai_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-alone")


async def test_a_model_of_a_server_answers_under_its_own_name() -> None:
    with scripted(_list(VLLM), saying("It takes five days.")) as server:
        llm = build_llm(_chosen(server, model_server_key="server-key"))
        assert await _answer(llm) == "It takes five days."
    assert llm.identity == "server:qwen"
    assert llm.model.metadata.context_window == 4096
    assert [path for _, path, _ in server.asked] == ["/v1/models", "/v1/chat/completions"]
    assert {headers["authorization"] for *_, headers in server.asked} == {"Bearer server-key"}
    sent = json.loads(server.bodies[1])
    assert (sent["model"], sent["temperature"]) == ("qwen", 0.0)
    assert sent["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("answer", ["Five days.", "<b>Five</b> days.", " Five days. </think>"])
async def test_thoughts_in_front_of_an_answer_are_left_out(answer: str) -> None:
    thought = "\n<think>\nHow many days?\n</think>\n\n"
    message = {"role": "assistant", "content": f"{thought}{answer.lstrip()}"}
    whole = _json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
    with scripted(_list(VLLM), saying(answer), saying(thought + answer), whole) as server:
        llm = build_llm(_chosen(server))
        assert await _answer(llm) == answer
        assert await _answer(llm) == answer.lstrip()
        assert (await llm.reply(HELLO)).message.content == answer.lstrip()


async def test_an_agent_reads_the_calls_behind_thoughts() -> None:
    """It takes the message of the last response: calls as text, and what is sent back."""
    call = '{"name": "search", "arguments": {}}'
    reply = saying(f"<think>How many days?</think>\n{call}")
    with scripted(_list(VLLM), reply) as server:
        responses = [each async for each in await build_llm(_chosen(server)).stream(HELLO)]
    assert calls_in_text(responses[-1].message.content or "", {"search"}) == [("search", {})]


async def test_thoughts_alone_are_no_answer() -> None:
    reply = saying("<think>How many days?")
    with scripted(_list(VLLM), reply) as server, pytest.raises(UpstreamError, match="without an"):
        await _answer(build_llm(_chosen(server)))


def test_long_thoughts_are_not_held() -> None:
    """Each delta would copy and search all that came before it."""
    spoken = ThoughtFilter()
    assert not any(map(spoken.feed, ["<think>", *["How many days? "] * 100, "</thi"]))
    assert len(spoken._held or "") < len("</think>")
    assert spoken.feed("nk>\n<") == "<"


@pytest.mark.parametrize(
    ("listed", "set_by_hand", "most"),
    [(VLLM, None, 1024), ({**VLLM, "max_model_len": 131072}, None, 4096), (VLLM, 300, 300)],
)
async def test_every_request_bounds_its_answer(
    listed: dict[str, Any], set_by_hand: int | None, most: int
) -> None:
    message = {"role": "assistant", "content": "Yes."}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    with scripted(_list(listed), saying("Yes."), _json({"choices": [choice]})) as server:
        llm = build_llm(_chosen(server, answer_tokens=set_by_hand))
        await _answer(llm)
        await llm.model.achat(HELLO)
    assert [json.loads(body)["max_tokens"] for body in server.bodies[1:]] == [most] * 2


async def test_openais_key_is_not_sent_to_another_server() -> None:
    with scripted(_list(VLLM), saying("Yes.")) as server:
        await _answer(build_llm(_chosen(server)))
    assert "sk-for-openai-alone" not in str(server.asked)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (saying("It takes", "length"), "at its length limit.* or raise HELIX_ANSWER_TOKENS"),
        (saying("It takes", "content_filter"), "broke off its answer"),
        (saying("It takes", cut=True), "failed|before it was finished"),
        (saying(""), "without an answer"),
    ],
)
async def test_an_answer_that_is_not_whole_is_a_failure(reply: Reply, problem: str) -> None:
    with scripted(_list(VLLM), reply) as server, pytest.raises(UpstreamError, match=problem):
        await _answer(build_llm(_chosen(server)))


async def test_a_server_that_gives_signs_of_life_alone_is_left() -> None:
    held = Reply(b": waiting\n\n", headers={"Content-Type": "text/event-stream"}, held=True)
    with scripted(_list(VLLM), held) as server:
        llm = replace(build_llm(_chosen(server)), silence=0.2)
        with pytest.raises(UpstreamError, match="server:qwen was silent for too long"):
            _ = [response async for response in await llm.stream(HELLO)]
        assert server.left.wait(10)


async def test_a_refused_request_is_made_no_second_time() -> None:
    with scripted(_list(VLLM), _json({"error": {"message": "no such model"}}, 404)) as server:
        with pytest.raises(UpstreamError, match=r"server:qwen failed \(NotFoundError\)"):
            await _answer(build_llm(_chosen(server)))
        assert len(server.asked) == 2


def test_token_counts_are_not_asked_for_where_that_is_refused() -> None:
    def options(address: str) -> dict[str, Any]:
        return dict(chat_options(address, "key", "some-model", 4096)["additional_kwargs"])

    assert options("https://api.mistral.ai/v1") == {}
    assert "stream_options" in options("https://api.groq.com/openai/v1")


@pytest.mark.parametrize(
    ("listed", "context"),
    [
        (VLLM, 4096),
        (LLAMA, 2048),
        ({"id": "qwen", "context_length": 131072}, 131072),
        ({"id": "qwen", "context_window": 32768}, 32768),
        ({"id": "qwen", "max_context_length": 32000}, 32000),
        ({"id": "qwen", "max_context_length": 32000, "loaded_context_length": 4096}, 4096),
        ({"id": "qwen", "context_length": None}, None),
        ({"id": "qwen", "max_model_len": "long", "meta": None}, None),
        ({"id": "another", "max_model_len": 4096}, None),
    ],
)
def test_the_context_is_the_servers_where_it_tells(
    listed: dict[str, Any], context: int | None
) -> None:
    with scripted(_list(listed)) as server:
        window = build_llm(_chosen(server)).model.metadata.context_window
    assert window == (context or 8192 + 1024 * 5)


def test_a_context_that_is_set_asks_nobody() -> None:
    with scripted(_list(VLLM)) as server:
        llm = build_llm(_chosen(server, model_context=1024))
        assert (llm.model.metadata.context_window, server.asked) == (1024, [])


def test_llama_cpp_alone_is_sent_a_grammar() -> None:
    schema = {"enum": ["a"]}
    sent = {}
    for listed in (VLLM, LLAMA):
        with scripted(_list(listed)) as server:
            options = build_llm(_chosen(server)).schema_options
            assert options is not None
            sent[listed["owned_by"]] = list(options(schema))
    assert sent == {"vllm": ["response_format"], "llamacpp": ["extra_body"]}


def test_a_server_that_is_away_when_helix_starts_is_no_error() -> None:
    with scripted(_list(VLLM)) as server:
        pass
    assert build_llm(_chosen(server)).model.metadata.context_window == 8192 + 1024 * 5


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (_json({"error": "no"}, 401), "answered 401: check the key"),
        (_json({"error": "no"}, 404), "answered 404: check the address, which often ends in /v1"),
        (_json({"error": "no"}, 503), "answered 503: try again"),
        (Reply(b"<html>"), "is no list of models"),
        (_json([]), "is no list of models"),
        (_json({"data": ["qwen"]}), "is no list of models"),
    ],
)
def test_what_is_wrong_with_a_list_of_models_is_one_line(reply: Reply, problem: str) -> None:
    with scripted(reply) as server, pytest.raises(UpstreamError, match=problem) as caught:
        served_models(f"{server.url}/v1", "secret-key")
    assert "secret-key" not in str(caught.value)


def test_a_server_of_one_model_answers_any_name() -> None:
    alone, other = ServedModel("a.gguf", 2048, alone=True), ServedModel("b")
    assert served_model([alone], "whatever") == alone
    assert served_model([other], "whatever") is None


def test_doctor_is_told_of_the_server_and_its_models() -> None:
    with scripted(_list(VLLM)) as server:
        chosen = _chosen(server)
        assert "context 4096 tokens" in examined_server(chosen, "qwen")
        with pytest.raises(UpstreamError, match="lists no model llama; it has qwen"):
            examined_server(chosen, "llama")
    with pytest.raises(UpstreamError, match="did not answer"):
        examined_server(chosen, "qwen")


def _vectors(*rows: list[float]) -> Reply:
    data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
    return _json({"object": "list", "model": "e5", "data": data, "usage": {}})


def test_an_embedder_of_a_server_gives_unit_vectors() -> None:
    with scripted(_vectors([3.0, 4.0], [1.0, 0.0])) as server:
        chosen = _chosen(server, llm="offline", embedder="server:e5", model_server_key="its-key")
        embedder = build_embedder(chosen)
        rows = embedder.model.get_text_embedding_batch(["one", "two"])
    assert embedder.identity == "server:e5:1536"
    assert [len(row) for row in rows] == [EMBEDDING_DIMENSIONS] * 2
    assert rows[0][:3] == pytest.approx([0.6, 0.8, 0.0])
    sent = json.loads(server.bodies[0])
    assert (sent["model"], sent["encoding_format"]) == ("e5", "float")
    assert server.asked[0][2]["authorization"] == "Bearer its-key"


def test_the_model_servers_key_is_not_sent_to_the_embedders() -> None:
    with scripted(_vectors([3.0, 4.0])) as server:
        chosen = settings(
            embedder="server:e5", embed_server=f"{server.url}/v1",
            model_server="http://127.0.0.1:1/v1", model_server_key="another-servers",
        )  # fmt: skip
        build_embedder(chosen).model.get_text_embedding("one")
    assert server.asked[0][1] == "/v1/embeddings"
    assert "another-servers" not in str(server.asked)


@pytest.mark.parametrize("name", ["llm", "judge", "embedder", "embedder_next"])
def test_a_server_without_an_address_is_one_line(name: str) -> None:
    with pytest.raises(SettingsError, match="HELIX_MODEL_SERVER is not set: set it to"):
        settings(**{name: "server:qwen"})


def test_a_server_that_questions_may_choose_needs_its_address_too() -> None:
    with pytest.raises(SettingsError, match="HELIX_MODEL_SERVER is not set: set it to"):
        settings(models="server:qwen")


def test_a_name_that_openai_does_not_know_leads_to_server() -> None:
    with pytest.raises(SettingsError, match=r"server:MODEL, .* HELIX_MODEL_SERVER"):
        build_llm(settings(llm="openai:qwen2.5-0.5b"))


async def test_a_silent_server_is_asked_once_and_a_busy_one_again() -> None:
    with scripted(_list(VLLM), Reply(b"", silent=True), saying("Yes.")) as server:
        silent = build_llm(_chosen(server, model_timeout=1))
        with pytest.raises(UpstreamError, match="server:qwen was silent for too long"):
            await _answer(silent)
        assert len(server.asked) == 2
    busy = _json({"error": {"message": "busy"}}, 503)
    with scripted(_list(VLLM), busy, busy, saying("Yes.")) as server:
        assert await _answer(build_llm(_chosen(server))) == "Yes."
        assert len(server.asked) == 4

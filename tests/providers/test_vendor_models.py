"""Other vendors' models held to our rules: how answers end, widths of vectors, errors, retries."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
)
from llama_index.core.llms.custom import CustomLLM
from pydantic import PrivateAttr

from helix.errors import SettingsError, UpstreamError
from helix.providers.anthropic import finish_reason as anthropic_reason
from helix.providers.base import Usage, usage_of
from helix.providers.factories import build_llm
from helix.providers.ollama import finish_reason as ollama_reason
from helix.providers.openai import finish_reason as openai_reason
from tests.support.vendor_packages import (
    CHATS,
    KEY,
    install,
    settings,
)

HELLO = [ChatMessage(role=MessageRole.USER, content="hello there")]


def _openai(reason: str | None) -> Any:
    """A chunk, or a whole answer, of openai 2.54: objects."""
    return SimpleNamespace(choices=[SimpleNamespace(finish_reason=reason, index=0)])


def _ollama(reason: str | None) -> Any:
    """A reply of llama-index-llms-ollama 0.11: a dict whose ``done_reason`` is there or None."""
    return {"model": "llama3", "done": reason is not None, "done_reason": reason}


def _anthropic(reason: str | None) -> Any:
    """A stream's event of llama-index-llms-anthropic 0.12: a dict that holds objects."""
    if reason is None:
        text = SimpleNamespace(type="text_delta", text="Hello")
        return {"type": "content_block_delta", "index": 0, "delta": text}
    delta = SimpleNamespace(stop_reason=reason, stop_sequence=None)
    return {"type": "message_delta", "delta": delta, "usage": SimpleNamespace(output_tokens=2)}


RAWS: Mapping[str, Callable[[str | None], Any]] = {
    "openai": _openai,
    "ollama": _ollama,
    "anthropic": _anthropic,
}
CLASSES = {"openai": "OpenAI", "ollama": "Ollama", "anthropic": "Anthropic"}


def test_each_vendors_finish_reason_is_read_from_its_own_raw_response() -> None:
    assert openai_reason(_openai("content_filter")) == "content_filter"
    assert openai_reason(_openai(None)) is None
    assert openai_reason(SimpleNamespace(choices=[], usage=SimpleNamespace())) is None
    assert ollama_reason(_ollama("length")) == "length"
    assert ollama_reason(_ollama(None)) is None
    assert ollama_reason({"done": True, "done_reason": None}) is None  # it does not say why
    assert anthropic_reason(_anthropic("refusal")) == "refusal"
    assert anthropic_reason(_anthropic(None)) is None
    assert anthropic_reason({"type": "content_block_stop", "index": 0}) is None
    assert anthropic_reason({"type": "message", "stop_reason": "max_tokens"}) == "max_tokens"


class Vendor(CustomLLM):
    """A vendor's LLM that takes a vendor's options and answers with ``deltas``, then ``raws``."""

    model: str
    deltas: tuple[str, ...] = ("Hel", "lo")
    raws: tuple[Any, ...] = ()
    fails: bool = False
    _aclient: Any = PrivateAttr(
        default_factory=lambda: SimpleNamespace(with_options=lambda **_: None)
    )

    @property
    def metadata(self) -> LLMMetadata:
        if self.model == "unheard-of":
            raise ValueError(f"Unknown model for {KEY}")
        return LLMMetadata(model_name=self.model)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        raise NotImplementedError

    def stream_complete(
        self, prompt: str, formatted: bool = False, **kwargs: Any
    ) -> CompletionResponseGen:
        raise NotImplementedError

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        if self.fails:
            raise ConnectionError(f"401 for {KEY}")
        return ChatResponse(message=self._message(), raw=self.raws[-1])

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return Vendor.chat(self, messages)

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> AsyncGenerator[ChatResponse, None]:
        async def stream() -> AsyncGenerator[ChatResponse, None]:
            for delta in self.deltas:
                yield ChatResponse(message=self._message(), delta=delta, raw=self.raws[0])
            if self.fails:
                raise ConnectionError(f"cut for {KEY}")
            for raw in self.raws[1:]:
                yield ChatResponse(message=self._message(), delta="", raw=raw)

        return stream()

    def _message(self) -> ChatMessage:
        return ChatMessage(role=MessageRole.ASSISTANT, content="".join(self.deltas))


def _vendor_llm(monkeypatch: pytest.MonkeyPatch, kind: str, **state: Any) -> Any:
    install(monkeypatch, CHATS[kind].module, CLASSES[kind], Vendor)
    llm: Any = build_llm(settings(llm=f"{kind}:some-model")).model
    for name, value in state.items():
        setattr(llm, name, value)
    return llm


async def _streamed(llm: Any, received: list[str]) -> None:
    async for response in await llm.astream_chat(HELLO):
        received.append(response.delta)  # noqa: PERF401


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("openai", "stop"),
        ("ollama", "stop"),
        ("anthropic", "end_turn"),
        ("anthropic", "stop_sequence"),
    ],
)
async def test_a_whole_answer_passes(
    monkeypatch: pytest.MonkeyPatch, kind: str, reason: str
) -> None:
    raw = RAWS[kind]
    llm = _vendor_llm(monkeypatch, kind, raws=(raw(None), raw(reason)))
    received: list[str] = []
    await _streamed(llm, received)
    assert received == ["Hel", "lo", "", ""]  # the last one for the usage
    assert (await llm.achat(HELLO)).message.content == "Hello"
    assert llm.chat(HELLO).message.content == "Hello"


USAGES: list[tuple[str, tuple[Any, ...], Usage]] = [
    (
        "openai",
        (
            _openai("stop"),
            SimpleNamespace(
                choices=[],
                model="gpt-4o-2024-11-20",
                usage=SimpleNamespace(
                    prompt_tokens=40,
                    completion_tokens=35,
                    prompt_tokens_details=SimpleNamespace(cached_tokens=8),
                    completion_tokens_details=SimpleNamespace(reasoning_tokens=30),
                ),
            ),
        ),
        Usage("gpt-4o-2024-11-20", 40, 5, 8, 30),
    ),
    (
        "openai",
        (
            _openai("stop"),
            SimpleNamespace(
                choices=[],
                model="grok-4",
                usage=SimpleNamespace(
                    prompt_tokens=32,
                    completion_tokens=9,
                    completion_tokens_details=SimpleNamespace(reasoning_tokens=94),
                ),
            ),
        ),
        Usage("grok-4", 32, 9, None, 94),
    ),
    (
        "ollama",
        (_ollama("stop") | {"prompt_eval_count": 40, "eval_count": 5},),
        Usage("llama3", 40, 5),
    ),
    (
        "anthropic",
        (
            _anthropic("end_turn")
            | {
                "usage": SimpleNamespace(
                    input_tokens=30,
                    output_tokens=5,
                    cache_read_input_tokens=8,
                    cache_creation_input_tokens=2,
                )
            },
        ),
        Usage("some-model", 40, 5, 8),
    ),
]


@pytest.mark.parametrize(("kind", "raws", "usage"), USAGES, ids=[each[2].model for each in USAGES])
async def test_an_answer_ends_with_what_it_took(
    monkeypatch: pytest.MonkeyPatch, kind: str, raws: tuple[Any, ...], usage: Usage
) -> None:
    llm = _vendor_llm(monkeypatch, kind, raws=(RAWS[kind](None), *raws))
    *rest, last = [response async for response in await llm.astream_chat(HELLO)]
    assert {usage_of(response) for response in rest} == {None}
    assert (last.delta, last.message.content, usage_of(last)) == ("", "Hello", usage)


async def test_a_service_that_counts_no_tokens_is_taken_at_the_name_it_was_asked_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    llm = _vendor_llm(monkeypatch, "openai", raws=(_openai("stop"),))
    assert usage_of(await llm.achat(HELLO)) == Usage("some-model")


async def test_token_counts_after_the_finish_reason_do_not_hide_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts = SimpleNamespace(choices=[], usage=SimpleNamespace(total_tokens=3))
    raws = (_openai(None), _openai("stop"), counts)
    received: list[str] = []
    await _streamed(_vendor_llm(monkeypatch, "openai", raws=raws), received)
    assert "".join(received) == "Hello"


ENDS = [
    ("openai", None, "before it was finished", True),
    ("openai", "length", r"cut at its length limit \(length\)", False),
    ("openai", "content_filter", r"broke off its answer \(content_filter\)", False),
    ("openai", "end_turn", "broke off", False),  # another vendor's word
    ("ollama", None, "before it was finished", True),
    ("ollama", "length", "cut at its length limit", False),
    ("ollama", "unload", "broke off", False),
    ("anthropic", None, "before it was finished", True),
    ("anthropic", "max_tokens", "cut at its length limit", False),
    ("anthropic", "model_context_window_exceeded", "cut at its length limit", False),
    ("anthropic", "refusal", "broke off", False),
]


@pytest.mark.parametrize(("kind", "reason", "problem", "transient"), ENDS)
async def test_an_answer_that_did_not_end_whole_fails_after_its_text(
    monkeypatch: pytest.MonkeyPatch, kind: str, reason: str | None, problem: str, transient: bool
) -> None:
    raw = RAWS[kind]
    llm = _vendor_llm(monkeypatch, kind, raws=(raw(None), raw(reason)))
    received: list[str] = []
    with pytest.raises(UpstreamError, match=f"{kind}:some-model.*{problem}") as caught:
        await _streamed(llm, received)
    assert "".join(received) == "Hello"
    assert caught.value.transient is transient
    with pytest.raises(UpstreamError, match=problem):
        await llm.achat(HELLO)
    with pytest.raises(UpstreamError, match=problem):
        llm.chat(HELLO)


@pytest.mark.parametrize("kind", ["openai", "ollama", "anthropic"])
async def test_a_finished_answer_without_text_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    whole = RAWS[kind](min(CHATS[kind].whole))
    llm = _vendor_llm(monkeypatch, kind, deltas=("",), raws=(whole,))
    with pytest.raises(UpstreamError, match="finished without an answer"):
        await _streamed(llm, [])
    with pytest.raises(UpstreamError, match="finished without an answer"):
        await llm.achat(HELLO)


async def test_a_vendors_failures_become_ours_and_its_class_stays_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    llm = _vendor_llm(monkeypatch, "ollama", fails=True, raws=(_ollama(None),))
    assert isinstance(llm, Vendor)
    assert llm.model == "some-model"
    with pytest.raises(UpstreamError, match=r"failed \(ConnectionError\)") as caught:
        await llm.achat(HELLO)
    assert KEY not in str(caught.value)
    with pytest.raises(UpstreamError, match=r"failed \(ConnectionError\)"):
        llm.chat(HELLO)
    received: list[str] = []
    with pytest.raises(UpstreamError, match=r"failed \(ConnectionError\)"):
        await _streamed(llm, received)
    assert received == ["Hel", "lo"]


def test_a_model_that_the_vendors_class_does_not_know_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    install(monkeypatch, CHATS["anthropic"].module, "Anthropic", Vendor)
    with pytest.raises(SettingsError, match="check the model's name") as caught:
        build_llm(settings(llm="anthropic:unheard-of"))
    assert KEY not in str(caught.value)

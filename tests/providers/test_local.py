"""A model file that answers: through llama.cpp's real server, over the smallest real model."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from llama_index.core.base.llms.types import ChatMessage, MessageRole

from evals.real.models import SMALL, model_file
from helix.domain.usage import KEY
from helix.errors import SettingsError, UpstreamError
from helix.providers.base import LanguageModel
from helix.providers.factories import build_llm
from helix.providers.local import server_options
from helix.providers.local_models.shared_server import SharedServer
from helix.settings import Settings
from tests.support.busy_machine import bound
from tests.support.vendor_packages import settings

FILE = model_file(SMALL).resolve()


def _asked(question: str) -> list[ChatMessage]:
    return [ChatMessage(role=MessageRole.USER, content=question)]


@pytest.fixture
def chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    values: dict[str, Any] = {"local_threads": 1, "model_context": 1024, "local_wait": 90}
    return settings(llm=f"local:{FILE}", **values)


@pytest.fixture
async def llm(chosen: Settings) -> AsyncIterator[LanguageModel]:
    made = build_llm(chosen)
    yield made
    await made.aclose()


async def _is_busy(chosen: Settings) -> bool:
    server = SharedServer(server_options(chosen, FILE))
    address = await server.ensure_async(10)
    async with httpx.AsyncClient() as client:
        headers = {"Authorization": f"Bearer {address.key}"}
        slots = (await client.get(f"{address.url}/slots", headers=headers)).json()
    server.close()
    return any(slot["is_processing"] for slot in slots)


@pytest.mark.processes
async def test_a_model_file_answers_and_a_stream_that_is_left_stops_it(
    llm: LanguageModel, chosen: Settings
) -> None:
    assert llm.identity == f"local:{FILE.name}"
    assert llm.title.endswith(" on this machine")
    assert llm.model.metadata.context_window == 1024
    stream = await llm.model.astream_chat(
        _asked("What is the capital of France? Answer in one word.")
    )
    responses = [response async for response in stream]
    assert "Paris" in "".join(response.delta or "" for response in responses)
    usage = responses[-1].additional_kwargs[KEY]
    assert usage.model == FILE.name and usage.input_tokens > 0 and usage.output_tokens > 0

    stream = await llm.model.astream_chat(_asked("Write a very long story about a whale."))
    await anext(stream)
    assert await _is_busy(chosen)
    await stream.aclose()
    async with asyncio.timeout(bound(10)):
        while await _is_busy(chosen):
            await asyncio.sleep(0.05)


@pytest.mark.processes
async def test_a_prompt_that_is_longer_than_the_context_says_what_to_change(
    llm: LanguageModel,
) -> None:
    with pytest.raises(UpstreamError, match=r"too small a context .*RETRIEVAL_TOP_K") as caught:
        await anext(await llm.model.astream_chat(_asked("whale " * 2000)))
    assert not caught.value.transient


def test_a_file_that_is_none_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"HELIX_LLM names no model: set it to local:<path"):
        build_llm(settings(llm="local"))
    with pytest.raises(SettingsError, match=r"there is no model file .*missing\.gguf"):
        build_llm(settings(llm=f"local:{tmp_path}/missing.gguf"))
    (tmp_path / "text.gguf").write_text("words")
    with pytest.raises(SettingsError, match="is no GGUF file"):
        build_llm(settings(llm=f"local:{tmp_path}/text.gguf"))


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(SettingsError, match=r"pip install 'helix-answers\[local\]'"):
        build_llm(settings(llm=f"local:{FILE}"))


def test_a_fetched_model_is_named_by_its_name(tmp_path: Path) -> None:
    shutil.copyfile(FILE, tmp_path / "small.gguf")
    llm = build_llm(settings(llm="local:small", model_folder=str(tmp_path)))
    assert llm.identity == "local:small.gguf"


def test_a_model_file_is_put_no_image(chosen: Settings) -> None:
    assert not build_llm(chosen).sees


def test_a_context_is_no_longer_than_the_models(chosen: Settings) -> None:
    longer = chosen.model_copy(update={"model_context": 100_000})
    assert server_options(longer, FILE).context == 8192
    assert server_options(chosen.model_copy(update={"model_context": None}), FILE).context == 8192

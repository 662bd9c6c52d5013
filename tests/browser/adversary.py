"""A model that answers by a word in the question: slowly, at great length, or with hostile text.

Any other question is answered by the offline model.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ImageBlock,
    MessageRole,
)

from helix.providers.base import LanguageModel
from helix.providers.offline.answerer import OfflineLLM

HOSTILE = """\
<script>window.ran = "script"</script> <img src=x onerror="window.ran = 'image'">

[press](javascript:window.ran='link') and ![far](http://far.example/pixel.png) [1](javascript:1)

<svg/onload=window.ran='svg'> <iframe srcdoc="<script>parent.ran='frame'</script>"></iframe>
<a href="javascript:window.ran='a'" style="position:fixed;inset:0">cover</a>

[1]: http://far.example/definition

Refunds are accepted within 30 days of purchase. [1] <style>*{display:none}</style>

| a | b |
|:--|--:|
| <b onclick="window.ran='cell'">x</b> | `code` |

"""
DEEP = "> " * 3000 + "deep " + "[" * 3000 + "*a **b " * 1500 + "\n\n"
LONG_LINE = "x" * 1_000_000
WIDE = "|a" * 3000 + "|\n" + "|-" * 3000 + "|\n" + "|b|\n" * 1900  # of short rows
TOKENS = 20_000


async def _slow() -> AsyncGenerator[str, None]:
    for n in range(600):
        yield f"Word{n} "
        await asyncio.sleep(0.05)


async def _cut() -> AsyncGenerator[str, None]:
    yield "Refunds are accepted "
    await asyncio.sleep(0.2)
    raise RuntimeError("the model is gone")


async def _long() -> AsyncGenerator[str, None]:
    for n in range(TOKENS):
        if n % 200 == 0:
            yield f"\n\n## Part {n // 200}\n\n"
        yield "word " if n % 40 else "- **item** [1] "
        if n % 100 == 0:
            await asyncio.sleep(0.001)


async def _text(*parts: str) -> AsyncGenerator[str, None]:
    for part in parts:
        yield part
        await asyncio.sleep(0)


_REFUNDS = re.compile(
    r"\[(\d+)\] \(id=\d+\) (?:(?!\[\d+\] \(id=).)*?Refunds are accepted", re.DOTALL
)


def _script(question: str, n: str) -> AsyncGenerator[str, None] | None:
    scripts: dict[str, Callable[[], AsyncGenerator[str, None]]] = {
        "slowly": _slow,
        "breaking": _cut,
        "lengthy": _long,
        "hostile": lambda: _text(HOSTILE),
        "deeply": lambda: _text(DEEP, "The end."),
        "wide": lambda: _text(WIDE, "\n\nThe end."),
        "endless": lambda: _text(LONG_LINE),
        "invented": lambda: _text(
            f"Refunds are accepted within 30 days of purchase. [{n}]",
            f" 🚀 We pay 900 euros on top. [{n}]",
        ),
        "swapped": lambda: _text(
            f"Refunds are accepted within 30 days of purchase. [{3 - min(int(n), 2)}]"
        ),
    }
    return next((begin() for word, begin in scripts.items() if word in question), None)


class Adversary(OfflineLLM):
    """The scripts above over LlamaIndex's interface; of an image it tells how large it is."""

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        prompt = messages[-1].content or ""
        source = _REFUNDS.search(prompt)
        script = _script(prompt.rpartition("Question:")[2], source[1] if source else "1")
        sizes = [
            len(block.resolve_image().read())
            for block in messages[-1].blocks
            if isinstance(block, ImageBlock)
        ]
        if sizes and script is None:
            script = _text(*(f"It is **{size} bytes** of red. [1] " for size in sizes), HOSTILE)
        if script is None:
            offline: ChatResponseAsyncGen = await super().astream_chat(messages, **kwargs)
            return offline

        async def deltas() -> ChatResponseAsyncGen:
            said = ""
            async for part in script:
                said += part
                message = ChatMessage(role=MessageRole.ASSISTANT, content=said[-100:])
                yield ChatResponse(message=message, delta=part)

        return deltas()


def adversary() -> LanguageModel:
    return LanguageModel(model=Adversary(), identity="adversary", reads_beside=True)

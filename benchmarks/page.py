"""The page in headless Chromium: first paint, a long answer while it streams, a large library.

A server in a thread of this process, the offline embedder, a model that streams a script. Times
are taken in the page by the browser's own clock; a frame's length is the gap between two
animation frames. The floor is an empty page of the same browser, idle.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import psycopg
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    MessageRole,
)
from playwright.async_api import Page, async_playwright

from benchmarks.corpus import fill_embedded
from benchmarks.database import server
from benchmarks.harness import Options, Report, main
from benchmarks.server import in_thread
from helix.app import create_app
from helix.providers.base import LanguageModel
from helix.providers.offline.answerer import OfflineLLM
from helix.settings import load_settings

TOKENS = 20_000
DOCUMENTS = 1000
LINE = 1_000_000
PAINT_MS = 1000
FRAME_MS = 200
"""A page that answers within 200 ms feels at once: the bound of Interaction to Next Paint."""
BLOCK_MS = 500
ROWS_MS = 1000
QUESTION = "How long do I have to request a refund?"
_NO_CHROMIUM = "no Chromium: install it (Debian: apt install chromium), or put it on the PATH"
_TEXT = "The receipt goes with what was bought, and the money comes back by the same way."

_WATCH = """
() => {
  window.frames_ = []; let last = performance.now();
  const tick = (now) => {
    window.frames_.push(now - last); last = now; requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.blocks = [];
  new PerformanceObserver((list) => window.blocks.push(...list.getEntries().map((e) => e.duration)))
    .observe({ type: "longtask" });
}
"""
_SCROLL = """
async (total) => {
  const rows = () => document.querySelectorAll(".document").length;
  const began = performance.now();
  while (rows() < total && performance.now() - began < 120000) {
    window.scrollBy(0, 400);
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
  window.scrollTo(0, document.documentElement.scrollHeight);
  await new Promise((resolve) => setTimeout(resolve, 300));
  return rows();
}
"""


class Script(OfflineLLM):
    """Streams a long answer, or one long line where the question says so."""

    async def astream_chat(
        self, messages: Sequence[ChatMessage], **kwargs: Any
    ) -> ChatResponseAsyncGen:
        asked = (messages[-1].content or "").rpartition("Question:")[2]
        parts = _line() if "endless" in asked else _long()

        async def deltas() -> ChatResponseAsyncGen:
            async for part in parts:
                message = ChatMessage(role=MessageRole.ASSISTANT, content=part)
                yield ChatResponse(message=message, delta=part)

        return deltas()


async def _long() -> AsyncIterator[str]:
    for n in range(TOKENS):
        if n % 200 == 0:
            yield f"\n\n## Part {n // 200}\n\n"
        yield "- **item** [1] " if n % 40 == 0 else "word "
        if n % 20 == 0:
            await asyncio.sleep(0.005)  # 4,000 tokens a second at most


async def _line() -> AsyncIterator[str]:
    yield "x" * LINE


async def run(options: Options, report: Report) -> None:
    """Fill, serve, then the three pages one after another."""
    documents = 200 if options.quick else DOCUMENTS
    with server() as postgres, postgres.database() as url:
        await _fill(url, documents)
        with _serving(url) as address:
            async with _chromium() as page:
                load = os.getloadavg()[0]
                rows: list[Row | list[Row]] = [
                    await _idle(page), await _paint(page, address),
                    await _library(page, address, documents), await _answer(page, address),
                    await _endless(page, address),
                ]  # fmt: skip
    _report(report, rows, load)


Row = tuple[str, float, float]
"""A name, milliseconds, and the bound; 0 for none."""


async def _idle(page: Page) -> Row:
    await page.goto("about:blank")
    await page.evaluate(_WATCH)
    await page.wait_for_timeout(2000)
    return ("longest frame of an empty page for 2 s (the floor)", await _longest(page), 0)


async def _paint(page: Page, address: str) -> Row:
    """The median of seven loads with an empty cache each; the first is not counted."""
    painted = []
    for _ in range(8):
        session = await page.context.new_cdp_session(page)
        await session.send("Network.clearBrowserCache")
        await page.goto(f"{address}/")
        await page.wait_for_selector(".welcome h1")
        entry = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
        painted.append(float(await page.evaluate(entry)))
        await page.goto("about:blank")
    return ("first contentful paint, p50 of 7 loads", sorted(painted[1:])[3], PAINT_MS)


async def _library(page: Page, address: str, documents: int) -> list[Row]:
    await page.goto(f"{address}/#/library")
    await page.wait_for_selector(".document")
    first = float(await page.evaluate("performance.now()"))
    await page.evaluate(_WATCH)
    shown = await page.evaluate(_SCROLL, documents)
    if shown != documents:
        raise RuntimeError(f"{shown} of {documents} documents came into the list")
    frame = await _longest(page)
    return [
        (f"library of {documents:,}: from the address to the first rows", first, ROWS_MS),
        (f"library of {documents:,}: longest frame, scrolled to the end", frame, FRAME_MS),
    ]


async def _answer(page: Page, address: str) -> list[Row]:
    total, frame, block = await _asked(page, address, QUESTION)
    return [
        (f"{TOKENS:,} tokens: from Enter to the whole answer", total, 0),
        (f"{TOKENS:,} tokens: longest frame", frame, FRAME_MS),
        (f"{TOKENS:,} tokens: longest task of the page", block, FRAME_MS),
    ]


async def _endless(page: Page, address: str) -> list[Row]:
    _, frame, block = await _asked(page, address, f"endless: {QUESTION}")
    return [
        ("a line of 1 MB: longest frame", frame, 0),
        ("a line of 1 MB: longest task of the page", block, BLOCK_MS),
    ]


async def _asked(page: Page, address: str, question: str) -> tuple[float, float, float]:
    await page.goto("about:blank")
    await page.goto(f"{address}/#/ask")
    await page.wait_for_selector(".welcome h1")
    await page.fill("#question", question)
    await page.evaluate(_WATCH)
    began = float(await page.evaluate("performance.now()"))
    await page.press("#question", "Enter")
    await page.wait_for_selector(".actions", timeout=300_000)
    total = float(await page.evaluate("performance.now()")) - began
    await page.wait_for_timeout(300)
    block = float(await page.evaluate("Math.max(0, ...window.blocks)"))
    return total, await _longest(page), block


async def _longest(page: Page) -> float:
    return float(await page.evaluate("Math.max(...window.frames_)"))


def _report(report: Report, measured: Sequence[Row | list[Row]], load: float) -> None:
    rows = [row for some in measured for row in (some if isinstance(some, list) else [some])]
    report.table(
        f"page: headless Chromium, server beside it, load average {load:.1f}",
        ["what", "ms", "at most"],
        [[what, f"{value:.0f}", f"{bound:g}" if bound else ""] for what, value, bound in rows],
    )
    for what, value, bound in rows:
        if bound:
            report.at_most(f"{what}, ms", value, bound)


async def _fill(url: str, documents: int) -> None:
    """Passages to answer from, by the embedder that serves; the rest are rows of the list."""
    texts = [f"Refunds are accepted within {n} days of purchase. {_TEXT}" for n in range(1, 21)]
    await fill_embedded(url, texts)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO documents"
            " (title, source_uri, content_hash, size, status, media, tags, updated_at)"
            " SELECT 'Quarterly report ' || n, 'reports/' || n || '.pdf', '', 40000 + n, 'ready',"
            " 'pdf', ARRAY['report', 'year-' || n %% 9], now() - n * interval '1 minute'"
            " FROM generate_series(1, %s - (SELECT count(*) FROM documents)) n",
            (documents,),
        )


@contextmanager
def _serving(url: str) -> Iterator[str]:
    settings = load_settings(
        database_url=url, llm="offline", embedder="offline", workers=0, log_level="error"
    )
    model = LanguageModel(model=Script(), identity="script")
    with in_thread(create_app(settings, llm=model)) as address:
        yield address


@asynccontextmanager
async def _chromium() -> AsyncIterator[Page]:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    path = path or shutil.which("google-chrome")
    if path is None:
        raise SystemExit(_NO_CHROMIUM)
    async with async_playwright() as playwright:
        # in a container this is root, and Chromium will not sandbox for root
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield await browser.new_page(viewport={"width": 1280, "height": 860})
        finally:
            await browser.close()


if __name__ == "__main__":
    main({"page": run})

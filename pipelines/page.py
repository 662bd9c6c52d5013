"""``python -m pipelines.page``: one page of the web as text, for a tool; nothing is stored.

Reads ``{"url", "allow_hosts"}`` from standard input, writes ``{"title", "text"}`` or
``{"failure", "reason"}``: a sentence that tells nothing of the page or the network, and for the
administrator's log what happened.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence

from helix.errors import HelixError
from pipelines.crawler.fetch import FetchLimits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.plan import import_url
from pipelines.crawler.results import FinishedPage, StoredPage
from pipelines.readers import UnreadableFile
from pipelines.sandbox import ReadLimits, Sandbox, SandboxFailed

MOST_CHARACTERS = 20_000
FETCH = FetchLimits(largest=8 * 2**20, total=12.0, tries=1)
NOT_HAD = (
    "The page cannot be had: it does not answer, is too large or too slow, or its address"
    " leads where this server does not go."
)
NOT_READ = "The page has no text that can be read."
_READ = ReadLimits(seconds=15, memory_mb=512, text_chars=2_000_000)


async def read_page(
    url: str,
    allow_hosts: Sequence[str],
    *,
    limits: FetchLimits = FETCH,
) -> dict[str, str]:
    """The page at ``url`` behind the guard of crawls: its title and text, or why it is not had."""
    try:
        options = CrawlOptions.from_dict({"url": url, "allow_hosts": list(allow_hosts)})
        known = dict[str, StoredPage]().get
        page = await import_url(options, known, limits=limits)
    except HelixError as error:
        return {"failure": NOT_HAD, "reason": str(error)}
    if isinstance(page, FinishedPage):
        return {"failure": NOT_HAD, "reason": page.reason}
    sandbox = Sandbox(_READ, processes=1)
    try:
        read = await sandbox.read(page.media, page.data)
    except (UnreadableFile, SandboxFailed) as error:
        return {"failure": NOT_READ, "reason": str(error)}
    finally:
        await sandbox.aclose()
    return {"title": (read.title or url)[:200], "text": read.text[:MOST_CHARACTERS]}


def main() -> None:
    """Answer the one request on standard input."""
    asked = json.load(sys.stdin)
    json.dump(asyncio.run(read_page(asked["url"], asked["allow_hosts"])), sys.stdout)


if __name__ == "__main__":
    main()

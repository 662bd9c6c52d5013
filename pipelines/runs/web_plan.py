"""The first step of a run over the web: fetch the pages of a site, or one page, and add them.

Whoever may change some spaces alone has a page as a document of such a space: its source_uri is the
page's address with the space behind a ``#``. The same page where they may change nothing is another
document, of which they learn nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import count

from psycopg.rows import dict_row

from helix.domain.scope import Spaces
from helix.errors import BadRequest, HelixError
from helix.library.access import Row
from helix.library.runs import RunRow, set_stage, stop_for_fault
from helix.library.spaces import editable_now, place_document
from helix.library.storage_quota import Room
from helix.library.web_imports import APART, apart
from helix.settings import Settings
from helix.storage.connections import Connected
from helix.store import ChunkStore
from pipelines.crawler.fetch import FetchLimits
from pipelines.crawler.options import CrawlOptions
from pipelines.crawler.plan import import_url, plan_crawl
from pipelines.crawler.results import (
    FinishedPage,
    Ignored,
    PageToRead,
    Result,
    StoredPage,
    StoredPages,
)
from pipelines.crawler.urls import origin_of
from pipelines.files.recipe import ChunkSizes
from pipelines.outages import in_database, through_outages
from pipelines.runs.path_plan import RunCancelled, add_files_to_run
from pipelines.runs.planned_files import PlannedFile

# A page of an older recipe is read again, so its bytes are needed: it does not count as known.
_KNOWN = """
SELECT source_uri, content_hash, origin FROM documents
WHERE tenant_id = %(tenant)s AND status = 'ready' AND recipe = %(recipe)s
    AND (starts_with(origin ->> 'url', %(site)s) OR starts_with(source_uri, %(site)s))
    AND CASE WHEN %(only)s::text IS NOT NULL THEN source_uri = %(only)s::text
             WHEN %(edits)s::bigint[] IS NULL THEN strpos(source_uri, %(apart)s) = 0
             ELSE spaces <@ %(edits)s::bigint[] END
ORDER BY source_uri DESC
"""

# Of what may be read only, the same bytes: what is in it is known, and nothing of it changes.
_DOCUMENT = """
SELECT id, source_uri, %(edits)s::bigint[] IS NULL OR spaces <@ %(edits)s::bigint[] AS own
FROM documents
WHERE tenant_id = %(tenant)s AND source_uri = ANY(%(names)s) AND (%(edits)s::bigint[] IS NULL
    OR spaces <@ %(edits)s::bigint[]
    OR spaces && %(edits)s::bigint[] AND content_hash = %(content_hash)s)
ORDER BY own DESC, coalesce(%(space)s::bigint = ANY(spaces), false) DESC, source_uri LIMIT 1
"""

_TAKEN = "SELECT FROM documents WHERE tenant_id = %(tenant)s AND source_uri = %(name)s"

GONE = "its document was deleted meanwhile"


class RightLost(HelixError):
    """Whoever asked for the pages may not put them into their space any more."""

    status = 403

    def __init__(self) -> None:
        super().__init__("whoever asked for this may not put documents into the space any more")


@dataclass(frozen=True)
class PagePlaces:
    """The place of a run's pages: they stand in ``space``, if it names one.

    They are compared with documents of the spaces ``edits`` alone; None: with all. ``only`` is the
    source_uri of the one document that is read again, where its address alone does not say which,
    and ``by`` names who asked, where they may lose the right.
    """

    tenant: str
    space: int | None = None
    edits: Spaces = None
    only: str | None = None
    by: str = ""

    @classmethod
    def of(cls, run: RunRow, url: str) -> PagePlaces:
        """The place of the pages that a run finds from ``url`` on."""
        space, edits = run.options.get("space"), run.options.get("edits")
        return cls(
            run.tenant,
            space,
            None if edits is None else tuple(edits),
            url if APART in url else None,
            run.options.get("by") or "",
        )

    def stored_pages(self, connection: Connected, site: str, recipe: str) -> StoredPages:
        """The stored pages of ``site`` (scheme and host), by their addresses.

        All of it at once: a crawl asks as it goes, in the event loop.
        """
        pages: dict[str, StoredPage] = {}
        values = {**self._values(), "site": f"{site}/", "recipe": recipe, "only": self.only,
                  "apart": APART}  # fmt: skip
        for source_uri, content_hash, origin in connection.execute(_KNOWN, values):
            address = source_uri.partition(APART)[0]
            page = StoredPage.from_origin(address, content_hash, origin)
            pages[address] = page
            pages.setdefault(str(origin.get("url") or address), page)
        return pages.get

    def placed(self, connection: Connected, file: PlannedFile) -> tuple[PlannedFile, bool]:
        """``file`` as the document that it is; True: its labels and metadata may be changed.

        Raises:
            RightLost: as it says.
        """
        if self.space is None and self.only is None:
            return file, True
        with connection.transaction():
            return self._now(connection)._placed(connection, file)

    def _now(self, connection: Connected) -> PagePlaces:
        if not self.by:
            return self
        edits = editable_now(connection, self.tenant, self.by, self.edits)
        if edits is not None and self.space not in edits:
            raise RightLost
        return replace(self, edits=edits)

    def _placed(self, connection: Connected, file: PlannedFile) -> tuple[PlannedFile, bool]:
        name, row = self._document(connection, file)
        if row is None:
            if self.space is None:
                return PlannedFile(name, reason=GONE), True
            return replace(file, source_uri=name, spaces=(self.space,)), True
        if self.space is not None and not file.reason:
            place_document(connection, row["id"], tenant=self.tenant, add=[self.space])
        if not row["own"]:
            file = PlannedFile(name, content_hash=file.content_hash, unchanged=True)
        return replace(file, source_uri=name, document_id=row["id"]), bool(row["own"])

    def _document(self, connection: Connected, file: PlannedFile) -> tuple[str, Row | None]:
        """The document that ``file`` is, or a name that is free for it."""
        if self.only is not None:
            return self.only, self._found(connection, file, [self.only])
        uri, spaces = file.source_uri, self.edits or ()
        row = self._found(connection, file, [uri, *(apart(uri, each) for each in spaces)])
        if row is not None or self.edits is None:
            return (uri if row is None else row["source_uri"]), row
        assert self.space is not None
        for number in count(1):  # of a space that it was put out of, nobody else's
            name = apart(uri, self.space, number)
            row = self._found(connection, file, [name])
            values = {"tenant": self.tenant, "name": name}
            if row is not None or connection.execute(_TAKEN, values).fetchone() is None:
                break
        return name, row

    def _found(self, connection: Connected, file: PlannedFile, names: Sequence[str]) -> Row | None:
        values = {**self._values(), "names": list(names), "content_hash": file.content_hash}
        return connection.cursor(row_factory=dict_row).execute(_DOCUMENT, values).fetchone()

    def _values(self) -> Row:
        edits = None if self.edits is None else list(self.edits)
        return {"tenant": self.tenant, "space": self.space, "edits": edits}


async def plan_web(settings: Settings, store: ChunkStore, run: RunRow) -> None:
    """Fetch the pages of a run of kind ``crawl`` or ``url`` and add them to it, one by one.

    A run of kind ``url`` may name several, as ``urls``.

    Raises:
        RunCancelled, StoreUnavailable: as they say.
    """

    async def add(places: PagePlaces, file: PlannedFile) -> None:
        try:
            file, is_own = await in_database(store, places.placed, file)
        except RightLost as lost:
            await in_database(store, stop_for_fault, run.id, str(lost))
            raise RunCancelled from lost
        if file.media and not await in_database(store, room.take, file.source_uri, len(file.data)):
            file, is_own = PlannedFile(file.source_uri, reason=room.reason), False
        given = run.options if is_own else {}
        await through_outages(
            lambda: asyncio.to_thread(
                add_files_to_run, store, run.id, [file], given.get("tags"),
                metadata=given.get("metadata"),
            )
        )  # fmt: skip

    ignored = 0
    room = await in_database(store, Room, settings, run.tenant)
    recipe = ChunkSizes.of(settings).recipe
    limits = FetchLimits(largest=settings.max_file_mb * 2**20)
    for url in run.options.get("urls") or [run.options.get("url")]:
        places = PagePlaces.of(run, str(url or "url"))
        try:
            options = CrawlOptions.from_dict({**run.options, "url": url})
        except BadRequest as problem:
            await add(places, PlannedFile(str(url or "url"), reason=str(problem)))
            continue
        options = options.allowing(settings.allow_hosts)
        stored_pages = await in_database(store, places.stored_pages, origin_of(options.url), recipe)
        async with aclosing(_results(run, options, stored_pages, limits)) as results:
            async for result in results:
                if isinstance(result, Ignored):
                    ignored += 1
                else:
                    await add(places, _file_to_plan(result))
    await in_database(store, set_stage, run.id, "scan", ignored)


async def _results(
    run: RunRow, options: CrawlOptions, stored_pages: StoredPages, limits: FetchLimits
) -> AsyncGenerator[Result, None]:
    if run.kind == "url":
        yield await import_url(options, stored_pages, limits=limits)
        return
    async with aclosing(plan_crawl(options, stored_pages, limits=limits)) as results:
        async for result in results:
            yield result


def _file_to_plan(result: PageToRead | FinishedPage) -> PlannedFile:
    if isinstance(result, FinishedPage):
        unchanged = result.status == "unchanged"
        return PlannedFile(result.source_uri, reason=result.reason, unchanged=unchanged)
    content_hash = hashlib.sha256(result.data).hexdigest()
    return PlannedFile(
        result.source_uri, result.data, result.media, result.title, content_hash, result.origin
    )

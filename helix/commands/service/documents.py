"""Documents and runs of one tenant, at a server or in the database."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import asdict
from functools import partial

from helix.commands.service.operations import Service, asked
from helix.commands.service.requests import get, send
from helix.library import run_progress
from helix.library.access import Row
from helix.library.document_edits import edit_document
from helix.library.document_list import DocumentFilter, Page, list_documents, summarise
from helix.library.documents import get_document, remove_document
from helix.library.metadata import edit_metadata
from helix.library.run_progress import Event


class LibraryService(Service):
    """Documents and runs of one tenant; rows are those of the HTTP API.

    Every method may raise NotFound, where an id is nobody's, and Unavailable.
    """

    @asked(lambda: get("/v1/library"))
    async def summary(self) -> Row:
        """The number of documents, in all and by label, kind and format."""
        return await summarise(self.library)

    @asked(lambda filters, page: get(
        "/v1/documents", **filters.parameters, limit=page.limit, after=page.after,
        sort=page.sort, order=page.order,
    ))  # fmt: skip
    async def list_documents(self, filters: DocumentFilter, page: Page) -> Row:
        """A page of documents: ``documents``, ``next``, ``total``."""
        return await list_documents(self.library, filters, page)

    @asked(lambda document_id, with_text: get(
        f"/v1/documents/{document_id}", text=str(with_text).lower()
    ))  # fmt: skip
    async def get_document(self, document_id: int, with_text: bool) -> Row:
        """One document with its outline and chunks."""
        return await get_document(self.library, document_id, with_text)

    @asked(lambda document_id, changes: send("PATCH", f"/v1/documents/{document_id}", changes))
    async def edit_document(self, document_id: int, changes: Row) -> Row:
        """Change title, file name, facts, tags or metadata."""
        edit = partial(edit_document, document_id=document_id, changes=changes)
        await self.library.change(partial(edit, tenant=self.library.tenant))
        return {}

    @asked(lambda patch, filters, ids: {
        **get("/v1/documents/metadata", **filters.parameters), "method": "POST",
        "json": {"metadata": patch, "ids": ids},
    })  # fmt: skip
    async def edit_metadata(
        self, patch: Row, filters: DocumentFilter, ids: list[int] | None
    ) -> Row:
        """Merge ``patch`` into these documents' metadata: how many ``matched``, ``changed``."""
        edit = partial(
            edit_metadata, patch=patch, tenant=self.library.tenant, filters=filters, ids=ids
        )
        return asdict(await self.library.change(edit))

    @asked(lambda document_id: send("DELETE", f"/v1/documents/{document_id}"))
    async def remove_document(self, document_id: int) -> Row:
        """Delete a document with all that only it used."""
        remove = partial(remove_document, document_id=document_id, tenant=self.library.tenant)
        await self.library.change(remove)
        return {}

    @asked(lambda limit: get("/v1/runs", limit=min(limit, 200)))
    async def list_runs(self, limit: int) -> Row:
        """The newest runs."""
        return await run_progress.list_runs(self.library, limit)

    @asked(lambda run_id, limit: get(f"/v1/runs/{run_id}", limit=limit))
    async def get_run(self, run_id: int, limit: int) -> Row:
        """One run and its first files, failed ones first."""
        return await run_progress.get_run(self.library, run_id, limit)

    def follow_run(self, run_id: int) -> AsyncGenerator[Event, None]:
        """Its changes as they come, until it has ended."""
        if self.server:
            return self.server.run_events(run_id)
        return run_progress.follow(self.library, run_id)

    @asked(lambda run_id: send("POST", f"/v1/runs/{run_id}/cancel"))
    async def stop_run(self, run_id: int) -> Row:
        """Ask for a stop; the ``status`` that the run then has."""
        return {"status": await run_progress.stop_run(self.library, run_id)}

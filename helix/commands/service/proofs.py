"""Signed answers and erasures of one tenant, made by a server or in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from helix.commands.service.operations import Service, asked
from helix.commands.service.requests import get, send
from helix.commands.service.service_choice import opened_library, server_or_settings
from helix.library.access import Library, Row
from helix.settings import Settings

if TYPE_CHECKING:
    from helix.commands.service.server_connection import ServerConnection


class ProofService(Service):
    """Signatures of one tenant: under its answers, and under what is erased of its documents."""

    def __init__(self, at: ServerConnection | Library, settings: Settings | None = None) -> None:
        super().__init__(at)
        self._settings = settings

    @asked(lambda reference: get(f"/v1/answers/{reference}/proof"))
    async def signed_answer(self, reference: str) -> Row:
        """The signed answer of an id or of the hash of a text; raises as the function does."""
        from helix.conversations.receipts.signed_answer import signed_answer

        assert self._settings is not None
        return await signed_answer(self.library, reference, self._settings)

    @asked(lambda document_id, names: send(
        "POST", "/v1/erasures", {"document_id": document_id, "names": names}, tenant_in_body=True
    ))  # fmt: skip
    async def erased(self, document_id: int, names: bool) -> Row:
        """The signed record of a document's erasure; raises as the function does."""
        from helix.conversations.receipts.document_erasure import erase_document

        assert self._settings is not None
        return await erase_document(self.library, document_id, self._settings, names=names)


@asynccontextmanager
async def proof_service(option: str | None, tenant: str) -> AsyncIterator[ProofService]:
    """The tenant's answers; raises as ``named_server`` does."""
    target = await server_or_settings(option, tenant)
    if isinstance(target, Settings):
        async with opened_library(target, tenant) as library:
            yield ProofService(library, target)
        return
    from helix.commands.service.server_connection import connected

    async with connected(target, tenant) as server:
        yield ProofService(server)

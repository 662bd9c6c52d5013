"""Signed answers and erasures of one tenant, made by a server or in this process."""

from __future__ import annotations

from helix.commands.service.operations import Service, asked
from helix.commands.service.requests import get, send
from helix.library.access import Row


class ProofService(Service):
    """Signatures of one tenant: under its answers, and under what is erased of its documents."""

    @asked(lambda reference: get(f"/v1/answers/{reference}/proof"))
    async def signed_answer(self, reference: str) -> Row:
        """The signed answer of an id or of the hash of a text; raises as the function does."""
        from helix.conversations.receipts.signed_answer import signed_answer

        return await signed_answer(self.library, reference, self.settings)

    @asked(lambda document_id, names: send(
        "POST", "/v1/erasures", {"document_id": document_id, "names": names}, tenant_in_body=True
    ))  # fmt: skip
    async def erased(self, document_id: int, names: bool) -> Row:
        """The signed record of a document's erasure; raises as the function does."""
        from helix.conversations.receipts.document_erasure import erase_document

        return await erase_document(self.library, document_id, self.settings, names=names)

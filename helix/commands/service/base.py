"""Protocols of the documents, runs and answers that a command asks for, wherever they come from."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from helix.library.access import Row
from helix.library.document_list import DocumentFilter, Page
from helix.library.run_progress import Event

if TYPE_CHECKING:
    from helix.answering.gatherer import Mode


class LibraryService(Protocol):
    """Documents and runs of one tenant; rows are those of the HTTP API.

    Every method may raise NotFound, where an id is nobody's, and Unavailable.
    """

    async def summary(self) -> Row:
        """The number of documents, in all and by label, kind and format."""
        ...

    async def list_documents(self, filters: DocumentFilter, page: Page) -> Row:
        """A page of documents: ``documents``, ``next``, ``total``."""
        ...

    async def get_document(self, document_id: int, *, with_text: bool) -> Row:
        """One document with its outline and chunks."""
        ...

    async def edit_document(self, document_id: int, changes: Row) -> None:
        """Change title, file name, facts or tags."""
        ...

    async def remove_document(self, document_id: int) -> None:
        """Delete a document with all that only it used."""
        ...

    async def list_runs(self, limit: int) -> Row:
        """The newest runs."""
        ...

    async def get_run(self, run_id: int, limit: int) -> Row:
        """One run and its first files, failed ones first."""
        ...

    def follow_run(self, run_id: int) -> AsyncGenerator[Event, None]:
        """Its changes as they come, until it has ended."""
        ...

    async def stop_run(self, run_id: int) -> str:
        """Ask for a stop; the status the run then has."""
        ...


@dataclass(frozen=True)
class Query:
    """A question as the command line asks it; None: of all documents.

    ``conversation_id`` names the conversation that it goes on with; empty: it is in none.
    ``replaced_message`` is the message of that conversation that it replaces; without a text the
    message's own question is asked again. ``images`` are ids of images of that conversation which
    the question is about; None: it says nothing of them. ``mode`` is as POST /v1/query has it;
    None: HELIX_MODE of whoever answers. ``model`` is the name of the model that is to answer; None:
    whichever does.
    """

    question: str
    document_ids: tuple[int, ...] | None = None
    tags: tuple[str, ...] | None = None
    conversation_id: str = ""
    mode: Mode | None = None
    replaced_message: int | None = None
    images: tuple[str, ...] | None = None
    model: str | None = None


class AnswerService(LibraryService, Protocol):
    """A library that answers questions too."""

    def stream(self, query: Query) -> AsyncGenerator[str | Row, None]:
        """The pieces of the answer as they come, then its JSON, as POST /v1/query has it.

        An answer of a conversation that is stopped ends without its JSON.

        Raises:
            HelixError: the model or the database failed, also in the middle.
        """
        ...

    async def answer(self, query: Query) -> Row:
        """The JSON alone; raises as ``stream`` does."""
        ...

    async def search(self, query: Query, limit: int) -> Row:
        """The passages that fit the query's text in its scope, as GET /v1/search has them."""
        ...

    async def put_image(self, conversation_id: str, name: str, data: bytes) -> Row:
        """Keep an image with the conversation, which is begun where it is none: `{id, name, …}`.

        Raises:
            ImagesNotSupported: the model that answers takes none.
            UnsupportedMedia: these bytes are no image that models take.
            BadRequest: it is too large, or the conversation has too many bytes of images.
        """
        ...

    async def path(self, conversation_id: str) -> list[Row]:
        """The messages of the conversation's active path, oldest first; raises NotFound."""
        ...

    async def show(self, conversation_id: str, message_id: int) -> None:
        """Make the path through the message the active one; raises NotFound."""
        ...

    async def stop(self, conversation_id: str) -> bool:
        """Stop the answer that is being made in the conversation; False where there is none."""
        ...

"""A running server, asked in the words of the command line."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

from helix.client.asynchronous import AsyncHelix
from helix.client.calls import Call
from helix.client.errors import Conflict, Forbidden, Unauthorized, Unreachable
from helix.commands.lazy_commands import in_commands
from helix.commands.service.address import Server
from helix.commands.service.requests import Request, get
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import BadRequest, HelixError, NotFound, Unavailable
from helix.library.access import Row
from helix.library.run_progress import Event

ANSWER_SECONDS = 300


class ServerConnection:
    """A client of ``server``, whose errors are those of the command line."""

    def __init__(self, server: Server, client: AsyncHelix) -> None:
        self._server = server
        self._client = client

    async def model(self) -> Row:
        """The model that answers where a question chooses none, as GET /v1/about has it."""
        about = await self.json(get("/v1/about"))
        found: Row = next(each for each in about["models"] if each["name"] == about["model"])
        return found

    async def has_study(self) -> bool:
        """True where the server has study (HELIX_STUDY)."""
        about = await self.json(get("/v1/about"))
        return bool(about.get("study", True))  # a former release has it, and does not say so

    async def json(self, request: Request) -> Row:
        """The server's reply to ``request``."""
        with self._translated_errors():
            return await self._client.json(Call(**request))

    async def content(self, request: Request) -> bytes:
        """The bytes that the server sends."""
        with self._translated_errors():
            return await self._client.content(Call(**request))

    async def takes(self, request: Request) -> bool:
        """True if the server did what ``request`` asks for, False where it conflicts."""
        with self._translated_errors():
            try:
                await self._client.json(Call(**request))
            except Conflict:
                return False
        return True

    async def run_events(self, run_id: int) -> AsyncGenerator[Event, None]:
        """The changes of a run as they come, until it has ended."""
        with self._translated_errors():
            async with aclosing(self._client.run_frames(run_id)) as frames:
                async for frame in frames:
                    yield Event(frame.event, 0, frame.json())

    async def answer(self, request: Call) -> AsyncGenerator[str | Row, None]:
        """The pieces of an answer, then its JSON; without that where it was stopped."""
        with self._translated_errors():
            async with await self._client.stream(request) as stream:
                async for piece in stream:
                    yield piece
                if not stream.is_stopped:
                    yield await stream.json()

    async def upload(self, name: str, data: bytes, fields: Mapping[str, Any]) -> Row:
        """Send one file; ``run_id`` and ``documents``, as POST /v1/documents has them."""
        files = [("file", (name, data))]
        return await self.json(
            {"method": "POST", "path": "/v1/documents", "form": fields, "files": files}
        )

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """The client's errors in the words of the command line."""
        try:
            yield
        except Unauthorized:
            raise ServerNeedsKey(self._server) from None
        except Forbidden as error:
            names_another = str(error).startswith("tenant_id ")
            raise (OtherTenant() if names_another else error) from None
        except Unreachable:
            raise Unavailable(
                f"no server answers at {self._server.address}: start it with `helix serve`,"
                " or leave --server and HELIX_SERVER out"
            ) from None
        except Conflict as error:
            raise BadRequest(str(error)) from None
        except NotFound as error:
            raise NotFound(in_commands(str(error))) from None


class ServerNeedsKey(HelixError):
    """The server asks for a key, and was shown none or a wrong one."""

    def __init__(self, server: Server) -> None:
        problem = "does not know the key in" if server.key else "asks for a key: set"
        super().__init__(
            f"the server at {server.address} {problem} HELIX_API_KEY"
            " (`helix keys create` makes one, where the database is)"
        )


class OtherTenant(HelixError):
    """The key is not the tenant's that was named."""

    def __init__(self) -> None:
        super().__init__("the key in HELIX_API_KEY is another tenant's: leave --tenant out")


@asynccontextmanager
async def connected(
    server: Server, tenant: str, seconds: float = ANSWER_SECONDS
) -> AsyncIterator[ServerConnection]:
    """A connection for the tenant; the default one is whichever its key opens.

    ``seconds`` is how long the server may keep silent.
    """
    key = server.key.get_secret_value() if server.key else None
    whose = None if tenant == DEFAULT_TENANT else tenant
    async with AsyncHelix(server.address, key, tenant=whose, timeout=seconds, retries=1) as client:
        yield ServerConnection(server, client)

"""Images of pages: drawn by confined processes, once for as long as they are kept."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from helix.errors import HelixError
from helix.sandbox import Frames, NoAnswer, Request, Sandbox
from helix.sandbox.frames import WRONG
from helix.sandbox.rendering.limits import (
    IMAGE_FRAME,
    KEPT_BYTES,
    MEMORY_MB,
    MOST_IMAGE_BYTES,
    SECONDS,
)

_WORK = "helix.sandbox.rendering.drawing:draw_in_frames"
_MODULES = ["helix.sandbox.rendering.drawing", "numpy"]
_PNG = b"\x89PNG\r\n\x1a\n"
_VERSION = "1"
"""Of what an image looks like: raise it when the same page is drawn otherwise."""
_REASON_BYTES = 4096  # that a page which cannot be drawn counts in what is kept


class Undrawable(HelixError):
    """A page cannot be drawn, for what its file is; the message says why."""

    status = 422


class PageOfFile(NamedTuple):
    """A page as it is to be drawn.

    ``file_hash`` is the SHA-256 of the file's bytes in hex, ``number`` counts from 1, ``scale`` is
    pixels a point.
    """

    tenant: str
    file_hash: str
    number: int
    scale: float

    @property
    def tag(self) -> str:
        """The same for the same image: an HTTP entity tag, quotes included."""
        identity = f"{_VERSION} {self.file_hash} {self.number} {self.scale}"
        return f'"{hashlib.sha256(identity.encode()).hexdigest()[:32]}"'


class PageImages:
    """Draws pages, ``processes`` at once; belongs to one event loop.

    The images drawn or asked for last are kept, ``kept_bytes`` of them, and so are the reasons why
    pages cannot be drawn: a hostile one costs its seconds once.
    """

    def __init__(self, processes: int = 2, kept_bytes: int = KEPT_BYTES) -> None:
        self._sandbox = Sandbox(processes)
        self._places = Places(processes)
        self._most = kept_bytes
        self._kept: OrderedDict[PageOfFile, bytes | Undrawable] = OrderedDict()
        self._size = 0
        self._under_way: dict[PageOfFile, asyncio.Lock] = {}

    async def png(self, page: PageOfFile, load: Callable[[], Awaitable[bytes]]) -> bytes:
        """The image of a page; ``load`` gives the bytes of its file, where they are needed.

        Raises:
            Undrawable: the page, or what drawing it would take.
            SandboxFailed: no page can be drawn here.
        """
        if page not in self._kept:
            lock = self._under_way.setdefault(page, asyncio.Lock())
            try:
                async with lock:  # of several that ask at once, one has it drawn
                    if page not in self._kept:
                        async with self._places.one(page.tenant):  # no file is held to wait
                            self._keep(page, await self._drawn(page, await load()))
                    return self._image(page)
            finally:
                if not lock.locked():
                    self._under_way.pop(page, None)
        return self._image(page)

    def clear(self) -> None:
        """Forget the images that are kept."""
        self._kept.clear()
        self._size = 0

    async def aclose(self) -> None:
        """Stop what is being drawn; no process is left running."""
        await self._sandbox.aclose()

    async def _drawn(self, page: PageOfFile, data: bytes) -> bytes | Undrawable:
        request = Request(
            work=_WORK,
            size=len(data),
            seconds=SECONDS,
            memory_mb=MEMORY_MB,
            out_of_memory=f"page {page.number} needs more than {MEMORY_MB} MB of memory to draw",
            out_of_time=f"page {page.number} takes longer than {SECONDS} s to draw",
            options={"number": page.number, "scale": page.scale},
            modules=_MODULES,
        )
        try:
            return await self._sandbox.answer(request, data, _received)
        except NoAnswer as reason:
            return Undrawable(str(reason))

    def _keep(self, page: PageOfFile, drawn: bytes | Undrawable) -> None:
        self._kept[page] = drawn
        self._size += _bytes_of(drawn)
        while self._size > self._most and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._size -= _bytes_of(dropped)

    def _image(self, page: PageOfFile) -> bytes:
        self._kept.move_to_end(page)
        if isinstance(drawn := self._kept[page], Undrawable):
            raise Undrawable(str(drawn))
        return drawn


def _bytes_of(drawn: bytes | Undrawable) -> int:
    return _REASON_BYTES if isinstance(drawn, Undrawable) else len(drawn)


async def _received(frames: Frames) -> bytes:
    """The image of an answer: bytes that begin as a PNG does, and are believed no further.

    A browser decodes them as an image and as nothing else: they are sent with nosniff.
    """
    _, body = await frames.next(_check)
    if not body.startswith(_PNG):
        raise NoAnswer(WRONG)
    return bytes(body)


def _check(kind: bytes, length: int) -> None:
    if kind != IMAGE_FRAME or length > MOST_IMAGE_BYTES:
        raise NoAnswer(WRONG)


class Places:
    """``most`` at once. A place that is left goes to the tenant that holds the fewest.

    Of several such tenants to the one that was served longest ago: whoever asks for a hundred
    pages that take long is not in the way of another. Belongs to one event loop.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._held = Counter[str]()
        self._served: dict[str, int] = {}
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def one(self, tenant: str) -> AsyncIterator[None]:
        """Hold a place for ``tenant`` while the block lasts."""
        if self._free:
            self._give(tenant)
        else:
            await self._turn(tenant)
        try:
            yield
        finally:
            self._leave(tenant)

    async def _turn(self, tenant: str) -> None:
        turn = tenant, asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn[1]
        except asyncio.CancelledError:
            if turn in self._waiting:
                self._waiting.remove(turn)
            else:  # its turn came in the very moment in which it gave up
                self._leave(tenant)
            raise

    def _give(self, tenant: str) -> None:
        self._free -= 1
        self._held[tenant] += 1
        self._served[tenant] = max(self._served.values(), default=0) + 1

    def _leave(self, tenant: str) -> None:
        self._free += 1
        self._held[tenant] -= 1
        if not self._waiting:
            self._served = {one: self._served[one] for one, held in self._held.items() if held}
            self._held = +self._held
            return
        following = min(
            self._waiting, key=lambda turn: (self._held[turn[0]], self._served.get(turn[0], 0))
        )
        self._waiting.remove(following)
        self._give(following[0])
        following[1].set_result(None)

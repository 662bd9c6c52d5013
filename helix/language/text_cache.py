"""A cache of results that are read from texts, for texts read again; bounded by its size."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar
from weakref import WeakSet

Read = TypeVar("Read")

MEBIBYTE = 2**20
_ALL: WeakSet[TextCache[Any]] = WeakSet()
_OF_EACH = 500
"""Bytes that an entry takes besides what is read of its text: keys, object, place in the order."""


class TextCache(Generic[Read]):
    """``read`` of texts, with the results for those that were asked for last.

    A text is its own key, so a chunk that was changed is never taken for what it was. Any number of
    threads may call it; two that ask for a new text at once may both read it.

    Args:
        read: what is found in a text; must give the same each time, and nobody may change it.
        most_bytes: of all that is kept, texts included, by estimate.
        bytes_a_character: what a result takes in memory for each character of its text, about.
    """

    def __init__(
        self, read: Callable[[str], Read], *, most_bytes: int, bytes_a_character: float
    ) -> None:
        self._read = read
        self._most = most_bytes
        self._a_character = 1 + bytes_a_character
        self._found: OrderedDict[str, Read] = OrderedDict()
        self._size = 0.0
        self._changing = threading.Lock()
        _ALL.add(self)

    def __call__(self, text: str) -> Read:
        """The result of ``read`` for ``text``, computed now or before."""
        try:
            found = self._found[text]
            self._found.move_to_end(text)
        except KeyError:  # new, or dropped by another thread in between
            found = self._read(text)
            self._keep(text, found)
        return found

    def _keep(self, text: str, found: Read) -> None:
        with self._changing:
            if text in self._found or self._cost(text) > self._most:
                return
            self._found[text] = found
            self._size += self._cost(text)
            while self._size > self._most:
                oldest, _ = self._found.popitem(last=False)
                self._size -= self._cost(oldest)

    def _cost(self, text: str) -> float:
        return _OF_EACH + len(text) * self._a_character

    @property
    def size(self) -> int:
        """Bytes that are kept, by the same estimate."""
        return round(self._size)

    def __len__(self) -> int:
        return len(self._found)

    def __contains__(self, text: object) -> bool:
        return text in self._found

    def __iter__(self) -> Iterator[str]:
        """The texts that are kept, the one that was asked for longest ago first."""
        return iter(self._found)

    def clear(self) -> None:
        """Forget everything."""
        with self._changing:
            self._found.clear()
            self._size = 0.0


def forget_texts() -> None:
    """Empty every TextCache of this process: texts were deleted."""
    for cache in list(_ALL):
        cache.clear()


def text_cache(
    *, most_bytes: int, bytes_a_character: float
) -> Callable[[Callable[[str], Read]], TextCache[Read]]:
    """A decorator: the function's results are kept in a TextCache."""

    def decorate(read: Callable[[str], Read]) -> TextCache[Read]:
        return TextCache(read, most_bytes=most_bytes, bytes_a_character=bytes_a_character)

    return decorate

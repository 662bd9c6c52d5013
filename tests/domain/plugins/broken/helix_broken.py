"""Plugins that fail in all the ways there are: when they are found, made and used."""

from collections.abc import Iterator
from typing import Any

TOOL = TEXT = "no tool, and no function"


def takes_a_name(*_: Any) -> None:
    """Under a name that Helix has."""


def llm(*_: Any) -> None:
    """Cannot be made."""
    raise KeyError("BROKEN_API_KEY")


def empty(*_: Any) -> None:
    """Gives nothing."""


def files(address: str) -> Iterator[tuple[str, bytes]]:
    """Ends after its first file."""
    yield "first.md", b"# First\n\nThe first file is whole.\n"
    raise ConnectionError(f"{address} is away")


def twins(address: str) -> Iterator[tuple[str, bytes]]:
    """Names that no two documents, or none, can have."""
    for name in ("twin.md", "twin.md", "twin.md", "nul\0.md", "half\ud800.md", "last.md"):
        yield name, f"# Of {address}\n\nThis is {name!a}.\n".encode()

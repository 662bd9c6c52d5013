"""The word lists in ``helix/language/data``: TOML files whose strings are words between spaces."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def tables(name: str) -> dict[str, Any]:
    """The file ``data/<name>.toml`` as it is, read once a process; not to be changed."""
    return tomllib.loads(files("helix.language").joinpath(f"data/{name}.toml").read_text("utf-8"))


def word_lists(name: str) -> dict[str, frozenset[str]]:
    """The file's top-level lists, each as the set of its words."""
    texts = ((key, value) for key, value in tables(name).items() if isinstance(value, str))
    return {key: frozenset(text.split()) for key, text in texts}


def numbers_by_word(table: str) -> dict[str, int]:
    """The value of each word of a table of ``data/numbers.toml``, as ``cardinals``."""
    entries = (entry.split() for entry in tables("numbers")[table].split(";"))
    return {word: int(value) for value, *words in entries for word in words}


def expression(name: str, key: str) -> str:
    """The regular expression ``key`` of the file's table ``patterns``, its lines joined."""
    text: str = tables(name)["patterns"][key]
    return text.replace("\n", "")

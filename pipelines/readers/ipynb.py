"""IPYNB: a notebook as Markdown, with its code and what that printed in fences."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pipelines.readers import Progress, ReadText, UnreadableFile
from pipelines.readers.markdown import of_text, open_fence
from pipelines.readers.plain_text import decode
from pipelines.valid_metadata import valid_metadata

_TICKS = re.compile(r"`{3,}")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_NAME = re.compile(r"[\w+#.-]{1,30}")


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections by the headings of its Markdown; outputs that are no text are left out.

    Raises:
        UnreadableFile: no notebook, or nothing in it.
    """
    try:
        book = json.loads(decode(data))
    except (ValueError, RecursionError):
        raise UnreadableFile("a damaged notebook: it is no JSON") from None
    cells = [cell for sheet in _sheets(book) for cell in _dicts(sheet.get("cells"))]
    about = _dict(_dict(book).get("metadata"))
    language = _language(about)
    text = "\n\n".join(filter(None, (block for cell in cells for block in _blocks(cell, language))))
    if not text.strip():
        raise UnreadableFile("empty: there is no text in it")
    found = of_text(text + "\n")
    authors = [str(one.get("name") or "") for one in _dicts(about.get("authors"))]
    title = about.get("title")
    return replace(
        found,
        title=(title if isinstance(title, str) else "") or found.title,
        metadata=valid_metadata({"author": authors}) | dict(found.metadata),
    )


def _sheets(book: Any) -> list[Mapping[str, Any]]:
    """The objects that cells are in: up to nbformat 3 sheets, of which there was one."""
    found = _dict(book)
    return _dicts(found.get("worksheets")) or [found]


def _language(about: Mapping[str, Any]) -> str:
    """The language of the code, where it is a name."""
    for key in ("language_info", "kernelspec"):
        told = _dict(about.get(key))
        name = told.get("name") if key == "language_info" else told.get("language")
        if isinstance(name, str) and _NAME.fullmatch(name):
            return name
    return ""


def _blocks(cell: Mapping[str, Any], language: str) -> Iterator[str]:
    kind = cell.get("cell_type")
    source = _text(cell.get("source", cell.get("input"))).strip("\n")
    if kind == "code":
        told = cell.get("language")
        yield _fenced(source, told if isinstance(told, str) and _NAME.fullmatch(told) else language)
        for output in _dicts(cell.get("outputs")):
            yield from _shown(output)
    elif kind == "heading" and source.strip():  # of nbformat 3
        level = cell.get("level")
        yield f"{'#' * min(level if isinstance(level, int) and level > 0 else 1, 6)} {source}"
    else:
        yield _ended(source.rstrip())


def _shown(output: Mapping[str, Any]) -> Iterator[str]:
    """The text of an output: what was printed, a value, or an error."""
    data = _dict(output.get("data")) or output  # up to nbformat 3 beside its kind
    if markdown := _text(data.get("text/markdown")):
        yield _ended(markdown.strip("\n"))
    elif output.get("output_type") in ("error", "pyerr"):
        said = (_text(output.get(key)) for key in ("ename", "evalue"))
        yield _fenced(": ".join(filter(None, said)))
    else:
        yield _fenced(_text(data.get("text/plain", data.get("text"))))


def _ended(markdown: str) -> str:
    """Markdown whose fences end with its cell, as they do where it is shown."""
    fence = open_fence(markdown)
    return f"{markdown}\n{fence}" if fence else markdown


def _fenced(code: str, language: str = "") -> str:
    code = _COLOUR.sub("", code).strip("\n")
    if not code.strip():
        return ""
    fence = "`" * max([3, *(len(run) + 1 for run in _TICKS.findall(code))])
    return f"{fence}{language}\n{code}\n{fence}"


def _text(value: Any) -> str:
    """A text, which may be a list of its lines; up to nbformat 2 without their ends."""
    lines = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]
    return ("" if all(one.endswith("\n") for one in lines[:-1]) else "\n").join(lines)


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []

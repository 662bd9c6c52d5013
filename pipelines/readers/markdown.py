"""Markdown: kept to the character; its title is its front matter's, or its first heading."""

from __future__ import annotations

import re
from itertools import pairwise

from markdown_it import MarkdownIt

from pipelines.readers import ReadText
from pipelines.readers.plain_text import decode

_LONGEST_TITLE = 200  # characters; it goes in front of every chunk that is embedded
_TITLE_WITHIN = 65_536  # characters; a document that has a title has it near its top
_FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t\r]*$", re.MULTILINE)


def read(data: bytes) -> ReadText:
    """Raises UnreadableFile as plain text does."""
    text = decode(data)
    head = text[:_TITLE_WITHIN]
    title = _front_matter_title(head) or _first_heading(head)
    return ReadText(text, title[:_LONGEST_TITLE].strip() if title else None)


def _front_matter_title(head: str) -> str | None:
    block = _FRONT_MATTER.match(head)
    title = _FRONT_TITLE.search(block.group(1)) if block else None
    return title.group(1).strip("\"'").strip() or None if title else None


def _first_heading(head: str) -> str | None:
    block = _FRONT_MATTER.match(head)
    tokens = MarkdownIt().parse(head[block.end() :] if block else head)
    for opening, inline in pairwise(tokens):
        if opening.type == "heading_open":
            # a heading underlined may have several lines; a break has no content of its own
            words = (
                " " if part.type.endswith("break") else part.content
                for part in inline.children or ()
                if part.type in ("text", "code_inline", "softbreak", "hardbreak")
            )
            if title := "".join(words).strip():
                return title
    return None

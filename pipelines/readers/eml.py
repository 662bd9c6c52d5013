"""EML: a mail under its head, and the mails within it; attached files are named, not read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from helix.domain.records import Section
from pipelines.readers import Progress, ReadText, UnreadableFile
from pipelines.readers.draft import Draft
from pipelines.readers.grids import moved
from pipelines.readers.html_tree import decoded, parse_tree
from pipelines.readers.mail import (
    TOO_DEEP,
    Mail,
    bytes_of,
    field,
    head_lines,
    in_charset,
    mail_of,
    mail_within,
    metadata_of,
    parts,
)
from pipelines.readers.markup import TextOfMarkup
from pipelines.readers.outline import short_title

_MOST_OF_HTML = 2  # times the words of the plain text that stands for it: that says less
_DEEPEST = 20  # mails in each other
_SEALED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")


def read(data: bytes, progress: Progress) -> ReadText:
    """Sections by heading, where the mail is HTML; a mail within is a part under its subject.

    Of alternatives the plain text is read, unless HTML has tables or says much more.

    Raises:
        UnreadableFile: there is nothing in it, or it is nested too deep.
    """
    mail, draft = mail_of(data), Draft()
    try:
        _add(draft, mail, ())
    except RecursionError:
        raise UnreadableFile(TOO_DEEP) from None
    found = draft.finish(short_title(field(mail, "Subject")))
    return replace(found, metadata=metadata_of(mail))


class _Body(NamedTuple):
    """A text as its sections have it, with what TextOfMarkup gathered of HTML."""

    text: str
    sections: tuple[Section, ...]
    html: TextOfMarkup | None = None


def _add(draft: Draft, mail: Mail, path: tuple[str, ...]) -> None:
    """Add a mail: its head with the first of its text, then the rest, then the mails within."""
    head = "\n".join(head_lines(mail))
    for body in _bodies(draft, mail):
        tables = body.html.tables if body.html else ()
        for section in body.sections:
            front = f"{head}\n\n" if head else ""
            start, end, by = section.start, section.end, len(front) - section.start
            draft.add(
                front + body.text[start:end],
                heading_path=(*path, *section.heading_path),
                context=section.context,
                blocks=[(first + by, last + by) for first, last in section.blocks],
                tables=[moved(table, by) for table in tables if start <= table.start < end],
                rows=section.rows,
            )
            head = ""
    draft.add(head, heading_path=path)
    for part in parts(mail, alternatives=True):  # Apple Mail has what is attached in one of them
        if (inner := mail_within(part)) is not None:
            if len(path) == _DEEPEST:
                raise UnreadableFile(f"more than {_DEEPEST} mails in each other: forward one apart")
            _add(draft, inner, (*path, short_title(field(inner, "Subject")) or "Mail"))


def _bodies(draft: Draft, mail: Mail) -> Iterator[_Body]:
    for part in parts(mail):
        kind = part.get_content_type()
        is_file = bool(part.get_filename()) or part.get_content_disposition() == "attachment"
        if kind in _SEALED or mail.get_content_type() in _SEALED:
            _warn(draft, "what is encrypted or sealed in it is not read")
        elif kind == "multipart/alternative":
            yield from _best([*_alternatives(draft, part)])
        elif kind == "message/delivery-status":
            told = (f"{name}: {value}" for one in part.walk() for name, value in one.items())
            yield _plain("\n".join(told))
        elif kind == "text/html" and not is_file:
            yield from _html(draft, part)
        elif part.get_content_maintype() == "text" and not is_file:
            data = bytes_of(part)
            if b"\0" in data:
                _warn(draft, "a part of it that is no text is not read")
            else:
                yield _plain(in_charset(data, (part.get_content_charset(""),)))


def _alternatives(draft: Draft, part: Mail) -> Iterator[list[_Body]]:
    for one in part.get_payload() if part.is_multipart() else ():
        if isinstance(one, Mail):
            yield [*_bodies(draft, one)]


def _best(alternatives: list[list[_Body]]) -> list[_Body]:
    """The plain text, where it says about as much as HTML and that has no tables."""
    said = [(sum(len(body.text.split()) for body in one), one) for one in alternatives]
    said = [(words, one) for words, one in said if words]
    if not said:
        return []
    first_words, first = said[0]
    for words, other in said[1:]:
        if words > _MOST_OF_HTML * first_words or any(b.html and b.html.tables for b in other):
            return other
    return first


def _plain(text: str) -> _Body:
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return _Body(text, (Section(0, len(text)),))


def _html(draft: Draft, part: Mail) -> Iterator[_Body]:
    data, charset = bytes_of(part), part.get_content_charset("")
    page = in_charset(data, (charset,)) if charset else decoded(data)
    if not page.strip():
        return
    gathered = TextOfMarkup()
    try:
        gathered.add(parse_tree(page))
    except UnreadableFile as error:
        _warn(draft, f"its HTML is not read: {error}")
        return
    yield _Body(gathered.text, gathered.sections, gathered)


def _warn(draft: Draft, said: str) -> None:
    if said not in draft.warnings:
        draft.warnings.append(said)

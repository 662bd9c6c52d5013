"""Plain text: UTF-8, kept to the character."""

from __future__ import annotations

from pipelines.readers import ReadText, UnreadableFile


def read(data: bytes) -> ReadText:
    """Raises UnreadableFile for bytes that are not text, and for text without a word."""
    return ReadText(decode(data))


def decode(data: bytes) -> str:
    """UTF-8 to text, a leading byte order mark dropped; raises as ``read`` does."""
    if b"\x00" in data:
        raise UnreadableFile(f"not text: a NUL byte at offset {data.index(0)}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"not UTF-8 at byte {error.start}: save it as UTF-8 and ingest it again"
        ) from None
    if not text.strip():
        raise UnreadableFile("empty: there is no text in it")
    return text

"""The head of a GGUF file: a model's name, architecture, licence and longest context.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from helix.errors import SettingsError

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q",
            12: "d"}  # fmt: skip
_TEXT, _LIST = 8, 9
_LONGEST_TEXT = 1 << 20
_DEEPEST = 4  # lists around a list; writers of the format use one
_MOST_FIELDS = 10_000


@dataclass(frozen=True)
class GgufHead:
    """A file's statements about its model; what it does not say is empty, or 0."""

    name: str = ""
    architecture: str = ""
    licence: str = ""
    context: int = 0


def read_head(file: Path) -> GgufHead:
    """The head of ``file``.

    Raises:
        SettingsError: it cannot be read, or is no GGUF file.
    """
    try:
        with file.open("rb") as stream:
            fields = _fields(stream)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read: {error.strerror}") from None
    except (ValueError, struct.error, KeyError):
        raise SettingsError(f"{file} is no GGUF file of version 2 or 3") from None
    architecture = _text(fields, "general.architecture")
    context = fields.get(f"{architecture}.context_length")
    return GgufHead(
        _text(fields, "general.name"),
        architecture,
        _text(fields, "general.license"),
        context if isinstance(context, int) else 0,
    )


def _text(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _fields(stream: BinaryIO) -> dict[str, object]:
    """The fields before the first list, which is of the tokenizer's words."""
    if stream.read(4) != _MAGIC or _number(stream, "I") not in _VERSIONS:
        raise ValueError("another format")
    _number(stream, "Q")  # tensors
    fields: dict[str, object] = {}
    for _ in range(min(int(_number(stream, "Q")), _MOST_FIELDS)):
        name, kind = _string(stream), int(_number(stream, "I"))
        if kind == _LIST and name.startswith("tokenizer."):
            return fields
        fields[name] = _value(stream, kind)
    return fields


def _value(stream: BinaryIO, kind: int, within: int = 0) -> object:
    """A value, ``within`` so many lists."""
    if kind == _TEXT:
        return _string(stream)
    if kind != _LIST:
        return _number(stream, _NUMBERS[kind])
    inner, count = int(_number(stream, "I")), int(_number(stream, "Q"))
    if count > _MOST_FIELDS or within > _DEEPEST:
        raise ValueError("a list that is too long, or within too many")
    return [_value(stream, inner, within + 1) for _ in range(count)]


def _number(stream: BinaryIO, form: str) -> int | float:
    layout = struct.Struct(f"<{form}")
    number: int | float = layout.unpack(stream.read(layout.size))[0]
    return number


def _string(stream: BinaryIO) -> str:
    size = int(_number(stream, "Q"))
    if size > _LONGEST_TEXT:
        raise ValueError("a text that is too long")
    text = stream.read(size)
    if len(text) < size:
        raise ValueError("the file is cut")
    return text.decode("utf-8", "replace")

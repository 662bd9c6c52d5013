"""The head of GGUF files: what it says, and files that are cut, false or hostile."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from evals.real.models import SMALL, model_file
from helix.errors import SettingsError
from helix.providers.local_models.gguf import GgufHead, read_head


def _string(text: str) -> bytes:
    return struct.pack("<Q", len(text.encode())) + text.encode()


def _field(name: str, kind: int, value: bytes) -> bytes:
    return _string(name) + struct.pack("<I", kind) + value


NAMED = _field("general.name", 8, _string("Some\n Model 1B"))
FIELDS = (
    _field("general.architecture", 8, _string("llama")),
    NAMED,
    _field("general.tags", 9, struct.pack("<IQ", 8, 2) + _string("a") + _string("b")),
    _field("llama.context_length", 4, struct.pack("<I", 2048)),
    _field("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 1 << 40)),
)


def _gguf(*fields: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 1, len(fields)) + b"".join(fields)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.gguf"


def test_the_head_of_a_real_file() -> None:
    head = read_head(model_file(SMALL))
    assert (head.architecture, head.licence, head.context) == ("llama", "apache-2.0", 8192)


def test_fields_are_read_up_to_the_tokenizers_words(file: Path) -> None:
    file.write_bytes(_gguf(*FIELDS))
    assert read_head(file) == GgufHead("Some Model 1B", "llama", "", 2048)


def test_a_file_that_says_nothing_has_an_empty_head(file: Path) -> None:
    file.write_bytes(_gguf())
    assert read_head(file) == GgufHead()


NESTED = struct.pack("<IQ", 9, 1) * 100_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"PK\x03\x04" + bytes(100),
        _gguf(*FIELDS, version=1),
        _gguf(*FIELDS)[:60],
        _gguf(_field("general.name", 8, struct.pack("<Q", 1 << 40))),
        _gguf(_field("general.name", 77, b"")),
        _gguf(_field("general.tags", 9, struct.pack("<IQ", 8, 1 << 40))),
        _gguf(_field("general.tags", 9, NESTED)),
        b"GGUF" + struct.pack("<IQQ", 3, 1, 1 << 60) + NAMED,
    ],
)
def test_another_file_is_refused_in_one_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsError, match="is no GGUF file of version 2 or 3"):
        read_head(file)


def test_a_file_that_cannot_be_read_says_why(file: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read: No such file"):
        read_head(file)

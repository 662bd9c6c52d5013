"""Readers of LlamaIndex written by a test, in a module of their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

_NAME = "tried_reader"


def reader_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> str:
    """The address of a reader class ``Tried`` that ``body`` defines."""
    text = (
        "from llama_index.core.readers.base import BaseReader, ResourcesReaderMixin\n"
        "from llama_index.core.schema import Document\n"
        f"{body}\n"
    )
    (tmp_path / f"{_NAME}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, _NAME, raising=False)
    return f"{_NAME}:Tried"

"""The schema form of an answer: blocks with their sources in JSON, written out as plain text."""

from __future__ import annotations

from helix.answering.form.block_reader import BlockReader, WrongForm, block_texts
from helix.answering.form.schema import (
    BRIEF_RULES,
    FORM_RULES,
    BlockForm,
    FormChoice,
    answer_schema,
)

__all__ = [
    "BRIEF_RULES",
    "FORM_RULES",
    "BlockForm",
    "BlockReader",
    "FormChoice",
    "WrongForm",
    "answer_schema",
    "block_texts",
]

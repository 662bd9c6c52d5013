"""The schema form of an answer: blocks with their sources in JSON, written out as plain text."""

from helix.answering.form.block_reader import BlockReader, WrongForm, block_texts
from helix.answering.form.schema import FORM_RULES, FormChoice, answer_schema, with_form_rules

__all__ = [
    "FORM_RULES",
    "BlockReader",
    "FormChoice",
    "WrongForm",
    "answer_schema",
    "block_texts",
    "with_form_rules",
]

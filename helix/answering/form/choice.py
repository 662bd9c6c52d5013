"""The form that a model's answer is asked in: plain text, or blocks held to a schema."""

from __future__ import annotations

import logging
from typing import Any

from helix.answering.form.schema import answer_schema
from helix.providers.base import LanguageModel
from helix.settings.values import AnswerForm

_logger = logging.getLogger(__name__)


class FormChoice:
    """The form of a process's answers, as HELIX_ANSWER_FORM has it.

    With ``auto`` a server that refuses the schema, or does not hold its model to it, is asked for
    text from then on.
    """

    def __init__(self, form: AnswerForm = "auto") -> None:
        self._form = form
        self._refusing: set[str] = set()

    def schema_options(self, llm: LanguageModel, sources: int) -> dict[str, Any] | None:
        """The arguments of ``astream_chat`` for blocks from so many sources; None: text."""
        if self._form == "text" or not sources or llm.schema_options is None:
            return None
        if self._form == "auto" and not (llm.prefers_schema and llm.identity not in self._refusing):
            return None
        return llm.schema_options(answer_schema(sources))

    @property
    def may_fall_back(self) -> bool:
        """True if a server that refuses the schema may be asked for text."""
        return self._form == "auto"

    def refused(self, llm: LanguageModel) -> None:
        """Note that the server of ``llm`` does not know the schema, for it answered without one."""
        self._refusing.add(llm.identity)
        _logger.warning(
            "%s does not answer by a schema: it is asked for plain text from now on", llm.identity
        )

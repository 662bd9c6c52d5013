"""Keys of OpenAI's requests that ask for a form of the answer, or for calls of the client's tools.

A form that cannot be kept and a call that must be made are refused: a client that was answered in
prose would ask again and again. Tools that may be called are passed over, for an answer without a
call is one that they allow, and Open WebUI sends its own with each question.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from helix.errors import BadRequest
from helix.providers.base import LanguageModel

LONGEST_SCHEMA = 50_000
"""Characters of a JSON schema at most."""
_FREE = (None, "auto", "none")
_WAYS = 'answers come as text, or by "json_schema" where a language model answers'


class InvalidParameter(BadRequest):
    """The request is malformed in the value of ``param``."""

    def __init__(self, message: str, param: str | None) -> None:
        super().__init__(message)
        self.param = param


class Format(BaseModel):
    """The form of an answer, as either of OpenAI's protocols names it."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    type: str
    json_schema: dict[str, Any] | None = None
    its_schema: dict[str, Any] | None = Field(None, alias="schema")

    def schema_in(self, param: str) -> dict[str, Any] | None:
        """The JSON schema asked for; None for plain text.

        Raises:
            InvalidParameter: it asks for another form, or its schema is missing or too long.
        """
        if self.type == "text":
            return None
        if self.type != "json_schema":
            raise InvalidParameter(
                f'{param} of type "{self.type[:40]}" cannot be honoured: {_WAYS}', param
            )
        schema = (self.json_schema or {}).get("schema", self.its_schema)
        if not isinstance(schema, dict) or not schema:
            raise InvalidParameter(f"{param} has no schema: give the JSON schema in it", param)
        if len(json.dumps(schema)) > LONGEST_SCHEMA:
            raise InvalidParameter(
                f"the schema in {param} has over {LONGEST_SCHEMA:,} characters", param
            )
        return schema


class TextOptions(BaseModel):
    """The key ``text`` of a request for a response."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    format: Format | None = None


def check_choice(choice: Any, param: Literal["tool_choice", "function_call"]) -> None:
    """Refuse a choice that forces a call.

    Raises:
        InvalidParameter: it does.
    """
    mode = choice
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        allowed = choice.get("allowed_tools")  # chat has the mode inside of it
        mode = (allowed if isinstance(allowed, dict) else choice).get("mode")
    if mode not in _FREE:
        raise InvalidParameter(
            f"{param} forces a call, and the tools of clients are not called here: for values in a"
            ' form ask with response_format of type "json_schema" (of responses: text.format)',
            param,
        )


def check_model(llm: LanguageModel, param: str) -> None:
    """Refuse a form that the model which is to answer cannot be held to.

    Raises:
        InvalidParameter: there is no model, or its service takes no JSON schema.
    """
    if llm.quotes_only:
        raise InvalidParameter(
            f"{param} cannot be honoured: no language model is set up here, answers are quoted from"
            " the documents as text",
            param,
        )
    if llm.schema_options is None:
        raise InvalidParameter(
            f"{param} cannot be honoured: {llm.identity} cannot be held to a JSON schema", param
        )

"""Tools as Gemini is told of them.

LlamaIndex (0.11.3) leaves out the first line of a description that has several, and makes the
schema of every tool anew for each turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from google.genai import Client
from google.genai._transformers import t_schema
from google.genai.types import FunctionDeclaration, Tool
from llama_index.core.tools import BaseTool
from pydantic import BaseModel

_KEPT = 512
"""Declarations that are kept: each tool once for every wording of its description."""


def declared(client: Client, tools: Sequence[BaseTool]) -> list[Tool]:
    """The tools with their whole descriptions, as one ``Tool`` of the SDK; none without tools."""
    found = [
        _declaration(client, metadata.name or "", metadata.description, metadata.fn_schema)
        for metadata in (tool.metadata for tool in tools)
        if metadata.fn_schema
    ]
    return [Tool(function_declarations=found)] if found else []


@lru_cache(maxsize=_KEPT)
def _declaration(
    client: Client, name: str, description: str, schema: type[BaseModel]
) -> FunctionDeclaration:
    parameters = t_schema(client._api_client, schema)
    return FunctionDeclaration(name=name, description=description, parameters=parameters)

"""Grammars of llama.cpp made of JSON schemas; that llama.cpp takes them shows with a real model."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from helix.answering.form import answer_schema
from helix.providers.llama_grammar import llama_schema
from tests.support.llama_server import llama_server

CALL = {
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "tool": {"const": "search"},
                "words": {
                    "type": "array", "items": {"type": "string", "minLength": 1, "maxLength": 9},
                    "minItems": 1, "maxItems": 2,
                },
                "most": {"type": "integer", "description": "at most"},
                "exact": {"type": "boolean"},
            },
            "required": ["tool", "words", "most", "exact"],
            "additionalProperties": False,
        },
    ]
}  # fmt: skip


def test_white_space_has_no_place_in_it() -> None:
    grammar = llama_schema({"enum": ["a b", 'say "x"']})["extra_body"]["grammar"]
    assert grammar.splitlines()[0] == r'root ::= ("\"a b\"" | "\"say \\\"x\\\"\"")'


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "format": "date"},
        {"type": "integer", "minimum": 1},
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": []},
        {"type": "array"},
        {"$ref": "#/$defs/a"},
    ],
)
def test_a_schema_with_other_keywords_goes_as_it_is(schema: dict[str, Any]) -> None:
    sent = llama_schema(schema)["response_format"]["json_schema"]["schema"]
    assert sent == schema


@pytest.mark.timeout(300)
@pytest.mark.processes
def test_llama_cpp_holds_a_model_to_them() -> None:
    with llama_server() as server:
        for schema in (CALL, answer_schema(2)):
            told = _reply(server.api, server.key, schema)
            assert json.loads(told)
            assert json.dumps(json.loads(told), separators=(",", ":"), ensure_ascii=False) == told


def _reply(api: str, key: str, schema: dict[str, Any]) -> str:
    """The reply to a question that the schema does not fit, over and over until one is whole."""
    for seed in range(20):
        body = {
            "messages": [{"role": "user", "content": "Name two colours."}], "max_tokens": 400,
            "temperature": 1.0, "seed": seed, **llama_schema(schema)["extra_body"],
        }  # fmt: skip
        headers = {"Authorization": f"Bearer {key}"}
        reply = httpx.post(f"{api}/chat/completions", json=body, headers=headers, timeout=200)
        choice = reply.raise_for_status().json()["choices"][0]
        if choice["finish_reason"] == "stop":
            return str(choice["message"]["content"])
    raise AssertionError("no reply came to its end")

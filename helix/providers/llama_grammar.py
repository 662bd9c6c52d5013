"""A JSON schema as a grammar of llama.cpp, without the white space that a schema leaves free.

Where it may break lines and indent, a small model writes twice the tokens and then seldom ends:
of eight answers of a 0.5B model five were cut at 400 tokens, and one in this form
(docs/decisions/0075). The notation: llama.cpp's grammars/README.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from helix.providers.schemas import openai_schema

_TYPES = {
    "integer": '"-"? ("0" | [1-9] [0-9]{0,15})',
    "number": '"-"? ("0" | [1-9] [0-9]{0,15}) ("." [0-9]{1,15})?',
    "boolean": '"true" | "false"',
    "null": '"null"',
}
_CHARACTER = r'char ::= [^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4})'
_SAYS_NOTHING = frozenset({"title", "description"})
"""Keywords that hold no answer to anything."""


class _Unknown(Exception):
    """A keyword that has no rule here."""


def llama_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """llama.cpp's arguments: a grammar, or the schema where it has keywords beyond those here."""
    try:
        return {"extra_body": {"grammar": f"root ::= {_rule(schema)}\n{_CHARACTER}\n"}}
    except _Unknown:
        return openai_schema(schema)


def _rule(schema: Mapping[str, Any]) -> str:
    """The right side of a rule for one value."""
    given = {key: value for key, value in schema.items() if key not in _SAYS_NOTHING}
    match given:
        case {"anyOf": [*choices], **rest} if not rest:
            return _either(map(_rule, choices))
        case {"const": value, **rest} if rest.keys() <= {"type"}:
            return _literal(json.dumps(value, ensure_ascii=False))
        case {"enum": [*values], **rest} if rest.keys() <= {"type"}:
            return _either(_literal(json.dumps(each, ensure_ascii=False)) for each in values)
        case {"type": "object", **rest}:
            return _object(rest)
        case {"type": "array", "items": dict() as items, **rest}:
            return _array(_rule(items), rest)
        case {"type": "string", **rest} if rest.keys() <= {"minLength", "maxLength"}:
            least, most = rest.get("minLength", 0), rest.get("maxLength", "")
            return rf'"\"" char{{{least},{most}}} "\""'
        case {"type": str() as name, **rest} if name in _TYPES and not rest:
            return f"({_TYPES[name]})"
    raise _Unknown


def _object(rest: Mapping[str, Any]) -> str:
    """All its properties, in their order."""
    properties = rest.get("properties", {})
    if rest.keys() - {"properties", "required", "additionalProperties"} or not properties:
        raise _Unknown
    if set(rest.get("required", ())) != set(properties) or rest.get("additionalProperties"):
        raise _Unknown
    pairs = ' "," '.join(
        f"{_literal(json.dumps(name, ensure_ascii=False) + ':')} {_rule(each)}"
        for name, each in properties.items()
    )
    return f'("{{" {pairs} "}}")'


def _array(item: str, rest: Mapping[str, Any]) -> str:
    if rest.keys() - {"minItems", "maxItems"}:
        raise _Unknown
    least, most = rest.get("minItems", 0), rest.get("maxItems")
    last = "" if most is None else most - 1
    items = f'{item} ("," {item}){{{max(least - 1, 0)},{last}}}'
    if not least:
        items = f"({items})?"
    return f'("[" {items} "]")'


def _either(choices: Iterable[str]) -> str:
    return f"({' | '.join(choices)})"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

"""Streamed JSON: the same events however it is cut, and no other text than a whole parse gives."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helix.answering.form.json_reader import JsonEvent, JsonReader, Malformed
from tests.serving.test_sse import cut

_scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**9), 10**9), st.text(max_size=20))
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=8), inner, max_size=4),
    ),
    max_leaves=12,
)
_objects = st.dictionaries(st.text(max_size=8), _values, max_size=4)


def events(pieces: list[str]) -> list[JsonEvent]:
    """All events of a text in pieces, the pieces of a string joined."""
    reader, found = JsonReader(), list[JsonEvent]()
    for piece in pieces:
        for event in reader.feed(piece):
            before = found[-1] if found else None
            if before and event.kind == before.kind == "piece":
                found[-1] = before._replace(value=str(before.value) + str(event.value))
            else:
                found.append(event)
    assert reader.done
    return found


def told(value: Any, path: tuple[str, ...] = ()) -> list[JsonEvent]:
    """The events of a value that is parsed as a whole."""
    if isinstance(value, str):
        pieces = [JsonEvent("piece", path, value)] if value else []
        return [*pieces, JsonEvent("end", path)]
    if isinstance(value, dict):
        inner = [one for key, each in value.items() for one in told(each, (*path, key))]
        return [JsonEvent("open", path, "{"), *inner, JsonEvent("close", path, "}")]
    if isinstance(value, list):
        inner = [one for each in value for one in told(each, (*path, "*"))]
        return [JsonEvent("open", path, "["), *inner, JsonEvent("close", path, "]")]
    return [JsonEvent("value", path, value)]


@settings(max_examples=80)
@given(_objects, st.booleans(), st.sampled_from([None, 1]), st.integers(0, 2**32))
def test_any_cut_of_any_object_gives_what_a_whole_parse_gives(
    value: dict[str, Any], ascii_only: bool, indent: int | None, seed: int
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    wanted = told(value)
    assert events(list(text)) == wanted
    assert events(cut(text, random.Random(seed))) == wanted


def test_the_halves_of_a_pair_and_one_that_is_alone() -> None:
    def said(text: str) -> str:
        found = [e.value for e in events(list(text)) if e.kind == "piece"]
        return "".join(map(str, found))

    assert said(r'{"a": "x\ud83d\ude00y"}') == "x😀y"
    assert said(r'{"a": "\ud83d"}') == "\ud83d"
    assert said(r'{"a": "\ud83dx\ude00"}') == "\ud83dx\ude00"
    assert said(r'{"a": "\ud83d\ud83d\ude00"}') == "\ud83d😀"
    assert said('{"a": "two\nlines"}') == "two\nlines"


@pytest.mark.parametrize(
    "text",
    ["[1]", '"a"', '{"a" 1}', "{a: 1}", '{"a": x}', '{"a": "\\x"}', '{"a": "\\u12g4"}', '{"a": 1]',
     '{"a": 1 "b": 2}', "{" + '"a":{' * 40, '{"' + "k" * 300, '{"a": ' + "1" * 300],
)  # fmt: skip
def test_what_is_no_json_is_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        events(list(text))


def test_what_follows_the_object_is_passed_over() -> None:
    assert events(['{"a": 1}', "\n```"]) == told({"a": 1})

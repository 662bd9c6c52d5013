"""Calls that a model writes as text: read where the text is calls and nothing else."""

from __future__ import annotations

import pytest

from helix.agent.model_driver import calls_in_text

TOOLS = {"search_library", "current_time"}
SEARCH = '{"name": "search_library", "arguments": {"query": "refunds"}}'
FOUND = ("search_library", {"query": "refunds"})


@pytest.mark.parametrize(
    "text",
    [
        SEARCH, f"  {SEARCH}\n", f"<tool_call>\n{SEARCH}\n</tool_call>", f"```json\n{SEARCH}\n```",
        SEARCH.replace("arguments", "parameters"),
        '{"name": "search_library", "arguments": "{\\"query\\": \\"refunds\\"}"}',
    ],
)  # fmt: skip
def test_a_text_that_is_a_call_is_one(text: str) -> None:
    assert calls_in_text(text, TOOLS) == [FOUND]


def test_several_calls_in_a_row_are_all_read() -> None:
    clock = '{"name": "current_time"}'
    assert calls_in_text(f"{SEARCH}\n{clock}", TOOLS) == [FOUND, ("current_time", {})]


@pytest.mark.parametrize(
    "text",
    [
        "DONE", "", "{", f"I call {SEARCH}", f"{SEARCH} and then I answer", SEARCH[:-2],
        '{"name": "drop_tables", "arguments": {}}', '{"name": "search_library", "arguments": 1}',
        '{"name": ["search_library"]}', "[1, 2]", "{" * 30_000, '{"a":' * 5_000,
    ],
)  # fmt: skip
def test_any_other_text_is_none(text: str) -> None:
    assert calls_in_text(text, TOOLS) == []

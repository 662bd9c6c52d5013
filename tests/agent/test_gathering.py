"""A gathering's calls: numbered, told, bounded, and failing in plain words."""

from __future__ import annotations

import asyncio

import pytest

from helix.agent.agent import ReplayPlanner, follow_plan
from helix.agent.gathering import MOST_AT_ONCE, BoundReached, Bounds
from helix.agent.ledger import Ledger
from helix.agent.tool import ToolFailure
from helix.domain.context import count_tokens
from helix.errors import StoreUnavailable, UpstreamError
from tests.support.agent_tools import bringing, failing, passage, run_with, told, tool

ASKED = {"query": "lamps"}


async def test_a_passage_is_told_once_under_one_number_before_its_call_has_ended() -> None:
    gathering = run_with(bringing("search", "Found:", passage(7), passage(9)))
    first = await gathering.call("search", ASKED)
    second = await gathering.call("search", ASKED)
    assert [name for name, _ in told(gathering)] == [
        "tool",
        "source",
        "source",
        "tool",
        "tool",
        "tool",
    ]
    assert first == second
    assert first.splitlines()[0] == "Found:"
    assert first.splitlines()[1].startswith("[1] (Document 1) Passage number 7")
    assert [entry.call for entry in gathering.context.ledger.entries] == [1, 1]
    assert [call.numbers for call in gathering.gathered.calls] == [(1, 2), (1, 2)]
    assert gathering.gathered.calls[0].chunk_ids == (7, 9)


async def test_numbers_do_not_depend_on_which_call_was_faster() -> None:
    gathering = run_with(bringing("slow", passage(1), after=0.02), bringing("fast", passage(2)))
    await asyncio.gather(gathering.call("slow", ASKED), gathering.call("fast", ASKED))
    assert [entry.hit.chunk_id for entry in gathering.context.ledger.entries] == [1, 2]
    assert [call.name for call in gathering.gathered.calls] == ["slow", "fast"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ToolFailure("There is no page 9."), "There is no page 9."),
        (
            StoreUnavailable("secret@host is down"),
            "The database does not answer.",
        ),
        (UpstreamError("key secret"), "A service that the tool needs does not answer."),
        (RuntimeError("secret"), "The tool failed."),
    ],
)
async def test_a_failure_is_a_plain_reason_and_never_an_exceptions_text(
    error: Exception, reason: str
) -> None:
    gathering = run_with(failing("search", error))
    assert await gathering.call("search", ASKED) == reason
    (_, ended) = told(gathering)
    assert ended[1]["failure"] == reason and ended[1]["passages"] == 0
    assert gathering.gathered.calls[0].failure == reason


async def test_wrong_arguments_are_told_back_once_and_their_values_never() -> None:
    gathering = run_with(bringing("search", passage(1)))
    first = await gathering.call("search", {"query": 5, "tenant": "secret-acme"})
    again = await gathering.call("search", {})
    assert "query" in first and "tenant" in first and "secret-acme" not in first
    assert "Call once more" in first and "Do not call this tool again" in again
    assert gathering.context.ledger.entries == []
    assert "[1]" in await gathering.call("search", ASKED)


async def test_an_unknown_tool_is_named_with_those_that_there_are() -> None:
    gathering = run_with(bringing("search"), bringing("outline"))
    assert await gathering.call("delete_everything", {}) == (
        "There is no tool of this name. There are: search, outline."
    )


async def test_a_tool_that_takes_too_long_is_left() -> None:
    gathering = run_with(bringing("search", after=60), bounds=Bounds(tool_seconds=0.01))
    assert await gathering.call("search", ASKED) == "The tool took longer than 0.01 seconds."


async def test_a_call_that_is_cancelled_is_kept_and_told_as_stopped() -> None:
    gathering = run_with(bringing("search", after=60))
    calling = asyncio.create_task(gathering.call("search", ASKED))
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert told(gathering)[-1][1]["failure"] == "Stopped before it had ended."
    assert gathering.gathered.calls[0].failure


async def test_text_is_cut_and_a_passage_that_has_no_room_is_counted() -> None:
    long = "word " * 5000
    gathering = run_with(bringing("read", long), bounds=Bounds(output_tokens=100))
    text = await gathering.call("read", ASKED)
    assert text.endswith("(cut: the rest is too long)") and count_tokens(text) < 150
    small = run_with(bringing("search", passage(1), passage(2)), ledger=Ledger(max_sources=1))
    text = await small.call("search", ASKED)
    assert "1 more passages (left out" in text and "[2]" not in text
    await small.call("search", ASKED)
    assert small.gathered.left_out == 1


async def test_a_bound_of_steps_and_one_of_tokens_end_it() -> None:
    gathering = run_with(bounds=Bounds(steps=2))
    gathering.step()
    gathering.step()
    with pytest.raises(BoundReached, match="steps"):
        gathering.step()
    spent = run_with(bounds=Bounds(tokens=1000))
    spent.step()
    spent.spend(1001)
    with pytest.raises(BoundReached, match="tokens"):
        spent.step()


async def test_only_so_many_calls_are_made_at_once() -> None:
    gathering = run_with(bringing("search", passage(1)))
    gathering.step()
    texts = await asyncio.gather(
        *(gathering.call("search", ASKED) for _ in range(MOST_AT_ONCE + 1))
    )
    assert [text.startswith("Not called") for text in texts] == [False] * MOST_AT_ONCE + [True]


async def test_recorded_calls_are_made_again_one_after_another() -> None:
    gathering = run_with(bringing("a", passage(1)), bringing("b", passage(2)))
    await gathering.call("b", ASKED)
    await gathering.call("a", ASKED)
    calls = [call.to_json() for call in gathering.gathered.calls]
    again = run_with(bringing("a", passage(1)), bringing("b", passage(2)))
    await follow_plan(again, ReplayPlanner(calls))
    assert [call.chunk_ids for call in again.gathered.calls] == [(2,), (1,)]
    assert [call.arguments for call in again.gathered.calls] == [ASKED, ASKED]


async def test_arguments_that_nobody_could_read_are_not_kept() -> None:
    async def never(*_: object) -> None:
        raise AssertionError

    gathering = run_with(tool("search", never))  # type: ignore[arg-type]
    await gathering.call("search", {"query": "x" * 5000, "more": "x" * 5000})
    assert gathering.gathered.calls[0].arguments == {"too_long": 10_025}

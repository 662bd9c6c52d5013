"""Exports come back as they were, whatever questions and answers look like."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.conversations import conversation_rows, tree
from helix.conversations.transfer import (
    export_json,
    export_markdown,
    import_json,
    import_turns,
    markdown_of,
    turns_of_markdown,
)
from helix.conversations.tree import NewMessage
from helix.conversations.views import all_messages, get_conversation, get_path
from helix.domain.contract import REFUSAL
from helix.errors import BadRequest
from helix.library.access import Library
from tests.support.fake_embedder import opened

LINES = st.sampled_from(
    ["Plain words.", "## Answer", "## Question", "> quoted", "\\# escaped", "*Sources:*", "", "#",
     "- [1] A list", "\\\\> twice", "süß ☃"]
)  # fmt: skip
TEXTS = (
    st.lists(LINES, min_size=1, max_size=6)
    .map("\n".join)
    .filter(lambda text: text.strip() == text and text != "")
)


async def filled(library: Library, turns: list[tuple[str, str]]) -> str:
    """A conversation of these turns, the last of which was asked twice, the first time active."""

    def add(connection: Any) -> None:
        conversation_rows.create(connection, library.tenant, "c", "Of *old* things", {})
        leaf, above = None, None
        for question, answer in turns:
            response = {"answer": answer, "citations": CITED, "abstained": False}
            new = NewMessage(question, "0" * 32, "a process", status="done", response=response)
            above = leaf
            leaf = tree.add_message(connection, library.tenant, "c", new, above).message_id
        tree.add_message(connection, library.tenant, "c", new, above)
        tree.switch(connection, library.tenant, "c", leaf or 0)

    await library.change(add)
    return "c"


CITED = [{"n": 1, "document_id": 4, "title": "Rules", "label": "page 2", "quote": "it is\nso"}]


async def test_a_tree_comes_back_from_json(database_url: str) -> None:
    async with opened(database_url) as store:
        library = Library(store)
        name = await filled(library, [("One?", "Yes [1]."), ("Two?", "No.")])
        exported = await export_json(library, name)
        made = await import_json(library.of("other"), exported)
        again = await export_json(library.of("other"), made)
        assert again["title"] == exported["title"] and len(again["messages"]) == 3
        for message in exported["messages"]:  # where the document is not
            (cited,) = message["response"]["citations"]
            cited |= {"document_id": None, "chunk_id": None, "start": None, "end": None}
        known = ("question", "status", "response", "active")
        assert [[row[key] for key in known] for row in again["messages"]] == [
            [row[key] for key in known] for row in exported["messages"]
        ]
        # the same tree, by the places of its messages
        places = [
            [[row["id"] for row in one["messages"]].index(row["parent_id"])
             if row["parent_id"] else None for row in one["messages"]]
            for one in (exported, again)
        ]  # fmt: skip
        assert places[0] == places[1]


async def test_the_choice_of_a_model_comes_back_where_it_is_allowed(database_url: str) -> None:
    async with opened(database_url) as store:
        library = Library(store)
        name = await filled(library, [("One?", "Yes [1].")])
        await library.change(
            lambda connection: conversation_rows.change(
                connection, library.tenant, name, None, None, "offline"
            )
        )
        exported = await export_json(library, name)
        assert exported["model"] == "offline"
        for models, kept in ((("offline", "gemini"), "offline"), (("gemini",), None), ((), None)):
            made = await import_json(library, exported, models=models)
            assert (await get_conversation(library, made))["model"] == kept
        with pytest.raises(BadRequest, match="no exported conversation"):
            await import_json(library, exported | {"model": 7})
        older = {key: value for key, value in exported.items() if key != "model"}
        assert await import_json(library, older)


async def test_a_path_comes_back_from_markdown(database_url: str) -> None:
    async with opened(database_url) as store:
        library = Library(store)
        turns = [("One\n## Answer?", "> Yes [1].\n\n*Sources:* no."), ("Two?", REFUSAL)]
        name = await filled(library, turns)
        text = await export_markdown(library, name)
        assert text.startswith("# Of *old* things\n")
        assert "- [1] Rules, page 2: “it is so”\n" in text
        title, read = turns_of_markdown(text)
        made = await import_turns(library, title, read)
        path = (await get_path(library, made))["path"]
        assert [(row["question"], row["response"]["answer"]) for row in path] == turns
        assert [row["response"]["abstained"] for row in path] == [False, True]
        assert await export_markdown(library, made) == text, "with its sources"
        assert all(row["status"] == "done" for row in await all_messages(library, made))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=3))
def test_markdown_is_read_back_whatever_it_says(turns: list[tuple[str, str]]) -> None:
    response = [{"answer": answer, "citations": CITED} for _, answer in turns]
    images = [{"name": "## Answer"}, {"name": "a.png"}]
    ends = ["done", "stopped", "interrupted"]
    path = [
        {"question": question, "response": told, "attachments": images[:n], "status": ends[n]}
        for n, ((question, _), told) in enumerate(zip(turns, response, strict=True))
    ]
    cited = [{"n": 1, "title": "Rules, page 2", "quote": "it is so"}]
    read = turns_of_markdown(markdown_of("T", path))
    assert read == ("T", [(*turn, cited, end) for turn, end in zip(turns, ends, strict=False)])


@pytest.mark.parametrize(
    "exported",
    [
        None, [], {"format": "other"}, {"format": "helix-conversation-1"},
        {"format": "helix-conversation-1", "messages": [{"id": 1}]},
        {"format": "helix-conversation-1", "messages": [
            {"id": 1, "parent_id": 2, "question": "q", "status": "done"}]},
        {"format": "helix-conversation-1", "messages": [
            {"id": 1, "parent_id": None, "question": "q", "status": "answering"}]},
    ],
)  # fmt: skip
async def test_what_is_no_export_is_refused_whole(database_url: str, exported: Any) -> None:
    async with opened(database_url) as store:
        with pytest.raises(BadRequest):
            await import_json(Library(store), exported)
        assert await store.fetch("SELECT FROM conversations", {}) == []

"""The tree of a conversation: thousands of random operations against a model of it."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg
import pytest

from helix.conversations import conversation_rows, tree
from helix.conversations.liveness import Ending, MessageRow
from helix.conversations.names import Busy
from helix.conversations.tree import NewMessage
from helix.conversations.views import (
    Page,
    all_messages,
    get_message,
    get_path,
    list_conversations,
)
from helix.library.access import Library
from helix.library.errors import NotFound
from tests.support.fake_embedder import opened

TENANTS = ("alpha", "beta")


@dataclass
class Model:
    """The expected conversation: of each message its parent and question, and the leaf."""

    parents: dict[int, int | None] = field(default_factory=dict)
    questions: dict[int, str] = field(default_factory=dict)
    leaf: int | None = None

    def children(self, parent: int | None) -> list[int]:
        return sorted(child for child, above in self.parents.items() if above == parent)

    def path(self, leaf: int | None) -> list[int]:
        path: list[int] = []
        while leaf is not None:
            path.append(leaf)
            leaf = self.parents[leaf]
        return path[::-1]

    def tip(self, message: int) -> int:
        """The end of a message's branch: first children all the way down."""
        while children := self.children(message):
            message = children[0]
        return message


def done(question: str) -> NewMessage:
    answer = {"answer": f"answer to {question}", "citations": [], "abstained": False}
    return NewMessage(question, "0" * 32, status="done", response=answer)


class World:
    """Conversations of two tenants, and the models of them."""

    def __init__(self, library: Library, seed: int) -> None:
        self.libraries = {tenant: library.of(tenant) for tenant in TENANTS}
        self.models: dict[tuple[str, str], Model] = {}
        self.random = random.Random(seed)
        self.asked = 0

    async def step(self) -> None:
        kinds = [
            "begin", "ask", "ask", "ask", "beside", "beside", "race", "switch", "delete", "foreign",
        ]  # fmt: skip
        kind = self.random.choice(kinds)
        if kind == "begin" or not self.models:
            await self.begin()
        else:
            tenant, conversation_id = self.random.choice(list(self.models))
            await getattr(self, kind)(tenant, conversation_id)

    async def begin(self) -> None:
        # both tenants use the same names
        tenant, name = self.random.choice(TENANTS), f"c-{self.random.randrange(12)}"
        made = await self.libraries[tenant].change(
            lambda connection: conversation_rows.create(connection, tenant, name, "", {})
        )
        assert made == ((tenant, name) not in self.models)
        if made:
            self.models[tenant, name] = Model()

    async def add(self, tenant: str, name: str, parent: int | None) -> None:
        self.asked += 1
        question = f"question {self.asked} of {tenant} {name}"
        begun = await self.libraries[tenant].change(
            partial(tree.add_message, tenant=tenant, conversation_id=name, new=done(question),
                    parent_id=parent)
        )  # fmt: skip
        model = self.models[tenant, name]
        expected = model.path(parent)[-tree.HISTORY_TURNS :]
        assert [turn.question for turn in begun.history.turns] == [
            model.questions[above] for above in expected
        ]
        model.parents[begun.message_id], model.questions[begun.message_id] = parent, question
        model.leaf = begun.message_id

    async def ask(self, tenant: str, name: str) -> None:
        await self.add(tenant, name, self.models[tenant, name].leaf)

    async def beside(self, tenant: str, name: str) -> None:
        """Edit or ask again: a sibling."""
        if messages := list(self.models[tenant, name].parents):
            chosen = self.random.choice(messages)
            await self.add(tenant, name, self.models[tenant, name].parents[chosen])

    async def race(self, tenant: str, name: str) -> None:
        """Two clients ask at once: one is answered, the other is told to wait."""
        model, library = self.models[tenant, name], self.libraries[tenant]
        leaf, owner = model.leaf, "here"
        questions = [f"race {self.asked} of {client}" for client in "ab"]
        asked = await asyncio.gather(
            *(
                library.change(
                    partial(tree.add_message, tenant=tenant, conversation_id=name, parent_id=leaf,
                            new=NewMessage(question, "0" * 32, owner=owner))
                )
                for question in questions
            ),
            return_exceptions=True,
        )  # fmt: skip
        ((place, begun),) = [
            (place, each) for place, each in enumerate(asked) if isinstance(each, tree.AddedMessage)
        ]
        assert sum(isinstance(each, Busy) for each in asked) == 1
        row = MessageRow(library, name, begun.message_id, owner)
        assert await row.finish(Ending("done", {"answer": "a", "citations": []}), [])
        assert not await row.finish(Ending("failed", {}), [])
        model.parents[begun.message_id] = leaf
        model.questions[begun.message_id] = questions[place]
        model.leaf = begun.message_id

    async def switch(self, tenant: str, name: str) -> None:
        model = self.models[tenant, name]
        if not model.parents:
            return
        chosen = self.random.choice(list(model.parents))
        leaf = await self.libraries[tenant].change(
            partial(tree.switch, tenant=tenant, conversation_id=name, message_id=chosen)
        )
        assert leaf == model.tip(chosen)
        model.leaf = leaf

    async def delete(self, tenant: str, name: str) -> None:
        if self.random.random() < 0.9:
            return
        await self.libraries[tenant].change(
            partial(conversation_rows.delete, tenant=tenant, conversation_id=name)
        )
        del self.models[tenant, name]

    async def foreign(self, tenant: str, name: str) -> None:
        """A message of another conversation or tenant is not found."""
        others = [key for key in self.models if key != (tenant, name)]
        strangers = [m for key in others for m in self.models[key].parents]
        if not strangers:
            return
        stranger = self.random.choice(strangers)
        library = self.libraries[tenant]
        for action in (
            partial(tree.switch, tenant=tenant, conversation_id=name, message_id=stranger),
            partial(tree.add_message, tenant=tenant, conversation_id=name, new=done("x"),
                    parent_id=stranger),
        ):  # fmt: skip
            with pytest.raises(NotFound, match=f"no message {stranger} "):
                await library.change(action)
        with pytest.raises(NotFound):
            await get_message(library, name, stranger)

    async def check(self) -> None:
        for tenant, library in self.libraries.items():
            listed = await list_conversations(library, page=Page(200))
            names = {row["id"] for row in listed["conversations"]}
            assert names == {name for whose, name in self.models if whose == tenant}
            assert listed["total"] == len(names)
        for (tenant, name), model in self.models.items():
            await self.check_one(self.libraries[tenant], name, model)

    async def check_one(self, library: Library, name: str, model: Model) -> None:
        stored = await all_messages(library, name)
        assert {row["id"]: row["parent_id"] for row in stored} == model.parents
        assert {row["id"]: row["question"] for row in stored} == model.questions
        assert [row["id"] for row in stored if row["active"]] == (
            [] if model.leaf is None else [model.leaf]
        )
        for row in stored:
            assert row["siblings"] == model.children(row["parent_id"])
        path: list[int] = []
        before: int | None = None
        while True:
            page = await get_path(library, name, 7, before)
            path = [row["id"] for row in page["path"]] + path
            before = page["earlier"]
            if before is None:
                break
        assert path == model.path(model.leaf)


async def operate(database_url: str, operations: int, looks: int, seed: int) -> World:
    """Random operations, looked at now and then; the world after the last look."""
    async with opened(database_url) as store:
        world = World(Library(store), seed)
        for n in range(operations):
            await world.step()
            if n % (operations // looks) == 0:
                await world.check()
        await world.check()
    return world


async def test_random_operations_keep_the_tree(database_url: str) -> None:
    assert (await operate(database_url, 250, 5, seed=1)).asked > 83


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_ten_thousand_random_operations_keep_the_tree(database_url: str) -> None:
    assert (await operate(database_url, 10_000, 20, seed=2)).asked > 3_333


async def test_one_question_at_a_time_is_answered(database_url: str) -> None:
    async with opened(database_url) as store:
        library = Library(store).of("alpha")

        def add(connection: Any, question: str) -> int:
            new = NewMessage(question, "0" * 32, owner="here")
            leaf = tree.active_leaf(connection, "alpha", "c")
            return tree.add_message(connection, "alpha", "c", new, leaf).message_id

        await library.change(
            lambda connection: conversation_rows.create(connection, "alpha", "c", "", {})
        )
        first = await library.change(partial(add, question="one"))
        with pytest.raises(Busy):
            await library.change(partial(add, question="two"))
        # not even one that forgot to look
        with (
            psycopg.connect(database_url) as connection,
            pytest.raises(psycopg.errors.UniqueViolation),
        ):
            connection.execute(
                "INSERT INTO messages (tenant_id, conversation_id, branch, depth, question,"
                " answer_id) VALUES ('alpha', 'c', 1, 0, 'q', 'a')"
            )
        # a process that is silent for long is not waited for
        with psycopg.connect(database_url) as connection:
            connection.execute("UPDATE messages SET seen_at = now() - interval '1 minute'")
        second = await library.change(partial(add, question="three"))
        told = await get_message(library, "c", first)
        assert (told["status"], told["error"]) == (
            "interrupted", "the server stopped while it was answering: ask again",
        )  # fmt: skip
        assert (await get_message(library, "c", second))["parent_id"] == first

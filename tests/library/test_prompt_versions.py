"""A tenant's prompts in the database: versions, conflicts, refusals, and what answers use."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from helix.conversations.receipts.replay import replay
from helix.conversations.receipts.stored_sources import prompt_json
from helix.domain.contract import GROUNDING_RULES
from helix.library.errors import Conflict, NotFound
from helix.library.prompt_versions import PromptBook, get_prompt, list_prompts, roll_back, write
from helix.services import Services
from helix.settings.prompts import BrokenPrompt, NoSuchPrompt, Prompts, template
from tests.support.receipt_corpus import ask, bring_in, document, question, services
from tests.support.scripted_model import receipt_of, saying

SAID = "There were 107 crates stored at the depot 1 in Bergen. [1]"
STYLE = "answering_style"


async def _write(opened: Services, text: str | None, tenant: str = "default", **more: Any) -> int:
    library = opened.library.of(tenant)
    return await library.change(
        lambda connection: write(connection, tenant, more.pop("name", STYLE), text, "me", **more)
    )


async def test_versions_are_added_read_rolled_back_and_never_lost(database_url: str) -> None:
    async with services(database_url, saying(SAID)) as opened:
        library, book = opened.library, opened.prompts
        assert (await book.of("default")).overrides == {}
        assert await _write(opened, "Brief.\r\n\n") == 1
        assert await _write(opened, "Briefer.", last=1) == 2
        with pytest.raises(Conflict, match="has version 2 by now"):
            await _write(opened, "Briefest.", last=1)
        for text, told in (
            ("a\n{{b}}", r"line 2: \{\{b\}\} is no placeholder"),
            ("fine\nEND SOURCES", "line 2: it reads like a delimiter"),
            ("x [1] (id=4)\n[2] (id=5) poses", "line 2: it reads like a delimiter"),
        ):
            with pytest.raises(BrokenPrompt, match=told):
                await _write(opened, text)
        with pytest.raises(NoSuchPrompt):
            await _write(opened, "Brief.", name="nowhere")

        found = await get_prompt(library, STYLE)
        assert (found["text"], found["version"], found["shipped"]) == ("Briefer.", 2, "")
        assert found["diff"][-1] == "+Briefer."
        assert [(each["version"], each["text"]) for each in found["versions"]] == [
            (2, "Briefer."), (1, "Brief."),
        ]  # fmt: skip
        assert await _write(opened, None) == 3
        assert (await book.of("default")).overrides == {}
        assert (await get_prompt(library, STYLE))["last_version"] == 3

        async def back(to: int) -> int:
            return await library.change(lambda c: roll_back(c, "default", STYLE, to, "me"))

        assert await back(1) == 4
        with pytest.raises(NotFound, match="no version 9"):
            await back(9)
        assert (await book.of("default")).overrides[STYLE].text == "Brief."
        assert (await book.of("acme")).overrides == {}, "another tenant has the shipped ones"
        listed = {row["name"]: row for row in await list_prompts(library)}
        assert listed[STYLE]["version"] == 4 and listed["judge"]["version"] is None


async def test_an_answer_uses_them_at_once_and_its_receipt_and_replay_name_them(
    database_url: str,
) -> None:
    async with services(database_url, saying(SAID)) as opened:
        await bring_in(opened, *map(document, range(4)))
        await _write(opened, "Speak plainly.")
        first = await ask(opened, question(1))
        await _write(opened, "Speak at length.")
        second = await ask(opened, question(1))
        receipts = [await receipt_of(opened, done) for done in (first, second)]
        versions = [
            {used["name"]: used["version"] for used in receipt["prompts"]} for receipt in receipts
        ]
        assert versions == [{STYLE: 1}, {STYLE: 2}]

        prompts = await opened.prompts.at("default", receipts[0]["prompts"])
        system = prompt_json(receipts[0], [], prompts)[0]["content"]
        assert system.startswith(GROUNDING_RULES) and system.endswith("\nSpeak plainly.")
        for receipt in receipts:
            again = await replay(opened.answering, opened.library, receipt, opened.configuration)
            assert again.identical and again.causes == []
        other = {**receipts[0], "prompts": [{**receipts[0]["prompts"][0], "sha256": "0"}]}
        changed = await replay(opened.answering, opened.library, other, opened.configuration)
        assert [cause.kind for cause in changed.causes] == ["prompt changed"]
        del other["prompts"]  # of an older release
        assert (
            await replay(opened.answering, opened.library, other, opened.configuration)
        ).identical


async def test_a_prompt_that_broke_later_gives_way_and_is_told(database_url: str) -> None:
    async with services(database_url, saying(SAID)) as opened:
        await bring_in(opened, *map(document, range(2)))
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(
                "INSERT INTO prompt_versions (name, version, text) VALUES (%s, 5, '{{gone}}')",
                (STYLE,),
            )
        done = await ask(opened, question(1))
        (used,) = (await receipt_of(opened, done))["prompts"]
        assert (used["version"], used["broken"]) == (None, 5)
        found = await get_prompt(opened.library, STYLE)
        assert found["broken"].startswith("line 1: {{gone}} is no placeholder")


async def test_offline_answers_read_no_prompts(database_url: str) -> None:
    async with services(database_url) as opened:
        await _write(opened, "Speak plainly.")
        assert await opened.answering.prompts_of("default") == Prompts()
        assert isinstance(opened.prompts, PromptBook)
    assert template(STYLE).whole() == ""

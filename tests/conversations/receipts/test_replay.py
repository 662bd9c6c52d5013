"""Replay: an answer made again, and what changed where it comes out another. Offline models."""

from __future__ import annotations

from functools import partial

import pytest

from helix.answering.answer import Answer
from helix.answering.images import UploadedImage
from helix.conversations.conversation_rows import create
from helix.conversations.conversation_rows import delete as delete_conversation
from helix.conversations.images import add_image
from helix.conversations.questions import Asking, Conversing, next_in
from helix.conversations.receipts.receipt import Json
from helix.conversations.receipts.receipt_store import read_receipt
from helix.conversations.receipts.replay import Replay, replay
from helix.domain.scope import scope_of_stored
from helix.services import Services
from tests.support.fake_embedder import rows
from tests.support.receipt_corpus import ask, bring_in, document, question, services
from tests.support.scripted_model import delete, receipt_of, saying


async def _replay(services: Services, done: Answer) -> Replay:
    receipt = await receipt_of(services, done)
    return await replay(services.answering, services.library, receipt, services.configuration)


async def _replayed(url: str, count: int) -> int:
    """The number of answers to ``count`` questions that came out identical when replayed."""
    identical = 0
    async with services(url) as opened:
        await bring_in(opened, *map(document, range(20)))
        ended = [await ask(opened, question(n % 24)) for n in range(count)]
        assert sum(not done.abstained for done in ended) >= count * 0.7
        for done in ended:
            again = await _replay(opened, done)
            assert again.identical, (again.diff(), again.causes)
            identical += 1
            assert (again.causes, again.diff(), again.same_from_old_prompt) == ([], [], None)
        assert rows(url, "SELECT count(*) FROM answers") == [(count,)]
    return identical


async def test_replay_of_what_did_not_change_is_identical(database_url: str) -> None:
    assert await _replayed(database_url, 8) == 8


@pytest.mark.soak
async def test_replay_of_a_thousand_answers_is_identical(database_url: str) -> None:
    assert await _replayed(database_url, 1000) == 1000


async def test_replay_says_what_changed_in_the_index(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        done = await ask(opened, question(2))
        await bring_in(opened, document(2, "About depots.\n\nThe depot 2 in Cadiz has 9 crates."))
        changed = await _replay(opened, done)
        assert not changed.identical and {cause.kind for cause in changed.causes} == {
            "index changed"
        }
        assert any("was changed" in cause.description for cause in changed.causes)
        assert any("at distance" in cause.description for cause in changed.causes)
        assert any(line.startswith("-At the depot 2") for line in changed.diff())
        assert changed.same_from_old_prompt is None  # there is no such prompt any more

        await bring_in(opened, document(2))
        done = await ask(opened, question(2))
        newer = "\n\n".join(question(2).replace("?", f", of {n} kinds.") for n in range(8))
        await bring_in(opened, document(9, newer))
        changed = await _replay(opened, done)
        assert not changed.identical and changed.same_from_old_prompt is True
        assert any("and was none" in cause.description for cause in changed.causes)
        await delete(opened, done.cited_documents[0])
        changed = await _replay(opened, done)
        assert any("was deleted" in cause.description for cause in changed.causes)
        assert changed.then["answer"] is None and not changed.identical


async def test_replay_asks_a_follow_up_after_what_came_before_it(database_url: str) -> None:
    async with services(database_url) as opened:
        await bring_in(opened, *map(document, range(4)))
        conversing = Conversing(opened.turns, opened.answering, opened.settings)
        receipts = []
        for asked in (question(3), "And how many crates of them at the depot 2 in Cadiz?"):
            asking = Asking("talk", next_in("default", "talk"), asked)
            turn = await conversing.begin(opened.library, asking, scope_of_stored)
            await turn.whole()
            receipts.append(await read_receipt(opened.library, turn.response["answer_id"], 30))
        assert [receipt["turn"]["type"] for receipt in receipts] == ["standalone", "dependent"]
        assert "depot 2 in Cadiz there were 114 crates" in receipts[1]["answer"]

        async def again(receipt: Json) -> Replay:
            return await replay(opened.answering, opened.library, receipt, opened.configuration)

        for receipt in receipts:
            done = await again(receipt)
            assert done.identical and done.causes == [], (done.diff(), done.causes)
        await opened.library.change(
            partial(delete_conversation, tenant="default", conversation_id="talk")
        )
        first, second = [await again(receipt) for receipt in receipts]
        assert first.identical and first.causes == []
        assert second.causes[0].kind == "history changed"
        assert "its conversation is gone" in second.causes[0].description


async def test_replay_asks_about_the_image_that_was_asked_about(database_url: str) -> None:
    async with services(database_url, saying("It is a bill of 14.90 euros.")) as opened:
        conversing = Conversing(opened.turns, opened.answering, opened.settings)
        library = opened.library
        await library.change(lambda connection: create(connection, "default", "talk", "", {}))
        image = partial(
            add_image, tenant="default", conversation_id="talk",
            image=UploadedImage(b"an image", "image/png"), name="bill.png",
        )  # fmt: skip
        named = (await library.change(image))["id"]
        asking = Asking("talk", next_in("default", "talk"), "What is it?", images=(named,))
        turn = await conversing.begin(library, asking, scope_of_stored)
        await turn.whole()
        receipt = await read_receipt(library, turn.response["answer_id"], 30)
        assert (receipt["turn"]["type"], receipt["prompt_sha256"]) == ("image", None)
        done = await replay(opened.answering, library, receipt, opened.configuration)
        assert done.identical and done.causes == [], (done.diff(), done.causes)


async def test_replay_says_what_changed_in_model_and_settings(database_url: str) -> None:
    said = "There were 107 crates stored at the depot 1 in Bergen. [1]"
    async with services(database_url, saying(said)) as opened:
        await bring_in(opened, *map(document, range(4)))
        done = await ask(opened, question(1))
    async with services(database_url, saying(f"No. {said}", "fake:newer")) as opened:
        changed = await _replay(opened, done)
        assert [(cause.kind, cause.description) for cause in changed.causes] == [
            ("model changed", "llm: fake:says -> fake:newer (the first is not offered any more)")
        ]
        assert not changed.identical
    async with services(database_url, saying(f"No. {said}")) as opened:
        varied = await _replay(opened, done)
        assert [cause.kind for cause in varied.causes] == ["model varies"]
    async with services(database_url, saying(said), retrieval_max_distance=0.01,
                        gate_lexical=False) as opened:  # fmt: skip
        strict = await _replay(opened, done)
        assert not strict.identical and strict.now["reason"] == "below_gate"
        assert strict.same_from_old_prompt is True
        told = {cause.description for cause in strict.causes if cause.kind == "settings changed"}
        assert "HELIX_GATE_LEXICAL: True -> False" in told
        assert any(one.startswith("RETRIEVAL_MAX_DISTANCE: 0.7") for one in told)

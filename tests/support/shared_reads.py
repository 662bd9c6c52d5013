"""Sharing by random people, and what others see of it, compared with the model."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import httpx

from tests.support.document_reads import Read
from tests.support.model_world import WORDS, World
from tests.support.reading_model import Reader
from tests.support.sharing_model import Answered, Shared, Talk

MOST_TALKS, MOST_MESSAGES, MOST_SHARES = 24, 4, 40
_QUESTIONS = ("Who keeps the register of ships?", "What does the harbour master keep?", f"{WORDS}?")
_BESIDE = re.compile(r"\[\d+\]|[\W_]+")


def _visitor(world: World, rng: random.Random, reader: Reader) -> Reader:
    """Somebody in their browser, which alone opens these routes; now and then whoever it was."""
    browsers = [each for each in world.model.readers if each.kind == "session"]
    return reader if rng.random() < 0.1 else rng.choice(browsers)


# --- conversations


def _talked(world: World, rng: random.Random, reader: Reader) -> int:
    """A question about some documents, in a new conversation or in one of the person's own."""
    reader = _visitor(world, rng, reader)
    sharing = world.sharing
    readable = sorted(world.model.readable(reader))
    if not reader.person or not readable:
        return 0
    own = [each for each in sharing.talks if each.author == reader.person]
    talk = rng.choice([*own, None])
    if talk is None or len(talk.messages) >= MOST_MESSAGES:
        if len(sharing.talks) >= MOST_TALKS:
            _forget(world, rng.choice(sharing.talks))
        begun = world.send(reader, "POST", "/v1/conversations", title="About piers")
        talk = Talk(begun.json()["id"], reader.person)
        sharing.talks.append(talk)
    about = rng.sample(readable, min(len(readable), rng.randint(1, 4)))
    told = world.post(
        reader, f"/v1/conversations/{talk.id}/messages",
        question=rng.choice(_QUESTIONS), document_ids=about, stream=False,
    )  # fmt: skip
    assert told.status_code == 200, told.text
    talk.messages.append(_answered(world, talk, told.json()))
    return 1


def _forget(world: World, talk: Talk) -> None:
    """Its author deletes a conversation, and with it what was shared of it."""
    author = world.model.session_of(talk.author)
    told = world.send(author, "DELETE", f"/v1/conversations/{talk.id}")
    assert told.status_code == 204, told.text
    world.sharing.talks.remove(talk)
    ended = [each.id for each in world.sharing.shares.values() if each.talk is talk]
    for share in ended:
        del world.sharing.shares[share]


def _answered(world: World, talk: Talk, told: dict[str, Any]) -> Answered:
    """The message as it was stored: which documents it may have words of, the database knows."""
    row = world.connection.execute(
        "SELECT document_ids, response FROM messages WHERE id = %s", (told["message_id"],)
    ).fetchone()
    assert row is not None
    made_of, response = set(row[0]), row[1]
    cited = tuple(one["document_id"] for one in response["citations"])
    statements = (response.get("support") or {}).get("statements") or []
    named = {span["document_id"] for one in statements for span in one["spans"]}
    text = response["answer"]
    assert {*cited, *named} <= made_of and (text == told["answer"])
    return Answered(
        told["message_id"], told["answer_id"], text, frozenset(made_of | named), cited,
        _quoted(text, statements), response["reason"] is not None,
    )  # fmt: skip


def _quoted(text: str, statements: list[dict[str, Any]]) -> frozenset[int] | None:
    for one in reversed(statements):
        text = text[: one["start"]] + text[one["end"] :]
    is_quoted = all(one["status"] == "quoted" and one["spans"] for one in statements)
    if not statements or _BESIDE.sub("", text) or not is_quoted:
        return None
    return frozenset(span["document_id"] for one in statements for span in one["spans"])


def _reread(world: World, rng: random.Random, reader: Reader) -> int:
    """A message of a conversation, which is its author's alone, and the receipt of its answer."""
    if not world.sharing.talks:
        return 0
    talk = rng.choice(world.sharing.talks)
    if not talk.messages:
        return 0
    answered = rng.choice(talk.messages)
    told = world.get(reader, f"/v1/conversations/{talk.id}/messages/{answered.id}")
    assert told.status_code == (200 if reader.person == talk.author else 404), (reader, told.text)
    if told.status_code == 200:
        _check_words(world, reader, answered, told.json()["response"])
    receipt = world.get(reader, f"/v1/answers/{answered.answer_id}")
    assert receipt.status_code == 200, receipt.text
    _check_words(world, reader, answered, receipt.json())
    return 1 + 2 * len(answered.made_of)


def _check_words(world: World, reader: Reader, answered: Answered, told: dict[str, Any]) -> None:
    """No word of a document that may not be read, and every citation of the others."""
    closed = {one for one in answered.made_of if not world.model.may_read(reader, one)}
    is_whole = answered.refused or not closed
    assert told["answer"] == (answered.text if is_whole else None), (reader, closed, told)
    shown = [one["title"] is not None for one in told["citations"]]
    assert shown == [document not in closed for document in answered.cited], (reader, told)
    _check_closed(world, closed, told)


def _check_closed(world: World, closed: set[int] | frozenset[int], told: object) -> None:
    text = json.dumps(told).lower()
    for document in closed:
        assert not re.search(rf"pier[ -]{world.numbers[document]}\b", text), (document, text)


def _conversations(world: World, _: random.Random, reader: Reader) -> int:
    found = world.get(reader, "/v1/conversations", limit=100).json()["conversations"]
    own = {
        each.id for each in world.sharing.talks if reader.person and each.author == reader.person
    }
    assert {row["id"] for row in found} == own, reader
    return len(world.sharing.talks)


# --- shares, which are changed by their authors alone


def _readers(world: World, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Readers of a share by chance: as they are sent, and as the model has them."""
    people = {each for each in world.model.people if rng.random() < 0.25}
    groups = {each for each in world.model.groups if rng.random() < 0.25}
    rest = {"everyone": rng.random() < 0.2, "words": rng.random() < 0.3}
    sent = {
        "people": [world.model.people[each].id for each in people],
        "groups": [world.model.groups[each] for each in groups], **rest,
    }  # fmt: skip
    return sent, {"people": people, "groups": groups, **rest}


def _shared(world: World, rng: random.Random, reader: Reader) -> int:
    """A conversation or an answer, which is the reader's own or not."""
    reader = _visitor(world, rng, reader)
    sharing = world.sharing
    own = [each for each in sharing.talks if each.author == reader.person]
    talks = own if own and rng.random() < 0.7 else sharing.talks
    if not talks or len(sharing.shares) >= MOST_SHARES:
        return 0
    talk = rng.choice(talks)
    message = rng.choice([None, *talk.messages])
    sent, readers = _readers(world, rng)
    about = {} if message is None else {"message_id": message.id}
    told = world.post(reader, "/v1/shares", conversation_id=talk.id, **about, **sent)
    if reader.kind != "session" or reader.person != talk.author:
        assert told.status_code == (404 if reader.kind == "session" else 403), told.text
        return 1
    assert told.status_code == 201, told.text
    share = sharing.shares.setdefault(told.json()["id"], Shared(told.json()["id"], talk, message))
    assert (share.talk, share.message) == (talk, message)
    _set(share, readers)
    return 1


def _set(share: Shared, readers: dict[str, Any]) -> None:
    for name, value in readers.items():
        setattr(share, name, value)


def _some_share(world: World, rng: random.Random) -> Shared | None:
    return rng.choice([*world.sharing.shares.values(), None])


def _is_refused(reader: Reader, told: httpx.Response, allowed: bool) -> bool:
    """True if the route did not open, or there is no such thing for whoever asks."""
    if reader.kind == "session" and allowed:
        assert told.is_success, (reader, told.text)
        return False
    assert told.status_code == (404 if reader.kind == "session" else 403), (reader, told.text)
    assert "pier" not in told.text.lower()
    return True


def _reshared(world: World, rng: random.Random, reader: Reader) -> int:
    """For others from now on, for nobody any more, or with a link that anybody may open."""
    reader = _visitor(world, rng, reader)
    share = _some_share(world, rng)
    if share is None:
        return 0
    is_author, path = reader.person == share.talk.author, f"/v1/shares/{share.id}"
    what = rng.choice(["readers", "readers", "end", "link", "link", "unlink"])
    if what == "readers":
        sent, readers = _readers(world, rng)
        if not _is_refused(reader, world.send(reader, "PATCH", path, **sent), is_author):
            _set(share, readers)
    elif what == "end":
        if not _is_refused(reader, world.send(reader, "DELETE", path), is_author):
            del world.sharing.shares[share.id]
    elif what == "link" and share.message is not None and len(share.links) < 10:
        told = world.post(reader, f"{path}/links", days=3)
        if not _is_refused(reader, told, is_author):
            share.links[told.json()["id"]] = told.json()["link"].partition("#link=")[2]
    elif what == "unlink" and share.links:
        link = rng.choice(list(share.links))
        if not _is_refused(reader, world.send(reader, "DELETE", f"{path}/links/{link}"), is_author):
            secret = share.links.pop(link)
            assert world.nobody.post("/v1/public/look", json={"link": secret}).status_code == 404
    return 1


def _looked(world: World, rng: random.Random, reader: Reader) -> int:
    """A share as its reader sees it: which answers, which sources, how many others, comments."""
    reader = _visitor(world, rng, reader)
    share = _some_share(world, rng)
    if share is None:
        return 0
    person = world.model.people.get(reader.person)
    told = world.get(reader, f"/v1/shared/{share.id}")
    if _is_refused(reader, told, person is not None and share.is_for(person)):
        return 1
    view = told.json()
    assert view["own"] == (reader.person == share.talk.author)
    by_id = {one["id"]: one for one in view["comments"]}
    assert {(n, one["message_id"]) for n, one in by_id.items()} == {
        (n, message) for n, (_, message) in share.comments.items()
    }
    for number, (author, _) in share.comments.items():
        assert by_id[number]["mine"] == (author == reader.person)
        is_removable = reader.person in (author, share.talk.author)
        assert by_id[number]["removable"] == is_removable
    return 1 + len(share.comments) + _check_seen(world, share, reader.person, view)


def _check_seen(world: World, share: Shared, email: str | None, view: dict[str, Any]) -> int:
    """Each answer is shown as the model says, and nothing beside it tells more."""
    seen = world.sharing.seen(share, email)
    assert len(seen) == len(view["messages"]), (email, view)
    for one, told in zip(seen, view["messages"], strict=True):
        assert one.is_as(told), (email, share, one, told)
        _check_closed(world, one.closed, {**told, "answer": None})
    return sum(len(one.made_of) for one in share.shown)


def _opened_link(world: World, rng: random.Random, _: Reader) -> int:
    """A public link, by whoever has it: the words, if its author may read them still."""
    linked = [each for each in world.sharing.shares.values() if each.links]
    if not linked:
        return 0
    share = rng.choice(linked)
    told = world.nobody.post(
        "/v1/public/look", json={"link": rng.choice(list(share.links.values()))}
    )
    assert told.status_code == 200, told.text
    assert "comments" not in told.json() and told.json()["author"] is None
    return 1 + _check_seen(world, share, None, told.json())


def _listed_shares(world: World, rng: random.Random, reader: Reader) -> int:
    reader = _visitor(world, rng, reader)
    shares = world.sharing.shares.values()
    with_me, mine = world.get(reader, "/v1/shared"), world.get(reader, "/v1/shares")
    if reader.kind != "session":
        assert (with_me.status_code, mine.status_code) == (403, 403)
        return 2
    person = world.model.people[reader.person]
    own = {each.id for each in shares if each.talk.author == person.email}
    others = {each.id for each in shares if each.is_for(person)} - own
    assert {row["id"] for row in with_me.json()["shared"]} == others, reader
    assert {row["id"] for row in mine.json()["shares"]} == own, reader
    return 2 * len(shares)


# --- comments


def _commented(world: World, rng: random.Random, reader: Reader) -> int:
    """By whoever may open a share, on a message that it is of."""
    reader = _visitor(world, rng, reader)
    share = _some_share(world, rng)
    if share is None or not share.talk.messages or len(share.comments) > 20:
        return 0
    person, message = world.model.people.get(reader.person), rng.choice(share.talk.messages)
    may = person is not None and share.is_for(person) and message in share.shown
    told = world.post(reader, f"/v1/shared/{share.id}/comments", message_id=message.id, text="So?")
    if not _is_refused(reader, told, may):
        share.comments[told.json()["id"]] = (reader.person, message.id)
    return 1


def _recommented(world: World, rng: random.Random, reader: Reader) -> int:
    """Changed by who wrote it, deleted by them or by who shares it, at its own share alone."""
    reader = _visitor(world, rng, reader)
    commented = [each for each in world.sharing.shares.values() if each.comments]
    if not commented:
        return 0
    share = rng.choice(commented)
    number, (author, _) = rng.choice(list(share.comments.items()))
    at = share if rng.random() < 0.8 else (_some_share(world, rng) or share)
    person = world.model.people.get(reader.person)
    opens = person is not None and at.is_for(person) and at is share
    path = f"/v1/shared/{at.id}/comments/{number}"
    if rng.random() < 0.6:
        told = world.send(reader, "PATCH", path, text="So it is.")
        _is_refused(reader, told, opens and author == reader.person)
    else:
        told = world.send(reader, "DELETE", path)
        if not _is_refused(reader, told, opens and reader.person in (author, share.talk.author)):
            del share.comments[number]
    return 1


SHARED: list[tuple[float, Read]] = [
    (0.6, _talked), (1, _reread), (0.5, _conversations), (0.7, _shared), (0.8, _reshared),
    (4, _looked), (1, _opened_link), (0.7, _listed_shares), (0.7, _commented), (0.5, _recommented),
]  # fmt: skip
"""Acts and reads of sharing, each with how often it is drawn."""

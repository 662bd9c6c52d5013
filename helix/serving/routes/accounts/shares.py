"""/v1/shares: what one shares of one's own conversations, with whom, and by which public links."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from helix.conversations.receipts.receipt_store import checked_answer_id
from helix.conversations.shares.share_store import (
    MOST_READERS,
    Readers,
    add_link,
    add_share,
    change_share,
    delete_link,
    delete_share,
    own_shares,
)
from helix.conversations.views import get_conversation, get_message
from helix.errors import BadRequest, HelixError, NotFound
from helix.library.access import Connected, Row
from helix.serving.addresses import base_for_others
from helix.serving.conversation_id import own_id
from helix.serving.person_route import CurrentPerson, Person, PersonRoute
from helix.serving.routes.accounts.session import Body
from helix.serving.sse import TextJson
from helix.storage.statements.messages import ANSWERED

router = APIRouter(prefix="/v1/shares", tags=["sharing"], route_class=PersonRoute)
ShareId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
Number = Annotated[int, Field(ge=1, lt=2**63)]
PUBLIC_PAGE = "/web/accounts/shared.html"


class NoPublicLinks(HelixError):
    """This server has no public links."""

    status = 403


class ShareChange(Body):
    """Readers of a share; what is left out stays as it is."""

    people: list[Number] | None = Field(None, max_length=MOST_READERS)
    groups: list[Number] | None = Field(None, max_length=MOST_READERS)
    everyone: bool | None = Field(None, description="Every member of the tenant reads it")
    words: bool | None = Field(
        None, description="Its answers are shown, without sources, to those who may not read these"
    )

    def readers(self) -> Readers:
        """The same as the store takes it."""
        return Readers(self.people, self.groups, self.everyone, self.words)


class NewShare(ShareChange):
    """A conversation of one's own, or an answer in one, by its message or its own id."""

    conversation_id: str | None = Field(None, max_length=200)
    message_id: Number | None = None
    answer_id: str | None = None


class NewLink(Body):
    """A public link to make."""

    days: int = Field(7, ge=1, le=365)


@router.get("", summary="What one shares")
async def shares(
    person: CurrentPerson,
    conversation_id: Annotated[str | None, Query(max_length=200)] = None,
    message_id: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> JSONResponse:
    """The latest first, each with its readers and links. `public_link_days`: 0 without links."""
    if conversation_id is not None:
        conversation_id = await own_id(person.caller, conversation_id)
    found = await person.change(partial(
        own_shares, tenant=person.session.tenant, person_id=person.session.person_id,
        conversation_id=conversation_id, message_id=message_id,
    ))  # fmt: skip
    days = person.caller.services.settings.public_link_days
    return TextJson({"shares": found, "public_link_days": days})


@router.post("", summary="Share an answer or a conversation", status_code=201)
async def share(person: CurrentPerson, new: NewShare) -> JSONResponse:
    """One's own alone. Again it is the same share, with the readers that are named."""
    conversation_id, message_id = await _own(person, new)
    session = person.session

    def make(connection: Connected) -> str:
        share_id = add_share(
            connection, session.tenant, session.person_id, conversation_id, message_id
        )
        change_share(connection, session.tenant, session.person_id, share_id, new.readers())
        return share_id

    share_id = await person.change(make)
    person.caller.changed(_told_of(share_id, new))
    return TextJson(await _told(person, share_id), 201)


async def _own(person: Person, new: NewShare) -> tuple[str, int | None]:
    """The conversation and message that are meant, which the person sees."""
    library = person.caller.library
    if new.answer_id is not None:
        if new.conversation_id is not None or new.message_id is not None:
            raise BadRequest("send answer_id alone, or conversation_id with or without message_id")
        row = await library.data(ANSWERED, {"answer": checked_answer_id(new.answer_id)})
        if row is None:
            raise NotFound(f"no conversation of yours has an answer {new.answer_id}")
        return str(row["conversation_id"]), int(row["id"])
    if new.conversation_id is None:
        raise BadRequest("send answer_id, or conversation_id with or without message_id")
    conversation_id = await own_id(person.caller, new.conversation_id)
    if new.message_id is None:
        await get_conversation(library, conversation_id)
    else:
        await get_message(library, conversation_id, new.message_id)
    return conversation_id, new.message_id


@router.patch("/{share_id}", summary="Change whom a share is for")
async def change(person: CurrentPerson, share_id: ShareId, to: ShareChange) -> JSONResponse:
    """Holds at once: whoever it is not for any more sees it go."""
    session = person.session
    await person.change(partial(
        change_share, tenant=session.tenant, person_id=session.person_id, share_id=share_id,
        to=to.readers(),
    ))  # fmt: skip
    person.caller.changed(_told_of("", to))
    return TextJson(await _told(person, share_id))


@router.delete("/{share_id}", summary="Share something no more")
async def end(person: CurrentPerson, share_id: ShareId) -> dict[str, Any]:
    """Its public links open nothing from now on, and its comments are deleted."""
    session = person.session
    await person.change(partial(
        delete_share, tenant=session.tenant, person_id=session.person_id, share_id=share_id
    ))  # fmt: skip
    return {}


@router.post("/{share_id}/links", summary="Make a public link to an answer", status_code=201)
async def make_link(
    request: Request, person: CurrentPerson, share_id: ShareId, new: NewLink
) -> JSONResponse:
    """`link` is told this once. Whoever has it reads the answer's words, and nothing else.

    `403` where HELIX_PUBLIC_LINK_DAYS allows none, `400` for more days than that.
    """
    session, settings = person.session, person.caller.services.settings
    if not settings.public_link_days:
        raise NoPublicLinks("this server has no public links: HELIX_PUBLIC_LINK_DAYS allows them")
    if new.days > settings.public_link_days:
        raise BadRequest(f"a public link lasts {settings.public_link_days} days at most")
    base = base_for_others(request, settings)
    row, secret = await person.change(partial(
        add_link, tenant=session.tenant, person_id=session.person_id, share_id=share_id,
        life=timedelta(days=new.days),
    ))  # fmt: skip
    person.caller.changed(f"public link {row['id']}; {new.days} days")
    link = f"{base}{PUBLIC_PAGE}#link={secret}"
    told = {"id": row["id"], "expires_at": row["expires_at"].isoformat(), "link": link}
    return JSONResponse(told, 201)


@router.delete("/{share_id}/links/{link_id}", summary="Take a public link back")
async def take_back(
    person: CurrentPerson, share_id: ShareId, link_id: Annotated[int, Path(ge=1, lt=2**63)]
) -> dict[str, Any]:
    """It opens nothing from now on."""
    session = person.session
    await person.change(partial(
        delete_link, tenant=session.tenant, person_id=session.person_id, share_id=share_id,
        link_id=link_id,
    ))  # fmt: skip
    return {}


async def _told(person: Person, share_id: str) -> Row:
    (row,) = await person.change(partial(
        own_shares, tenant=person.session.tenant, person_id=person.session.person_id,
        share_id=share_id,
    ))  # fmt: skip
    return row


def _told_of(share_id: str, to: ShareChange) -> str:
    """The audit log's text of a share: by ids alone, whom it is for."""
    parts = [
        share_id and f"share {share_id}",
        to.people is not None and f"people {' '.join(map(str, to.people))}",
        to.groups is not None and f"groups {' '.join(map(str, to.groups))}",
        to.everyone is not None and f"everyone {to.everyone}",
        to.words is not None and f"words {to.words}",
    ]
    return "; ".join(str(part) for part in parts if part)

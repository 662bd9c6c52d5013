"""/v1/shared: what others share with one, and comments on it; /v1/public: answers by public links.

The secret of a public link is in the body of a request and in the fragment of its address, which
browsers send to nobody: so it is in no log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from helix.conversations.shares.comments import (
    LONGEST_COMMENT,
    add_comment,
    delete_comment,
    edit_comment,
    list_comments,
)
from helix.conversations.shares.share_store import (
    Share,
    no_share,
    open_link,
    open_share,
    shared_with,
    version_of_share,
)
from helix.conversations.shares.shared_view import shared_view
from helix.errors import HelixError, NotFound
from helix.library.access import Connected
from helix.overload.entry import asker
from helix.services import Services
from helix.serving.caller import Caller
from helix.serving.disconnects import event_stream
from helix.serving.person_route import CurrentPerson, Person, PersonRoute, as_owner
from helix.serving.routes.accounts.session import Body
from helix.serving.routes.accounts.shares import Number, ShareId
from helix.serving.sse import TextJson, event_frame

router = APIRouter(prefix="/v1", tags=["sharing"], route_class=PersonRoute)
CommentId = Annotated[int, Path(ge=1, lt=2**63)]
LOOK_SECONDS = 1.0
"""Between two looks at whether a share that is followed has changed, or is gone."""
_logger = logging.getLogger(__name__)


class CommentText(Body):
    """The text of a comment."""

    text: str = Field(min_length=1, max_length=LONGEST_COMMENT)


class NewComment(CommentText):
    """A comment on an answer, by its message."""

    message_id: Number


class Link(Body):
    """A public link's secret."""

    link: str = Field(max_length=100)


@router.get("/shared", summary="What others share with one")
async def listed(person: CurrentPerson) -> JSONResponse:
    """The latest first; `message_id` is null where it is a conversation."""
    session = person.session
    found = await person.change(partial(
        shared_with, tenant=session.tenant, person_id=session.person_id
    ))  # fmt: skip
    return TextJson({"shared": found})


@router.get("/shared/{share_id}", summary="Read what is shared")
async def read(person: CurrentPerson, share_id: ShareId) -> JSONResponse:
    """Of its sources those alone that one may read oneself; `closed_sources` counts the others.

    `hidden`: the answer was made of documents that one may not read, and its words are not given.
    """
    caller = person.caller
    share, comments = await person.change(partial(_opened, person=person, share_id=share_id))
    view = await shared_view(caller.services.library, share, caller.spaces, is_public=False)
    about = {"id": share.id, "own": share.author == person.session.person_id}
    return TextJson({**about, **view, "comments": comments})


def _opened(
    connection: Connected, person: Person, share_id: str
) -> tuple[Share, list[dict[str, Any]]]:
    session = person.session
    share = open_share(connection, session.tenant, session.person_id, share_id)
    return share, list_comments(connection, share, session.person_id)


@router.get(
    "/shared/{share_id}/events", summary="Follow what is shared", response_class=Response,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)  # fmt: skip
async def events(request: Request, person: CurrentPerson, share_id: ShareId) -> Response:
    """Send `changed` now and after each change, and `gone` once one may not read it any more."""
    follower = asker(request).follower()
    version = await _version(person.caller, share_id)
    frames = _frames(person.caller, share_id, version)
    return event_stream(frames, release=_nothing, follower=follower)


async def _version(caller: Caller, share_id: str) -> str:
    """A text that differs when ``caller`` sees something else; raises NotFound."""
    assert caller.person_id is not None
    version = await as_owner(caller.services, partial(
        version_of_share, tenant=caller.tenant, person_id=caller.person_id, share_id=share_id
    ))  # fmt: skip
    return f"{version} {caller.spaces}"


async def _frames(caller: Caller, share_id: str, version: str) -> AsyncIterator[bytes]:
    """The first and each later version; the right to read it is looked at each time."""
    assert caller.renewed is not None
    yield event_frame("changed", {})
    try:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = await caller.renewed()
            if now is None or now.tenant != caller.tenant:
                raise no_share()
            before, version = version, await _version(now, share_id)
            if version != before:
                yield event_frame("changed", {})
    except NotFound:
        yield event_frame("gone", {})
    except HelixError as error:
        _logger.warning("stream cut: %s", error)


async def _nothing() -> None:
    """Nothing is held between two looks."""


@router.post("/shared/{share_id}/comments", summary="Comment on an answer", status_code=201)
async def comment(person: CurrentPerson, share_id: ShareId, new: NewComment) -> dict[str, Any]:
    """Everybody who reads the share sees it."""

    def add(connection: Connected) -> int:
        share, _ = _opened(connection, person, share_id)
        return add_comment(connection, share, person.session.person_id, new.message_id, new.text)

    number = await person.change(add)
    person.caller.changed(f"comment {number}")
    return {"id": number}


@router.patch("/shared/{share_id}/comments/{comment_id}", summary="Change a comment of one's own")
async def edit(
    person: CurrentPerson, share_id: ShareId, comment_id: CommentId, to: CommentText
) -> dict[str, Any]:
    """`404` where it is somebody else's."""

    def change(connection: Connected) -> None:
        share, _ = _opened(connection, person, share_id)
        edit_comment(connection, share, person.session.person_id, comment_id, to.text)

    await person.change(change)
    return {}


@router.delete("/shared/{share_id}/comments/{comment_id}", summary="Delete a comment")
async def remove(person: CurrentPerson, share_id: ShareId, comment_id: CommentId) -> dict[str, Any]:
    """One's own, or any on what one shares oneself."""

    def delete(connection: Connected) -> None:
        share, _ = _opened(connection, person, share_id)
        delete_comment(connection, share, person.session.person_id, comment_id)

    await person.change(delete)
    return {}


@router.post("/public/look", summary="Read the answer of a public link")
async def look(request: Request, given: Link) -> JSONResponse:
    """The question and the answer's words. `404` where the link has ended or never was."""
    services: Services = request.state.services
    if not services.settings.public_link_days:
        raise no_share()
    share = await as_owner(services, partial(open_link, secret=given.link))
    view = await shared_view(services.library, share, (), is_public=True)
    return TextJson(view, headers={"X-Robots-Tag": "noindex"})

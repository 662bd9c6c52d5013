"""/v1/prompts: a tenant's prompts, to read, change, try and reset."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from helix.answering.pipeline import AnswerRequest
from helix.answering.question import Question
from helix.domain.input_text import question_of
from helix.domain.scope import Scope
from helix.library.access import Row
from helix.library.errors import NotFound
from helix.library.prompt_versions import (
    checked_text,
    difference,
    get_prompt,
    list_prompts,
    roll_back,
    write,
)
from helix.overload.entry import place_for
from helix.serving.authentication import ApiRoute, CurrentCaller
from helix.serving.caller import Caller
from helix.serving.disconnects import CLIENT_CLOSED_REQUEST, run_unless_disconnected
from helix.serving.sse import TextJson
from helix.settings.prompts import Override, Prompts, template

router = APIRouter(
    prefix="/v1/prompts", tags=["prompts"], route_class=ApiRoute, default_response_class=Response,
    responses={404: {"description": "There is no such prompt, or no such version of it"}},
)  # fmt: skip


class _Body(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    tenant_id: str | None = None


class NewText(_Body):
    """A text that replaces the shipped one."""

    text: str
    last_version: int | None = Field(
        None, description="The latest version that you know of; 409 where there is a later one"
    )


class Version(_Body):
    """A version to go back to."""

    version: int = Field(ge=1, le=2**31 - 1)


class Draft(_Body):
    """A text to try, and a question to try it on."""

    text: str
    question: str | None = None


@router.get("", summary="List prompts")
async def prompts(caller: CurrentCaller) -> Response:
    """Every prompt: `version` is the tenant's own, `broken` the reason why that is not used."""
    return TextJson({"prompts": await list_prompts(caller.library)})


@router.get("/{name}", summary="Read a prompt")
async def prompt(caller: CurrentCaller, name: str) -> Response:
    """Its text with the fixed parts `before` and `after`, the shipped text, and all versions."""
    return TextJson(await get_prompt(caller.library, name))


@router.get("/{name}/diff", summary="Compare versions of a prompt")
async def diff(
    caller: CurrentCaller,
    name: str,
    before: Annotated[int, Query(ge=0, description="A version; 0 is the shipped text")] = 0,
    after: Annotated[
        int | None, Query(ge=0, description="Likewise; the text now if left out")
    ] = None,
) -> Response:
    """The lines of a unified diff; none where the two are the same."""
    found = await get_prompt(caller.library, name)
    newer = found["text"] if after is None else _version(found, after)
    return TextJson({"name": name, "diff": difference(_version(found, before), newer)})


@router.post("/{name}", summary="Change a prompt")
async def change(caller: CurrentCaller, name: str, new: NewText) -> Response:
    """Add a version, which is used from the next request on; `400` names a line at fault."""
    return await _written(caller.for_tenant(new.tenant_id), name, new.text, new.last_version)


@router.delete("/{name}", summary="Use the shipped prompt again")
async def reset(caller: CurrentCaller, name: str) -> Response:
    """Use the shipped text again. The versions stay, for a rollback."""
    return await _written(caller, name, None, None)


@router.post("/{name}/rollback", summary="Go back to a version of a prompt")
async def rollback(caller: CurrentCaller, name: str, to: Version) -> Response:
    """Add a version with the text of an earlier one."""
    caller.require_whole_key()
    library = caller.for_tenant(to.tenant_id).library
    await library.change(
        partial(
            roll_back, tenant=library.tenant, name=name, version=to.version, author=_author(caller)
        )
    )
    return TextJson(await get_prompt(library, name))


@router.post("/{name}/preview", summary="Try a text as a prompt")
async def preview(request: Request, caller: CurrentCaller, name: str, draft: Draft) -> Response:
    """The whole prompt, placeholders as they stand; with a `question`, its answer with it too.

    Nothing is stored: not the text, and of the answer no receipt.
    """
    text = checked_text(name, draft.text)
    caller = caller.for_tenant(draft.tenant_id)
    shown: dict[str, Any] = {"name": name, "prompt": template(name).whole(text)}
    if draft.question is not None:
        answer = await _tried(request, caller, name, text, draft.question)
        if answer is None:
            return Response(status_code=CLIENT_CLOSED_REQUEST)
        shown["answer"] = answer
    caller.changed("")
    return TextJson(shown)


async def _tried(
    request: Request, caller: Caller, name: str, text: str, question: str
) -> dict[str, Any] | None:
    """The answer's JSON with ``text`` as the prompt; None where the client left."""
    services = caller.services
    asked = Question(
        question_of(question, services.settings.max_question_chars),
        Scope(caller.tenant, spaces=caller.reach.spaces),
    )
    current = await services.answering.prompts_of(caller.tenant)
    tried = Prompts({**current.overrides, name: Override(0, text)})
    answering = AnswerRequest(services.answering, asked, recorded=False, prompts=tried)
    with place_for(request) as place:
        return await run_unless_disconnected(request, place.run(answering.run_json))


async def _written(caller: Caller, name: str, text: str | None, last: int | None) -> Response:
    caller.require_whole_key()
    library = caller.library
    await library.change(
        partial(
            write, tenant=library.tenant, name=name, text=text, author=_author(caller), last=last
        )
    )
    caller.changed(f"prompt {name}")
    return TextJson(await get_prompt(library, name))


def _author(caller: Caller) -> str:
    return "" if caller.key_id is None else f"key {caller.key_id}"


def _version(found: Row, number: int) -> str:
    shipped: str = found["shipped"]
    if number == 0:
        return shipped
    for row in found["versions"]:
        if row["version"] == number:
            return shipped if row["text"] is None else str(row["text"])
    raise NotFound(f"the prompt {found['name']} has no version {number}")

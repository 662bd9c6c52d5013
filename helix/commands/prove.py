"""``helix prove``: an answer signed for strangers, and signed answers verified without a server.

The id of an answer is `answer_id` in most payloads, a part of `id` in OpenAI's, `messageId` in the
AI SDK's, and the header `X-Answer-Id` where headers were kept. The stream of GET /ask has none: its
text stands for it, by its SHA-256, which receipts know.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

import typer

from helix.commands.scope_options import TenantOption
from helix.commands.service.address import ServerOption
from helix.conversations.receipts import verify_answer
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest
from helix.library.access import Row
from helix.telemetry.logs import configure_logging

_ERASURE = b'"helix-erasure/'
ANSWER_ID = re.compile("[0-9a-f]{32}")
_OPENAI = re.compile("(?:chatcmpl-|resp_)([0-9a-f]{32})")
_HEADER = re.compile("^x-answer-id: *([0-9a-f]{32})\\s*$", re.IGNORECASE | re.MULTILINE)
_DATA = re.compile("^data: ?(.*)$", re.MULTILINE)


def prove(
    answers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ANSWER",
            help="A file with an answer as any protocol gave it, - for standard input, or an"
            " answer's id: it is signed. Files with signed answers: they are verified.",
        ),
    ] = None,
    text: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="To verify: the text of a cited document, which every quote is looked for in;"
            " may be given again.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY",
            help="To verify: the server's public key in hex, or a file of its"
            " /.well-known/helix-keys.json.",
        ),
    ] = None,
    print_verifier: Annotated[
        bool,
        typer.Option(
            "--print-verifier",
            help="Print the Python file with which a stranger verifies, without Helix.",
        ),
    ] = False,
    tenant: TenantOption = DEFAULT_TENANT,
    server: ServerOption = None,
) -> None:
    """Sign an answer, so that a stranger can check it; verify signed ones, with no server.

    An answer that is signed is printed as JSON. Verifying ends with 0 where all hold, else with 1.
    """
    configure_logging("warning")
    if print_verifier:
        sys.stdout.write(Path(verify_answer.__file__).read_text("utf-8"))
        return
    contents = {name: _content(name) for name in answers or []}
    if not contents:
        raise BadRequest("name an answer: helix prove answer.json")
    signed = [name for name, content in contents.items() if _is_signed(content)]
    if len(signed) == len(contents):
        raise typer.Exit(verify_answer.run(signed, text or [], key or []))
    if len(contents) > 1:
        raise BadRequest("give one answer to sign, or signed ones alone to verify")
    ((content),) = contents.values()
    _sign(content, server, tenant)


def _content(name: str) -> bytes:
    """The content of a file; the name itself where it is an answer's id."""
    if name == "-":
        return sys.stdin.buffer.read()
    if ANSWER_ID.fullmatch(name):
        return name.encode()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise BadRequest(f"{name} cannot be read: {error.strerror}") from None


def _is_signed(content: bytes) -> bool:
    """True if it is meant as a signed answer: also where a character of it was altered."""
    return b'"public_key"' in content or b'"helix-answer/' in content or _ERASURE in content


def _sign(content: bytes, server: str | None, tenant: str) -> None:
    from helix.commands.service.proofs import ProofService
    from helix.commands.service.service_choice import opened

    named = answer_in(content)

    async def asked() -> Row:
        async with opened(ProofService, server, tenant_name(tenant)) as answers:
            return await answers.signed_answer(named.reference)

    signed = asyncio.run(asked())
    made = json.dumps(signed, indent=1) + "\n"
    proof, key = verify_answer.verified(made.encode())
    sys.stdout.write(made)
    told = f"answer {proof['answer_id']} is signed with the key {key}"
    if named.text not in (None, proof["answer"]):
        raise BadRequest(f"{told}, but the text that you gave is not what it says")
    typer.echo(told, err=True)


@dataclass(frozen=True)
class NamedAnswer:
    """An answer by its id or the hash of its text; ``text`` is what the payload says it is."""

    reference: str
    text: str | None = None


def answer_in(data: bytes) -> NamedAnswer:
    """The one answer that ``data`` is about; or its id alone.

    Raises:
        BadRequest: it names none, or several.
    """
    written = data.decode("utf-8", "replace").strip()
    if ANSWER_ID.fullmatch(written):
        return NamedAnswer(written)
    values = _values(written)
    found = {one.reference: one for value in values for one in _named(value)}
    found |= {n: NamedAnswer(n) for n in _HEADER.findall(written) if n not in found}
    if len(found) > 1:
        raise BadRequest("it holds several answers: give one of them, or its id (answer_id)")
    if found:
        return next(iter(found.values()))
    pieces = [value["t"] for value in values if isinstance(value, dict) and "t" in value]
    if not pieces or not all(isinstance(piece, str) for piece in pieces):
        raise BadRequest("it names no answer: give what a question was answered with, or an id")
    return NamedAnswer(sha256("".join(pieces).encode(errors="surrogatepass")).hexdigest())


def _values(written: str) -> list[Any]:
    """The JSON that it is, or that each event of a stream has."""
    whole = _parsed(written)
    events = [_parsed(line) for line in _DATA.findall(written)] if whole is None else [whole]
    return [value for value in events if value is not None]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _named(value: Any) -> Iterator[NamedAnswer]:
    """The answers that are named anywhere within ``value``."""
    if isinstance(value, list):
        for one in value:
            yield from _named(one)
    elif isinstance(value, dict):
        named = value.get("answer_id") or value.get("messageId")
        openai = _OPENAI.fullmatch(str(value.get("id")))
        if isinstance(named, str) and ANSWER_ID.fullmatch(named):
            text = value.get("answer")
            yield NamedAnswer(named, text if isinstance(text, str) else None)
        elif openai:
            yield NamedAnswer(openai[1])
        for one in value.values():
            yield from _named(one)
    elif isinstance(value, str) and value.startswith("{"):  # MCP has its JSON as a text too
        yield from _named(_parsed(value))

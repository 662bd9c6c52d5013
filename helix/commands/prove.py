"""``helix prove``: an answer signed for strangers, and signed answers verified without a server."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from helix.commands.answer_payload import ANSWER_ID, answer_in
from helix.commands.scope_options import TenantOption
from helix.commands.service.address import ServerOption
from helix.conversations.receipts import verify_answer
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest
from helix.library.access import Row
from helix.telemetry.logs import configure_logging


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


_ERASURE = b'"helix-erasure/'


def _is_signed(content: bytes) -> bool:
    """True if it is meant as a signed answer: also where a character of it was altered."""
    return b'"public_key"' in content or b'"helix-answer/' in content or _ERASURE in content


def _sign(content: bytes, server: str | None, tenant: str) -> None:
    from helix.commands.service.proofs import proof_service

    named = answer_in(content)

    async def asked() -> Row:
        async with proof_service(server, tenant_name(tenant)) as answers:
            return await answers.signed_answer(named.reference)

    signed = asyncio.run(asked())
    made = json.dumps(signed, indent=1) + "\n"
    proof, key = verify_answer.verified(made.encode())
    sys.stdout.write(made)
    told = f"answer {proof['answer_id']} is signed with the key {key}"
    if named.text not in (None, proof["answer"]):
        raise BadRequest(f"{told}, but the text that you gave is not what it says")
    typer.echo(told, err=True)

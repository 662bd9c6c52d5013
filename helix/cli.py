"""The ``helix`` command: serve, worker, ask, replay, doctor, cache, keys, runs, tenants.

What takes time to load is loaded by the command that needs it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import unicodedata
from contextlib import aclosing
from typing import Annotated, NoReturn

import typer

from helix import __version__
from helix.commands import replay, worker
from helix.commands.cache import cache
from helix.commands.keys import keys
from helix.commands.runs import runs
from helix.commands.tenants import tenants
from helix.errors import BadRequest, HelixError
from helix.logs import configure_logging
from helix.questions import question_of
from helix.scope import DEFAULT_TENANT, Scope, checked_tags, tenant_name
from helix.settings import Settings, load_settings

cli = typer.Typer(
    name="helix",
    help="Answers from your own documents, each citation resolving, or one honest refusal.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
cli.add_typer(cache)
cli.add_typer(keys)
cli.add_typer(runs)
cli.add_typer(tenants)
replay.add_to(cli)
worker.add_to(cli)


@cli.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"helix {__version__}")
        raise typer.Exit


@cli.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8080,
) -> None:
    """Serve over HTTP until SIGTERM or Ctrl-C; running answers may finish.

    What is uploaded is ingested by HELIX_WORKERS processes that it starts when there is something.
    """
    settings = _settings()
    import uvicorn

    from helix.app import create_app
    from helix.routes.leaving import DRAIN_SECONDS

    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        log_level=settings.log_level,
        access_log=False,
        timeout_graceful_shutdown=DRAIN_SECONDS + 5,
    )


@cli.command()
def ask(
    question: Annotated[str, typer.Argument(help="What to ask the documents.")],
    document_id: Annotated[
        int | None, typer.Option(min=1, help="Answer from this document only.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG", help="From documents with this label; may be given again."),
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose documents to ask.")] = DEFAULT_TENANT,
) -> None:
    """Ask the documents; the answer streams to the terminal, its citations follow."""
    settings = _settings()
    configure_logging("warning")
    try:
        asked = question_of(question, settings.max_question_chars)
        scope = Scope(
            tenant_name(tenant),
            document_ids=None if document_id is None else (document_id,),
            tags=checked_tags(tag) if tag else None,
        )
        asyncio.run(_ask(settings, asked, scope))
    except HelixError as error:
        _stop(error)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None


async def _ask(settings: Settings, question: str, scope: Scope) -> None:
    from helix.answering import Inquiry
    from helix.citations import place
    from helix.services import open_services

    async with open_services(settings) as services:
        inquiry = Inquiry(services.answering, question, scope)
        async with aclosing(await inquiry.begin()) as stream:
            async for delta in stream:
                typer.echo(_printable(delta), nl=False)
        typer.echo()
        done = await inquiry.end(stream)
        hits = {hit.chunk_id: hit for source in stream.retrieval.sources for hit in source.hits}
        for citation in done.citations:
            where = _line(place(hits[citation["chunk_id"]]))
            typer.echo(f"\n[{citation['n']}] {where} (chunk {citation['chunk_id']})")
            for quote in done.proof.quotes(citation["n"]) or [citation["snippet"]]:
                typer.echo(f"    {_line(quote)}")
        if unsupported := [each for each in done.proof.statements if each.problem]:
            typer.echo("\nNot borne out by what it cites:")
            for each in unsupported:
                typer.echo(f"    {_line(done.answer[each.start : each.end])}")
        done = await inquiry.finish(done)
        if inquiry.tells_verdict and done.verdict:
            typer.echo(f"\nThe judge finds it {'' if done.verdict.grounded else 'not '}grounded.")
        if services.receipts:
            typer.echo(f"\nanswer {inquiry.answer_id}", err=True)


def _line(text: str) -> str:
    return _printable(" ".join(text.split()))


def _printable(text: str) -> str:
    """``text`` without the control characters by which a document could steer a terminal."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc")


@cli.command()
def doctor() -> None:
    """Check settings, key, database, extension, schema and embedder; say how to mend each."""
    configure_logging("warning")
    raise typer.Exit(asyncio.run(_doctor()))


async def _doctor() -> int:
    from helix.doctor import examine

    failed = 0
    async with aclosing(examine()) as checks:
        async for check in checks:
            failed += not check.ok
            mark = typer.style("ok  ", fg="green") if check.ok else typer.style("FAIL", fg="red")
            typer.echo(f"{mark} {check.name}: {check.told}")
    return 1 if failed else 0


def _settings() -> Settings:
    try:
        return load_settings()
    except HelixError as error:
        _stop(error)


def _stop(error: HelixError) -> NoReturn:
    typer.echo(f"helix: {error}", err=True)
    raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None


def main() -> None:
    """Entry point. An unexpected error is one line, without its message, which may quote a text."""
    try:
        cli()
    except Exception as error:
        from helix.logs import where

        if os.environ.get("HELIX_LOG_LEVEL", "").lower() == "debug":
            raise
        told = f"helix: unexpected error ({where(error)}); HELIX_LOG_LEVEL=debug shows all of it"
        typer.echo(told, err=True)
        sys.exit(70)


if __name__ == "__main__":
    main()

"""``helix export`` and ``helix import``: a tenant into a folder, and out of one; others' texts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from helix.commands.backup import configured_database, database_errors_as_helix, record_copy
from helix.domain.scope import DEFAULT_TENANT, tenant_name
from helix.errors import BadRequest

if TYPE_CHECKING:
    from helix.library.transfer.folder import Manifest
    from helix.library.transfer.vector_tables import NewVectors, Text
    from helix.library.uploads import Upload
    from helix.storage.connections import Connected

Result = TypeVar("Result")
_Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of the export.")]
_AT_ONCE = 100
"""Texts of one run."""
_COUNTED = ("documents", "chunks", "files", "conversations", "answers")


def export(
    folder: _Folder,
    tenant: Annotated[str, typer.Option(help="The tenant to export.")] = DEFAULT_TENANT,
) -> None:
    """Export a tenant to DIR, which is new or empty, as plain files that another Helix can import.

    Documents with their original files, tags, text, chunks and vectors; conversations; receipts
    with feedback; prompts; study. Keys, runs and the audit log are left out. Servers and workers
    may go on meanwhile. DIR appears once it is complete, and only its owner may read it.
    """
    from helix.library.transfer.tenant_export import export_tenant

    whose = tenant_name(tenant)

    def exported(connection: Connected) -> Manifest:
        manifest = export_tenant(connection, whose, folder)
        record_copy(connection, "helix export", whose)
        return manifest

    manifest = _in_database(exported)
    typer.echo(f"{folder} is written: {_described(manifest)}")


def import_(
    source: Annotated[
        str, typer.Argument(metavar="DIR", help="The export; with --from the other database's URL.")
    ],
    tenant: Annotated[
        str | None, typer.Option(help="The tenant to create; the exported name if left out.")
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            "--from", help="Texts of another program: langchain, llamaindex or open-webui."
        ),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(help="With --from: only this collection (llamaindex: its table_name)."),
    ] = None,
    reembed: Annotated[
        bool,
        typer.Option(help="Embed chunks with HELIX_EMBEDDER where DIR has another's vectors."),
    ] = False,
) -> None:
    """Import the export DIR into DATABASE_URL's database, as a tenant without any rows yet.

    Every byte is checked first, and either all of it is imported or nothing. Vectors are kept, so
    no embedder is called: the database must be empty, or filled by the same embedder; for another
    one --reembed makes the vectors anew. Documents and chunks keep their ids where these are free.

    With --from, the texts in the tables of LangChain's PGVector, of LlamaIndex's PGVectorStore or
    of Open WebUI are queued as uploads, a document each, which a worker reads like any other.
    """
    if program is not None:
        _import_texts(source, program, collection, tenant_name(tenant or DEFAULT_TENANT))
        return
    from helix.library.audit import record_command
    from helix.library.transfer.folder import checked
    from helix.library.transfer.tenant_import import import_tenant

    folder = Path(source)
    manifest = checked(folder)
    whose = tenant_name(tenant or manifest.tenant)

    def bring_in(anew: NewVectors | None) -> str | None:
        anew = None if anew and anew.identity == manifest.embedder else anew

        def imported(connection: Connected) -> None:
            import_tenant(connection, folder, whose, manifest, anew)
            record_command(connection, "helix import", whose)

        _in_database(imported)
        return anew.identity if anew else manifest.embedder

    embedder = asyncio.run(_with_new_vectors(bring_in)) if reembed else bring_in(None)
    typer.echo(f"{folder} is imported as {whose}: {_described(manifest)}")
    if manifest.embedder:
        typer.echo(f"its vectors are of the embedder {embedder}", err=True)


async def _with_new_vectors(work: Callable[[NewVectors | None], Result]) -> Result:
    """The result of ``work``, done in a thread with the vectors of HELIX_EMBEDDER."""
    from helix.library.transfer.vector_tables import NewVectors
    from helix.providers.factories import build_embedder
    from helix.retrieval.vector_space import learn_space
    from helix.settings import load_settings
    from helix.storage.database import open_url
    from helix.storage.tenant_store import TenantStore

    loop, settings = asyncio.get_running_loop(), load_settings()
    async with aclosing(build_embedder(settings, patient=True)) as embedder:

        def embed(texts: list[str]) -> list[list[float]]:
            vectors = embedder.model.aget_text_embedding_batch(texts)
            return asyncio.run_coroutine_threadsafe(vectors, loop).result()

        async with open_url(settings) as url:
            store = TenantStore(url, embedder.identity)
            try:
                await learn_space(store, embedder)
            finally:
                await store.close()
        anew = NewVectors(embedder.vector_space, embedder.max_batch, embed)
        return await asyncio.to_thread(work, anew)


def _import_texts(url: str, program: str, collection: str | None, tenant: str) -> None:
    """Queue each text as an upload, a run for each hundred of them.

    Raises:
        BadRequest: no such program is known.
        TransferFailed: as read_texts does.
    """
    from helix.library.audit import record_command
    from helix.library.transfer.vector_tables import PROGRAMS, read_texts
    from helix.library.uploads import store_uploads

    if program not in PROGRAMS:
        raise BadRequest(f"--from {program}: texts of {', '.join(PROGRAMS)} are known")
    texts = read_texts(url, program, collection)

    def queue(connection: Connected) -> int:
        queued = 0
        while batch := [_upload(program, text) for text in islice(texts, _AT_ONCE)]:
            with connection.transaction():
                store_uploads(connection, batch, tenant)
            queued += len(batch)
        record_command(connection, "helix import", tenant, f"{queued} texts of {program}")
        return queued

    count = _in_database(queue)
    typer.echo(
        f"{count} texts of {program} are queued for {tenant}: a server's workers read them, or"
        " `helix worker --until-idle`; `helix runs` says how far they are"
    )


def _upload(program: str, text: Text) -> Upload:
    """A text as an upload; the next import of its source replaces it."""
    from helix.library.uploads import Upload, clean_name

    data = text.text.encode()
    name = clean_name(text.title or text.source)
    name = name if name.endswith((".md", ".txt")) else f"{name}.txt"
    return Upload(
        name, "text", len(data), sha256(data).hexdigest(), lambda: data,
        title=text.title or None, source_uri=f"{program}:{text.source}",
    )  # fmt: skip


def _described(manifest: Manifest) -> str:
    counts = ", ".join(f"{table} {manifest.rows(table):,}" for table in _COUNTED)
    return f"{counts}; made {manifest.made_at} by {manifest.made_by}"


def _in_database(action: Callable[[Connected], Result]) -> Result:
    """The result of ``action`` on one connection to ``DATABASE_URL``, in autocommit."""
    import psycopg

    from db.migrate import check_schema, migrate
    from db.url import is_embedded
    from helix.storage.connections import unavailable

    with database_errors_as_helix(), configured_database() as (configured, url):
        (migrate if is_embedded(configured) else check_schema)(url)
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                return action(connection)
        except psycopg.Error as error:
            raise unavailable(error) from error

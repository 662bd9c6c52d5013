"""``helix doctor``: everything that answering needs, checked in order, each with its remedy."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import UTC, date, datetime
from secrets import token_hex
from typing import TYPE_CHECKING

import psycopg
import typer
from psycopg.rows import dict_row

from db.errors import DatabaseError
from db.migrate import refuse_newer, schema_ready, schema_version
from db.url import explain, is_embedded, open_database, place_of, redact
from helix.commands.service.address import named_server
from helix.commands.service.documents import LibraryService
from helix.commands.service.server_connection import connected
from helix.commands.service.service_choice import found_server
from helix.commands.setting_sources import missing_files, setting_sources
from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.scope import DEFAULT_TENANT
from helix.errors import HelixError
from helix.settings import Settings, load_settings
from helix.storage.file_moves import counts
from helix.storage.indexes import INDEX_NAME
from helix.storage.objects import delete_objects, put_object, read_object
from helix.storage.replicas import problem_of
from helix.storage.statements import upkeep as sql
from helix.storage.statements.replicas import IDENTITY, LAG, POSITION
from helix.telemetry.logs import configure_logging

if TYPE_CHECKING:
    from helix.providers.base import Embedder

_PROBE = "How long do I have to request a refund?"
_NORM_TOLERANCE = 1e-3
_SERVER_SECONDS = 5.0
_VARIABLES = "DATABASE_URL", "DATABASE_REPLICA_URLS"
_ANOTHER_PLACE = "another: DATABASE_URL, or `helix up --data DIR`"
_ANOTHER_MODEL = "another: HELIX_LLM, or `helix up --model NAME`"


@dataclass(frozen=True)
class Check:
    """The finding of one check, and when not ``ok``, the remedy."""

    name: str
    ok: bool
    finding: str
    needed: bool = True
    """True if the checks after it are pointless when it fails."""
    warns: bool = False
    """True if all is in order today, but will not stay so."""


def doctor() -> None:
    """Check settings, key, database, extension, schema and embedder; say how to mend each."""
    configure_logging("error")  # what a warning would say is among the findings
    raise typer.Exit(asyncio.run(_report()))


async def _report() -> int:
    failed = 0
    async with aclosing(examine()) as checks:
        async for check in checks:
            failed += not check.ok
            typer.echo(f"{_mark(check)} {check.name}: {check.finding}")
    return 1 if failed else 0


def _mark(check: Check) -> str:
    if not check.ok:
        return typer.style("FAIL", fg="red")
    return typer.style("warn", fg="yellow") if check.warns else typer.style("ok  ", fg="green")


async def examine(day: date | None = None) -> AsyncGenerator[Check, None]:
    """Every check in order; those that need a failed one do not run. ``day`` is today's."""
    day = day or datetime.now(UTC).date()
    try:
        settings = load_settings()
    except HelixError as error:
        yield Check("settings", False, str(error))
        for check in await _surroundings():
            yield check
        return
    key = "set" if settings.gemini_api_key else "not needed"
    yield Check("settings", True, f"llm {settings.llm}, embedder {settings.embedder}, key {key}")
    for check in await _surroundings(settings):
        yield check
    async with AsyncExitStack() as stack:
        database_ok = True
        async for check in _opened_database(stack, settings):
            database_ok = database_ok and (check.ok or not check.needed)
            yield check
        async for check in _opened_embedder(stack, settings, day, with_vectors=database_ok):
            yield check
        async for check in _opened_model(stack, settings, day):
            yield check
    for check in await asyncio.to_thread(_plugins):
        yield check


def _plugins() -> list[Check]:
    """The plugins of installed packages; the service starts without those that fail."""
    from helix.commands.plugins import problems
    from helix.domain.plugins import GROUPS, installed

    count = sum(len(installed(group)) for group in GROUPS)
    found = [Check("plugin", True, problem, warns=True) for problem in problems()]
    summary = f"{count - len(found)} in use; `helix plugins` lists them"
    return [Check("plugins", True, summary), *found] if count else []


async def _opened_database(
    stack: AsyncExitStack, settings: Settings
) -> AsyncGenerator[Check, None]:
    try:
        database = open_database(settings.database_url)
        url = await asyncio.to_thread(database.__enter__)
        stack.push(database.__exit__)
        for check in await asyncio.to_thread(_database, url, settings):
            yield check
    except DatabaseError as error:
        yield Check("database", False, str(error))


async def _opened_embedder(
    stack: AsyncExitStack, settings: Settings, day: date, *, with_vectors: bool
) -> AsyncGenerator[Check, None]:
    """The gate, the embedder and, of a sound database, whether the stored vectors are its own."""
    # they load LlamaIndex, which takes a second
    from helix.providers.factories import build_embedder, build_next_embedder
    from helix.retrieval.vector_space import gate_ceiling, open_store
    from helix.storage.tenant_store import TenantStore

    try:
        embedder = build_embedder(settings)
        stack.push_async_callback(embedder.aclose)
        yield Check("gate", True, f"ceiling {gate_ceiling(settings, embedder):.3f}")
        yield await _embedding(embedder)
        if notice := embedder.lifetime and embedder.lifetime.notice(day):
            yield Check("embedder's end", True, notice, warns=True)
        if not with_vectors:
            return
        if following := build_next_embedder(settings):
            stack.push_async_callback(following.aclose)
        opening = open_store(TenantStore, settings, embedder, following)
        await stack.enter_async_context(opening)
        yield Check("vectors", True, f"those stored fit {embedder.vector_space}")
    except HelixError as error:
        yield Check("embedder", False, str(error))


async def _opened_model(
    stack: AsyncExitStack, settings: Settings, day: date
) -> AsyncGenerator[Check, None]:
    """The model, then each setting of a server's other parts that would end its start."""
    from helix.commands.start_checks import start_problems  # they load LlamaIndex
    from helix.providers.factories import build_llm

    kind, _, model = settings.llm.partition(":")
    finding = "configured; it is not asked anything"
    try:
        llm = build_llm(settings)
        stack.push_async_callback(llm.aclose)
        if kind == "server":
            from helix.providers.model_server import examined_server

            finding = await asyncio.to_thread(examined_server, settings, model)
    except HelixError as error:
        yield Check("model", False, str(error))
        return
    notice = llm.lifetime and llm.lifetime.notice(day)
    told = f"{llm.identity} ({finding}); {notice or _ANOTHER_MODEL}"
    yield Check("model", True, told, warns=bool(notice))
    for problem in await asyncio.to_thread(start_problems, settings, llm, stack):
        yield Check("start", False, problem)


async def _surroundings(settings: Settings | None = None) -> list[Check]:
    """Checks of the places of settings, and of the server that commands ask."""
    checks = _sources()
    try:
        server = named_server(None)
        if server is None and settings is not None:
            server = await found_server(settings, DEFAULT_TENANT)
        if server is None:
            return checks
        async with connected(server, DEFAULT_TENANT, _SERVER_SECONDS) as connection:
            await LibraryService(connection).summary()
            model = (await connection.model())["title"]
    except HelixError as error:
        return [*checks, Check("server", False, f"HELIX_SERVER: {error}")]
    finding = f"{server.address} answers: commands ask it, and its model, {model}, answers them"
    return [*checks, Check("server", True, finding)]


def _sources() -> list[Check]:
    """Checks of the places of settings; an unknown name in one is a mistake worth a look."""
    try:
        sources = setting_sources()
    except DatabaseError:  # the check of the settings reports it
        return []
    checks = [
        Check(
            f"from {each.place}", not (each.unknown or each.unread), each.summary(),
            warns=bool(each.slips),
        )
        for each in sources
    ]  # fmt: skip
    if missing := missing_files():
        checks.append(Check("no settings file", True, " and ".join(map(str, missing))))
    return checks


def _database(url: str, settings: Settings) -> list[Check]:
    place = place_of(settings.database_url)
    try:
        with psycopg.connect(url, connect_timeout=5) as connection:
            version = connection.info.server_version // 10_000
            finding = f"Postgres {version}: {place}; {_ANOTHER_PLACE}"
            checks = _schema(connection, place, embedded=is_embedded(settings.database_url))
            all_checks = [Check("database", True, finding), *checks]
            if settings.files and schema_ready(connection):
                all_checks.append(bucket_check(connection, settings.files))
    except psycopg.Error as error:
        raise explain(url, error) from None
    if settings.database_pooler_url:
        all_checks.append(_pooler(settings.database_pooler_url.get_secret_value()))
    replicas = [each.get_secret_value() for each in settings.database_replica_urls]
    return all_checks + replica_checks(url, replicas)


def _pooler(url: str) -> Check:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.Error as error:
        told = str(explain(url, error)).replace("DATABASE_URL", "DATABASE_POOLER_URL")
        return Check("pooler", False, told)
    return Check("pooler", True, f"{redact(url)} answers")


def replica_checks(url: str, replicas: Sequence[str]) -> list[Check]:
    """Checks that each is a read replica of the database at ``url``, with its lag.

    Raises:
        DatabaseError: the database itself does not answer.
    """
    if not replicas:
        return []
    try:
        with psycopg.connect(url, connect_timeout=5, row_factory=dict_row) as connection:
            whose = connection.execute(IDENTITY).fetchone()
            now = connection.execute(POSITION).fetchone()
    except psycopg.Error as error:
        raise explain(url, error) from None
    assert whose is not None and now is not None
    identity = (whose["cluster"], whose["name"])
    return [
        _replica(f"replica-{number}", replica, identity, now)
        for number, replica in enumerate(replicas, 1)
    ]


def _replica(name: str, url: str, identity: tuple[str, str], now: dict[str, str]) -> Check:
    try:
        with psycopg.connect(url, connect_timeout=5, row_factory=dict_row) as connection:
            row = connection.execute(IDENTITY).fetchone()
            if problem := problem_of(row, identity, connection.info.backend_pid):
                return Check(name, False, f"{problem}: mend DATABASE_REPLICA_URLS", needed=False)
            lag = connection.execute(LAG, now).fetchone()
    except psycopg.Error as error:
        return Check(name, False, str(explain(url, error)).replace(*_VARIABLES), needed=False)
    assert lag is not None
    return Check(name, True, f"{lag['bytes']} bytes behind the primary")


def bucket_check(connection: psycopg.Connection, address: str) -> Check:
    """The check that the bucket of HELIX_FILES can be written, read and deleted from."""
    files = counts(connection)
    summary = (
        f"{files['moved']} files there, {files['waiting']} wait, {files['loose']} to be deleted"
    )
    probe = f"{address}/helix-doctor-{token_hex(8)}"
    try:
        put_object(probe, _PROBE.encode())
        whole = read_object(probe, len(_PROBE)) == _PROBE.encode()
        delete_objects([probe])
    except HelixError as error:
        return Check("files", False, f"{address}: {error}; {summary}", needed=False)
    return Check("files", whole, f"{address}: {summary}", needed=False)


def _schema(connection: psycopg.Connection, place: str, *, embedded: bool) -> list[Check]:
    row = connection.execute(sql.PGVECTOR_VERSION).fetchone()
    if row is None and embedded:
        return [Check("schema", True, "none yet: the first command that needs it makes it")]
    if row is None or not schema_ready(connection):
        version = f"pgvector {row[0]}" if row else "no pgvector in this database"
        return [Check("schema", False, f"missing or old ({version}): run `helix migrate`")]
    if embedded:  # each start migrates it; of a server, the schema is used while others upgrade
        try:
            refuse_newer(schema_version(connection), place)
        except DatabaseError as error:
            return [Check("schema", False, str(error))]
    index = connection.execute(sql.INDEX_IS_THERE, (INDEX_NAME,)).fetchone()
    counts = connection.execute(sql.LIBRARY_SIZE).fetchone()
    assert counts is not None
    if index is None or index[0] is None:
        finding = "missing, so every search reads every chunk: run `helix migrate`"
        return [Check("extension", True, f"pgvector {row[0]}"), Check("index", False, finding)]
    return [
        Check("extension", True, f"pgvector {row[0]}"),
        Check("schema", True, f"{counts[0]} documents, {counts[1]} chunks, index there"),
    ]


async def _embedding(embedder: Embedder) -> Check:
    vector = await embedder.model.aget_query_embedding(_PROBE)
    norm = math.hypot(*vector)
    raw = embedder.raw_norm()
    original = "" if raw is None else f"; it came with norm {raw:.3f}"
    finding = (
        f"{embedder.vector_space}: {len(vector)} numbers, norm {norm:.3f}{original}. Helix"
        " normalises to 1: a model's shortened vectors keep their direction but not their length,"
        " and a dot product would rank by both"
    )
    ok = len(vector) == EMBEDDING_DIMENSIONS and abs(norm - 1) < _NORM_TOLERANCE
    return Check(
        "embedder", ok, finding if ok else f"{finding}; expected {EMBEDDING_DIMENSIONS} and 1"
    )

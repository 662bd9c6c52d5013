"""LlamaIndex's PGVectorStore over Helix's schema, with its own paths made safe.

Its builder pastes filters into SQL, its index settings stay on the pooled connection and fail with
psycopg 3, and its errors quote statements with their values.
"""

from __future__ import annotations

from typing import Any

import psycopg
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.vector_stores.types import MetadataFilter, MetadataFilters
from llama_index.vector_stores.postgres import PGVectorStore
from llama_index.vector_stores.postgres.base import DBEmbeddingRow
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import ExceptionContext, Select, cast, event, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import async_sessionmaker
from sqlalchemy.orm import Session, SessionTransaction, sessionmaker

from helix.domain.contract import EMBEDDING_DIMENSIONS
from helix.domain.scope import DEFAULT_TENANT
from helix.storage.connections import unavailable
from helix.storage.metadata_filters import filter_clause
from helix.storage.statements import vector_store as sql

_AS_TENANT = text(sql.AS_TENANT)


class SafePGVectorStore(PGVectorStore):
    """A PGVectorStore of the view ``data_chunks``; every error of the database is Helix's own.

    Args:
        database_url: a libpq URL.
        ef_search: candidates an index scan keeps, 10 to 1000.
    """

    _ef_search: int = PrivateAttr()
    _tenant: str = PrivateAttr(default=DEFAULT_TENANT)

    def __init__(self, database_url: str, ef_search: int) -> None:
        sqlalchemy_url = "postgresql+psycopg" + database_url[database_url.index("://") :]
        super().__init__(
            connection_string=sqlalchemy_url,
            async_connection_string=sqlalchemy_url,
            table_name="chunks",
            embed_dim=EMBEDDING_DIMENSIONS,
            perform_setup=False,
            use_jsonb=True,
            hnsw_kwargs={"hnsw_ef_search": ef_search},
            create_engine_kwargs={"pool_pre_ping": True},
        )
        self._ef_search = ef_search

    def _connect(self) -> None:
        """SQLAlchemy's errors quote the statement and its values: give ours in their place."""
        super()._connect()
        assert self._engine is not None and self._async_engine is not None
        for engine in (self._engine, self._async_engine.sync_engine):
            event.listen(engine, "handle_error", _translate)
        self._bind_sessions()

    def _bind_sessions(self) -> None:
        """Make every transaction of LlamaIndex's own code one of the tenant."""
        if self._engine is None or self._async_engine is None:  # not connected yet
            return
        info = {"tenant": self._tenant}
        # the base calls them sessions, and means what makes one
        self._session = sessionmaker(self._engine, class_=_TenantSession, info=info)  # type: ignore[assignment]
        self._async_session = async_sessionmaker(  # type: ignore[assignment]
            self._async_engine, sync_session_class=_TenantSession, info=info
        )

    def _build_filter_clause(self, filter_: MetadataFilter) -> Any:
        return filter_clause(self._table_class.metadata_, filter_)

    def _build_query(
        self,
        embedding: list[float] | None,
        limit: int = 10,
        metadata_filters: MetadataFilters | None = None,
        **kwargs: Any,
    ) -> Any:
        return self._by_index(
            super()._build_query(embedding, limit, metadata_filters, **kwargs), embedding
        )

    def _build_query_with_embedding(
        self,
        embedding: list[float] | None,
        limit: int = 10,
        metadata_filters: MetadataFilters | None = None,
        **kwargs: Any,
    ) -> Any:
        return self._by_index(
            super()._build_query_with_embedding(embedding, limit, metadata_filters, **kwargs),
            embedding,
        )

    def _by_index(self, statement: Select[Any], embedding: list[float] | None) -> Select[Any]:
        """``statement`` in the order of the vector index; its distances are exact all the same."""
        half = cast(self._table_class.embedding, HALFVEC(EMBEDDING_DIMENSIONS))
        return statement.order_by(None).order_by(half.cosine_distance(embedding))

    def _get_query_session_settings(self, **kwargs: Any) -> list[tuple[str, dict[str, Any]]]:
        """Transaction-local index settings; the base's SET stays on and fails with psycopg 3."""
        ef_search = int(kwargs.get("hnsw_ef_search") or self._ef_search)
        return [(sql.SETTINGS, {"ef_search": str(ef_search)})]

    def _query_with_score(
        self,
        embedding: list[float] | None,
        limit: int = 10,
        metadata_filters: MetadataFilters | None = None,
        **kwargs: Any,
    ) -> list[DBEmbeddingRow]:
        statement = self._build_query(embedding, limit, metadata_filters, **kwargs)
        with self._session() as session, session.begin():  # type: ignore[operator]
            for setting, values in self._get_query_session_settings(**kwargs):
                session.execute(text(setting), values)
            return [_scored(row) for row in session.execute(statement)]

    async def _aquery_with_score(
        self,
        embedding: list[float] | None,
        limit: int = 10,
        metadata_filters: MetadataFilters | None = None,
        **kwargs: Any,
    ) -> list[DBEmbeddingRow]:
        statement = self._build_query(embedding, limit, metadata_filters, **kwargs)
        async with self._async_session() as session, session.begin():  # type: ignore[operator]
            for setting, values in self._get_query_session_settings(**kwargs):
                await session.execute(text(setting), values)
            return [_scored(row) for row in await session.execute(statement)]


class _TenantSession(Session):
    """A session whose transactions act as ``info["tenant"]``, with row-level security on."""


@event.listens_for(_TenantSession, "after_begin")
def _act_as_tenant(session: Session, _: SessionTransaction, connection: Connection) -> None:
    connection.execute(_AS_TENANT, {"tenant": session.info["tenant"]})


def _translate(context: ExceptionContext) -> None:
    error = context.original_exception
    if isinstance(error, psycopg.Error) and not context.is_pre_ping:
        raise unavailable(error) from error


def _scored(row: Any) -> DBEmbeddingRow:
    return DBEmbeddingRow(row.node_id, row.text, row.metadata_, {}, 1 - row.distance)

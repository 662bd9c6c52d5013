"""Settings from the environment: read once, frozen, passed down; never a module global.

docs/settings.md and ``.env.example`` list every variable, and a test holds both against this class.
``.env`` of the working directory and the user's own file are read too (``db.env_files``).
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeVar, get_args
from urllib.parse import urlsplit

from pydantic import (
    Field,
    SecretStr,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from db.env_files import env_files, read_env_file
from db.errors import DatabaseError
from helix.contract import DEFAULT_TOP_K
from helix.errors import SettingsError

Provider = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]*(:\S+)?$")]
"""``kind`` or ``kind:model`` (helix/providers)."""
Guard = Literal["injection", "hygiene", "verdict"]
"""The guardrails there are (helix/answering/guardrails)."""
Who = Literal["key", "tenant", "address"]
"""Whom limits are for."""
Public = Literal["metrics", "docs", "privacy", "evals"]
"""What may be shown to strangers where API keys are asked for (helix/serving/key_scopes.py)."""
Host = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.:\[\]-]+$", to_lower=True)]
Server = Annotated[str, StringConstraints(pattern=r"^https?://[^/\s?#@]+(/[^\s?#]*)?$")]
"""A server's address: ``http://localhost:8080``, or with a path in front of the API's."""
HostName = Annotated[
    str, StringConstraints(pattern=r"^(\*|(\*\.)?[A-Za-z0-9_.-]+)$", to_lower=True)
]
"""A host name, ``*.`` and its ending, or ``*`` for any."""
Bucket = Annotated[
    str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[\w.-]+)*$")
]
"""A bucket of an S3-compatible server, with or without a prefix."""
Origin = Annotated[str, StringConstraints(pattern=r"^(\*|https?://[^/\s]+)$")]

LIMITS = {
    "key_requests": 600, "tenant_requests": 1200, "address_requests": 3000,
    "key_answers": 16, "tenant_answers": 32, "address_answers": 64,
    "tenant_tokens": 20_000_000, "tenant_upload_mb": 20_480,
    "tenant_documents": 100_000, "tenant_mb": 51_200,
}  # fmt: skip
"""By field, the limits where API keys are asked for: what one machine of two cores bears."""

_REMEDIES = {
    "DATABASE_URL": "set it to postgresql://user:password@host:5432/name, or to embedded",
    "DATABASE_REPLICA_URLS": (
        "set it to postgresql://user:password@host:5432/name of each read replica, with commas"
    ),
    "DATABASE_POOLER_URL": (
        "set it to postgresql://user:password@host:6432/name of PgBouncer, or leave it out"
    ),
    "GEMINI_API_KEY": (
        "get a free key at https://aistudio.google.com/apikey,"
        " or set HELIX_LLM=offline and HELIX_EMBEDDER=offline"
    ),
    "GEMINI_MODEL": "set it to a Gemini model id such as gemini-2.5-flash",
    "EMBED_MODEL": "set it to a Gemini embedding model id such as gemini-embedding-001",
    "HELIX_FUSION": "set it to rrf, or to the share of the dense score from 0 to 1, such as 0.5",
    "HELIX_RERANKER": "set it to none, cohere, voyage or cross-encoder, with :model if you like",
    "COHERE_API_KEY": "get one at https://dashboard.cohere.com/api-keys",
    "VOYAGE_API_KEY": "get one at https://dashboard.voyageai.com",
    "HELIX_LLM": "set it to gemini, offline, or provider:model",
    "HELIX_EMBEDDER": "set it to gemini, offline, or provider:model",
    "HELIX_EMBEDDER_NEXT": "set it like HELIX_EMBEDDER, or leave it out",
    "HELIX_ALLOW_HOSTS": "set it to host names such as wiki.example.lan, separated by commas",
    "HELIX_HOSTS": "set it to host names such as docs.example.com, separated by commas",
    "HELIX_CORS_ORIGINS": "set it to origins such as https://app.example.com, separated by commas",
    "HELIX_URL": "set it to the address that clients use, such as https://docs.example.com",
    "HELIX_TAG_MODELS": "set it to tags of documents, separated by commas",
    "HELIX_GUARDS": "set it to none, or to some of injection, hygiene, verdict, with commas",
    "HELIX_SERVER": "set it to a server's address such as http://localhost:8080, or leave it out",
    "HELIX_API_KEY": "set it to a key that `helix keys create` printed, or leave it out",
    "HELIX_FILES": "set it to s3://bucket or s3://bucket/prefix, or leave it out",
    "HELIX_PUBLIC": "set it to some of metrics, docs, privacy, evals, with commas, or leave it out",
    "HELIX_VOICE_MODEL": "set it to the folder of a Whisper model, or leave it out",
    "HELIX_JUDGE": "set it to gemini, offline, or provider:model, or leave it out",
}
"""How to set the variables whose type and bounds do not say it all."""


class ClientSettings(BaseSettings):
    """How a command reaches a running server."""

    model_config = SettingsConfigDict(
        frozen=True, env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    server: Server | None = Field(None, alias="HELIX_SERVER")
    """The server that commands ask instead of the database."""
    api_key: SecretStr | None = Field(None, alias="HELIX_API_KEY")
    """The key that they show to it."""


class Settings(ClientSettings):
    """Everything a process is configured by. Distances are cosine distances, 0 to 2."""

    database_url: str = Field(repr=False)  # it may hold a password
    database_replica_urls: Annotated[tuple[SecretStr, ...], NoDecode] = ()
    """Read replicas of the database, which answer searches where they have all that is written."""
    database_pooler_url: SecretStr | None = None
    """A pooler in transaction mode in front of the database: reads and writes go through it."""
    files: Bucket | None = Field(None, alias="HELIX_FILES")
    """Where original files are moved to; None: they stay in the database."""
    gemini_api_key: SecretStr | None = None
    gemini_model: str = Field("gemini-2.5-flash", pattern=r"^\S+$")
    embed_model: str = Field("gemini-embedding-001", pattern=r"^\S+$")
    retrieval_max_distance: float | None = Field(None, ge=0, le=2)
    """None: the embedder's own calibrated default."""
    retrieval_top_k: int = Field(DEFAULT_TOP_K, ge=1, le=50)
    retrieval: Literal["hybrid", "dense"] = Field("hybrid", alias="HELIX_RETRIEVAL")
    fusion: Annotated[float, Field(ge=0, le=1)] | Literal["rrf"] | None = Field(
        None, alias="HELIX_FUSION"
    )
    """The dense share of a convex sum, or reciprocal rank fusion; None: as suits the embedder."""
    gate_lexical: bool = Field(True, alias="HELIX_GATE_LEXICAL")
    """Whether an exact match of a question by identifier passes the gate; with hybrid only."""
    rewrite: bool = Field(False, alias="HELIX_REWRITE")
    rewrite_timeout: float = Field(2.0, ge=0.1, le=60, alias="HELIX_REWRITE_TIMEOUT")
    """Seconds that making search terms may take before the question is searched alone."""
    history_retrieval: Literal["off", "rule", "model"] = Field(
        "rule", alias="HELIX_HISTORY_RETRIEVAL"
    )
    """What earlier questions of a conversation add to a search; ``model``: a rewrite too."""
    history_chars: int = Field(48000, ge=0, le=1000000, alias="HELIX_HISTORY_CHARS")
    """Room in a prompt for the conversation so far."""
    history_messages: int = Field(40, ge=0, le=100, alias="HELIX_HISTORY_MESSAGES")
    """Questions and answers that a prompt has in full at most; a summary stands for the others."""
    mode: Literal["answer", "agent"] = Field("answer", alias="HELIX_MODE")
    """Who gathers the sources of a question that does not say: one search, or the agent's tools."""
    agent_steps: int = Field(8, ge=1, le=50, alias="HELIX_AGENT_STEPS")
    """Turns that the agent has to gather sources; then the answer is written from what there is."""
    agent_seconds: float = Field(60.0, ge=1, le=600, alias="HELIX_AGENT_SECONDS")
    """Longest that it may gather."""
    agent_tokens: int = Field(120_000, ge=1000, le=10**7, alias="HELIX_AGENT_TOKENS")
    """Tokens that its model may be sent and say while it gathers."""
    agent_fetch: bool = Field(False, alias="HELIX_AGENT_FETCH")
    """Whether the agent may read pages of the web whose address the user wrote in the question."""
    reranker: str = Field("none", pattern=r"^[a-z-]+(:\S+)?$", alias="HELIX_RERANKER")
    rerank_min_score: float | None = Field(None, ge=0, le=1, alias="HELIX_RERANK_MIN_SCORE")
    """Below it nothing is relevant enough to answer; None: the reranker's own default."""
    rerank_timeout: float = Field(3.0, ge=0.1, le=60, alias="HELIX_RERANK_TIMEOUT")
    """Seconds that reranking may take before the hits stay as the search ordered them."""
    cohere_api_key: SecretStr | None = None
    voyage_api_key: SecretStr | None = None
    auth: Literal["off", "keys"] = Field("off", alias="HELIX_AUTH")
    """``keys``: every request needs an API key, which decides whose documents it is about."""
    public: Annotated[tuple[Public, ...], NoDecode] = Field((), alias="HELIX_PUBLIC")
    """What is shown without a key all the same."""
    llm: Provider = Field("gemini", alias="HELIX_LLM")
    embedder: Provider = Field("gemini", alias="HELIX_EMBEDDER")
    ef_search: int = Field(100, ge=10, le=1000, alias="HELIX_EF_SEARCH")
    pool_size: int = Field(10, ge=1, le=500, alias="HELIX_POOL_SIZE")
    answers: int = Field(256, ge=1, le=10000, alias="HELIX_ANSWERS")
    """Answers that a server has under way at once."""
    answers_waiting: int = Field(256, ge=0, le=10000, alias="HELIX_ANSWERS_WAITING")
    """Questions that wait for one of them to end; more are refused."""
    key_requests: int | None = Field(None, ge=0, le=10**6, alias="HELIX_KEY_REQUESTS")
    """Requests a minute of one API key; 0: any number. None, of this and the following limits: as
    ``limit`` has it."""
    tenant_requests: int | None = Field(None, ge=0, le=10**6, alias="HELIX_TENANT_REQUESTS")
    address_requests: int | None = Field(None, ge=0, le=10**6, alias="HELIX_ADDRESS_REQUESTS")
    key_answers: int | None = Field(None, ge=0, le=10000, alias="HELIX_KEY_ANSWERS")
    """Answers at once."""
    tenant_answers: int | None = Field(None, ge=0, le=10000, alias="HELIX_TENANT_ANSWERS")
    address_answers: int | None = Field(None, ge=0, le=10000, alias="HELIX_ADDRESS_ANSWERS")
    key_tokens: int | None = Field(None, ge=0, le=10**12, alias="HELIX_KEY_TOKENS")
    """Tokens of answers and of what they are made from, a day."""
    tenant_tokens: int | None = Field(None, ge=0, le=10**12, alias="HELIX_TENANT_TOKENS")
    address_tokens: int | None = Field(None, ge=0, le=10**12, alias="HELIX_ADDRESS_TOKENS")
    key_upload_mb: int | None = Field(None, ge=0, le=10**9, alias="HELIX_KEY_UPLOAD_MB")
    """Megabytes uploaded a day."""
    tenant_upload_mb: int | None = Field(None, ge=0, le=10**9, alias="HELIX_TENANT_UPLOAD_MB")
    address_upload_mb: int | None = Field(None, ge=0, le=10**9, alias="HELIX_ADDRESS_UPLOAD_MB")
    tenant_documents: int | None = Field(None, ge=0, le=10**9, alias="HELIX_TENANT_DOCUMENTS")
    tenant_mb: int | None = Field(None, ge=0, le=10**9, alias="HELIX_TENANT_MB")
    """Megabytes of all documents of a tenant."""
    audit_days: int = Field(90, ge=0, le=3650, alias="HELIX_AUDIT_DAYS")
    """How long an event of the audit log is kept; 0 keeps none."""
    max_question_chars: int = Field(4000, ge=1, le=20000, alias="HELIX_MAX_QUESTION_CHARS")
    model_timeout: float = Field(60.0, ge=1, le=600, alias="HELIX_MODEL_TIMEOUT")
    """Longest silence, in seconds, that a model's service may keep before it counts as failed."""
    max_file_mb: int = Field(256, ge=1, le=1000, alias="HELIX_MAX_FILE_MB")
    read_seconds: int = Field(300, ge=5, le=3600, alias="HELIX_READ_SECONDS")
    """Longest that reading one file may take."""
    read_mb: int = Field(1024, ge=256, le=16384, alias="HELIX_READ_MB")
    """Memory that reading one file may take."""
    embedder_next: Provider | None = Field(None, alias="HELIX_EMBEDDER_NEXT")
    """The embedder that ``pipelines.reembed`` changes to; used as soon as the database has it."""
    embed_cache_mb: int = Field(512, ge=0, le=2**20, alias="HELIX_EMBED_CACHE_MB")
    """Room for vectors already paid for; 0 keeps none."""
    embed_parallel: int = Field(4, ge=1, le=64, alias="HELIX_EMBED_PARALLEL")
    """Embedding requests that one worker has under way at most."""
    suggestions: Literal["auto", "on", "off"] = Field("auto", alias="HELIX_SUGGESTIONS")
    """Whether questions are suggested; ``auto``: where asking them costs nothing."""
    workers: int = Field(1, ge=0, le=64, alias="HELIX_WORKERS")
    """Worker processes that a server starts when there is something to ingest."""
    allow_hosts: Annotated[tuple[Host, ...], NoDecode] = Field((), alias="HELIX_ALLOW_HOSTS")
    """Hosts that web imports may reach although their address is private."""
    web_imports: bool = Field(True, alias="HELIX_WEB_IMPORTS")
    """Whether pages of the web may be brought in over HTTP."""
    cors_origins: Annotated[tuple[Origin, ...], NoDecode] = Field((), alias="HELIX_CORS_ORIGINS")
    hosts: Annotated[tuple[HostName, ...], NoDecode] = Field((), alias="HELIX_HOSTS")
    """Names under which the server is asked, beside those of this machine."""
    url: Server | None = Field(None, alias="HELIX_URL")
    """The server's address as its clients know it, in front of links; None: as a request has it."""
    tag_models: Annotated[tuple[str, ...], NoDecode] = Field((), alias="HELIX_TAG_MODELS")
    """Tags that the OpenAI-compatible routes have a model each for: ``helix:TAG``."""
    open_network: bool = Field(False, alias="HELIX_OPEN_NETWORK")
    """Whether the server may listen on other addresses than loopback without API keys."""
    receipt_days: int = Field(30, ge=0, le=3650, alias="HELIX_RECEIPT_DAYS")
    """How long an answer's receipt is kept."""
    feedback_days: int = Field(0, ge=0, le=3650, alias="HELIX_FEEDBACK_DAYS")
    """How long feedback is kept; 0: as long as the receipt of its answer."""
    run_days: int = Field(0, ge=0, le=3650, alias="HELIX_RUN_DAYS")
    """How long an ended run is kept, with the list of its files; 0: for ever."""
    study_retention: float = Field(0.9, ge=0.7, le=0.97, alias="HELIX_STUDY_RETENTION")
    """The probability with which a card should be remembered when it comes again."""
    progress: Literal["on", "off"] = Field("on", alias="HELIX_PROGRESS")
    study_idle_seconds: int = Field(900, ge=60, le=86400, alias="HELIX_STUDY_IDLE_SECONDS")
    voice_model: str | None = Field(None, alias="HELIX_VOICE_MODEL")
    guards: Annotated[tuple[Guard, ...], NoDecode] = Field(
        ("injection", "hygiene"), alias="HELIX_GUARDS"
    )
    judge: Provider | None = Field(None, alias="HELIX_JUDGE")
    """The model that judges answers; None: the one that answers."""
    withhold: bool = Field(False, alias="HELIX_WITHHOLD")
    gate: Literal["distance", "calibrated"] = Field("distance", alias="HELIX_GATE")
    """``calibrated``: by the fit of ``evals.calibrate`` for this embedder and corpus."""
    metrics: bool = Field(True, alias="HELIX_METRICS")
    tracing: Literal["off", "otlp"] = Field("off", alias="HELIX_TRACING")
    log_format: Literal["text", "json"] = Field("text", alias="HELIX_LOG_FORMAT")
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", alias="HELIX_LOG_LEVEL")

    def limit(self, who: Who, name: str) -> tuple[str, int]:
        """The variable that limits ``name`` for ``who``, and its value; 0: there is no limit.

        A limit that is not set is that of LIMITS where API keys are asked for. Without keys there
        is none: then the callers are one's own, and may all come from one address.
        """
        field = f"{who}_{name}"
        value: int | None = getattr(self, field)
        if value is None:
            value = LIMITS.get(field, 0) if self.auth == "keys" else 0
        return variable_of(field, type(self).model_fields[field]), value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, url: str) -> str:
        if url != "embedded" and not re.match(r"^embedded:.+", url):
            _check_url(url)
        return url

    @field_validator("database_pooler_url", mode="before")
    @classmethod
    def _known_pooler(cls, value: object) -> object:
        if isinstance(value, str):
            _check_url(value)
        return value

    @field_validator("database_replica_urls", mode="before")
    @classmethod
    def _split_urls(cls, value: object) -> object:
        """At commas before a URL, for the hosts of one URL have commas between them too."""
        if not isinstance(value, str):
            return value
        urls = re.split(r"[,\s]+(?=postgres(?:ql)?://)", value.strip())
        for url in urls:
            _check_url(url)
        return tuple(urls)

    @field_validator(
        "cors_origins", "allow_hosts", "hosts", "guards", "public", "tag_models", mode="before"
    )
    @classmethod
    def _split_list(cls, value: object, info: ValidationInfo) -> object:
        if not isinstance(value, str):
            return value
        names = tuple(name.strip() for name in value.split(",") if name.strip())
        if info.field_name not in ("guards", "public"):
            return names
        words = tuple(name.lower() for name in names)
        return () if words == ("none",) else words

    @field_validator(
        "fusion",
        "auth",
        "suggestions",
        "retrieval",
        "history_retrieval",
        "mode",
        "gate",
        "tracing",
        "log_format",
        "log_level",
        mode="before",
    )
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.lower() if isinstance(value, str) else value

    @model_validator(mode="after")
    def _key_when_gemini(self) -> Settings:
        chosen = (self.llm, self.embedder, self.embedder_next or "", self.judge or "")
        needs = {name.partition(":")[0] for name in chosen}
        key = self.gemini_api_key.get_secret_value() if self.gemini_api_key else ""
        if "gemini" in needs and not key.strip():
            raise SettingsError(_line("GEMINI_API_KEY", "is not set"))
        return self


def _check_url(url: str) -> None:
    """Raise ValueError where it is no libpq URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres") or not url.partition("://")[2]:
        raise ValueError("malformed")
    if "," not in parts.netloc:  # libpq takes several hosts, urlsplit does not
        _ = parts.port  # checked only when it is asked for


def variable_of(name: str, field: FieldInfo) -> str:
    """The environment variable that the field ``name`` is read from."""
    return (field.alias or name).upper()


def bounds_of(field: FieldInfo) -> tuple[float, float] | None:
    """The least and the largest number that ``field`` takes; None if it takes no number."""
    least = [each.ge for each in field.metadata if hasattr(each, "ge")]
    largest = [each.le for each in field.metadata if hasattr(each, "le")]
    return (least[0], largest[0]) if least and largest else None


def _remedy(name: str, field: FieldInfo) -> str:
    if known := _REMEDIES.get(variable_of(name, field)):
        return known
    if bounds := bounds_of(field):
        number = (
            "a whole number"
            if int in (field.annotation, *get_args(field.annotation))
            else "a number"
        )
        unit = " of seconds" if name.endswith(("timeout", "seconds")) else ""
        return f"set it to {number}{unit} from {bounds[0]} to {bounds[1]}"
    choices = ("1", "0") if field.annotation is bool else get_args(field.annotation)
    return f"set it to {' or '.join(choices)}"


HOW = {
    variable_of(name, field): _remedy(name, field) for name, field in Settings.model_fields.items()
}
"""How to set each variable: the end of the one line that a bad value stops with."""


def _line(variable: str, problem: str) -> str:
    return f"{variable} {problem}: {HOW.get(variable, 'see docs/settings.md')}"


def _first_problem(error: ValidationError) -> str:
    """The first problem as one line; the rejected value is left out, for it may be a secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    variable = str(first["loc"][0]).upper() if first["loc"] else "settings"
    return _line(variable, "is not set" if first["type"] == "missing" else "is malformed")


Read = TypeVar("Read", bound=ClientSettings)


def load_settings(**overrides: object) -> Settings:
    """Read the environment, ``.env`` and the user's file; keyword arguments win over them.

    Raises:
        SettingsError: one line that names the variable and how to set it.
    """
    return _read(Settings, overrides)


def load_client_settings() -> ClientSettings:
    """The settings of a command that asks a running server, which needs no other.

    Raises:
        SettingsError: as load_settings does.
    """
    return _read(ClientSettings, {})


def _read(kind: type[Read], overrides: dict[str, object]) -> Read:
    try:
        return kind(_env_file=env_files(), **overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        raise SettingsError(_first_problem(error)) from None
    except (OSError, UnicodeDecodeError):
        for file in env_files():  # the one that it was
            try:
                read_env_file(file)
            except DatabaseError as error:
                raise SettingsError(str(error)) from None
        raise

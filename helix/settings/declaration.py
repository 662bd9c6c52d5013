"""Every setting of Helix: a field each, with its type, bounds and default.

docs/settings.md and ``.env.example`` list every variable, and a test holds both against this class.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from helix.contract import DEFAULT_TOP_K
from helix.errors import SettingsError
from helix.settings.values import (
    AnyCase,
    Bucket,
    Guard,
    Host,
    HostName,
    Origin,
    Provider,
    Public,
    Server,
    Who,
    checked_text,
    known_database,
    split_names,
    split_urls,
    split_words,
)
from helix.settings.variables import REMEDIES, remedy_of, variable_of

LIMITS = {
    "key_requests": 600, "tenant_requests": 1200, "address_requests": 3000,
    "key_answers": 16, "tenant_answers": 32, "address_answers": 64,
    "tenant_tokens": 20_000_000, "tenant_upload_mb": 20_480,
    "tenant_documents": 100_000, "tenant_mb": 51_200,
}  # fmt: skip
"""By field, the limits where API keys are asked for: what one machine of two cores bears."""


class ClientSettings(BaseSettings):
    """How a command reaches a running server."""

    model_config = SettingsConfigDict(
        frozen=True, env_ignore_empty=True, extra="ignore", populate_by_name=True
    )

    server: Server | None = Field(None, alias="HELIX_SERVER")
    """The server that commands ask instead of the database."""
    api_key: SecretStr | None = Field(None, alias="HELIX_API_KEY")
    """The API key that they send to it."""


class Settings(ClientSettings):
    """All settings of a process. Distances are cosine distances, 0 to 2."""

    # the URL may hold a password
    database_url: Annotated[str, AfterValidator(known_database)] = Field(repr=False)
    database_replica_urls: Annotated[
        tuple[SecretStr, ...], NoDecode, BeforeValidator(split_urls)
    ] = ()
    """Read replicas of the database; they answer searches where they have replayed all writes."""
    database_pooler_url: Annotated[SecretStr, BeforeValidator(checked_text)] | None = None
    """A pooler in transaction mode in front of the database: reads and writes go through it."""
    files: Bucket | None = Field(None, alias="HELIX_FILES")
    """The bucket for original files; None: they stay in the database."""
    gemini_api_key: SecretStr | None = None
    gemini_model: str = Field("gemini-2.5-flash", pattern=r"^\S+$")
    embed_model: str = Field("gemini-embedding-001", pattern=r"^\S+$")
    retrieval_max_distance: float | None = Field(None, ge=0, le=2)
    """None: the embedder's own calibrated default."""
    retrieval_top_k: int = Field(DEFAULT_TOP_K, ge=1, le=50)
    retrieval: Annotated[Literal["hybrid", "dense"], AnyCase] = Field(
        "hybrid", alias="HELIX_RETRIEVAL"
    )
    fusion: Annotated[Annotated[float, Field(ge=0, le=1)] | Literal["rrf"] | None, AnyCase] = Field(
        None, alias="HELIX_FUSION"
    )
    """The dense share of a convex sum, or reciprocal rank fusion; None: as suits the embedder."""
    gate_lexical: bool = Field(True, alias="HELIX_GATE_LEXICAL")
    """Whether an exact match of a question by identifier passes the gate; with hybrid only."""
    rewrite: bool = Field(False, alias="HELIX_REWRITE")
    rewrite_timeout: float = Field(2.0, ge=0.1, le=60, alias="HELIX_REWRITE_TIMEOUT")
    """Seconds that making search terms may take before the question is searched alone."""
    history_retrieval: Annotated[Literal["off", "rule", "model"], AnyCase] = Field(
        "rule", alias="HELIX_HISTORY_RETRIEVAL"
    )
    """What earlier questions of a conversation add to a search; ``model``: a rewrite too."""
    history_chars: int = Field(48000, ge=0, le=1000000, alias="HELIX_HISTORY_CHARS")
    """Room in a prompt for the conversation so far."""
    history_messages: int = Field(40, ge=0, le=100, alias="HELIX_HISTORY_MESSAGES")
    """Questions and answers that a prompt has in full at most; a summary stands for the others."""
    mode: Annotated[Literal["answer", "agent"], AnyCase] = Field("answer", alias="HELIX_MODE")
    """How sources are gathered for a question without a mode: one search, or the agent's tools."""
    agent_steps: int = Field(8, ge=1, le=50, alias="HELIX_AGENT_STEPS")
    """The most turns of the agent; then the answer is written from the sources found so far."""
    agent_seconds: float = Field(60.0, ge=1, le=600, alias="HELIX_AGENT_SECONDS")
    """The longest time that the agent may gather sources."""
    agent_tokens: int = Field(120_000, ge=1000, le=10**7, alias="HELIX_AGENT_TOKENS")
    """The most tokens of the agent's prompts and replies together."""
    agent_fetch: bool = Field(False, alias="HELIX_AGENT_FETCH")
    """Whether the agent may fetch web pages whose address the user wrote in the question."""
    reranker: str = Field("none", pattern=r"^[a-z-]+(:\S+)?$", alias="HELIX_RERANKER")
    rerank_min_score: float | None = Field(None, ge=0, le=1, alias="HELIX_RERANK_MIN_SCORE")
    """Below it nothing is relevant enough to answer; None: the reranker's own default."""
    rerank_timeout: float = Field(3.0, ge=0.1, le=60, alias="HELIX_RERANK_TIMEOUT")
    """Seconds that reranking may take before the hits stay as the search ordered them."""
    cohere_api_key: SecretStr | None = None
    voyage_api_key: SecretStr | None = None
    auth: Annotated[Literal["off", "keys"], AnyCase] = Field("off", alias="HELIX_AUTH")
    """``keys``: every request needs an API key, which decides whose documents it is about."""
    public: Annotated[tuple[Public, ...], NoDecode, BeforeValidator(split_words)] = Field(
        (), alias="HELIX_PUBLIC"
    )
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
    """Tokens a day: of answers, of what they are made from, of texts that are embedded."""
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
    """The embedder that ``pipelines.reembed`` changes to; used once the change is complete."""
    embed_cache_mb: int = Field(512, ge=0, le=2**20, alias="HELIX_EMBED_CACHE_MB")
    """Room for vectors already paid for; 0 keeps none."""
    embed_parallel: int = Field(4, ge=1, le=64, alias="HELIX_EMBED_PARALLEL")
    """Embedding requests that one worker has under way at most."""
    suggestions: Annotated[Literal["auto", "on", "off"], AnyCase] = Field(
        "auto", alias="HELIX_SUGGESTIONS"
    )
    """Whether questions are suggested; ``auto``: where asking them costs nothing."""
    workers: int = Field(1, ge=0, le=64, alias="HELIX_WORKERS")
    """Worker processes that a server starts when there is something to ingest."""
    allow_hosts: Annotated[tuple[Host, ...], NoDecode, BeforeValidator(split_names)] = Field(
        (), alias="HELIX_ALLOW_HOSTS"
    )
    """Hosts that web imports may reach although their address is private."""
    web_imports: bool = Field(True, alias="HELIX_WEB_IMPORTS")
    """Whether pages of the web may be brought in over HTTP."""
    cors_origins: Annotated[tuple[Origin, ...], NoDecode, BeforeValidator(split_names)] = Field(
        (), alias="HELIX_CORS_ORIGINS"
    )
    hosts: Annotated[tuple[HostName, ...], NoDecode, BeforeValidator(split_names)] = Field(
        (), alias="HELIX_HOSTS"
    )
    """Host names that requests may have, beside those of this machine."""
    url: Server | None = Field(None, alias="HELIX_URL")
    """The server's public address, in front of links; None: the address of each request."""
    tag_models: Annotated[tuple[str, ...], NoDecode, BeforeValidator(split_names)] = Field(
        (), alias="HELIX_TAG_MODELS"
    )
    """Tags for which the OpenAI-compatible routes offer a model ``helix:TAG``."""
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
    progress: Annotated[Literal["on", "off"], AnyCase] = Field("on", alias="HELIX_PROGRESS")
    """Whether the progress of learners is kept."""
    study_idle_seconds: int = Field(900, ge=60, le=86400, alias="HELIX_STUDY_IDLE_SECONDS")
    """The longest gap between two actions of one session."""
    voice_model: str | None = Field(None, alias="HELIX_VOICE_MODEL")
    """The folder of a Whisper model; None: the answering model transcribes, if it takes audio."""
    guards: Annotated[tuple[Guard, ...], NoDecode, BeforeValidator(split_words)] = Field(
        ("injection", "hygiene"), alias="HELIX_GUARDS"
    )
    judge: Provider | None = Field(None, alias="HELIX_JUDGE")
    """The model that judges answers; None: the one that answers."""
    withhold: bool = Field(False, alias="HELIX_WITHHOLD")
    """Whether an answer that the judge does not call grounded becomes the refusal."""
    gate: Annotated[Literal["distance", "calibrated"], AnyCase] = Field(
        "distance", alias="HELIX_GATE"
    )
    """``calibrated``: by the fit of ``evals.calibrate`` for this embedder and corpus."""
    metrics: bool = Field(True, alias="HELIX_METRICS")
    tracing: Annotated[Literal["off", "otlp"], AnyCase] = Field("off", alias="HELIX_TRACING")
    log_format: Annotated[Literal["text", "json"], AnyCase] = Field(
        "text", alias="HELIX_LOG_FORMAT"
    )
    log_level: Annotated[Literal["debug", "info", "warning", "error"], AnyCase] = Field(
        "info", alias="HELIX_LOG_LEVEL"
    )

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

    @model_validator(mode="after")
    def _key_when_gemini(self) -> Settings:
        chosen = (self.llm, self.embedder, self.embedder_next or "", self.judge or "")
        needs = {name.partition(":")[0] for name in chosen}
        key = self.gemini_api_key.get_secret_value() if self.gemini_api_key else ""
        if "gemini" in needs and not key.strip():
            raise SettingsError(f"GEMINI_API_KEY is not set: {REMEDIES['GEMINI_API_KEY']}")
        return self


HOW = {
    variable_of(name, field): remedy_of(name, field)
    for name, field in Settings.model_fields.items()
}
"""How to set each variable: the end of the one line that a bad value stops with."""

"""Every setting of Helix: a field each, with its type, bounds and default.

docs/settings.md and ``.env.example`` list every variable, and a test holds both against this class.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    model_validator,
)

from helix.domain.contract import DEFAULT_TOP_K
from helix.errors import SettingsError
from helix.settings.values import (
    AnswerForm,
    AnyCase,
    Bucket,
    Guard,
    Host,
    HostName,
    MetadataKey,
    Network,
    OidcProvider,
    Origin,
    Provider,
    Public,
    ReaderClass,
    SecretsKey,
    Server,
    SigningSeed,
    Who,
    Withhold,
    checked_text,
    distinct_providers,
    known_database,
    read_json,
    read_withhold,
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


class ModelFolder(BaseModel):
    """The folder where the commands for model files, which need no database, keep them."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, validate_default=True)

    model_folder: str | None = Field(None, alias="HELIX_MODEL_FOLDER")
    """The folder where `helix model pull` keeps model files; None: among the user's own data."""


class ClientSettings(BaseModel):
    """A command's access to a running server."""

    model_config = ConfigDict(frozen=True, populate_by_name=True, validate_default=True)

    server: Server | None = Field(None, alias="HELIX_SERVER")
    """The server that commands ask instead of the database."""
    api_key: SecretStr | None = Field(None, alias="HELIX_API_KEY")
    """The API key that they send to it."""


class Settings(ClientSettings, ModelFolder):
    """All settings of a process. Distances are cosine distances, 0 to 2."""

    # the URL may hold a password
    database_url: Annotated[str, AfterValidator(known_database)] = Field(repr=False)
    database_replica_urls: Annotated[tuple[SecretStr, ...], BeforeValidator(split_urls)] = ()
    """Read replicas of the database; they answer searches where they have replayed all writes."""
    database_pooler_url: Annotated[SecretStr, BeforeValidator(checked_text)] | None = None
    """A pooler in transaction mode in front of the database: reads and writes go through it."""
    files: Bucket | None = Field(None, alias="HELIX_FILES")
    """The bucket for original files; None: they stay in the database."""
    gemini_api_key: SecretStr | None = None
    gemini_model: str = Field("auto", pattern=r"^\S+$")
    """``auto``: the best current Flash-Lite or Flash of the models list."""
    embed_model: str = Field("gemini-embedding-001", pattern=r"^\S+$")
    retrieval_max_distance: float | None = Field(None, ge=0, le=2)
    """None: the embedder's own calibrated default."""
    retrieval_top_k: int = Field(DEFAULT_TOP_K, ge=1, le=50)
    max_context_tokens: int = Field(6000, ge=200, le=10**6)
    """Tokens of all sources of an answer together, where one search finds them."""
    max_context_chunks: int = Field(12, ge=1, le=50)
    """Sources of such an answer at most; chunks that touch are one."""
    retrieval: Annotated[Literal["hybrid", "dense"], AnyCase] = Field(
        "hybrid", alias="HELIX_RETRIEVAL"
    )
    fusion: Annotated[Annotated[float, Field(ge=0, le=1)] | Literal["rrf"] | None, AnyCase] = Field(
        None, alias="HELIX_FUSION"
    )
    """The dense share of a convex sum, or reciprocal rank fusion; None: as suits the embedder."""
    k_vec: int = Field(50, ge=1, le=500)
    """Chunks that hybrid search takes of those nearest by their vectors."""
    k_fts: int = Field(50, ge=1, le=500)
    """Chunks that hybrid search takes of those best by BM25."""
    rrf_k: int = Field(60, ge=1, le=1000)
    """The constant of reciprocal rank fusion, 1 / (k + rank)."""
    chunk_target_tokens: int = Field(500, ge=50, le=4000)
    """Tokens of a chunk of prose at most, of documents that are read from now on."""
    chunk_overlap_tokens: int = Field(50, ge=0, le=2000)
    """Tokens that a chunk repeats of the one before it, of CHUNK_TARGET_TOKENS half at most."""
    embedded_metadata: Annotated[tuple[MetadataKey, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_EMBEDDED_METADATA"
    )
    """Keys of documents' metadata whose values are embedded with each chunk from now on."""
    gate_lexical: bool = Field(True, alias="HELIX_GATE_LEXICAL")
    """True if an exact match of a question by identifier passes the gate; with hybrid only."""
    rewrite: bool = Field(False, alias="HELIX_REWRITE")
    rewrite_timeout: float = Field(2.0, ge=0.1, le=60, alias="HELIX_REWRITE_TIMEOUT")
    """Seconds that making search terms may take before the question is searched alone."""
    history_retrieval: Annotated[Literal["off", "rule", "model"], AnyCase] = Field(
        "model", alias="HELIX_HISTORY_RETRIEVAL"
    )
    """The part of earlier questions in a search of a conversation; ``model``: a rewrite too.

    The offline model cannot rewrite, so that ``model`` is ``rule`` with it.
    """
    history_chars: int = Field(48000, ge=0, le=1000000, alias="HELIX_HISTORY_CHARS")
    """Room in a prompt for the conversation so far."""
    history_messages: int = Field(40, ge=0, le=100, alias="HELIX_HISTORY_MESSAGES")
    """Questions and answers that a prompt has in full at most; a summary stands for the others."""
    mode: Annotated[Literal["answer", "agent", "write"], AnyCase] = Field(
        "answer", alias="HELIX_MODE"
    )
    """The mode of a question that names none: one search, the agent's tools, or code and drafts."""
    agent_steps: int = Field(8, ge=1, le=50, alias="HELIX_AGENT_STEPS")
    """The most turns of the agent; then the answer is written from the sources found so far."""
    agent_seconds: float = Field(60.0, ge=1, le=600, alias="HELIX_AGENT_SECONDS")
    """The longest time that the agent may gather sources."""
    agent_tokens: int = Field(120_000, ge=1000, le=10**7, alias="HELIX_AGENT_TOKENS")
    """The most tokens of the agent's prompts and replies together."""
    agent_fetch: bool = Field(False, alias="HELIX_AGENT_FETCH")
    """True if the agent may fetch web pages whose address the user wrote in the question."""
    reranker: str = Field("none", pattern=r"^[a-z-]+(:\S+)?$", alias="HELIX_RERANKER")
    rerank_min_score: float | None = Field(None, ge=0, le=1, alias="HELIX_RERANK_MIN_SCORE")
    """Below it nothing is relevant enough to answer; None: the reranker's own default."""
    rerank_timeout: float = Field(3.0, ge=0.1, le=60, alias="HELIX_RERANK_TIMEOUT")
    """Seconds that reranking may take before the hits stay as the search ordered them."""
    cohere_api_key: SecretStr | None = None
    voyage_api_key: SecretStr | None = None
    auth: Annotated[Literal["off", "keys", "accounts"], AnyCase] = Field("off", alias="HELIX_AUTH")
    """``keys``: every request needs an API key, which decides whose documents it is about;
    ``accounts``: or the session of a person who signed in."""
    session_idle_hours: int = Field(168, ge=1, le=8760, alias="HELIX_SESSION_IDLE_HOURS")
    """The longest that a session may be unused; then it ends."""
    session_days: int = Field(30, ge=1, le=365, alias="HELIX_SESSION_DAYS")
    """The longest that a session lasts, however much it is used."""
    public_link_days: int = Field(0, ge=0, le=365, alias="HELIX_PUBLIC_LINK_DAYS")
    """The longest that a public link to an answer lasts; 0: there are none."""
    oidc: Annotated[
        tuple[OidcProvider, ...], BeforeValidator(read_json), AfterValidator(distinct_providers)
    ] = Field((), alias="HELIX_OIDC")
    """Providers of OpenID Connect, a JSON list of objects as OidcProvider has them."""
    proxy_addresses: Annotated[tuple[Network, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_PROXY_ADDRESSES"
    )
    """Addresses or networks of the proxies whose ``proxy_header`` says who signed in there."""
    proxy_header: str = Field("Remote-Email", pattern=r"^[A-Za-z][A-Za-z0-9-]*$",
                              alias="HELIX_PROXY_HEADER")  # fmt: skip
    """The header with the e-mail address of whoever signed in at the proxy."""
    public: Annotated[tuple[Public, ...], BeforeValidator(split_words)] = Field(
        (), alias="HELIX_PUBLIC"
    )
    """Parts of the server that are shown without a key all the same."""
    llm: Provider = Field("gemini", alias="HELIX_LLM")
    models: Annotated[tuple[Provider, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_MODELS"
    )
    """Models beside ``llm`` that a question may choose."""
    embedder: Provider = Field("gemini", alias="HELIX_EMBEDDER")
    model_server: Server | None = Field(None, alias="HELIX_MODEL_SERVER")
    """The OpenAI-compatible server of ``server:MODEL``, with the path in front of its routes."""
    model_server_key: SecretStr | None = Field(None, alias="HELIX_MODEL_SERVER_KEY")
    embed_server: Server | None = Field(None, alias="HELIX_EMBED_SERVER")
    """The same for embedders; None: the model server."""
    embed_server_key: SecretStr | None = Field(None, alias="HELIX_EMBED_SERVER_KEY")
    model_context: int | None = Field(None, ge=512, le=10**7, alias="HELIX_MODEL_CONTEXT")
    """Tokens of the context of a model of ``server`` or ``local``; None: as the server tells, and
    8192 of a model file, where it has as many."""
    answer_tokens: int | None = Field(None, ge=16, le=10**6, alias="HELIX_ANSWER_TOKENS")
    """The most tokens of one answer; None: 4096, or a quarter of a smaller context, and what their
    services allow of OpenAI and Anthropic. Gemini's models have limits of their own."""
    offline_risk: float = Field(0.4, gt=0, lt=1, alias="HELIX_OFFLINE_RISK")
    """The share of wrong answers up to which the offline answerer quotes, measured on questions
    like those of its calibration: the lower, the more it refuses."""
    local_threads: int | None = Field(None, ge=1, le=512, alias="HELIX_LOCAL_THREADS")
    """Threads that a model file computes with; None: as many as there are cores."""
    local_slots: int = Field(1, ge=1, le=64, alias="HELIX_LOCAL_SLOTS")
    """Answers that it writes at once, each with a context of its own."""
    local_memory_mb: int | None = Field(None, ge=128, le=2**20, alias="HELIX_LOCAL_MEMORY_MB")
    """The most memory that its process may take beside the file itself; None: any."""
    local_wait: float = Field(60.0, ge=1, le=3600, alias="HELIX_LOCAL_WAIT")
    """Seconds that a question waits while it is loaded."""
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
    prompts_folder: str | None = Field(None, alias="HELIX_PROMPTS_FOLDER")
    """A folder whose files, ``judge.md`` and so on, stand in place of shipped prompts."""
    audit_days: int = Field(90, ge=0, le=3650, alias="HELIX_AUDIT_DAYS")
    """Days that an event of the audit log is kept; 0 keeps none."""
    usage_days: int = Field(400, ge=0, le=3650, alias="HELIX_USAGE_DAYS")
    """Days that is kept what people and keys used; 0 counts and limits nothing."""
    keep_versions_days: int = Field(0, ge=0, le=3650, alias="HELIX_KEEP_VERSIONS_DAYS")
    """Days that a version of a document is kept after it was replaced; 0 keeps none."""
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
    """The switch of suggested questions; ``auto``: where asking them costs nothing."""
    workers: int = Field(1, ge=0, le=64, alias="HELIX_WORKERS")
    """Worker processes that a server starts when there is something to ingest."""
    allow_hosts: Annotated[tuple[Host, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_ALLOW_HOSTS"
    )
    """Hosts that web imports may reach although their address is private."""
    source_folders: Annotated[tuple[str, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_SOURCE_FOLDERS"
    )
    """Folders that sources added over HTTP may lie in."""
    removals: int = Field(100, ge=0, le=10**9, alias="HELIX_REMOVALS")
    """Documents gone from a source that a sync removes by itself, at most."""
    removal_percent: int = Field(20, ge=0, le=100, alias="HELIX_REMOVAL_PERCENT")
    """The same as a share of the source's documents, from the sixth on; more waits for a yes."""
    web_imports: bool = Field(True, alias="HELIX_WEB_IMPORTS")
    """True if pages of the web may be brought in over HTTP."""
    secrets_keys: Annotated[tuple[SecretsKey, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_SECRETS_KEY"
    )
    """Keys that secrets of sources are encrypted with: by the first; each decrypts."""
    source_readers: Annotated[tuple[ReaderClass, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_SOURCE_READERS"
    )
    """Classes of readers that a source added over HTTP may be of."""
    cors_origins: Annotated[tuple[Origin, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_CORS_ORIGINS"
    )
    hosts: Annotated[tuple[HostName, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_HOSTS"
    )
    """Host names that requests may have, beside those of this machine."""
    url: Server | None = Field(None, alias="HELIX_URL")
    """The server's public address, in front of links; None: the address of each request."""
    tag_models: Annotated[tuple[str, ...], BeforeValidator(split_names)] = Field(
        (), alias="HELIX_TAG_MODELS"
    )
    """Tags for which the OpenAI-compatible routes offer a model ``helix:TAG``."""
    open_network: bool = Field(False, alias="HELIX_OPEN_NETWORK")
    """True if the server may listen on other addresses than loopback without API keys."""
    receipt_days: int = Field(30, ge=0, le=3650, alias="HELIX_RECEIPT_DAYS")
    """Days that an answer's receipt is kept."""
    signing_key: SigningSeed | None = Field(None, alias="HELIX_SIGNING_KEY")
    """The private key that answers are signed with; None: one that the database keeps."""
    feedback_days: int = Field(0, ge=0, le=3650, alias="HELIX_FEEDBACK_DAYS")
    """Days that feedback is kept; 0: as long as the receipt of its answer."""
    run_days: int = Field(0, ge=0, le=3650, alias="HELIX_RUN_DAYS")
    """Days that an ended run is kept, with the list of its files; 0: for ever."""
    study: Annotated[Literal["off", "on"], AnyCase] = Field("on", alias="HELIX_STUDY")
    """Quizzes, cards, workshops, maps, progress and speech; ``off`` loads nothing of them."""
    study_retention: float = Field(0.9, ge=0.7, le=0.97, alias="HELIX_STUDY_RETENTION")
    """The probability with which a card should be remembered when it comes again."""
    progress: Annotated[Literal["ask", "on", "off"], AnyCase] = Field("ask", alias="HELIX_PROGRESS")
    """The learners whose progress is kept; ``ask``: those who have turned it on."""
    study_idle_seconds: int = Field(900, ge=60, le=86400, alias="HELIX_STUDY_IDLE_SECONDS")
    """The longest gap between two actions of one session."""
    voice_model: str | None = Field(None, alias="HELIX_VOICE_MODEL")
    """The folder of a Whisper model; None: the answering model transcribes, if it takes audio."""
    guards: Annotated[tuple[Guard, ...], BeforeValidator(split_words)] = Field(
        ("injection", "hygiene"), alias="HELIX_GUARDS"
    )
    answer_form: Annotated[AnswerForm, AnyCase] = Field("auto", alias="HELIX_ANSWER_FORM")
    """The form of a model's answer: plain text, or blocks held to a JSON schema."""
    judge: Provider | None = Field(None, alias="HELIX_JUDGE")
    """The model that judges answers; None: the one that answers."""
    mark_unproven: bool = Field(True, alias="HELIX_MARK_UNPROVEN")
    """True if OpenAI's clients are told in the text that no statement of it is borne out."""
    withhold: Annotated[Withhold, BeforeValidator(read_withhold)] = Field(
        "off", alias="HELIX_WITHHOLD"
    )
    """``answer``: one that the judge does not call grounded becomes the refusal; ``sentence``: what
    no source bears out is left out before it is sent."""
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
            value = LIMITS.get(field, 0) if self.auth != "off" else 0
        return variable_of(field, type(self).model_fields[field]), value

    @model_validator(mode="after")
    def _key_when_gemini(self) -> Settings:
        chosen = (
            self.llm, *self.models, self.embedder, self.embedder_next or "", self.judge or "",
        )  # fmt: skip
        needs = {name.partition(":")[0] for name in chosen}
        key = self.gemini_api_key.get_secret_value() if self.gemini_api_key else ""
        if "gemini" in needs and not key.strip():
            raise SettingsError(f"GEMINI_API_KEY is not set: {REMEDIES['GEMINI_API_KEY']}")
        return self

    @model_validator(mode="after")
    def _overlap_within_a_chunk(self) -> Settings:
        if self.chunk_overlap_tokens * 2 > self.chunk_target_tokens:
            raise SettingsError(
                f"CHUNK_OVERLAP_TOKENS is {self.chunk_overlap_tokens}, more than half of"
                f" CHUNK_TARGET_TOKENS: set it to {self.chunk_target_tokens // 2} or less"
            )
        return self

    @model_validator(mode="after")
    def _address_when_server(self) -> Settings:
        models = {(name or "").partition(":")[0] for name in (self.llm, self.judge, *self.models)}
        embedders = {(name or "").partition(":")[0] for name in (self.embedder, self.embedder_next)}
        missing = "server" in models or ("server" in embedders and self.embed_server is None)
        if missing and self.model_server is None:
            raise SettingsError(f"HELIX_MODEL_SERVER is not set: {REMEDIES['HELIX_MODEL_SERVER']}")
        return self


HOW = {
    variable_of(name, field): remedy_of(name, field)
    for name, field in Settings.model_fields.items()
}
"""The remedy for each variable: the end of the one line that a bad value stops with."""

"""The environment variable of each setting, and the words that say how to set it."""

from __future__ import annotations

from typing import get_args

from pydantic.fields import FieldInfo

REMEDIES = {
    "DATABASE_URL": (
        "set it to postgresql://user:password@host:5432/name, or run `helix up`, which sets it to"
        " embedded"
    ),
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
    "GEMINI_MODEL": "set it to auto, or to a Gemini model id such as gemini-3.5-flash-lite",
    "EMBED_MODEL": "set it to a Gemini embedding model id such as gemini-embedding-001",
    "HELIX_FUSION": "set it to rrf, or to the share of the dense score from 0 to 1, such as 0.5",
    "HELIX_RERANKER": "set it to none, cohere, voyage or cross-encoder, with :model if you like",
    "COHERE_API_KEY": "get one at https://dashboard.cohere.com/api-keys",
    "VOYAGE_API_KEY": "get one at https://dashboard.voyageai.com",
    "HELIX_LLM": "set it to gemini, offline, or provider:model",
    "HELIX_MODELS": "set it to names such as offline or provider:model, separated by commas",
    "HELIX_EMBEDDER": "set it to gemini, offline, or provider:model",
    "HELIX_MODEL_SERVER": "set it to the address of its API, such as http://localhost:8000/v1",
    "HELIX_MODEL_SERVER_KEY": "set it to the key that the model server asks for, or leave it out",
    "HELIX_EMBED_SERVER": "set it like HELIX_MODEL_SERVER, or leave it out",
    "HELIX_EMBED_SERVER_KEY": "set it to the key of HELIX_EMBED_SERVER, or leave it out",
    "HELIX_OFFLINE_RISK": "set it to a number above 0 and below 1, such as 0.4",
    "HELIX_MODEL_FOLDER": "set it to a folder for model files, or leave it out",
    "HELIX_EMBEDDER_NEXT": "set it like HELIX_EMBEDDER, or leave it out",
    "HELIX_ALLOW_HOSTS": "set it to host names such as wiki.example.lan, separated by commas",
    "HELIX_SOURCE_FOLDERS": "set it to folders such as /srv/shared, separated by commas",
    "HELIX_HOSTS": "set it to host names such as docs.example.com, separated by commas",
    "HELIX_CORS_ORIGINS": "set it to origins such as https://app.example.com, separated by commas",
    "HELIX_URL": "set it to the address that clients use, such as https://docs.example.com",
    "HELIX_TAG_MODELS": "set it to tags of documents, separated by commas",
    "HELIX_SIGNING_KEY": "set it to what `openssl rand -hex 32` prints, or leave it out",
    "HELIX_SECRETS_KEY": "set it to what `openssl rand -hex 32` prints; to change it, NEW,OLD",
    "HELIX_SOURCE_READERS": (
        "set it to classes such as llama_index.readers.jira:JiraReader, separated by commas"
    ),
    "HELIX_EMBEDDED_METADATA": "set it to keys of metadata, letters, digits or _ . - with"
    " a letter first, separated by commas",
    "HELIX_GUARDS": "set it to none, or to some of injection, hygiene, verdict, with commas",
    "HELIX_SERVER": "set it to a server's address such as http://localhost:8080, or leave it out",
    "HELIX_API_KEY": "set it to a key that `helix keys create` printed, or leave it out",
    "HELIX_FILES": "set it to s3://bucket or s3://bucket/prefix, or leave it out",
    "HELIX_PROXY_ADDRESSES": (
        "set it to addresses or networks such as 10.0.0.7,172.16.0.0/12, or leave it out"
    ),
    "HELIX_PROXY_HEADER": "set it to the name of a header such as Remote-Email",
    "HELIX_OIDC": (
        'set it to JSON such as [{"name": "corp", "issuer": "https://id.example.com",'
        ' "client_id": "helix", "client_secret": "…"}], or leave it out'
    ),
    "HELIX_PUBLIC": "set it to some of metrics, docs, privacy, evals, with commas, or leave it out",
    "HELIX_VOICE_MODEL": "set it to the folder of a Whisper model, or leave it out",
    "HELIX_PROMPTS_FOLDER": "set it to a folder of prompts such as judge.md, or leave it out",
    "HELIX_JUDGE": "set it to gemini, offline, or provider:model, or leave it out",
}
"""Remedies of the variables whose type and bounds do not say it all."""


def variable_of(name: str, field: FieldInfo) -> str:
    """The environment variable that the field ``name`` is read from."""
    return (field.alias or name).upper()


def bounds_of(field: FieldInfo) -> tuple[float, float] | None:
    """The least and the largest number that ``field`` takes; None if it takes no number."""
    least = [each.ge for each in field.metadata if hasattr(each, "ge")]
    largest = [each.le for each in field.metadata if hasattr(each, "le")]
    return (least[0], largest[0]) if least and largest else None


def remedy_of(name: str, field: FieldInfo) -> str:
    """The remedy of the field ``name``, as words that follow a colon."""
    if known := REMEDIES.get(variable_of(name, field)):
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

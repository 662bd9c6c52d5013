"""Sentence encoders in this process: LlamaIndex's HuggingFaceEmbedding, extra ``huggingface``."""

from helix.providers.integrations import Integration

EMBEDDING = Integration(
    "llama_index.embeddings.huggingface",
    "HuggingFaceEmbedding",
    lambda settings, model: {"model_name": model},
    # calibrated on SQuAD articles at 80% coverage; other models need RETRIEVAL_MAX_DISTANCE
    max_distances={
        "all-MiniLM-L6-v2": 0.537,
        "sentence-transformers/all-MiniLM-L6-v2": 0.537,
    },
)

huggingface_embedder = EMBEDDING.embedder

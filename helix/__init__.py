"""Helix answers questions from your documents, with citations that resolve, or says it cannot."""

import os

from helix.storage.lazy_packages import import_lazily

# Before numpy is imported: its linear algebra would start a thread a core, which spin for 10 ms
# after each answer. The matrices here are small, and other answers want the cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Before LlamaIndex is imported: its packages import all of it.
import_lazily("llama_index.core")

__version__ = "0.3.0"

"""A server over samples/, as anybody starts one, for the clients that others wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.repository import ROOT
from tests.support.server_processes import served
from tests.support.service_process import run

MODEL = ROOT / "build" / "models" / "qwen2.5-coder-0.5b-instruct.gguf"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the servers' logs, and of the clients' own settings."""
    return tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> dict[str, str]:
    """The settings of a database that has samples/."""
    values = {"DATABASE_URL": module_database_url, "HELIX_EMBEDDER": "offline"}
    # in a process of its own: the browser of a test has an event loop in this one
    done = run("-m", "pipelines.ingest", str(ROOT / "samples"), HELIX_LLM="offline", **values)
    assert done.returncode == 0, done.stderr
    return values


@pytest.fixture(scope="module")
def server(filled: dict[str, str], folder: Path) -> Iterator[str]:
    """The address of a server that answers by quotation."""
    with served(folder / "offline.log", HELIX_LLM="offline", **filled) as service:
        yield service.url


@pytest.fixture(scope="module")
def server_with_model(filled: dict[str, str], folder: Path) -> Iterator[str]:
    """The address of a server whose answers a language model writes, and whose forms it fills."""
    values = {"HELIX_LLM": f"local:{MODEL}", "RETRIEVAL_TOP_K": "2", "HELIX_MODEL_TIMEOUT": "280"}
    with served(folder / "model.log", **filled, **values) as service:
        yield service.url

"""llama.cpp's server as a child: up when its block starts, gone when it ends or its parent does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import psutil
import pytest

from evals.real.llama import serving
from evals.real.models import ModelError
from tests.support.llama_server import llama_server
from tests.support.repository import ROOT
from tests.support.service_process import eventually

pytestmark = pytest.mark.processes

_PARENT = """
import time
from tests.support.llama_server import llama_server
with llama_server() as server:
    print(server.process.pid, flush=True)
    time.sleep(600)
"""


def test_a_server_answers_those_who_have_its_key_and_ends_with_its_block() -> None:
    with llama_server() as server:
        assert server.get("/v1/models")["data"][0]["meta"]["n_ctx"] == 4096
        assert not server.generating()
        assert httpx.get(f"{server.api}/models").status_code == 401
    assert server.process.returncode == 0
    with pytest.raises(httpx.ConnectError):
        server.get("/health")


def test_a_server_does_not_outlive_a_killed_parent() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert eventually(lambda: not psutil.pid_exists(child))


def test_a_file_that_is_no_model_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "no.gguf"
    file.write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"^llama\.cpp did not start: .+$"), serving(file):
        pass

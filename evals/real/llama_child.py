"""The process that serves a GGUF file by llama.cpp until its standard input ends.

The first line of standard input is a JSON object: ``model`` (path), ``key``, ``context`` (tokens a
slot), ``slots``, ``threads``, ``sampling`` (llama.cpp's settings of it, by name). Once the model is
loaded, one line goes to standard output: the address, on loopback. llama.cpp's log is on standard
error.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

import xllamacpp

_PR_SET_PDEATHSIG = 1


def _die_with_parent() -> None:
    """Linux ends this process with its parent, also while loading, when nothing reads input."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def main() -> None:
    """Serve as the first line of standard input says."""
    _die_with_parent()
    asked = json.loads(sys.stdin.readline())
    params = xllamacpp.CommonParams()
    params.model.path = asked["model"]
    params.model_alias = {Path(asked["model"]).stem}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [asked["key"]]
    params.n_parallel = asked["slots"]
    for name, value in asked["sampling"].items():
        setattr(params.sampling, name, value)
    params.n_ctx = asked["context"] * asked["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked["threads"]
    params.use_jinja = params.endpoint_slots = True
    params.ui = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # without waiting for what is being generated


if __name__ == "__main__":
    main()

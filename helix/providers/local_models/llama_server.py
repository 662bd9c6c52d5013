"""The process that is llama.cpp's server over one model: ``python -m`` this, by its supervisor.

The first line of standard input is a JSON object: the fields of ServerOptions, the ``key`` that
requests need, the supervisor's process id as ``parent``. Once the model is loaded, its address, on
loopback, is the one line of standard output. It ends when standard input does, and with its
supervisor.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_WARNINGS = 2
"""llama.cpp's verbosity: what goes wrong, and no word of a prompt."""
_PROMPT_CACHE_MB = 256
"""Of earlier prompts; llama.cpp's own default is 8 GB."""
_BATCH_TOKENS = 256
"""Tokens of a prompt that are read at once. Between two batches the server sees that a client left,
and takes other questions."""
_PING_SECONDS = 5
"""Between signs of life while a question waits for a slot or its prompt is read."""
SPINS = "300"
"""Looks of a thread at whether the others are done, before it sleeps. OpenMP's own 300,000 burn the
processors on which the others wait to run: beside two busy processes a first answer took 24 s, 12
of a processor, and takes 13 s, 5 of a processor (SmolLM2 135M, two threads on two cores). Without
any look tokens come slower where the cores are free."""


def end_with(parent: int) -> None:
    """Have the kernel kill this process when its ``parent`` ends, also while a model loads."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit("the supervisor has ended")


def limit_memory(megabytes: int) -> None:
    """Let this process have so many ``megabytes`` beside mapped files, 0: any number, and be killed
    before the database where memory runs out.
    """
    if megabytes:
        import resource

        size = megabytes << 20
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))
    if sys.platform == "linux":  # where memory runs out, this goes before the database does
        Path("/proc/self/oom_score_adj").write_text("500")


def parameters(asked: dict[str, Any]) -> Any:
    """llama.cpp's parameters for what the supervisor asked for."""
    import xllamacpp  # 100 MB of code

    params = xllamacpp.CommonParams()
    params.model.path = asked["model"]
    params.model_alias = {Path(asked["model"]).name}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.api_keys = [asked["key"]]
    params.n_parallel = asked["slots"]
    params.n_ctx = asked["context"] * asked["slots"]
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = asked["threads"]
    params.n_batch = params.n_ubatch = _BATCH_TOKENS
    params.use_jinja = params.endpoint_slots = True
    params.ui = False
    params.verbosity = _WARNINGS
    params.cache_ram_mib = _PROMPT_CACHE_MB
    params.sse_ping_interval = _PING_SECONDS
    params.warmup = False  # the question that waits for the model reads it all the same
    params.fit_params = _on_graphics(xllamacpp)  # else it reads the file's head twice for nothing
    return params


def _on_graphics(xllamacpp: Any) -> bool:
    """True where layers may go to a graphics processor, so that its memory decides how many."""
    kinds = xllamacpp.ggml_backend_dev_type
    graphics = kinds.GGML_BACKEND_DEVICE_TYPE_GPU, kinds.GGML_BACKEND_DEVICE_TYPE_IGPU
    return any(device["type"] in graphics for device in xllamacpp.get_device_info())


def main() -> None:
    """Serve as the first line of standard input says."""
    asked = json.loads(sys.stdin.readline())
    told = os.dup(1)
    os.dup2(2, 1)  # what the library prints is for the log
    end_with(asked["parent"])
    limit_memory(asked["memory_mb"])
    os.environ["GOMP_SPINCOUNT"] = SPINS  # OpenMP reads it once, when it is loaded
    import xllamacpp

    server = xllamacpp.Server(parameters(asked))
    os.write(told, f"{server.listening_address}\n".encode())
    sys.stdin.read()
    os._exit(0)  # without waiting for what is being generated


if __name__ == "__main__":
    main()

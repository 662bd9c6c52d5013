"""llama.cpp's server over the smallest test model, or one that holds more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evals.real.llama import LlamaServer, serving
from evals.real.models import SMALL, model_file


@contextmanager
def llama_server(name: str = SMALL, **options: Any) -> Iterator[LlamaServer]:
    """The server of ``name``, of evals.real.models.MODELS, loaded when the block starts.

    ``options`` are as evals.real.llama.serving has them; it has one thread, for several wait for
    each other at work, and other tests have the processors too.
    """
    file = model_file(name)
    assert file.is_file(), f"{file} is not there: run `make models`"
    with serving(file, **{"threads": 1, **options}) as server:
        yield server

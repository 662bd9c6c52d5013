"""HELIX_STUDY: with it off a server has no study, and loads nothing of it."""

from __future__ import annotations

import ast
import asyncio
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from helix.errors import SettingsError
from helix.library.runs import begin_run
from helix.serving.routes.study import ROUTERS
from helix.settings import load_settings
from helix.store import ChunkStore
from helix.study.sets import NewSet, order_set
from pipelines.runs.run_steps import carry_out_study
from tests.support.cli_runner import helix
from tests.support.live_server import OFFLINE, live
from tests.support.repository import ROOT

pytestmark = pytest.mark.processes

STARTED = """
import asyncio, sys
from helix.app import create_app
from helix.settings import load_settings

async def start():
    application = create_app(load_settings())
    async with application.router.lifespan_context(application):
        print(sorted(name for name in sys.modules if ".study" in name or ".voice" in name))

asyncio.run(start())
"""


@pytest.fixture(scope="module")
def without(module_database_url: str) -> Iterator[httpx.Client]:
    with live(module_database_url, study="off") as client:
        yield client


@pytest.mark.parametrize("study", ["on", "off"])
def test_a_server_without_study_loads_none_of_it(database_url: str, study: str) -> None:
    environment = {
        "PYTHONPATH": str(ROOT), "DATABASE_URL": database_url, "HELIX_STUDY": study,
        "HELIX_LLM": "offline", "HELIX_EMBEDDER": "offline", "HELIX_WORKERS": "0",
    }  # fmt: skip
    started = subprocess.run(
        [sys.executable, "-c", STARTED], env=environment, cwd="/", capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert started.returncode == 0, started.stderr
    loaded = ast.literal_eval(started.stdout.splitlines()[-1])
    assert ("helix.study.services" in loaded) == (study == "on")
    assert study == "on" or loaded == []


def test_without_study_its_routes_are_not_found(without: httpx.Client) -> None:
    called = 0
    for route in (route for router in ROUTERS for route in router.routes):
        path = "".join("1" if part.startswith("{") else part for part in _parts(route.path))  # type: ignore[attr-defined]
        for method in route.methods:  # type: ignore[attr-defined]
            response = without.request(method, path)
            assert response.status_code == 404, path
            assert f"there is no route {method} {path}" in response.json()["error"]
            called += 1
    assert called > 20
    assert not [path for path in without.get("/openapi.json").json()["paths"] if "study" in path]


def _parts(path: str) -> list[str]:
    return path.replace("{", "\n{").replace("}", "}\n").split("\n")


def test_without_study_questions_are_answered_and_the_server_says_so(without: httpx.Client) -> None:
    about = without.get("/v1/about").json()
    assert (about["study"], about["voice"]) == (False, False)
    conversation = without.post("/v1/conversations", json={}).json()["id"]
    asked = without.post(f"/v1/conversations/{conversation}/messages", json={"question": "Why?"})
    assert asked.status_code == 200


def test_the_command_says_that_study_is_off(
    without: httpx.Client, module_database_url: str
) -> None:
    address = str(without.base_url).rstrip("/")
    for where, asked in (
        (f"at {address}", {"HELIX_SERVER": address}),
        ("here", {"DATABASE_URL": module_database_url, "HELIX_STUDY": "off"}),
    ):
        told = helix("study", "list", HELIX_LLM="offline", HELIX_EMBEDDER="offline", **asked)
        assert told.returncode == 1
        assert told.stderr == f"helix: study is off {where}: HELIX_STUDY=on turns it on\n"


def test_a_run_that_waited_for_a_set_ends_with_the_reason(
    store: ChunkStore, texts: dict[str, int]
) -> None:
    with store.connection() as connection:
        order_set(connection, store.tenant, NewSet("cards", document_ids=[*texts.values()]))
        [(number,)] = connection.execute("SELECT id FROM runs").fetchall()
        run = begin_run(connection, number)
    assert run is not None
    settings = load_settings(database_url=store.connections.url, study="off", **OFFLINE)
    with pytest.raises(SettingsError, match="study is off"):
        asyncio.run(carry_out_study(settings, store, run))

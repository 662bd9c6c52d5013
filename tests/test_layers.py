"""The architecture as tests: import direction, rooms and floors, lazy vendors."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.support.repository import ROOT

MAY_NOT_IMPORT = {
    "db": {"helix", "pipelines", "evals", "benchmarks", "tests"},
    "helix": {"pipelines", "evals", "benchmarks", "tests"},
    "pipelines": {"evals", "benchmarks", "tests"},
    "evals": {"benchmarks", "tests"},
    "benchmarks": {"tests"},
}

VENDORS = ("google.genai", "wordllama", "helix.providers.gemini")


FLOORS = (
    {"errors", "language", "overload"},
    {"client", "domain", "evidence", "sandbox"},
    {"settings", "storage", "telemetry"},
    {"library", "providers"},
    {"retrieval"},
    {"answering"},
    {"agent", "conversations", "protocols", "study"},
    {"services"},
    {"serving"},
    {"app"},
    {"commands"},
    {"cli"},
)
"""The rooms of ``helix``, lowest first: a room imports only rooms of lower floors."""
PUBLIC_NAMES = {"__main__", "query_engine", "retriever", "store"}
"""Modules that hand on a name, or the command, to other people; no room imports them."""

MOST = (24, 14, 132)
"""Rooms, floors and arrows: an arrow is that one room imports another."""

FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def _modules(outer: str) -> dict[str, Path]:
    """The modules below the folder ``outer`` of the checkout, by dotted name."""
    return {
        ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
        for file in sorted((ROOT / outer).rglob("*.py"))
    }


@cache
def _imports(file: Path) -> tuple[str, ...]:
    """The dotted names that ``file`` imports, each name of a ``from`` import on its own."""
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def _room(module: str) -> str:
    """The room of ``helix`` that a dotted name lies in; ``helix`` itself for its version."""
    return module.split(".")[1] if "." in module else module


@pytest.mark.parametrize("outer", sorted(MAY_NOT_IMPORT))
def test_import_direction(outer: str) -> None:
    wrong = [
        f"{module} imports {name}"
        for module, file in _modules(outer).items()
        for name in _imports(file)
        if name.partition(".")[0] in MAY_NOT_IMPORT[outer]
    ]
    assert not wrong


def test_every_room_of_helix_has_a_floor() -> None:
    rooms = {_room(module) for module in _modules("helix")} - {"helix"}
    assert rooms == set(FLOOR_OF) | PUBLIC_NAMES


def _arrows() -> Iterator[tuple[str, str]]:
    """Every import of one room of ``helix`` from another: the module, and the name it imports."""
    for module, file in _modules("helix").items():
        for name in _imports(file):
            is_ours = name.startswith("helix.") and name != "helix.__version__"
            if is_ours and _room(module) in FLOOR_OF and _room(module) != _room(name):
                yield module, name


def test_a_room_of_helix_imports_only_rooms_below_it() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, name in _arrows()
        if FLOOR_OF.get(_room(name), len(FLOORS)) >= FLOOR_OF[_room(module)]
    ]
    assert not wrong


def test_rooms_floors_and_arrows_are_few_and_told() -> None:
    arrows = {(_room(module), _room(name)) for module, name in _arrows()}
    counts = len(FLOOR_OF), len(FLOORS), len(arrows)
    assert all(count <= most for count, most in zip(counts, MOST, strict=True)), counts
    text = (ROOT / "CONTRIBUTING.md").read_text()
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| [^|]+ \|$", text, re.MULTILINE)
    assert {room: int(floor) - 1 for floor, room in rows} == FLOOR_OF
    assert "there are {} rooms on {} floors".format(*counts) in text
    assert "{} rooms, {} floors, {} arrows".format(*MOST) in text


@pytest.mark.parametrize("outer", ["db", "helix", "pipelines", "evals", "benchmarks"])
def test_no_circle_of_modules(outer: str) -> None:
    modules = _modules(outer)
    graph = {
        module: {_longest(name, modules) for name in _imports(file)} - {module, None}
        for module, file in modules.items()
        if file.name != "__init__.py"  # a package's face hands on what is below it
    }
    assert len(graph) > 1
    assert _circle(graph) == []


def test_a_circle_of_modules_is_seen() -> None:
    assert _circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert _circle({"a": {"b"}, "b": {"c"}, "d": {"a"}}) == []


def _circle(graph: Mapping[str, Collection[str | None]]) -> list[str]:
    """The modules of one circle of imports, its first at its end too; empty where there is none."""
    try:
        tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        return [str(module) for module in error.args[1]]
    return []


def _longest(name: str, modules: Collection[str]) -> str | None:
    """The module that an imported ``name`` is, or is a name of."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def interpreter(code: str) -> subprocess.CompletedProcess[str]:
    """The result of ``code`` in a fresh interpreter without a variable."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd="/", env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def loaded(code: str, unwanted: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """An interpreter that runs ``code`` and prints last which of ``unwanted`` it has loaded."""
    told = f"[name for name in {unwanted!r} if name in sys.modules]"
    return interpreter(f"import sys; {code}; print({told})")


@pytest.fixture(scope="module")
def imported() -> subprocess.CompletedProcess[str]:
    """An interpreter that imports the application and tells of vendors."""
    told = f"[name for name in sys.modules if name.startswith({VENDORS!r})]"
    return interpreter(f"import sys, helix.app, helix.cli; print({told})")


@pytest.mark.processes
def test_a_vendor_is_imported_only_when_it_is_chosen(
    imported: subprocess.CompletedProcess[str],
) -> None:
    assert imported.stdout.strip() == "[]"


@pytest.mark.processes
def test_a_run_over_unchanged_files_loads_no_heavy_library() -> None:
    heavy = ("llama_index", "dbos", "numpy", "sqlalchemy")
    asked = loaded("import pipelines.ingest, pipelines.runs.path_plan", heavy)
    assert asked.stdout.strip() == "[]", asked.stderr


@pytest.mark.processes
def test_ingestion_loads_nothing_of_answering() -> None:
    programs = "pipelines.ingest, pipelines.crawl, pipelines.worker, pipelines.runs.foreground"
    told = "sorted({name.split('.')[1] for name in sys.modules if name.startswith('helix.')})"
    asked = interpreter(f"import sys, {programs}; print(*{told})")
    rooms = set(asked.stdout.split())
    assert "storage" in rooms, asked.stderr
    assert not rooms & {"agent", "answering", "conversations", "protocols", "serving", "study"}


@pytest.mark.processes
def test_a_question_loads_only_what_it_has_a_use_for() -> None:
    parts = ("chat_engine", "memory", "indices.vector_store", "agent", "query_engine")
    vendors = ("sqlalchemy", "psycopg2", "httpx", "rich")
    unwanted = (*vendors, *(f"llama_index.core.{part}" for part in parts))
    needed = "helix.commands.ask, helix.commands.service.service_choice"
    asked = loaded(f"import helix.services, helix.providers.offline, {needed}", unwanted)
    assert asked.stdout.strip() == "[]", asked.stderr


@pytest.mark.processes
def test_the_list_of_commands_loads_no_command() -> None:
    heavy = ("helix.settings", "pydantic", "rich", "psycopg", "asyncio", "llama_index")
    listed = "sys.argv = ['helix', '--help']; from helix.cli import cli; cli(standalone_mode=False)"
    asked = loaded(listed, heavy)
    assert "\n  ask " in asked.stdout and asked.stdout.splitlines()[-1] == "[]", asked.stderr


@pytest.mark.processes
def test_importing_the_app_reads_no_setting(imported: subprocess.CompletedProcess[str]) -> None:
    assert imported.returncode == 0, imported.stderr


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    lines = re.findall(r"^make ([a-z ]+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    named = {target for line in lines for target in line.split()}
    assert {"demo", "test"} <= named <= targets


def test_no_index_address_is_committed() -> None:
    pinned = (ROOT / "constraints.txt").read_text()
    assert "://" not in pinned and " @ " not in pinned
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==\S+|#.*|", line) for line in pinned.splitlines())

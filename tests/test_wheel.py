"""The wheel: one name in site-packages, and a ``helix`` command that needs no checkout."""

from __future__ import annotations

import re
import shutil
import site
import socket
import subprocess
import sys
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path

import httpx
import pytest

from helix.cli import COMMANDS
from tests.support.repository import ROOT
from tests.support.service_process import environment, eventually

pytestmark = pytest.mark.processes

_BUILD = "import setuptools.build_meta as b, sys; print(b.build_wheel(sys.argv[1]))"
_IMPORT_ALL = """
import importlib, pkgutil, sys, helix
names = [m.name for m in pkgutil.walk_packages(helix.__path__, "helix.")]
general = {"db", "pipelines", "evals", "benchmarks"}
for name in names:
    if name.endswith("__main__"):  # that is a program
        continue
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # a vendor's package, which is an extra
        if error.name.partition(".")[0] in {"helix", *general}:
            raise
print(len(names), helix.__file__, *general & set(sys.modules))
"""
_HELP = """
import sys
from helix.cli import main
for name in sys.argv[1:]:
    sys.argv = ["helix", name, "--help"]
    try:
        main()
    except SystemExit as ended:
        assert not ended.code
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the checkout, with the setuptools that is installed, offline."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    ignored = shutil.ignore_patterns(".*", "build", "*.egg-info", "__pycache__", "tests", "docs")
    shutil.copytree(ROOT, source, ignore=ignored)
    command = [sys.executable, "-c", _BUILD, str(folder)]
    done = subprocess.run(command, cwd=source, check=True, capture_output=True, text=True)
    return folder / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """The interpreter of an environment with this one's packages, but Helix from the wheel."""
    folder = wheel.parent / "venv"
    venv.create(folder, symlinks=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    # a folder named in a .pth file is searched, its own .pth files, the editable one, are not read
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()))
    python = folder / "bin" / "python"
    script = folder / "bin" / "helix"
    script.write_text(f"#!{python}\nimport sys\nfrom helix.cli import main\nsys.exit(main())\n")
    script.chmod(0o755)
    return python


def _environment(**values: str) -> dict[str, str]:
    return {name: v for name, v in environment(**values).items() if name != "PYTHONPATH"}


def test_one_name_goes_into_site_packages(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    (info,) = {name.partition("/")[0] for name in names if ".dist-info/" in name}
    assert {name.partition("/")[0] for name in names} == {"helix", info}
    assert zipfile.ZipFile(wheel).read(f"{info}/top_level.txt") == b"helix\n"
    assert {"helix/db/schema.sql", "helix/py.typed", "helix/web/index.html"} < set(names)
    samples = {f"helix/samples/{file.name}" for file in (ROOT / "samples").iterdir()}
    assert samples == {name for name in names if name.startswith("helix/samples/")}


def test_the_command_is_its_entry_point(wheel: Path) -> None:
    (path,) = (n for n in zipfile.ZipFile(wheel).namelist() if n.endswith("entry_points.txt"))
    parser = ConfigParser()
    parser.read_string(zipfile.ZipFile(wheel).read(path).decode())
    assert dict(parser["console_scripts"]) == {"helix": "helix.cli:main"}


def test_every_module_imports_under_its_name_in_the_wheel(python: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [python, "-c", _IMPORT_ALL],
        cwd=tmp_path, env=_environment(), check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    count, place, *general = done.stdout.split()
    assert int(count) > 200
    assert Path(place).is_relative_to(python.parents[1])
    assert general == []


def test_no_general_name_is_left_in_the_wheel(wheel: Path) -> None:
    """In imports, in modules that a string names, in commands that a message tells to run."""
    name = "(db|pipelines)"
    general = re.compile(
        rf"^ *(from|import) {name}\b|[\"'`]{name}\.[a-z]|-m {name}\.", re.MULTILINE
    )
    archive = zipfile.ZipFile(wheel)
    sources = (name for name in archive.namelist() if name.endswith(".py"))
    assert [name for name in sources if general.search(archive.read(name).decode())] == []


def test_every_program_is_found(python: Path, tmp_path: Path) -> None:
    names = [name for name, one in COMMANDS.items() if one.where.startswith("pipelines.")]
    command = [str(python), "-c", _HELP, *names]
    told = subprocess.run(
        command, cwd=tmp_path, env=_environment(), check=True, capture_output=True, text=True
    ).stdout
    assert len(names) > 3 and re.findall("^Usage: helix (.+?) ", told, re.MULTILINE) == names


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_demo_ingest_and_serve_without_a_checkout(python: Path, tmp_path: Path) -> None:
    helix, folder = python.with_name("helix"), tmp_path / "documents"
    # a folder of documents may hold anything: none of it passes for a module
    for trap in ("json.py", "db/__init__.py", "helix/__init__.py", "pipelines/__init__.py"):
        (folder / trap).parent.mkdir(parents=True, exist_ok=True)
        (folder / trap).write_text("raise SystemExit('imported from the folder')")
    (folder / "leave.md").write_text("# Leave\n\nEverybody has 28 days of leave a year.\n")
    tmp_path.chmod(0o755)  # as root, Postgres runs as another user
    variables = _environment(
        DATABASE_URL=f"embedded:{tmp_path / 'postgres'}",
        HELIX_LLM="offline", HELIX_EMBEDDER="offline", HELIX_WORKERS="1",
    )  # fmt: skip

    def run(*arguments: str, **values: str) -> str:
        done = subprocess.run(
            [helix, *arguments],
            cwd=folder, env=values, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "accepted " in run("demo", **_environment())
    assert "up to date" in run("migrate", **variables)
    assert "1 added" in run("ingest", "leave.md", **variables)
    assert "28 days" in run("ask", "How many days of leave a year has everybody?", **variables)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen([helix, "serve", "--port", str(port)], cwd=folder, env=variables)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            assert eventually(lambda: _healthy(client), 60)
            assert "Helix" in client.get("/").text
            files = {"file": ("rates.txt", b"A hotel night costs 140 euros.")}
            run_id = client.post("/v1/documents", files=files).json()["run_id"]
            path = f"/v1/runs/{run_id}"
            assert eventually(lambda: client.get(path).json()["status"] == "done", 60)
    finally:
        server.terminate()
        server.wait(60)


def _healthy(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:  # not listening yet
        return False

"""A newcomer's path: from a clone to a right answer on an own PDF in the browser, timed by step.

The commands are the README's, run in a clone of what this checkout has committed; the page is used
in headless Chromium. Cold, the clone has no ``.venv``; warm, it has one, and another new library.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import subprocess
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from benchmarks.harness import Options, Report, main
from evals.browser.visit import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
MOST_STEPS, COLD_SECONDS, WARM_SECONDS = 5, 180.0, 30.0
LIMIT_SECONDS = 600.0
LINES = (
    "The roof garden of Alder Street is kept by its volunteers from March to October.",
    "Each volunteer who waters the garden is paid 340 euros a season.",
    "Tools are kept in the shed beside the water tank; the key hangs at the porter's desk.",
)
QUESTION = "How much is each volunteer who waters the garden paid a season?"
QUOTE = LINES[1]
_README = re.compile(r"^## Your own documents\n.*?```sh\n(.*?)```", re.MULTILINE | re.DOTALL)
_DROP = """(bytes) => {
  const file = new File([Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0))], "garden.pdf",
    { type: "application/pdf" });
  const transfer = new DataTransfer(); transfer.items.add(file);
  for (const name of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(
    new DragEvent(name, { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


class Lost(Exception):
    """The newcomer did not come to the right answer."""


class Way:
    """The steps that were taken, each with its seconds."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, float]] = []

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """One thing that the newcomer does, until what it is done for is there."""
        began = time.perf_counter()
        yield
        self.steps.append((what, time.perf_counter() - began))

    @property
    def seconds(self) -> float:
        """Of all steps."""
        return sum(seconds for _, seconds in self.steps)


def readme_commands(readme: str) -> list[str]:
    """The commands of the README's first way to own documents, without their comments."""
    block = _README.search(readme)
    lines = block[1].splitlines() if block else []
    return [command for line in lines if (command := line.partition("#")[0].strip())]


def own_pdf() -> bytes:
    """A page with three sentences, one of which answers QUESTION."""
    out = BytesIO()
    canvas = Canvas(out)
    canvas.setFont("Helvetica-Bold", 18)
    canvas.drawString(72, 740, "Roof Garden Agreement")
    canvas.setFont("Helvetica", 11)
    for n, line in enumerate(LINES):
        canvas.drawString(72, 700 - 32 * n, line)
    canvas.save()
    return out.getvalue()


async def run(_: Options, report: Report) -> None:
    """Both ways, in a thread: nothing else is to do meanwhile."""
    await asyncio.to_thread(_run, report)


def _run(report: Report) -> None:
    with tempfile.TemporaryDirectory(prefix="helix-newcomer-") as folder, chromium() as browser:
        clone = Path(folder) / "helix"
        for name, bound in (("cold", COLD_SECONDS), ("warm", WARM_SECONDS)):
            way = _walked(clone, Path(folder) / name, browser)
            rows = [[n, what, f"{seconds:.1f}"] for n, (what, seconds) in enumerate(way.steps, 1)]
            report.table(f"newcomer, {name}", ["step", "what", "s"], rows)
            report.at_most(f"{name}: steps", len(way.steps), MOST_STEPS)
            report.at_most(f"{name}: from clone to right answer, s", way.seconds, bound)


def _walked(clone: Path, home: Path, browser: Browser) -> Way:
    """The way to the answer, whose library and settings are kept in ``home``.

    Raises:
        Lost: a command failed, or the answer or its mark is not right.
    """
    home.mkdir()
    way = Way()
    if not clone.exists():
        with way.step("git clone"):
            _command(f"git clone --quiet {ROOT} {clone}", home, clone.parent)
    *before, up = readme_commands((clone / "README.md").read_text())
    for command in before:
        with way.step(command):
            _command(command, home, clone)
    with _serving(way, up, clone, home) as address:
        page = browser.new_page()
        page.set_default_timeout(1000 * LIMIT_SECONDS)
        try:
            page.goto(address)
            _ask_own(way, page)
        finally:
            page.close()
    return way


def _ask_own(way: Way, page: Page) -> None:
    """Drop the PDF on the page, ask, and look at the answer and at what is marked."""
    with way.step("drop a PDF on the page, until it is read"):
        page.locator("#question").wait_for()
        page.evaluate(_DROP, b64encode(own_pdf()).decode())
        page.locator(".tray", has_text="1 file read").wait_for()
    with way.step("ask, until the quote is marked on the page as printed"):
        page.fill("#question", QUESTION)
        page.press("#question", "Enter")
        page.locator(".turn[aria-busy=false] .actions").wait_for()
        page.locator(".turn .chip:enabled").first.click()
        page.locator(".sheet .box.quote").first.wait_for()
        marked = " ".join(page.locator(".sheet mark.quote").all_text_contents())
    answer = page.locator(".turn").inner_text()
    if "340 euros" not in answer or " ".join(marked.split()) != QUOTE:
        raise Lost(f"answered: {answer!r}; marked: {marked!r}")


def _environment(home: Path) -> dict[str, str]:
    """The variables of a newcomer's shell, and the choices of ``helix up`` where none is set.

    It is named here for the library to be in ``home``: root's would be the machine's.
    """
    told = ("HELIX_", "PYTHON", "VIRTUAL_ENV", "DATABASE_URL", "GEMINI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(told)}
    return kept | {
        "DATABASE_URL": f"embedded:{home}/postgres", "HELIX_LLM": "offline",
        "HELIX_EMBEDDER": "offline", "XDG_CONFIG_HOME": str(home),
    }  # fmt: skip


def _command(command: str, home: Path, folder: Path) -> None:
    done = subprocess.run(
        command.split(), cwd=folder, env=_environment(home), capture_output=True, text=True,
        timeout=LIMIT_SECONDS,
    )  # fmt: skip
    if done.returncode:
        raise Lost(f"{command}: {done.stderr.strip()}")


@contextmanager
def _serving(way: Way, command: str, clone: Path, home: Path) -> Iterator[str]:
    """The address of ``command``, which serves; started in a step of its own."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    arguments = [*command.split(), "--no-browser", "--port", str(port)]
    with way.step(command):
        server = subprocess.Popen(
            arguments, cwd=clone, env=_environment(home), stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        _wait(server, address)
    try:
        yield address
    finally:
        server.terminate()
        server.wait(LIMIT_SECONDS)


def _wait(server: subprocess.Popen[bytes], address: str) -> None:
    end = time.perf_counter() + LIMIT_SECONDS
    while server.poll() is None and time.perf_counter() < end:
        with suppress(httpx.TransportError):  # not listening yet
            if httpx.get(f"{address}/healthz", timeout=10).is_success:
                return
        time.sleep(0.05)
    raise Lost("the server did not start")


if __name__ == "__main__":
    main({"newcomer": run})

"""The matrix of faults: each cause, what callers get meanwhile, what is back, and what is left."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psycopg
import pytest

from db import embedded_postgres
from db.embedded_postgres import acquire
from tests.support.deployment import BOUND_SECONDS, Deployment, Told, deployed
from tests.support.embedded_servers import a_place
from tests.support.faults import FAULTS, Fault, disk_full, model_down
from tests.support.name_server_and_clock import Answering, Clock, NameServer
from tests.support.service_process import eventually
from tests.support.wire.gemini import GeminiWire, gemini_wire

pytestmark = pytest.mark.processes

ROUNDS = 20
PATIENCE_SECONDS = 30.0
"""A limit for slow machines; docs/operations.md has what was measured."""
CHEAP = ("one process of Postgres killed", "worker killed")


@pytest.fixture(scope="module")
def wire() -> Iterator[GeminiWire]:
    with gemini_wire() as server:
        yield server


@pytest.fixture(scope="module")
def deployment(wire: GeminiWire, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    with a_place() as place, deployed(place, tmp_path_factory.mktemp("faults"), wire) as running:
        yield running
        running.wire.stop()


@contextmanager
def _callers(deployment: Deployment) -> Iterator[list[Told]]:
    """The results of callers that ask and upload while the block lasts, one of each at least."""
    told: list[Told] = []
    over = threading.Event()

    def call(act: Callable[[], Told]) -> None:
        while True:
            told.append(act())
            if over.wait(0.2):
                return

    callers = [threading.Thread(target=call, args=(act,)) for act in
               (deployment.ask, deployment.upload)]  # fmt: skip
    for caller in callers:
        caller.start()
    try:
        yield told
    finally:
        over.set()
        for caller in callers:
            caller.join()


def endure(deployment: Deployment, fault: Fault) -> list[str]:
    """The losses of one round: accepted files lost or there twice, a torn answer, a long wait.

    Prints a row of the table of docs/operations.md.
    """
    deployment.upload()  # under way when it happens
    with ExitStack() as calling:
        with fault.cause(deployment):
            told = calling.enter_context(_callers(deployment))
            time.sleep(fault.seconds)
        healed = time.monotonic()
        assert eventually(deployment.is_well, PATIENCE_SECONDS), fault.name
        back = time.monotonic() - healed
    broken = [] if deployment.settled() else [f"files: {deployment.losses()}"]
    broken += [f"not whole: {each}" for each in told if not each.whole]
    longest = max(each.seconds for each in told)
    if longest >= BOUND_SECONDS + fault.seconds:
        broken.append(f"a caller waited {longest:.1f} s")
    statuses = {
        what: sorted({each.status for each in told if each.what == what})
        for what in ("ask", "upload")
    }
    print(f"| {fault.name} | {statuses} | {longest:.1f} | {back:.1f} |")  # noqa: T201  the table's
    return broken


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", CHEAP)
def test_a_fault_costs_nothing_that_was_accepted(deployment: Deployment, name: str) -> None:
    (fault,) = [each for each in FAULTS if each.name == name]
    assert endure(deployment, fault) == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_many_times(deployment: Deployment, fault: Fault) -> None:
    for _ in range(ROUNDS):
        assert endure(deployment, fault) == []


@contextmanager
def _small_disk(place: Path) -> Iterator[None]:
    """A file system of 256 MB at ``place``, which only root may mount."""
    place.mkdir(mode=0o711)
    mount = ["mount", "-t", "tmpfs", "-o", "size=256m,mode=0711", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run this as root, who may mount: {done.stderr}"
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_a_full_disk_many_times(wire: GeminiWire, tmp_path: Path) -> None:
    fault = Fault("disk full", disk_full, 2.0)
    with (
        a_place() as place,
        _small_disk(place),
        deployed(place, tmp_path, wire) as running,
    ):
        for _ in range(ROUNDS):
            assert endure(running, fault) == []


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("answering", [Answering.FAILING, Answering.SILENT])
def test_names_that_nobody_knows_many_times(tmp_path: Path, answering: Answering) -> None:
    with gemini_wire() as wire, NameServer() as names, a_place() as place:

        @contextmanager
        def unknown(deployment: Deployment) -> Iterator[None]:
            names.answering, before = answering, names.asked
            with model_down(deployment):
                pass  # or its open connections would go on, and no name be asked for
            try:
                yield
                assert names.asked > before
            finally:
                names.answering = Answering.WELL

        url = f"http://model.test:{wire.port}"
        with deployed(
            place, tmp_path, wire, names.prefix(tmp_path), {"GOOGLE_GEMINI_BASE_URL": url}
        ) as running:
            for _ in range(ROUNDS):
                assert endure(running, Fault(f"names {answering.value}", unknown, 12.0)) == []
            running.wire.stop()


@contextmanager
def _with_clock(clock: Clock) -> Iterator[None]:
    """Start embedded servers with it: they take only known variables from who starts them."""
    with pytest.MonkeyPatch.context() as patch:
        inherited = (*embedded_postgres.INHERITED, *clock.variables)
        patch.setattr(embedded_postgres, "INHERITED", inherited)
        for name, value in clock.variables.items():
            patch.setenv(name, value)
        yield


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seconds", [3600, -3600])
def test_a_clock_that_jumps_many_times(tmp_path: Path, seconds: int) -> None:
    with (
        Clock.set_up() as clock,
        gemini_wire() as wire,
        a_place() as place,
        _with_clock(clock),
        acquire(place),
        deployed(place, tmp_path, wire, variables=clock.variables) as running,
    ):
        with psycopg.connect(running.database_url) as connection, clock.wrong_by(seconds):
            row = connection.execute("SELECT extract(epoch FROM clock_timestamp())").fetchone()
            assert row is not None and abs(float(row[0]) - time.time() - seconds) < 600
        fault = Fault(f"clock wrong by {seconds} s", lambda _: clock.wrong_by(seconds), 4.0)
        for _ in range(ROUNDS):
            assert endure(running, fault) == []

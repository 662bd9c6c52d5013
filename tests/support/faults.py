"""Causes: each breaks a deployment while its block lasts, and is over when the block ends."""

from __future__ import annotations

import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass

import psutil
import psycopg

from tests.support.deployment import Deployment
from tests.support.embedded_servers import kill, postmaster, processes, supervisors
from tests.support.wire.gemini import GeminiWire

Cause = Callable[[Deployment], AbstractContextManager[None]]


@dataclass(frozen=True)
class Fault:
    """A cause, and how long it is left in place."""

    name: str
    cause: Cause
    seconds: float = 0.0


@contextmanager
def supervisor_killed(deployment: Deployment) -> Iterator[None]:
    kill(supervisors(deployment.place))
    yield


@contextmanager
def postgres_killed(deployment: Deployment) -> Iterator[None]:
    kill([postmaster(deployment.place)])
    yield


@contextmanager
def everything_of_postgres_killed(deployment: Deployment) -> Iterator[None]:
    kill(processes(deployment.place))
    yield


@contextmanager
def backend_killed(deployment: Deployment) -> Iterator[None]:
    """One process of Postgres dies: it ends all others, and recovers."""
    with psycopg.connect(deployment.database_url) as connection:
        pid = connection.info.backend_pid
        os.kill(pid, signal.SIGKILL)
    yield


@contextmanager
def postgres_restarted(deployment: Deployment) -> Iterator[None]:
    postmaster(deployment.place).send_signal(signal.SIGINT)
    yield


@contextmanager
def postgres_silent(deployment: Deployment) -> Iterator[None]:
    with _paused(_postgres(deployment)):
        yield


@contextmanager
def postgres_slow(deployment: Deployment) -> Iterator[None]:
    """Of each fifth of a second it works for a twentieth."""
    over = threading.Event()

    def stumble() -> None:
        while not over.is_set():
            with _paused(_postgres(deployment)):
                time.sleep(0.15)
            time.sleep(0.05)

    thread = threading.Thread(target=stumble)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _postgres(deployment: Deployment) -> list[psutil.Process]:
    ours = supervisors(deployment.place)
    return [each for each in processes(deployment.place) if each not in ours]


@contextmanager
def _paused(victims: list[psutil.Process]) -> Iterator[None]:
    for process in victims:
        with suppress(psutil.NoSuchProcess):
            process.suspend()
    try:
        yield
    finally:
        for process in victims:
            with suppress(psutil.NoSuchProcess):
                process.resume()


@contextmanager
def read_only(deployment: Deployment) -> Iterator[None]:
    with psycopg.connect(deployment.database_url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        with psycopg.connect(deployment.database_url, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER SYSTEM RESET default_transaction_read_only")
            connection.execute("SELECT pg_reload_conf()")


@contextmanager
def out_of_connections(deployment: Deployment) -> Iterator[None]:
    """Somebody else holds all connections that Postgres has; Helix's own are cut."""
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE backend_type = 'client backend' AND application_name <> 'greedy'"
        " AND pid <> pg_backend_pid()"
    )
    with ExitStack() as stack:
        url = f"{deployment.database_url}&application_name=greedy"
        first = stack.enter_context(psycopg.connect(url, autocommit=True))
        refused = 0
        while refused < 3:
            first.execute(others)
            with suppress(psycopg.OperationalError):
                while True:
                    stack.enter_context(psycopg.connect(url, autocommit=True))
            refused += 1
        yield


@contextmanager
def disk_full(deployment: Deployment) -> Iterator[None]:
    """The file system of the database has no byte left; needs one of its own."""
    ballast = deployment.place / "ballast"
    with ballast.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
            file.flush()
    try:
        yield
    finally:
        ballast.unlink()


@contextmanager
def model_down(deployment: Deployment) -> Iterator[None]:
    with _without_model(deployment):
        yield


@contextmanager
def model_half_open(deployment: Deployment) -> Iterator[None]:
    """Its connections are taken, and nothing is ever said."""
    with _without_model(deployment), socket.create_server(("127.0.0.1", deployment.wire.port)):
        yield


@contextmanager
def _without_model(deployment: Deployment) -> Iterator[None]:
    port = deployment.wire.port
    deployment.wire.stop()
    try:
        yield
    finally:
        deployment.wire = GeminiWire(port=port).start()


@contextmanager
def model_slow(deployment: Deployment) -> Iterator[None]:
    deployment.wire.delay = 0.5
    try:
        yield
    finally:
        deployment.wire.delay = 0.0


@contextmanager
def worker_killed(deployment: Deployment) -> Iterator[None]:
    for worker in deployment.workers():
        worker.kill()
    yield


@contextmanager
def worker_paused(deployment: Deployment) -> Iterator[None]:
    with _paused(deployment.workers()):
        yield


@contextmanager
def server_paused(deployment: Deployment) -> Iterator[None]:
    with _paused([deployment.server()]):
        yield


@contextmanager
def server_killed(deployment: Deployment) -> Iterator[None]:
    """And started again, as a service manager does."""
    process = deployment.process
    assert process is not None
    process.kill()
    process.wait(timeout=30)
    yield
    deployment.start()


@contextmanager
def server_stopped(deployment: Deployment) -> Iterator[None]:
    """SIGTERM, and started again."""
    deployment.stop()
    yield
    deployment.start()


@contextmanager
def temporary_files_full(deployment: Deployment) -> Iterator[None]:
    """No file of the server may grow, as on a full /tmp."""
    server = deployment.server()
    before = server.rlimit(resource.RLIMIT_FSIZE)
    server.rlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        server.rlimit(resource.RLIMIT_FSIZE, before)


FAULTS = (
    Fault("supervisor killed", supervisor_killed),
    Fault("Postgres killed", postgres_killed),
    Fault("supervisor and Postgres killed", everything_of_postgres_killed),
    Fault("one process of Postgres killed", backend_killed),
    Fault("Postgres restarted", postgres_restarted),
    Fault("Postgres silent", postgres_silent, 9.0),
    Fault("Postgres slow", postgres_slow, 3.0),
    Fault("database read-only", read_only, 2.0),
    Fault("no connection left", out_of_connections, 7.0),
    Fault("model's service down", model_down, 4.0),
    Fault("model's service half-open", model_half_open, 5.0),
    Fault("model's service slow", model_slow, 1.0),
    Fault("worker killed", worker_killed),
    Fault("worker paused", worker_paused, 3.0),
    Fault("server paused", server_paused, 1.0),
    Fault("server killed", server_killed),
    Fault("server stopped", server_stopped),
    Fault("/tmp full", temporary_files_full, 1.0),
)
"""All but those that need a file system of their own."""

"""OpenSSH's server on loopback as the user who runs the tests: files by SFTP, with a key."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.support.free_ports import free_port

_CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
Subsystem sftp internal-sftp
"""


@dataclass(frozen=True)
class SshServer:
    """A running sshd; ``key`` is the private one that it lets in, ``host_key`` its own."""

    port: int
    folder: Path
    key: str
    host_key: str
    process: subprocess.Popen[bytes]

    def address(self, folder: Path) -> str:
        """A folder of this machine, as a source has it."""
        user = pwd.getpwuid(os.getuid()).pw_name
        return f"sftp://{user}@127.0.0.1:{self.port}{folder}"

    def scanned(self) -> str:
        """The output of ssh-keyscan for this server."""
        asked = ["ssh-keyscan", "-p", str(self.port), "127.0.0.1"]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout

    def stop(self) -> None:
        """End the server, and every connection with it."""
        own = psutil.Process(self.process.pid)
        for each in [own, *own.children(recursive=True)]:  # a connection leads a group of its own
            with suppress(psutil.NoSuchProcess):
                each.kill()
        self.process.wait(20)


@contextmanager
def ssh_server() -> Iterator[SshServer]:
    """sshd, ready."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "OpenSSH's server is not installed: apt-get install openssh-server"
    if os.getuid() == 0:  # where it goes to drop its rights
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with TemporaryDirectory(prefix="helix-sshd-") as name:
        folder, port = Path(name), free_port()
        for key in ("host_key", "user_key"):
            made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)]
            subprocess.run(made, check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        config = folder / "sshd_config"
        config.write_text(_CONFIG.format(port=port, folder=folder))
        process = subprocess.Popen([program, "-D", "-E", folder / "log", "-f", config])
        own = " ".join((folder / "host_key.pub").read_text().split()[:2])
        server = SshServer(port, folder, (folder / "user_key").read_text(), own, process)
        try:
            _wait(server)
            yield server
        finally:
            if process.poll() is None:
                server.stop()


def _wait(server: SshServer) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        assert server.process.poll() is None, (server.folder / "log").read_text()
        try:
            socket.create_connection(("127.0.0.1", server.port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError((server.folder / "log").read_text())

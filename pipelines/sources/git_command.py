"""`git` as a child that asks nobody, reads no configuration but ours, and runs no hook.

It speaks the protocols that it is given alone; where it goes is decided before it starts, and the
checked address is what it connects to.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
import socket
import subprocess
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, urlsplit, urlunsplit

import psutil

from helix.domain.source_kinds import SCP_ADDRESS
from pipelines.crawler.addresses import literal
from pipelines.sources.base import SourceBusy, SourceError
from pipelines.sources.peers import checked_addresses, host_keys, plain_host

_SECONDS = 900.0
_AT_ONCE = 64 * 1024
_HOST = "repository"  # the name under which the keys of the machine are kept
_PORTS = {"https": 443, "http": 80}
_NO = {
    "core.hooksPath": os.devnull, "core.fsmonitor": "false", "credential.helper": "",
    "http.followRedirects": "false", "gc.autoDetach": "false", "protocol.ext.allow": "never",
    "transfer.fsckObjects": "true", "maintenance.auto": "false",
}  # fmt: skip


class Git:
    """The command for one repository. ``home`` is a folder of its own, for keys.

    ``allow_hosts``: which private hosts it may go to; None: any, and folders of this machine too.
    """

    def __init__(
        self,
        address: str,
        secrets: Mapping[str, str],
        options: Mapping[str, object],
        home: Path,
        allow_hosts: Collection[str] | None,
    ) -> None:
        if address.startswith("-") or "::" in address.partition("/")[0]:
            raise SourceError(f"{address} is no address of a repository")
        self._home = home
        self._config = dict(_NO)
        self._ssh: list[str] = []
        self.address = self._pinned(address, allow_hosts)
        protocols = "https:http:ssh" if allow_hosts is not None else "https:http:ssh:git:file"
        self._environment = {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": str(home), "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": protocols,
            "GIT_SSH_VARIANT": "ssh", "GIT_OPTIONAL_LOCKS": "0",
        }  # fmt: skip
        self._authorise(secrets, options)

    def _pinned(self, address: str, allow_hosts: Collection[str] | None) -> str:
        """The address; of a host that is to be checked, the connection is pinned to what was."""
        parts, scp = urlsplit(address), SCP_ADDRESS.fullmatch(address)
        is_url = "://" in address
        host = parts.hostname if is_url else (scp[2] if scp else None)
        if not host:
            return address
        if is_url and parts.scheme in ("http", "https"):
            return address if allow_hosts is None else self._resolved(parts, allow_hosts)
        # a key is looked up under this name alone, without a port
        self._ssh += ["-o", f"HostKeyAlias={_HOST}"]
        if allow_hosts is not None:
            self._ssh += ["-o", f"HostName={checked_addresses(host, allow_hosts)[0]}"]
        return address

    def _resolved(self, parts: SplitResult, allow_hosts: Collection[str]) -> str:
        """The address with its host as curl names it, which looks that up nowhere but here."""
        host = plain_host(parts.hostname or "")
        pinned = checked_addresses(host, allow_hosts)[0]
        shown, named = (f"[{each}]" if ":" in each else each for each in (pinned, host))
        port = parts.port or _PORTS[parts.scheme]
        if literal(host) is None:  # curl looks up no address, and takes none of IPv6 as a name
            self._config["http.curloptResolve"] = f"{host}:{port}:{shown}"
        user, at, _ = parts.netloc.rpartition("@")
        behind = f":{parts.port}" if parts.port else ""
        return urlunsplit(parts._replace(netloc=f"{user}{at}{named}{behind}"))

    def _authorise(self, secrets: Mapping[str, str], options: Mapping[str, object]) -> None:
        if token := secrets.get("token"):
            user = str(options.get("user") or "x-access-token")
            basic = base64.b64encode(f"{user}:{token}".encode()).decode()
            self._config["http.extraHeader"] = f"Authorization: Basic {basic}"
        keys = host_keys(str(options.get("host_key") or ""))
        hosts = self._kept("known_hosts", "".join(f"{_HOST} {key}\n" for key in keys))
        command = [
            "ssh", "-F", os.devnull, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes",
            "-o", f'UserKnownHostsFile="{hosts}"', "-o", "GlobalKnownHostsFile=/dev/null",
            "-o", "IdentityAgent=none", "-o", "ForwardAgent=no", "-o", "ConnectTimeout=20",
            "-o", "PermitLocalCommand=no", "-o", "ProxyCommand=none", *self._ssh,
        ]  # fmt: skip
        if key := secrets.get("private_key"):
            command += ["-o", "IdentitiesOnly=yes", "-i", self._kept("key", f"{key.strip()}\n")]
        self._environment["GIT_SSH_COMMAND"] = shlex.join(command)

    def _kept(self, name: str, text: str) -> str:
        path = self._home / name
        path.touch(0o600)
        path.write_text(text)
        return str(path)

    def _whole_environment(self) -> dict[str, str]:
        """With the configuration, which on the command line everybody on the machine could read."""
        pairs = {"GIT_CONFIG_COUNT": str(len(self._config))}
        for n, (key, value) in enumerate(self._config.items()):
            pairs |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        return self._environment | pairs

    def run(self, *arguments: str, folder: Path) -> bytes:
        """The output of `git` in a folder.

        Raises:
            SourceError: it failed, with git's last fatal or error line.
            SourceBusy: the server asks to come later.
        """
        with self.started(*arguments, folder=folder) as child:
            try:
                output, errors = child.communicate(timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                _end(child)
                raise SourceError(f"git was not done within {_SECONDS:.0f} seconds") from None
        if child.returncode:
            raise _failure(errors.decode(errors="replace"))
        return output

    def parts(self, *arguments: str, folder: Path) -> Iterator[bytes]:
        """The output of `git` up to each NUL, as it comes: few objects may name billions of files.

        Raises:
            SourceError: it failed, or was not done in time.
        """
        with self.started(*arguments, folder=folder) as child:
            assert child.stdout is not None
            latest = threading.Timer(_SECONDS, child.kill)
            latest.start()
            try:
                begun: list[bytes] = []
                while more := child.stdout.read(_AT_ONCE):
                    first, *others = more.split(b"\0")
                    begun.append(first)
                    for other in others:
                        yield b"".join(begun)
                        begun = [other]
                if child.wait():
                    raise SourceError("git could not list the files of the commit")
            finally:
                latest.cancel()
                child.kill()

    def started(self, *arguments: str, folder: Path) -> subprocess.Popen[bytes]:
        """`git` at work in a folder; its standard input is a pipe."""
        try:
            return subprocess.Popen(  # noqa: S603 - an address is behind --
                ["git", *arguments],  # noqa: S607
                cwd=folder, env=self._whole_environment(),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except FileNotFoundError:
            raise SourceError(f"git is not installed on {socket.gethostname()}") from None


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill `git` and its children, which speak to the server and would wait for it alone."""
    with suppress(psutil.NoSuchProcess):
        own = psutil.Process(child.pid)
        for each in [own, *own.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                each.kill()


def new_home() -> tempfile.TemporaryDirectory[str]:
    """A folder for the keys of one sync, which nobody else may read."""
    return tempfile.TemporaryDirectory(prefix="helix-git-")


_TOLD = (
    ("could not read Username", "the repository lets nobody in without a token that may read it"),
    ("Authentication failed", "the repository lets nobody in without a token that may read it"),
    ("Permission denied (publickey", "the repository does not take this key"),
    (
        "Host key verification failed",
        "host_key does not have the machine's key: give what `ssh-keyscan` prints of it",
    ),
    ("Could not resolve", "there is no such host"),
)


def _failure(errors: str) -> SourceError:
    for sign, told in _TOLD:
        if sign in errors:
            return SourceError(told)
    if re.search(r"returned error: (429|503)", errors):
        return SourceBusy("the repository's server asks to come later")
    lines = [line for line in errors.splitlines() if line.startswith(("fatal:", "error:"))]
    last = (lines or errors.splitlines() or ["it failed without a word"])[-1]
    return SourceError(f"git: {last.removeprefix('fatal: ').removeprefix('error: ')}")

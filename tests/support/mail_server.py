"""Dovecot on loopback as the user who runs the tests: mailboxes by IMAP, with TLS."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from imap_tools import MailBox
from imap_tools.errors import ImapToolsError

from tests.support.certificates import write_certificate
from tests.support.free_ports import free_port

PASSWORD = "correct horse"
_NOBODY = "nobody"  # Dovecot reads no mail as root

_OAUTH = """
passdb {
  driver = oauth2
  mechanisms = xoauth2 oauthbearer
  args = FOLDER/oauth
}
"""
_CONFIG = """
protocols = imap
listen = 127.0.0.1
base_dir = {folder}/run
state_dir = {folder}/state
log_path = {folder}/log
ssl = required
ssl_cert = <{folder}/server.pem
ssl_key = <{folder}/server.key
ssl_min_protocol = TLSv1.2
default_login_user = {user}
default_internal_user = {user}
default_internal_group = {group}
first_valid_uid = 1
mail_location = maildir:~/Maildir
auth_mechanisms = plain {mechanisms}
passdb {{
  driver = passwd-file
  args = scheme=PLAIN {folder}/users
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}/mail/%u
}}
namespace inbox {{
  inbox = yes
  mailbox Junk {{
    auto = create
    special_use = \\Junk
  }}
}}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = {plain}
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
"""


@dataclass(frozen=True)
class MailServer:
    """A running Dovecot with the mailbox of ``anna``; ``plain`` is the port of STARTTLS."""

    folder: Path
    port: int
    plain: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """The mailbox, as a source has it."""
        return f"imaps://anna@localhost:{self.port}"

    @contextmanager
    def client(self) -> Iterator[MailBox]:
        """Another client of the mailbox."""
        with MailBox("localhost", self.port).login("anna", PASSWORD) as mailbox:
            yield mailbox

    def maildir(self, folder: str) -> Path:
        """The directory of a mail folder below the inbox."""
        return self.folder / "mail" / "anna" / "Maildir" / f".{folder}"

    def stop(self) -> None:
        """End the server, and every connection with it."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(20)


@contextmanager
def mail_server(introspection: str = "", mechanisms: str = "") -> Iterator[MailServer]:
    """Dovecot, ready; SSL_CERT_FILE has to name ``folder/server.pem`` for its clients.

    It lets tokens of OAuth in by ``mechanisms``, and asks of them at ``introspection``.
    """
    program = shutil.which("dovecot", path=f"{os.environ['PATH']}:/usr/sbin")
    assert program, "Dovecot is not installed: apt-get install dovecot-imapd"
    with TemporaryDirectory(prefix="helix-dovecot-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        port, plain = free_port(), free_port()
        _write(folder, port, plain, introspection, mechanisms)
        process = subprocess.Popen(
            [program, "-F", "-c", folder / "dovecot.conf"], start_new_session=True
        )
        server = MailServer(folder, port, plain, process)
        try:
            _wait(server)
            yield server
        finally:
            if process.poll() is None:
                server.stop()


def _write(folder: Path, port: int, plain: int, introspection: str, mechanisms: str) -> None:
    me = pwd.getpwuid(os.getuid())
    owner = pwd.getpwnam(_NOBODY) if me.pw_uid == 0 else me
    user = pwd.getpwnam("dovecot") if me.pw_uid == 0 else me
    write_certificate(folder / "server.pem", folder / "server.key")
    (folder / "users").write_text(f"anna:{PASSWORD}\n")
    (folder / "mail").mkdir(mode=0o755)
    os.chown(folder / "mail", owner.pw_uid, owner.pw_gid)
    config = _CONFIG.format(
        folder=folder, port=port, plain=plain, uid=owner.pw_uid, gid=owner.pw_gid,
        user=user.pw_name, group=grp.getgrgid(user.pw_gid).gr_name, mechanisms=mechanisms,
    )  # fmt: skip
    if introspection:
        config += _OAUTH.replace("FOLDER", str(folder))
        (folder / "oauth").write_text(
            f"introspection_mode = post\nintrospection_url = {introspection}\n"
            "username_attribute = username\nactive_attribute = active\nactive_value = true\n"
        )
    (folder / "dovecot.conf").write_text(config)


def _wait(server: MailServer) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with suppress(OSError, ImapToolsError), server.client():
            return
        assert server.process.poll() is None, (server.folder / "log").read_text()
        time.sleep(0.1)
    raise AssertionError((server.folder / "log").read_text())

"""The kinds of source, as the command line, the page and a worker know them.

A kind's code is a module of ``pipelines.sources`` that a worker loads when it opens one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

SCP_ADDRESS = re.compile(r"(?:([\w.-]+)@)?([\w.-]+):(?!//)(.+)")
"""User, host and path of an address as scp has it: git@example.com:team/notes."""


@dataclass(frozen=True, slots=True)
class Option:
    """One value that a kind takes beside the address. ``secret``: stored encrypted, never shown."""

    name: str
    title: str
    secret: bool = False
    kind: Literal["text", "number", "switch"] = "text"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source. ``address`` says what its address is, ``example`` has one.

    ``module`` is its module, whole for the wheel; ``extra`` names the extra of what that imports;
    an address of one of ``schemes`` is taken to be of this kind.
    """

    title: str
    module: str
    address: str
    example: str
    options: tuple[Option, ...] = ()
    extra: str | None = None
    schemes: tuple[str, ...] = ()

    @property
    def secrets(self) -> frozenset[str]:
        """The names of those options that are stored encrypted."""
        return frozenset(option.name for option in self.options if option.secret)


SECONDS_BETWEEN = 3600
"""Between two syncs of a source, unless it says otherwise."""
COMMON_OPTIONS = (
    Option("keep_files", "Keep the files' bytes too, to show pages as printed", kind="switch"),
)
"""Options that every kind has."""

KINDS: Mapping[str, Kind] = {
    "folder": Kind(
        "A folder",
        "pipelines.sources.folder",
        "a folder of this machine, or a share that is mounted there",
        "/srv/handbook",
        (
            Option("watch", "Sync as soon as something changes", kind="switch"),
            Option("permissions", "Take who may read a file from its rights", kind="switch"),
        ),
    ),
    "git": Kind(
        "A git repository",
        "pipelines.sources.repository",
        "the address of a repository, as `git clone` takes it",
        "https://git.example.com/team/handbook.git",
        (
            Option("branch", "Branch; the repository's own else"),
            Option("web", "What stands before a file's path where a person opens it"),
            Option("user", "User, where the token wants one"),
            Option("token", "Token, by HTTPS", secret=True),
            Option("host_key", "Key of the machine by SSH, as ssh-keyscan prints it"),
            Option("private_key", "Private key, by SSH", secret=True),
        ),
        schemes=("git",),
    ),
    "web": Kind(
        "A website",
        "pipelines.sources.website",
        "the address of a site, or of the part of it that is taken",
        "https://docs.example.com/guide/",
        (
            Option("prefix", "Part of its paths to stay in, such as /docs/"),
            Option("pages", "Pages to ask for at most", kind="number"),
            Option("depth", "Links to follow from the start at most", kind="number"),
            Option("delay_ms", "Milliseconds between two requests", kind="number"),
            Option("files", "Take PDFs and other documents too", kind="switch"),
        ),
        schemes=("http", "https"),
    ),
    "feed": Kind(
        "A feed",
        "pipelines.sources.feeds",
        "the address of a feed, RSS or Atom",
        "https://example.com/news.xml",
        (Option("pages", "Take the pages that its entries name", kind="switch"),),
        extra="feeds",
    ),
    "imap": Kind(
        "A mailbox",
        "pipelines.sources.mailbox",
        "a user at a mail server that speaks IMAP",
        "imaps://anna%40example.com@mail.example.com",
        (
            Option("folders", "Folders, with commas; all but spam and the bin else"),
            Option("password", "Password, or one made for this application", secret=True),
            Option("token_url", "Address where tokens of OAuth are had", secret=True),
            Option("client_id", "Client id, of OAuth", secret=True),
            Option("client_secret", "Client secret, of OAuth", secret=True),
            Option("refresh_token", "Refresh token, of OAuth", secret=True),
        ),
        extra="imap",
        schemes=("imap", "imaps"),
    ),
    "bucket": Kind(
        "A bucket",
        "pipelines.sources.buckets",
        "a bucket of S3, Google Cloud (gs://) or Azure (az://), with or without a prefix",
        "s3://handbook/current",
        (
            Option("endpoint", "Address of the server, where it is not the cloud's own"),
            Option("region", "Region"),
            Option("account", "Account, of Azure"),
            Option("key_id", "Id of the access key, of S3"),
            Option("key", "Access key; of Google Cloud, a service account's JSON", secret=True),
            Option("token", "Session token, of S3", secret=True),
        ),
        extra="s3",
        schemes=("s3", "gs", "az"),
    ),
    "webdav": Kind(
        "WebDAV or Nextcloud",
        "pipelines.sources.fsspec_files",
        "a folder of a server that speaks WebDAV",
        "https://cloud.example.com/remote.php/dav/files/anna/Handbook",
        (
            Option("user", "User"),
            Option("permissions", "Take who may read a file from its shares", kind="switch"),
            Option("password", "Password, or one made for this application", secret=True),
        ),
        extra="webdav",
        schemes=("webdav", "webdavs"),
    ),
    "sftp": Kind(
        "A folder by SFTP",
        "pipelines.sources.fsspec_files",
        "a folder of a machine that is reached by SSH",
        "sftp://anna@files.example.com/srv/handbook",
        (
            Option("host_key", "Key of the machine, as ssh-keyscan prints it"),
            Option("permissions", "Take who may read a file from its rights", kind="switch"),
            Option("password", "Password", secret=True),
            Option("private_key", "Private key", secret=True),
            Option("passphrase", "Passphrase of the private key", secret=True),
        ),
        extra="sftp",
        schemes=("sftp", "ssh"),
    ),
    "fsspec": Kind(
        "Files that fsspec reaches",
        "pipelines.sources.fsspec_files",
        "an address of fsspec (SMB, Dropbox, FTP and so on), whose driver is installed",
        "smb://files.example.com/handbook",
        (Option("arguments", "Arguments of its file system, JSON", secret=True),),
    ),
    "reader": Kind(
        "A reader of LlamaIndex",
        "pipelines.sources.llama_readers",
        "the class of a reader whose package is installed, PACKAGE:CLASS",
        "llama_index.readers.confluence:ConfluenceReader",
        (
            Option(
                "permissions", "Take who may read, of Confluence and Google Drive", kind="switch"
            ),
            Option("readers", "Metadata that name who may read a document, with commas"),
            Option("reader_field", "What names one of them, where they are no texts"),
            Option("arguments", "Its arguments, JSON or TOML", secret=True),
        ),
        schemes=("reader",),
    ),
}
"""In the order in which they are offered."""


def kind_of(address: str) -> str | None:
    """The kind that an address is of, as it looks: a path is a folder; None where none is known."""
    scp = SCP_ADDRESS.fullmatch(address)
    if address.rstrip("/").endswith(".git") or (scp and scp[1]):
        return "git"
    scheme = address.partition(":")[0].lower() if ":" in address else ""
    otherwise = None if "://" in address else "folder"
    return next((name for name, kind in KINDS.items() if scheme in kind.schemes), otherwise)

"""Bring in the modules and fonts that the page is made with, and record what they are.

``python scripts/vendor_web.py`` fetches the versions that PACKAGES names through the npm client,
writes the files that are served to ``helix/web/vendor`` and ``helix/web/api-docs/vendor`` with
their licences, and ``lock.json``: name, version, licence and the SHA-256 of every file.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "helix" / "web" / "vendor"
TESTS = ROOT / "tests" / "browser" / "vendor"
API_DOCS = ROOT / "helix" / "web" / "api-docs" / "vendor"


@dataclass(frozen=True)
class Package:
    """One package of the npm registry. ``files``: path in the package -> name it is served as."""

    name: str
    version: str
    licence: str
    files: dict[str, str]
    replaced: tuple[tuple[str, str], ...] = field(default=())
    """The changes of its text that make it a module whose own modules a browser finds."""
    licence_file: str = "LICENSE"


_UNIVERSAL = (
    "(function(e,t){typeof exports==`object`&&typeof module<`u`?module.exports=t():"
    "typeof define==`function`&&define.amd?define([],t):"
    "(e=typeof globalThis<`u`?globalThis:e||self,e.DOMPurify=t())})(this,function(){"
)
"""The beginning of DOMPurify's smallest file, for whatever loads it."""

PACKAGES = (
    Package(
        "preact", "11.2.0", "MIT",
        {"dist/preact.mjs": "preact.mjs", "hooks/dist/hooks.mjs": "preact-hooks.mjs"},
        (('from"preact"', 'from"./preact.mjs"'),),
    ),
    Package("htm", "3.1.1", "Apache-2.0", {"dist/htm.mjs": "htm.mjs"}),
    Package("marked", "18.2.1", "MIT", {"lib/marked.esm.js": "marked.mjs"}),
    Package(
        "dompurify", "3.4.18", "MPL-2.0 OR Apache-2.0", {"dist/purify.min.js": "dompurify.mjs"},
        # half of what its module is, but no module
        ((_UNIVERSAL, "export default (function(){"), ("}return nt()});", "}return nt()})();")),
    ),
    Package(
        "@fontsource-variable/inter", "5.3.0", "OFL-1.1",
        {"files/inter-latin-wght-normal.woff2": "inter.woff2"},
    ),
    Package(
        # one weight: the file with all of them is two and a half times as large
        "@fontsource/source-serif-4", "5.3.1", "OFL-1.1",
        {"files/source-serif-4-latin-400-normal.woff2": "source-serif.woff2"},
    ),
)  # fmt: skip
API_DOCS_PACKAGES = (
    Package(
        "swagger-ui-dist", "5.35.0", "Apache-2.0",
        {
            "swagger-ui-bundle.js": "swagger-ui.js",
            "swagger-ui.css": "swagger-ui.css",
            "swagger-ui-bundle.js.LICENSE.txt": "LICENSES-of-what-is-within.txt",
            "NOTICE": "NOTICE.txt",
        },
    ),
)  # fmt: skip
TEST_PACKAGES = (Package("axe-core", "4.14.1", "MPL-2.0", {"axe.min.js": "axe.min.js"}),)


def main() -> int:
    """Fetch and write everything; 1 where npm is missing or a package is not what it should be."""
    npm = shutil.which("npm")
    if npm is None:
        print("vendor_web: npm is not installed; it comes with Node.js", file=sys.stderr)
        return 1
    for folder, packages in (
        (SHIPPED, PACKAGES), (API_DOCS, API_DOCS_PACKAGES), (TESTS, TEST_PACKAGES)
    ):  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        lock = [_bring_in(npm, package, folder) for package in packages]
        (folder / "lock.json").write_text(json.dumps(lock, indent=1) + "\n")
    return 0


def _bring_in(npm: str, package: Package, folder: Path) -> dict[str, object]:
    """Write the package's files and licence; its entry of the lock."""
    with tempfile.TemporaryDirectory() as temporary:
        packed = _run(
            npm, "pack", "--silent", f"{package.name}@{package.version}", folder=Path(temporary)
        )
        with tarfile.open(Path(temporary, packed.strip().splitlines()[-1])) as archive:
            archive.extractall(temporary, filter="data")
        unpacked = Path(temporary, "package")
        hashes = {
            served: _write(folder / served, _text(unpacked / path, package))
            for path, served in package.files.items()
        }
        licence = f"LICENSE-{package.name.rpartition('/')[2]}.txt"
        hashes[licence] = _write(folder / licence, (unpacked / package.licence_file).read_bytes())
    print(f"{package.name} {package.version}")
    return {
        "name": package.name,
        "version": package.version,
        "licence": package.licence,
        "changed": [list(pair) for pair in package.replaced],
        "files": hashes,
    }


def _text(path: Path, package: Package) -> bytes:
    """The file as it is served: without the pointer to its source map, which is not there."""
    data = path.read_bytes()
    if path.suffix not in (".js", ".mjs"):
        return data
    lines = data.decode().rstrip("\n").split("\n")  # splitlines() would cut strings at U+2028
    text = "\n".join(line for line in lines if not line.startswith("//# sourceMappingURL=")) + "\n"
    for old, new in package.replaced:
        if old not in text and len(package.files) == 1:
            raise SystemExit(f"vendor_web: {path.name} of {package.name} has no {old[:60]}")
        text = text.replace(old, new)
    return text.encode()


def _write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def _run(*command: str, folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(
            f"vendor_web: {' '.join(command[1:])} failed: {done.stderr.strip()[-500:]}"
        )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

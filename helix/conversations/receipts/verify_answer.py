#!/usr/bin/env python3
"""Verifies answers and erasures that a Helix server signed: by Python 3.8, no package, no network.

    python3 verify_answer.py PROOF.json [PROOF.json ...] [--text FILE]... [--key KEY]...

A proof is {"proof": {...}, "signature": {...}}. The signature is Ed25519 (RFC 8032) over "proof" in
canonical form: keys sorted, no white space, UTF-8, as RFC 8785 has it of objects, lists, texts and
whole numbers. Offsets count Unicode code points; a quote is text[start:end] of its document.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

FORMAT, ERASURE = "helix-answer/1", "helix-erasure/1"
_PARTS = {"algorithm", "key_id", "public_key", "value"}


class NotVerified(Exception):
    """The proof is none, was altered, or does not fit what it is compared with."""


# --- Ed25519, by RFC 8032, 5.1 --------------------------------------------------------------------
# The server signs by the package `cryptography`; this is for whoever has no package.

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1


def _decoded(data: bytes) -> tuple[int, int, int, int] | None:
    """The point of 32 bytes as (X, Y, Z, T); None: it is none, or not written in its one form."""
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    if y >= _P:
        return None
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = _P - x
    return x, y, 1, x * y % _P


def _encoded(point: tuple[int, int, int, int]) -> bytes:
    inverse = pow(point[2], -1, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _sum(p: tuple[int, int, int, int], q: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % _P, (p[1] + p[0]) * (q[1] + q[0]) % _P
    c, d = 2 * p[3] * q[3] * _D % _P, 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


_ZERO = (0, 1, 1, 0)
_BASE = _decoded((4 * pow(5, -1, _P) % _P).to_bytes(32, "little")) or _ZERO


def is_signature(public_key: bytes, message: bytes, signature: bytes) -> bool:
    """True if the owner of the key (32 bytes) signed ``message``; ``signature`` has 64 bytes.

    Each has one form only: S is below the group's order, a point's y is below the field's. A key of
    small order, under which one signature fits many messages, is none.
    """
    if len(public_key) != 32 or len(signature) != 64:
        return False
    key, s = _decoded(public_key), int.from_bytes(signature[32:], "little")
    if key is None or s >= _L or _has_small_order(key):
        return False
    digest = hashlib.sha512(signature[:32] + public_key + message).digest()
    k = int.from_bytes(digest, "little") % _L
    minus = (_P - key[0], key[1], 1, _P - key[3])
    table, found = (_ZERO, _BASE, minus, _sum(_BASE, minus)), _ZERO
    for at in reversed(range(253)):  # S times the base less k times the key, both in one pass
        found = _sum(found, found)
        if bits := (s >> at & 1) + 2 * (k >> at & 1):
            found = _sum(found, table[bits])
    return _encoded(found) == signature[:32]


def _has_small_order(point: tuple[int, int, int, int]) -> bool:
    for _ in range(3):
        point = _sum(point, point)
    return _encoded(point) == _encoded(_ZERO)


# --- proofs ---------------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """``value`` in the one form that is signed; a lone surrogate as the bytes UTF-8 would give."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode("utf-8", "surrogatepass")


def key_id_of(public_key: bytes) -> str:
    """The name of a key: the beginning of its SHA-256."""
    return hashlib.sha256(public_key).hexdigest()[:16]


def parsed(data: bytes) -> Any:
    """The JSON of ``data``, where nothing can be read in two ways; else NotVerified."""
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_object, parse_int=_whole,
            parse_float=_no_number, parse_constant=_no_number,
        )  # fmt: skip
    except (ValueError, RecursionError):
        raise NotVerified("it is no JSON") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotVerified("a key stands twice in one object")
    return found


def _whole(digits: str) -> int:
    if len(digits) > 16 or str(int(digits)) != digits:
        _no_number(digits)
    return int(digits)


def _no_number(text: str) -> Any:
    raise NotVerified(
        "a number in it has a form that no signed answer has: `helix prove` makes one"
    )


def verified(data: bytes) -> tuple[dict[str, Any], str]:
    """The proof in ``data``, which nobody altered since it was signed, and its key, in hex.

    Raises:
        NotVerified: it was altered, or is no proof of this format.
    """
    signed = parsed(data)
    if not isinstance(signed, dict) or set(signed) != {"proof", "signature"}:
        raise NotVerified("it is no signed answer: `helix prove` makes one")
    proof, signature = signed["proof"], signed["signature"]
    if not isinstance(proof, dict) or proof.get("format") not in (FORMAT, ERASURE):
        raise NotVerified(f"it is neither of the format {FORMAT} nor {ERASURE}")
    if not isinstance(signature, dict) or set(signature) != _PARTS:
        raise NotVerified("its signature lacks a part, or has one too many")
    public_key, value = (_bytes(signature[name]) for name in ("public_key", "value"))
    if signature["algorithm"] != "Ed25519" or signature["key_id"] != key_id_of(public_key):
        raise NotVerified("its signature is of another algorithm or key than it says")
    if not is_signature(public_key, canonical(proof), value):
        raise NotVerified("it was altered after it was signed")
    return proof, public_key.hex()


def _bytes(text: Any) -> bytes:
    """The bytes of lower-case hex, which has one form for each."""
    if not isinstance(text, str) or not re.fullmatch("(?:[0-9a-f]{2})+", text):
        raise NotVerified("its signature is no lower-case hex")
    return bytes.fromhex(text)


def spans_of(proof: dict[str, Any], document_id: int) -> list[dict[str, Any]]:
    """The quotes of a document, in statements and in citations."""
    quoted = [span for one in proof["statements"] for span in one["spans"]] + proof["citations"]
    return [one for one in quoted if one["document_id"] == document_id and one["quote"] is not None]


def compare(proof: dict[str, Any], data: bytes) -> str:
    """A line that says which document ``data`` is, every quote in its place.

    Raises:
        NotVerified: it is none of the documents, or a quote is not in its place.
    """
    digest = hashlib.sha256(data).hexdigest()
    if proof["format"] == ERASURE:
        for kind in ("text", "file"):
            if digest == proof[f"{kind}_sha256"]:
                return f"the {kind} of the document that was removed"
        raise NotVerified("it is neither text nor file of the document that was removed")
    for document in proof["documents"]:
        name = f"document {document['document_id']}"
        if digest == document["text_sha256"]:
            text, spans = data.decode("utf-8"), spans_of(proof, document["document_id"])
            if any(_slice(text, one) != one["quote"] for one in spans):
                raise NotVerified(f"a quote is not where the answer says in {name}")
            return f"the text of {name}, every quote in its place ({len(spans)})"
        if digest == document["file_sha256"]:
            return f"the file that {name} was read from; its quotes need the text"
    raise NotVerified("it is neither text nor file of a document that the answer cites")


def _slice(text: str, span: dict[str, Any]) -> str | None:
    return text[span["start"] : span["end"]] if span["start"] >= 0 else None


# --- command line ---------------------------------------------------------------------------------


def known_keys(given: list[str]) -> set[str]:
    """The public keys of ``given``: each in hex, or a file with a server's list of keys."""
    keys = set()
    for one in given:
        if re.fullmatch("[0-9a-f]{64}", one):
            keys.add(one)
        else:
            keys |= {key["public_key"] for key in json.loads(Path(one).read_bytes())["keys"]}
    return keys


def report(name: str, data: bytes, texts: dict[str, bytes], keys: set[str]) -> list[str]:
    """The lines that say that a proof holds; raises NotVerified where it does not."""
    proof, key = verified(data)
    if keys and key not in keys:
        raise NotVerified(f"it was signed by another key: {key}")
    told = told_erasure(proof) if proof["format"] == ERASURE else told_answer(proof)
    lines = [f"{name}: unaltered since {proof['signed_at']} ({told})"]
    for file, text in texts.items():
        try:
            lines.append(f"  {file}: {compare(proof, text)}")
        except NotVerified as error:
            raise NotVerified(f"{file}: {error}") from None
    if not keys:
        lines.append(f"  signed by {key}: is that the server's? --key compares")
    return lines


def told_answer(proof: dict[str, Any]) -> str:
    """The extent of a signed answer."""
    spans = sum(len(one["spans"]) for one in proof["statements"])
    return (
        f"statements: {len(proof['statements'])}, quotes: {spans},"
        f" documents: {len(proof['documents'])}"
    )


def told_erasure(proof: dict[str, Any]) -> str:
    """The extent of a record of erasure: what was removed when, and what remains."""
    removed = ", ".join(f"{table}: {n}" for table, n in sorted(proof["removed"].items()))
    remaining = {**proof["remaining"], "backups": len(proof["remaining"]["backups"])}
    remains = ", ".join(f"{table}: {n}" for table, n in sorted(remaining.items()))
    return (
        f"document {proof['document_id']} removed at {proof['removed_at']}: {removed or 'no rows'};"
        f" remaining: {remains}"
    )


def run(files: list[str], text_files: list[str], given: list[str]) -> int:
    """Verify ``files`` and print a line or more for each; 0 where all hold, else 1."""
    status = 0
    try:
        keys, texts = known_keys(given), {one: Path(one).read_bytes() for one in text_files}
    except (OSError, ValueError, LookupError, TypeError) as error:
        sys.stderr.write(f"a text or a list of keys cannot be read: {error}\n")
        return 2
    for name in files:
        try:
            lines = report(name, Path(name).read_bytes(), texts, keys)
        except (NotVerified, OSError) as error:
            why = getattr(error, "strerror", None) or error
            lines, status = [f"{name}: NOT VERIFIED: {why}"], 1
        except (LookupError, TypeError, ValueError, AttributeError):  # signed by who knows whom
            lines, status = [f"{name}: NOT VERIFIED: it is not of a format read here"], 1
        sys.stdout.write("".join(f"{_printable(line)}\n" for line in lines))
    return status


def _printable(line: str) -> str:
    """``line`` without the characters by which a stranger's file could steer a terminal."""
    return "".join(c if c.isprintable() else "?" for c in line)


def main() -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description="Verify answers that a Helix server signed.")
    parser.add_argument("proof", nargs="+", help="a file of `helix prove`")
    parser.add_argument(
        "--text", action="append", default=[], metavar="FILE", help="the text of a cited document"
    )
    parser.add_argument(
        "--key", action="append", default=[], metavar="KEY",
        help="the server's public key in hex, or a file of /.well-known/helix-keys.json",
    )  # fmt: skip
    given = parser.parse_args()
    return run(given.proof, given.text, given.key)


if __name__ == "__main__":
    sys.exit(main())

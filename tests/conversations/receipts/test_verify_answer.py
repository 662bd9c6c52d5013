"""The verifier of signed answers: Ed25519 without a package, and whatever is altered refused."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Iterator
from hashlib import sha256, sha512
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from helix.conversations.receipts.verify_answer import (
    FORMAT,
    NotVerified,
    canonical,
    compare,
    is_signature,
    parsed,
    verified,
)
from helix.library.signing_keys import SigningKey
from tests.support.live_server import live
from tests.support.receipt_corpus import fact
from tests.support.signed_answers import altered, ask, bring_in_facts, signed, verifier

ORDER = 2**252 + 27742317777372353535851937790883648493
FIELD = 2**255 - 19
RFC_8032 = {  # 7.1: public key, message, signature
    "test 1": (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701c"
        "f9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "test 2": (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0"
        "f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "test 3": (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f76098"
        "4dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    "test SHA(abc)": (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c664"
        "31e0303dca179c138ac17ad9bef1177331a704",
    ),
}  # fmt: skip
SMALL_ORDER = [
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
]
"""Points of order 1, 2, 4, 8 and 8."""
PROOF: dict[str, Any] = {
    "format": FORMAT,
    "signed_at": "2026-11-26T20:00:00+00:00",
    "answer": "Crème 𝕏 [1].",
    "statements": [{"spans": [{"document_id": 3, "start": 1, "end": 4, "quote": "rès"}]}],
    "citations": [],
    "documents": [
        {
            "document_id": 3,
            "text_sha256": sha256("Très bien".encode()).hexdigest(),
            "file_sha256": sha256(b"%PDF").hexdigest(),
        }
    ],
}
KEY = SigningKey("0b" * 32)


def made(proof: dict[str, Any] = PROOF) -> dict[str, Any]:
    """``proof``, signed."""
    return {"proof": proof, "signature": KEY.signature(canonical(proof))}


def written(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize("name", RFC_8032)
def test_the_vectors_of_the_standard(name: str) -> None:
    key, message, signature = map(bytes.fromhex, RFC_8032[name])
    assert is_signature(key, message, signature)
    assert not is_signature(key, message + b"\0", signature)
    for at in (0, 31, 32, 63):
        changed = bytearray(signature)
        changed[at] ^= 1
        assert not is_signature(key, message, bytes(changed))


def test_it_says_what_the_package_says() -> None:
    draw = random.Random(8032)
    for length in range(60):
        private = Ed25519PrivateKey.from_private_bytes(draw.randbytes(32))
        public, message = private.public_key(), draw.randbytes(length * 7)
        signature = bytearray(private.sign(message))
        if length % 3:
            signature[draw.randrange(64)] ^= 1 << draw.randrange(8)
        try:
            public.verify(bytes(signature), message)
            holds = True
        except InvalidSignature:
            holds = False
        assert is_signature(public.public_bytes_raw(), message, bytes(signature)) is holds
        assert holds is (length % 3 == 0)


def test_a_signature_has_one_form() -> None:
    key, message, signature = map(bytes.fromhex, RFC_8032["test 3"])
    s = int.from_bytes(signature[32:], "little")
    for other in (s + ORDER, s + 2 * ORDER, ORDER, 2**256 - 1):
        assert not is_signature(key, message, signature[:32] + other.to_bytes(32, "little"))
    assert not is_signature(key, message, signature + b"\0")
    assert not is_signature(key, message, signature[:-1])
    assert not is_signature(key + b"\0", message, signature)


@pytest.mark.parametrize("key", SMALL_ORDER)
def test_a_key_under_which_anything_is_signed_is_none(key: str) -> None:
    point = bytes.fromhex(key)
    forged = point[:31] + bytes([point[31] & 127]) + bytes(32)
    zero = bytes.fromhex(SMALL_ORDER[0]) + bytes(32)  # R and S of nothing: fits the first for sure
    assert not any(is_signature(point, bytes([n]), forged) for n in range(16))
    assert not any(is_signature(point, bytes([n]), zero) for n in range(16))
    if key == SMALL_ORDER[0]:
        Ed25519PublicKey.from_public_bytes(point).verify(zero, b"whatever")  # the package takes it


@pytest.mark.parametrize("y", [0, 1])
def test_a_key_has_one_form(y: int) -> None:
    """Coordinates of the field's size and more, and a sign that zero has not."""
    for number in (FIELD + y, y | 1 << 255, FIELD + y | 1 << 255):
        if number != 1 << 255:  # y = 0 has two points
            assert not is_signature(number.to_bytes(32, "little"), b"m", bytes(64))


def test_what_is_signed_is_verified_however_it_is_written() -> None:
    for data in (written(made()), json.dumps(made(), ensure_ascii=False, indent=3).encode()):
        proof, key = verified(data)
        assert (proof, key) == (PROOF, KEY.public.hex())
    odd = {**PROOF, "answer": "\0 \ud800 \ue000 \x7f \u2028 \\u0041"}
    assert verified(written(made(odd)))[0] == odd


def test_the_canonical_form_is_that_of_rfc_8785() -> None:
    value = {"b": [1, -2, True, None], "a": 'é€\n\x0f"\\/𝕏', "": {}}
    told = '{"":{},"a":"é€\\n\\u000f\\"\\\\/𝕏","b":[1,-2,true,null]}'
    assert canonical(value) == told.encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}', '{"a": {"b": 1, "b": 2}}', "[1.0]", "[1e3]", "[-0]", "[NaN]",
        "[Infinity]", "[12345678901234567890]", "[01]", "[1] x", "", "{", "[" * 100_000,
    ],
)  # fmt: skip
def test_json_that_can_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(NotVerified):
        parsed(text.encode())


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(NotVerified):
        parsed(b'["\xff"]')


def _parts() -> Iterator[tuple[str, dict[str, Any]]]:
    good = made()
    signature, other = good["signature"], SigningKey("0c" * 32).signature(canonical(PROOF))
    yield "no signature", {"proof": PROOF}
    yield "more than a signature", {**good, "note": ""}
    yield "another format", made({**PROOF, "format": "helix-answer/2"})
    yield "no proof", {"proof": [], "signature": signature}
    yield "a part too many", {"proof": PROOF, "signature": {**signature, "at": 1}}
    yield "another algorithm", {"proof": PROOF, "signature": {**signature, "algorithm": "none"}}
    for name in ("key_id", "public_key", "value"):
        yield f"another's {name}", {"proof": PROOF, "signature": {**signature, name: other[name]}}
    for name in ("public_key", "value"):
        for odd in (signature[name].upper(), signature[name] + " ", signature[name][:-1], 7, None):
            yield f"{name} {odd}", {"proof": PROOF, "signature": {**signature, name: odd}}


@pytest.mark.parametrize(("_", "told"), list(_parts()), ids=lambda it: str(it)[:40])
def test_another_envelope_is_refused(_: str, told: dict[str, Any]) -> None:
    with pytest.raises(NotVerified):
        verified(written(told))


def test_quotes_are_looked_for_in_the_text_whose_hash_is_signed() -> None:
    assert compare(PROOF, "Très bien".encode()) == (
        "the text of document 3, every quote in its place (1)"
    )
    assert "its quotes need the text" in compare(PROOF, b"%PDF")
    with pytest.raises(NotVerified, match="neither text nor file"):
        compare(PROOF, "Très  bien".encode())
    for start, end in ((0, 3), (1, 5), (-8, -5)):
        lying = json.loads(json.dumps(PROOF))
        lying["statements"][0]["spans"][0] |= {"start": start, "end": end}
        with pytest.raises(NotVerified, match="a quote is not where the answer says in document 3"):
            compare(lying, "Très bien".encode())


def test_a_stranger_s_file_neither_ends_the_verifier_nor_steers_a_terminal(tmp_path: Path) -> None:
    """It is signed, by somebody, and is of no form."""
    odd: list[dict[str, Any]] = [
        {"format": FORMAT},
        {**PROOF, "statements": 7},
        {**PROOF, "documents": [{}]},
        {**PROOF, "signed_at": "\x1b[2J"},
    ]
    files = []
    for n, proof in enumerate(odd):
        (tmp_path / f"{n}.json").write_bytes(written(made(proof)))
        files.append(tmp_path / f"{n}.json")
    (tmp_path / "text").write_bytes(b"x")
    told = verifier(*files, "--text", tmp_path / "text")
    assert (told.returncode, told.stderr) == (1, "")
    assert told.stdout.count("NOT VERIFIED") == 4 and "\x1b" not in told.stdout
    assert "?[2J" in verifier(files[3]).stdout


def test_an_answer_that_is_not_signed_and_a_file_that_is_not_there_are_told(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text('{"answer": "A.", "ratio": 0.5}')
    answer, missing = verifier(tmp_path / "answer.json"), verifier(tmp_path / "missing.json")
    assert answer.stdout.endswith(": `helix prove` makes one\n"), answer.stdout
    assert missing.stdout.endswith("missing.json: NOT VERIFIED: No such file or directory\n")


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.soak)])
def test_answers_are_verified_and_altered_ones_are_not(
    count: int, module_database_url: str, tmp_path: Path
) -> None:
    """Answers of a server, in a Python without a package; one character makes another answer."""
    asyncio.run(bring_in_facts(module_database_url, count))
    draw, whole, broken = random.Random(count), [], []
    with live(module_database_url) as client:
        for number in range(count):
            data = signed(client, ask(client, number))
            whole.append(tmp_path / f"{number}.json")
            whole[-1].write_bytes(data)
            broken.append(tmp_path / f"{number}-altered.json")
            broken[-1].write_bytes(altered(data, draw))
        (tmp_path / "keys.json").write_bytes(_keys(client))
    told = verifier(*whole, "--key", tmp_path / "keys.json")
    lines = told.stdout.splitlines()
    assert (told.returncode, told.stderr, len(lines)) == (0, "", count)
    assert all("unaltered since" in line and "documents: 1)" in line for line in lines)
    told = verifier(*broken)
    lines = told.stdout.splitlines()
    assert (told.returncode, told.stderr, len(lines)) == (1, "", count)
    assert all("NOT VERIFIED" in line for line in lines)


def _keys(client: httpx.Client) -> bytes:
    return client.get("/.well-known/helix-keys.json").content


def test_a_stranger_checks_quotes_and_key_in_a_python_without_packages(
    module_database_url: str, tmp_path: Path
) -> None:
    asyncio.run(bring_in_facts(module_database_url, 3))
    with live(module_database_url) as client:
        (tmp_path / "answer.json").write_bytes(signed(client, ask(client, 2)))
        (tmp_path / "keys.json").write_bytes(_keys(client))
    text = f"About depots.\n\n{fact(2)}"
    (tmp_path / "text.txt").write_text(text)
    (tmp_path / "other.txt").write_text(text.replace("crates", "boxes"))
    answer = tmp_path / "answer.json"
    key = json.loads((tmp_path / "keys.json").read_bytes())["keys"][0]["public_key"]
    for given in (key, tmp_path / "keys.json"):
        told = verifier(answer, "--text", tmp_path / "text.txt", "--key", given)
        assert told.returncode == 0, told.stdout + told.stderr
        assert (
            "every quote in its place" in told.stdout and "is that the server's?" not in told.stdout
        )
    unasked = verifier(answer)
    assert unasked.returncode == 0 and f"signed by {key}: is that the server's?" in unasked.stdout
    told = verifier(answer, "--text", tmp_path / "other.txt")
    assert told.returncode == 1 and "neither text nor file" in told.stdout
    told = verifier(answer, "--key", "ab" * 32)
    assert told.returncode == 1 and "it was signed by another key" in told.stdout
    assert verifier(answer, "--text", tmp_path / "none.txt").returncode == 2
    assert verifier(tmp_path / "none.json").returncode == 1

"""Sound files damaged by chance, the same ones for the same seed."""

from __future__ import annotations

import random
import zipfile
import zlib
from collections.abc import Iterator, Mapping

from tests.support import sample_documents as documents
from tests.support.sound_files import samples


def mutants(count: int, seed: int = 7) -> Iterator[tuple[str, bytes]]:
    """``count`` damaged files of every kind, the same ones for the same seed."""
    chance, sound = random.Random(seed), samples()
    for number in range(count):
        kind = list(sound)[number % len(sound)]
        data = sound[kind]
        for _ in range(chance.randint(1, 3)):
            if data.startswith(b"PK") and chance.random() < 0.7:
                data = _damage_a_part(data, chance, sound)
            else:
                data = _damage(data, chance, sound)
        yield kind, data


def _damage_a_part(data: bytes, chance: random.Random, sound: Mapping[str, bytes]) -> bytes:
    """Damage inside a sound zip: its checksums are right, so that parsers come to see it."""
    try:
        parts = documents.unzipped(data)
    except (
        zipfile.BadZipFile,
        zlib.error,
        NotImplementedError,
        RuntimeError,
        ValueError,
        EOFError,
    ):
        return _damage(data, chance, sound)
    name = chance.choice(sorted(parts) or [""])
    return documents.zipped(parts | {name: _damage(parts.get(name, b""), chance, sound)})


def _damage(data: bytes, chance: random.Random, sound: Mapping[str, bytes]) -> bytes:
    if not data:
        return chance.randbytes(8)
    start, end = sorted(chance.randrange(len(data) + 1) for _ in "se")
    other = chance.choice(list(sound.values()))
    match chance.randrange(7):
        case 0:
            changed = bytearray(data)
            for _ in range(chance.randint(1, 1 + len(data) // 100)):
                changed[chance.randrange(len(data))] = chance.randrange(256)
            return bytes(changed)
        case 1:
            return data[:end]
        case 2:
            return data[:start] + other[start:end] + data[end:]
        case 3:
            return data[:start] + data[end:]
        case 4:
            return data[:end] + data[start:end] * chance.randint(1, 20) + data[end:]
        case 5:
            return data[:start] + bytes(end - start) + data[end:]
        case _:
            return data.replace(b"1", chance.choice((b"9" * 12, b"-1", b"0", b"", b"<")), 5)

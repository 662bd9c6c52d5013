"""The library of pdfium, loaded from pypdfium2's package, and its functions as ctypes has them."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_NAMES = ("libpdfium.so", "libpdfium.dylib", "pdfium.dll")
_PACKAGE = "pypdfium2_raw"

Handle = ctypes.c_void_p
"""An object of pdfium's; false where there is none."""


class _Configuration(ctypes.Structure):
    """``FPDF_LIBRARY_CONFIG``, version 2: no fonts of our own, no JavaScript."""

    _fields_ = (
        ("version", ctypes.c_int),
        ("user_font_paths", ctypes.c_void_p),
        ("isolate", ctypes.c_void_p),
        ("v8_embedder_slot", ctypes.c_uint),
    )


def _path() -> str:
    package = find_spec(_PACKAGE)
    folders = package.submodule_search_locations if package else None
    for folder in folders or ():
        for name in _NAMES:
            if (file := Path(folder) / name).is_file():
                return str(file)
    # an installation over the system's own pdfium: its generated module knows where that is
    from pypdfium2_raw import bindings  # type: ignore[import-untyped]

    return str(bindings._libs["pdfium"]._name)


def _loaded() -> ctypes.PyDLL:
    library = ctypes.PyDLL(_path())
    library.FPDF_InitLibraryWithConfig(ctypes.byref(_Configuration(version=2)))
    return library


_LIBRARY = _loaded()


def function(name: str, result: Any = None) -> Any:
    """A function that takes C integers, ``bytes``, ``None`` and what ``ctypes.byref`` gives.

    ``result`` is its ctypes type, ``None`` for none; a pointer comes as an integer, for ``handle``.
    A call takes 0.35 µs where a prototype with argument types takes 0.9: there are a thousand a
    page.
    """
    return ctypes.PYFUNCTYPE(result)((name, _LIBRARY))


def handle(address: int | None) -> Handle:
    """A pointer that a function gave, as an argument of others."""
    return Handle(address)


def utf16_text(fill: Any, *arguments: Any) -> str:
    """The text of a function that fills a buffer with UTF-16 and gives its length in bytes.

    ``arguments`` come before the buffer and its length; '' where there is no text.
    """
    size = fill(*arguments, None, ctypes.c_ulong(0))
    if size < 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(*arguments, buffer, ctypes.c_ulong(size))
    return buffer.raw[: size - 2].decode("utf-16-le", "replace")

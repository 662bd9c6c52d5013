"""Packages that only hand on names, made to import each name when it is first asked for.

``import llama_index.core.schema`` runs ``llama_index/core/__init__.py`` first, which imports every
index, memory, chat engine and tool of the library: 480 modules and a second of processor time that
no question needs. Python's own import system has the place to say otherwise (a finder on
``sys.meta_path``, PEP 302, and a module's ``__getattr__``, PEP 562): nothing of the library is
replaced, and every name is the library's own object. Decision 0041 has the reasons.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ast

_loading = threading.RLock()


def import_lazily(package: str) -> None:
    """Make ``package`` and the packages below it lazy, unless they are imported already."""
    if package not in sys.modules:
        sys.meta_path.insert(0, _LazyFinder(package))
        logging.getLogger(package).addHandler(logging.NullHandler())  # as a library's body does


class HandedOn:
    """The names that the body of a package hands on.

    Attributes:
        names: each imported name with its module and its name there; None for the module itself.
        constants: names with the value that the body gives them; they may be set afterwards.
        rest: whether the body does anything else, which is done when a name is asked for that is
            in neither of the two.
    """

    def __init__(self, source: str, package: str) -> None:
        """Read ``source``, the ``__init__.py`` of ``package``."""
        import ast

        self.names: dict[str, tuple[str, str | None]] = {}
        self.constants: dict[str, object] = {}
        self.rest = False
        for statement in ast.parse(source).body:
            self._read(statement, package)

    def _read(self, statement: ast.stmt, package: str) -> None:
        import ast

        match statement:
            case ast.Expr(value=ast.Constant()):  # the docstring
                return
            case ast.ImportFrom(names=aliases):
                relative = "." * statement.level + (statement.module or "")
                module = importlib.util.resolve_name(relative, package)
                for alias in aliases:
                    self.names[alias.asname or alias.name] = (module, alias.name)
                self.rest |= any(alias.name == "*" for alias in aliases)
            case ast.Import(names=aliases):
                for alias in aliases:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    self.names[alias.asname or name] = (name, None)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if (
                other in self.names
            ):
                self.names[name] = self.names[other]
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List() as listed):
                self.constants["__all__"] = ast.literal_eval(listed)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant(value=value)):
                self.constants[name] = value
            case _:
                self.rest = True


class _LazyPackage(ModuleType):
    """A package whose names are imported one by one; one that is not known runs its body."""

    def __getattr__(self, name: str) -> Any:
        loader = self.__spec__ and self.__spec__.loader
        assert isinstance(loader, _LazyLoader)
        if origin := loader.handed_on.names.get(name):
            value = _imported(*origin)
            setattr(self, name, value)
            return value
        if loader.handed_on.rest and (not name.startswith("__") or name == "__version__"):
            loader.run_body(self)
            if name in vars(self):
                return vars(self)[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def _imported(module: str, name: str | None) -> object:
    found = importlib.import_module(module)
    if name is None:
        return found
    try:
        return getattr(found, name)
    except AttributeError:
        return importlib.import_module(f"{module}.{name}")  # it is a module below


class _LazyLoader(SourceFileLoader):
    """Loads a package whose body waits until it is needed."""

    def __init__(self, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._ran = False
        self.handed_on = HandedOn(self.get_source(fullname) or "", fullname)

    def exec_module(self, module: ModuleType) -> None:
        """Give ``module`` what its body sets to constants; the names come when asked for."""
        module.__class__ = _LazyPackage
        vars(module).update(self.handed_on.constants)

    def run_body(self, module: ModuleType) -> None:
        """Run the package's body, once; what was set since by hand stays as it is."""
        with _loading:
            if not self._ran:
                self._ran = True
                before = {name: vars(module)[name] for name in self.handed_on.constants}
                super().exec_module(module)
                vars(module).update(before)


class _LazyFinder:
    """Finds the packages at and below one of them, and makes those lazy that hand on names."""

    def __init__(self, package: str) -> None:
        self._package, self._below = package, f"{package}."

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a lazy package; None for everything else, which is found as always."""
        if fullname != self._package and not fullname.startswith(self._below):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not spec.submodule_search_locations or spec.origin is None:
            return None
        loader = _LazyLoader(fullname, spec.origin)
        if loader.handed_on.rest and fullname != self._package:
            return None  # its body does something: then is when it is imported
        spec.loader = loader
        return spec

"""All regular expressions of the code, how each is used, and texts that may take it long."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

from tests.support.fillers import FILLERS

ROOTS = ("helix", "pipelines", "db")
METHODS = ("match", "search", "fullmatch", "sub", "subn", "findall", "finditer", "split")
_SEARCHING = {"sub", "subn", "findall", "finditer", "split"}
_OPTIONAL = {"helix.retrieval.reranking.cross_encoder"}
"""Modules that import an extra which no test environment has."""
_LONG = 30  # repetitions from which a quantifier counts as one without an end
_SAMPLES = " \n\t\"7aA_,.(-/|:'é$%*#"


@dataclass(frozen=True)
class Used:
    """A pattern, where it is, and the methods that it is used by."""

    place: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def used_patterns(root: str) -> list[Used]:
    """Every compiled pattern in the modules below ``root``, each once."""
    uses = _uses()
    found: dict[tuple[Any, int], Used] = {}
    for module in _modules(root):
        for name, value in list(vars(module).items()):
            for pattern in _patterns_in(value):
                methods = uses.of(module.__name__, name)
                known = found.get((pattern.pattern, pattern.flags))
                place = known.place if known else f"{module.__name__}.{name}"
                methods |= known.methods if known else frozenset()
                found[pattern.pattern, pattern.flags] = Used(place, pattern, methods)
    return [*found.values(), *(each for each in uses.inline if each.place.startswith(root))]


def _modules(root: str) -> Iterator[ModuleType]:
    package = importlib.import_module(root)
    yield package
    for info in pkgutil.walk_packages(package.__path__, f"{root}."):
        if info.name not in _OPTIONAL and not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """The patterns of a value: itself, or those in its items or fields."""
    if isinstance(value, re.Pattern):
        yield value
        return
    inner: Iterable[Any] = ()
    if isinstance(value, dict):
        inner = (*value, *value.values())
    elif isinstance(value, (tuple, list, set, frozenset)):
        inner = value
    elif isinstance(value, type) and value.__module__.partition(".")[0] in ROOTS:
        inner = list(vars(value).values())
    elif is_dataclass(value):
        inner = [getattr(value, field.name, None) for field in fields(value)]
    if depth < 5:
        for each in list(inner)[:3000]:
            yield from _patterns_in(each, depth + 1)


class _Uses:
    """The methods that are called on each name of each module, read from the source."""

    def __init__(self) -> None:
        self._calls: dict[str, dict[str, set[str]]] = {}
        self._imports: dict[str, dict[str, tuple[str, str]]] = {}
        self._loops: dict[str, dict[str, set[str]]] = {}
        self.inline: list[Used] = []
        for path in (path for root in ROOTS for path in Path(root).rglob("*.py")):
            module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
            self._read(module, ast.parse(path.read_text()))

    def _read(self, module: str, tree: ast.Module) -> None:
        calls: dict[str, set[str]] = defaultdict(set)
        loops: dict[str, set[str]] = defaultdict(set)
        imports: dict[str, tuple[str, str]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for name in node.names:
                    imports[name.asname or name.name] = (node.module, name.name)
            elif isinstance(node, ast.Attribute) and node.attr in METHODS:
                calls[_name_of(node.value)].add(node.attr)
            elif isinstance(node, (ast.For, ast.comprehension)):
                for container in _names_in(node.iter):
                    loops[container] |= _names_in(node.target)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                self._read_inline(module, node, node.func)
        self._calls[module], self._imports[module], self._loops[module] = calls, imports, loops

    def _read_inline(self, module: str, call: ast.Call, method: ast.Attribute) -> None:
        if _name_of(method.value) != "re" or method.attr not in METHODS:
            return
        if isinstance(call.args[0], ast.Constant):
            text = ast.unparse(call)
            flags = re.I if "IGNORECASE" in text or "re.I" in text else 0
            flags |= re.M if "MULTILINE" in text else 0
            pattern = re.compile(str(call.args[0].value), flags)
            place = f"{module}:{call.lineno}"
            self.inline.append(Used(place, pattern, frozenset({method.attr})))

    def of(self, module: str, name: str) -> frozenset[str]:
        """The methods by which the pattern ``name`` of ``module`` is used anywhere.

        One in a container is used by the variables of the loops over it; where there is none, by
        all methods of variables, then.
        """
        users = [
            (other, local)
            for other, names in self._imports.items()
            for local, origin in names.items()
            if origin == (module, name)
        ]
        users.append((module, name))
        called = {method for user, local in users for method in self._calls[user].get(local, ())}
        called = called or {
            method
            for user, local in users
            for variable in self._loops[user].get(local, ())
            for method in self._calls[user].get(variable, ())
        }
        if not called:
            called = {
                method
                for user, _ in users
                for local, methods in self._calls[user].items()
                for method in methods
                if local.islower() and not local.startswith("_") and local != "re"
            }
        return frozenset(called or {"search", "fullmatch"})


@cache
def _uses() -> _Uses:
    return _Uses()


def _names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _name_of(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def ways(used: Used) -> Iterator[str]:
    """The methods of ``used`` that differ in where they look."""
    if _SEARCHING & used.methods:
        yield "sub"
    elif "search" in used.methods:
        yield "search"
    yield from sorted(used.methods & {"match", "fullmatch"})


def run(pattern: re.Pattern[Any], method: str, text: str) -> object:
    """The result of ``method`` on a whole text."""
    subject: Any = text.encode() if isinstance(pattern.pattern, bytes) else text
    if method == "sub":
        return pattern.sub(lambda found: found[0], subject)
    return getattr(pattern, method)(subject)


@dataclass(frozen=True)
class Attack:
    """A text of any length: ``before``, then ``unit`` again and again, then ``after``."""

    before: str
    unit: str
    after: str

    def text(self, length: int) -> str:
        return f"{self.before}{self.unit * (length // len(self.unit))}{self.after}"


def attacks(pattern: re.Pattern[Any], most: int) -> list[Attack]:
    """The twelve fillers, and up to ``most`` texts that reach a repetition of the pattern.

    Each of the latter begins as the pattern wants it up to a quantifier without an end, goes on
    with what that takes, and ends with what it does not.
    """
    rng = random.Random(1)
    flags = pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
    tree = parser.parse(pattern.pattern, flags)
    found = [Attack("x", unit, "y") for unit in FILLERS.values()]
    reached: list[tuple[str, str]] = []
    _repetitions(tree, "", rng, reached)
    whole = _sample(tree, rng)
    reached += [("", whole), ("", whole[:-1])]
    reached = list(dict.fromkeys(each for each in reached if each[1]))
    rng.shuffle(reached)
    return found + [Attack(before, unit, "\x01y") for before, unit in reached[:most]]


def _repetitions(
    tree: Sequence[Any], before: str, rng: random.Random, found: list[tuple[str, str]]
) -> None:
    """Add (what leads there, what is repeated) of each repetition in ``tree`` to ``found``."""
    for operation, value in tree:
        if operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            _, most, body = value
            if most >= _LONG:
                first = body[0]
                units = _class_samples(first[1]) if first[0] is codes.IN else ()
                found.extend((before, unit) for unit in units or (_sample(body, rng),))
            _repetitions(body, before, rng, found)
        else:
            for inner in _inner(operation, value):
                _repetitions(inner, before, rng, found)
        before += _sample([(operation, value)], rng)


def _inner(operation: Any, value: Any) -> list[Sequence[Any]]:
    """The expressions within one that is no repetition."""
    if operation is codes.SUBPATTERN:
        return [value[3]]
    if operation is codes.ATOMIC_GROUP:
        return [value]
    if operation in (codes.ASSERT, codes.ASSERT_NOT):
        return [value[1]]
    return list(value[1][:12]) if operation is codes.BRANCH else []


def _sample(tree: Sequence[Any], rng: random.Random) -> str:
    """A short text that ``tree`` may match, its assertions aside."""
    text = ""
    for operation, value in tree:
        if operation is codes.LITERAL:
            text += chr(value)
        elif operation is codes.IN:
            text += rng.choice(_class_samples(value) or ["a"])
        elif operation in (codes.NOT_LITERAL, codes.ANY):
            text += rng.choice("a 7")
        elif operation is codes.BRANCH:
            text += _sample(rng.choice(value[1]), rng)
        elif operation in (codes.SUBPATTERN, codes.ATOMIC_GROUP):
            text += _sample(value[3] if operation is codes.SUBPATTERN else value, rng)
        elif operation in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            least, most, body = value
            count = least if rng.random() < 0.6 else min(least + 1, most)
            text += "".join(_sample(body, rng) for _ in range(count))
    return text


def _class_samples(items: Sequence[Any]) -> list[str]:
    """A few characters of a class."""
    negated = items[0][0] is codes.NEGATE
    found = [c for c in _SAMPLES if any(_holds(c, item) for item in items) is not negated]
    if not negated:
        found += [chr(value) for operation, value in items if operation is codes.LITERAL][:2]
        found += [chr(value[0]) for operation, value in items if operation is codes.RANGE][:1]
    return found[:6]


def _holds(character: str, item: Any) -> bool:
    operation, value = item
    if operation is codes.LITERAL:
        return bool(ord(character) == value)
    if operation is codes.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    if operation is not codes.CATEGORY:
        return False
    name = str(value)
    holds: bool = {
        "DIGIT": character.isdigit(), "SPACE": character.isspace(),
        "WORD": character.isalnum() or character == "_",
    }[name.rpartition("_")[2]]  # fmt: skip
    return holds is not ("NOT" in name)

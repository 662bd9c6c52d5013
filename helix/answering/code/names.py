"""The names in a piece of code, by the lexers of Pygments and Python's own parser. Pure.

Keywords and builtins are what a language's lexer says they are. A name is an identifier, a key of
JSON or YAML, an option of a command (`--mode`), or the command itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Operator, Punctuation, String, Text, Token
from pygments.token import _TokenType as TokenType
from pygments.util import ClassNotFound

MOST_CHARACTERS = 40_000
"""Of one piece of code; a longer one has no names."""
_IDENTIFIER = re.compile(r"[^\W\d][\w$-]*")
_PART = re.compile(r"[^\W\d][\w$]*")
_WORD = re.compile(r"(?<![\w$.-])(?:--?[A-Za-z][\w-]*|[^\W\d][\w$]*)")
_OPTION = re.compile(r"--?[A-Za-z][\w-]*")
_QUOTES = "\"'`"
_NO_NAMES = (Name.Builtin, Name.Exception, Name.Function.Magic, Name.Variable.Magic, Name.Entity)
_DEFINED = (Name.Function, Name.Class)
_SHELLS = frozenset({"bash", "console", "shell-session", "sh", "zsh", "shell"})
_COMMAND_FOLLOWS = (Punctuation, Keyword, Comment, Token.Generic.Prompt)
_ASSIGNS = frozenset({"=", ":="})

Lexed = list[tuple[int, TokenType, str]]


@dataclass(frozen=True, slots=True)
class Found:
    """A name at ``code[start:end]``; ``path`` is the dotted name that it ends: `client.ask`.

    ``own``: the code defines it. ``sure``: it is a name for certain, not a word that may be one.
    """

    name: str
    start: int
    path: str = ""
    own: bool = False
    sure: bool = True

    @property
    def end(self) -> int:
        return self.start + len(self.name)


def names_in(code: str, language: str) -> list[Found]:
    """The names in ``code``, in order; of an unknown language the words that may be names."""
    if len(code) > MOST_CHARACTERS:
        return []
    lexer = _lexer_of(language)
    if lexer is None:
        return [Found(word[0], word.start(), word[0], sure=False) for word in _WORD.finditer(code)]
    tokens = list(lexer.get_tokens_unprocessed(code))
    found = list(_of_shell(tokens) if is_shell(language) else _of_tokens(tokens))
    own = _own_names(code, lexer, tokens)
    return [one if one.name not in own else _owned(one) for one in found]


def is_shell(language: str) -> bool:
    """True if the language is a shell's."""
    return language.lower() in _SHELLS


def _owned(one: Found) -> Found:
    return Found(one.name, one.start, one.path, own=True)


def _lexer_of(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False) if language else None
    except ClassNotFound:
        return None


def _is_name(kind: TokenType) -> bool:
    return kind in Name and not any(kind in other for other in _NO_NAMES)


def _of_tokens(tokens: Lexed) -> Iterator[Found]:
    path, dot = "", False
    for at, kind, text in tokens:
        if _is_name(kind):
            for part in (_IDENTIFIER if kind in Name.Tag else _PART).finditer(text):
                joined = dot or text[part.start() - 1 : part.start()] == "."
                path = f"{path}.{part[0]}" if joined and path else part[0]
                yield Found(part[0], at + part.start(), path)
                dot = False
            continue
        if kind in String and (option := _OPTION.fullmatch(text.strip(_QUOTES))):
            yield Found(option[0], at + text.index(option[0]), option[0])
        dot = text == "."
        if text.strip() and not dot:
            path = ""


def _of_shell(tokens: Lexed) -> Iterator[Found]:
    """The commands and options of a shell's lines, and its variables."""
    begins, is_value = True, False
    for at, kind, text in tokens:
        if kind in Name.Variable:
            yield from (Found(p[0], at + p.start(), p[0]) for p in _PART.finditer(text))
        elif kind in Text and text.strip():
            for word in re.finditer(r"\S+", text):
                yield from _shell_word(word[0], at + word.start(), begins and not is_value)
                begins = is_value = False
        elif any(kind in one for one in _COMMAND_FOLLOWS):
            begins = True
        begins, is_value = begins or "\n" in text, kind in Operator and "=" in text


def _shell_word(word: str, at: int, begins: bool) -> Iterator[Found]:
    """An option or a command; an argument may be the command of a command: `helix ask`."""
    if option := _OPTION.match(word):
        yield Found(option[0], at, option[0])
    elif _IDENTIFIER.fullmatch(word):
        yield Found(word, at, word, sure=begins)


def _own_names(code: str, lexer: Lexer, tokens: Lexed) -> frozenset[str]:
    """Names that the code defines itself: by Python's parser, else by the order of its tokens."""
    if "python" in lexer.aliases:
        # code of a session with prompts, or cut, is not Python
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset(_bound(ast.parse(code)))
    return frozenset(_assigned(tokens))


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name


def _assigned(tokens: Lexed) -> Iterator[str]:
    """Names that are declared, defined, or assigned outside of brackets."""
    words = [(kind, text) for _, kind, text in tokens if text.strip()]
    depth, before = 0, ("", Text)
    for place, (kind, text) in enumerate(words):
        depth += sum(text.count(one) for one in "([{") if kind in Punctuation else 0
        depth -= sum(text.count(one) for one in ")]}") if kind in Punctuation else 0
        following = words[place + 1][1] if place + 1 < len(words) else ""
        if kind in Name and before[0] != ".":
            declared = before[1] in Keyword.Declaration
            assigned = following in _ASSIGNS and depth == 0
            if declared or assigned or following == "=>" or any(kind in one for one in _DEFINED):
                yield from _PART.findall(text)
        before = text, kind
